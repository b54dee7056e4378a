"""A file of records that only ever grows: one JSON object a line, each naming the digest of the one before it.

A record is on the disk before `append` returns. Where a process is killed while it writes, the last line is torn: it
is no JSON object, and the next record follows the one before it, so readers pass it over and say so. A line that was
changed or taken out later breaks the chain and is an error; only at the very end does it leave no trace, which is why
review files belong under version control.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from p2c.domain.spec import refuse_special
from p2c.errors import ReviewError
from p2c.whole_file import put

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

LINK = "after"
"""The key that holds the digest of the record before; empty in the first record."""


@dataclass
class Journal:
    """The records of a file as they were read, and those appended since; `torn` are the lines passed over."""

    path: Path
    records: list[dict[str, Any]] = field(default_factory=list)
    torn: tuple[int, ...] = ()
    size: int = 0
    last: str = ""
    ends_line: bool = True

    def append(self, records: Sequence[dict[str, Any]]) -> None:
        """Write records at the end and return when they are on the disk."""
        if not records:
            return
        text, last = _written(records, self.last)
        content = text if self.ends_line else b"\n" + text
        try:
            file = os.open(self.path, os.O_WRONLY | os.O_APPEND)
            try:
                _lock(file)
                if os.fstat(file).st_size != self.size:
                    raise ReviewError(
                        f"{self.path}: someone wrote to it since it was read: read it again"
                    )
                _write(file, content)
            finally:
                os.close(file)
        except OSError as error:
            raise ReviewError(f"{self.path}: cannot be written: {error.strerror}") from None
        self.records += records
        self.size += len(content)
        self.last, self.ends_line = last, True


def create_journal(path: Path, records: Sequence[dict[str, Any]]) -> Journal:
    """Write a new file at once: it is there with all of the records or not at all."""
    content, last = _written(records, "")
    try:
        if path.exists():
            raise ReviewError(f"{path}: exists already")
        put(path, lambda made: made.write_bytes(content))
    except OSError as error:
        raise ReviewError(f"{path}: cannot be written: {error.strerror}") from None
    return Journal(path, list(records), size=len(content), last=last)


def read_journal(path: Path) -> Journal:
    """Read a file, past torn lines; a record that does not follow from the one before it is an error."""
    refuse_special(path)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ReviewError(f"{path}: cannot be read: {error.strerror}") from None
    journal = Journal(path, size=len(content), ends_line=content.endswith(b"\n") or not content)
    torn = []
    for number, line in enumerate(content.split(b"\n"), start=1):
        text = line.strip()
        if not text:
            continue
        record = _record(text)
        if record is None:
            torn.append(number)
            continue
        if record.pop(LINK, None) != journal.last:
            raise ReviewError(
                f"{path}: line {number} does not follow from the record before it, so the file was"
                " changed after it was written: bring back the version that was written"
            )
        journal.records.append(record)
        journal.last = _digest(text)
    journal.torn = tuple(torn)
    return journal


def _record(line: bytes) -> dict[str, Any] | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def _written(records: Iterable[dict[str, Any]], last: str) -> tuple[bytes, str]:
    """Return the lines of records that follow a digest, and the digest of the last one."""
    lines = []
    for record in records:
        text = json.dumps({**record, LINK: last}, ensure_ascii=False, allow_nan=False)
        line = text.encode("utf-8", "replace")
        last = _digest(line)
        lines.append(line + b"\n")
    return b"".join(lines), last


def _digest(line: bytes) -> str:
    return sha256(line).hexdigest()[:16]


def _write(file: int, content: bytes) -> None:
    while content:
        content = content[os.write(file, content) :]
    os.fsync(file)


def _lock(file: int) -> None:
    """Keep other processes from appending until the file is closed, where the system can."""
    if sys.platform != "win32":
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX)
