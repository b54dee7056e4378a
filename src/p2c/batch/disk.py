"""Files that are there whole or not at all: written aside, pushed to the disk, then renamed."""

from __future__ import annotations

import os
import socket
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from p2c.errors import P2CError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


def put(path: Path, write: Callable[[Path], None], *, aside: Path) -> None:
    """Have a file written aside, in a folder of the same disk, and rename it to where it belongs."""
    # Another worker, on another machine too, may make the same file at the same time.
    made = aside / f"{path.name}.{socket.gethostname()}.{os.getpid()}.new"
    try:
        write(made)
        _push(made)
        made.replace(path)
    except BaseException:
        with suppress(OSError):
            made.unlink()
        raise
    _push(path.parent)


def put_text(path: Path, text: str, *, aside: Path) -> None:
    """Do so with text."""
    put(path, lambda made: _write(made, text), aside=aside)


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


def _push(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a file for this process alone, as far as the system has locks; the end of the process lets it go."""
    try:
        import fcntl
    except ImportError:  # not on Windows
        yield
        return
    # No link is followed: whoever may write into the folder could point one at a file of ours.
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise P2CError(f"{path.parent.parent}: another batch is writing there") from None
        yield
    finally:
        os.close(handle)
