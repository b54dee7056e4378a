"""Unfinished parts: the lock of the folder and the progress of each part."""

from __future__ import annotations

import os
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from p2c.errors import P2CError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

SECONDS = 1.0
"""Seconds between two reports of progress."""
ENDING = ".rows"


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Lock a file until the end of the block or of the process.

    Systems without locks (Windows) ignore it.
    """
    try:
        import fcntl
    except ImportError:  # not on Windows
        yield
        return
    # No link is followed: it could lead to a file outside of the folder.
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise P2CError(f"{path.parent.parent}: another batch is writing there") from None
        yield
    finally:
        os.close(handle)


@dataclass
class Pace:
    """Writes down how many rows of a part are done, now and then."""

    path: Path
    rows: float = 0.0
    due: float = 0.0

    def advance(self, rows: float) -> None:
        """Add finished rows."""
        self.rows += rows
        now = time.monotonic()
        if now >= self.due:
            self.due = now + SECONDS
            with suppress(OSError):  # it is only for the eye
                self.path.write_text(str(int(self.rows)))


@contextmanager
def paced(part: Path) -> Iterator[Pace]:
    """Report the progress of a part in a file until the part is done."""
    pace = Pace(part.with_name(f"{part.name}{ENDING}"), due=time.monotonic() + SECONDS)
    try:
        yield pace
    finally:
        with suppress(OSError):
            pace.path.unlink(missing_ok=True)


def rows_under_way(folder: Path) -> int:
    """Return how many rows are done of the parts that are being made in a folder."""
    return sum(_rows(path) for path in folder.glob(f"*{ENDING}"))


def _rows(path: Path) -> int:
    try:
        return int(path.read_text())
    except (OSError, ValueError):  # it is being written, or the part is done
        return 0


@contextmanager
def ticking(tell: Callable[[], None]) -> Iterator[None]:
    """Call a function now and then, from a thread of its own, until the block ends."""
    ended = threading.Event()

    def tick() -> None:
        while not ended.wait(SECONDS):
            tell()

    thread = threading.Thread(target=tick, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
