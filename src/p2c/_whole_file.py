"""Atomic writes: a file is written aside, synced and renamed."""

from __future__ import annotations

import os
import socket
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def put(path: Path, write: Callable[[Path], object], *, aside: Path | None = None) -> None:
    """Write a file atomically.

    Args:
        path: The file.
        write: Writes the content to a path.
        aside: A folder of the same disk to write in; by default that of the file.
    """
    # Another worker, on another machine too, may make the same file at the same time.
    name = f".{path.name}.{socket.gethostname()}.{os.getpid()}.new"
    made = (aside or path.parent) / name
    try:
        write(made)
        _push(made, os.O_RDWR)
        os.replace(made, path)
    except BaseException:
        with suppress(OSError):
            made.unlink()
        raise
    if sys.platform != "win32":  # which opens no folders
        _push(path.parent, os.O_RDONLY)


def put_text(path: Path, text: str, *, aside: Path | None = None) -> None:
    r"""Write text atomically, with \n at the end of each line."""
    put(path, lambda made: made.write_text(text, encoding="utf-8", newline="\n"), aside=aside)


def _push(path: Path, mode: int) -> None:
    handle = os.open(path, mode)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
