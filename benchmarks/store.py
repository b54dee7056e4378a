"""Results as lines of JSON, each written as soon as it is made, so that a killed run goes on where it was."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

Key = tuple[str, str, int]
Record = dict[str, Any]

EDITION = 1
"""Raised when what is recorded changes its meaning; results of other editions are made anew."""


@dataclass
class Store:
    """Results by data set, method and number of the row."""

    path: Path
    records: dict[Key, Record] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    @classmethod
    def open(cls, path: Path) -> Store:
        """Read what was stored before; a last line that was cut off by the end of a run is dropped."""
        store = cls(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            whole = path.read_bytes()
            kept = whole[: whole.rfind(b"\n") + 1]
            if kept != whole:
                path.write_bytes(kept)
            for line in kept.decode().splitlines():
                record = json.loads(line)
                if record.get("edition") == EDITION:
                    store.records[key(record)] = record
        return store

    def add(self, record: Record) -> None:
        """Keep a result, on disk before anything else happens."""
        record = {"edition": EDITION, **record}
        with self._lock, self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
            file.flush()
            os.fsync(file.fileno())
            self.records[key(record)] = record

    def __contains__(self, wanted: object) -> bool:
        return wanted in self.records

    def of(self, data: str, method: str) -> list[Record]:
        """Return a method's results on a data set, by row."""
        found = [r for (d, m, _), r in self.records.items() if (d, m) == (data, method)]
        return sorted(found, key=lambda record: int(record["row"]))


def key(record: Record) -> Key:
    """Return what a result is about."""
    return record["data"], record["method"], record["row"]
