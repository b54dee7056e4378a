"""Append-only file of records, one JSON object on each line.

A record is on the disk before `append` returns. A process that is killed while it writes leaves a torn last line, which
is no JSON object: readers skip it and report its number. The file does not show later changes of its lines; version
control does.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from p2c._spec.spec import refuse_special
from p2c._whole_file import put
from p2c.errors import ReviewError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path


@dataclass
class Journal:
    """Records of a file; `torn` are the numbers of the lines that were skipped."""

    path: Path
    records: list[dict[str, Any]] = field(default_factory=list)
    torn: tuple[int, ...] = ()
    size: int = 0
    ends_line: bool = True

    def append(self, records: Sequence[dict[str, Any]], *, shared: bool = False) -> None:
        """Write records at the end and return when they are on the disk.

        Args:
            records: The records.
            shared: Whether others may have written to the file since it was read. Otherwise that is refused.
        """
        if not records:
            return
        text = _written(records)
        try:
            file = os.open(self.path, os.O_RDWR | os.O_APPEND)
            try:
                _lock(file)
                if shared:
                    self.size = os.fstat(file).st_size
                    os.lseek(file, max(self.size - 1, 0), os.SEEK_SET)
                    self.ends_line = os.read(file, 1) in (b"", b"\n")
                content = text if self.ends_line else b"\n" + text
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
        self.ends_line = True


def create_journal(path: Path, records: Sequence[dict[str, Any]]) -> Journal:
    """Write a new file atomically."""
    content = _written(records)
    try:
        if path.exists():
            raise ReviewError(f"{path}: exists already")
        put(path, lambda made: made.write_bytes(content))
    except OSError as error:
        raise ReviewError(f"{path}: cannot be written: {error.strerror}") from None
    return Journal(path, list(records), size=len(content))


def read_journal(path: Path) -> Journal:
    """Read a file, skipping torn lines."""
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
        else:
            journal.records.append(record)
    journal.torn = tuple(torn)
    return journal


def _record(line: bytes) -> dict[str, Any] | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def _written(records: Iterable[dict[str, Any]]) -> bytes:
    lines = [json.dumps(each, ensure_ascii=False, allow_nan=False) + "\n" for each in records]
    return "".join(lines).encode("utf-8", "replace")


def _write(file: int, content: bytes) -> None:
    while content:
        content = content[os.write(file, content) :]
    os.fsync(file)


def _lock(file: int) -> None:
    """Keep other processes from appending until the file is closed, where the system can."""
    if sys.platform != "win32":
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX)
