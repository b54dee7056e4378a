"""Files in the making: written aside, pushed to the disk and renamed, so that each is there whole or not at all.

How far the parts under way have come, each says in a file beside its own, whoever makes it and wherever.
"""

from __future__ import annotations

import os
import socket
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
"""How many seconds lie between two times that the rows done are written down, or looked at."""
ENDING = ".rows"


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
    """Write text aside, and rename its file to where it belongs."""
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


@dataclass
class Pace:
    """Writes down how many rows of a part are done, now and then."""

    path: Path
    rows: float = 0.0
    due: float = 0.0

    def advance(self, rows: float) -> None:
        """Count so many rows more."""
        self.rows += rows
        now = time.monotonic()
        if now >= self.due:
            self.due = now + SECONDS
            with suppress(OSError):  # it is only for the eye
                self.path.write_text(str(int(self.rows)))


@contextmanager
def paced(part: Path) -> Iterator[Pace]:
    """Have the pace of a part, given by where its file is made, written down until it is done."""
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
