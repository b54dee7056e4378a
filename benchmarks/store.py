"""Results as lines of JSON, each written as soon as it is made, so that a killed run goes on where it was."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

Key = tuple[str, str, int]
Record = dict[str, Any]

EDITION = 1
"""Raised when what is recorded changes its meaning; results of other editions are made anew."""


ROOT = Path(__file__).parent.parent
CODE = (
    "src/p2c/**/*",
    "benchmarks/peers/*",
    "benchmarks/paths/*",
    "benchmarks/judge.py",
    "benchmarks/world.py",
    "benchmarks/worker.py",
)
SUFFIXES = {".py", ".lp", ".pl", ".toml"}


@dataclass
class Store:
    """Results by data set, method and number of the row."""

    path: Path
    records: dict[Key, Record] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    @classmethod
    def open(cls, path: Path) -> Store:
        """Read what was stored before; a last line that was cut off when a run was killed is dropped."""
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
        """Keep a result, on disk before anything else happens; one write, so that two runs never mix their lines."""
        today = f"{datetime.now(UTC):%Y-%m-%d}"
        record = {"edition": EDITION, "date": today, "code": code(), **record}
        line = f"{json.dumps(record)}\n".encode()
        with self._lock, self.path.open("ab", buffering=0) as file:
            file.write(line)
            os.fsync(file.fileno())
            self.records[key(record)] = record

    @property
    def of_one_code(self) -> bool:
        """Tell whether all results come from the same state of the code."""
        codes = {record.get("code") for record in self.records.values()}
        return len(codes) == 1 and None not in codes

    @property
    def dates(self) -> list[str]:
        """Return the days on which results were made, in order; of results without one, the last day that any was."""
        last = f"{datetime.fromtimestamp(self.path.stat().st_mtime, UTC):%Y-%m-%d}"
        return sorted({record.get("date", last) for record in self.records.values()})

    def __contains__(self, wanted: object) -> bool:
        return wanted in self.records

    def of(self, data: str, method: str) -> list[Record]:
        """Return a method's results on a data set, by row."""
        found = [r for (d, m, _), r in self.records.items() if (d, m) == (data, method)]
        return sorted(found, key=lambda record: int(record["row"]))


@cache
def code() -> str:
    """Return a short mark of the code that makes results: the package, the methods, and what judges their answers."""
    files = [path for each in CODE for path in ROOT.glob(each) if path.suffix in SUFFIXES]
    mark = sha256()
    for path in sorted(files):
        mark.update(path.read_bytes())
    return mark.hexdigest()[:12]


def shared_rows(store: Store, data: Iterable[str], methods: Iterable[str]) -> Store:
    """Return the results of the rows that every method has one for, and what is not about a row of a method.

    A run that is stopped or asked for more rows than before is ahead with some methods, and shares over different rows would
    not compare.
    """
    methods = set(methods)
    common: dict[str, int] = {}
    for name in data:
        counts = [len(store.of(name, method)) for method in methods]
        common[name] = min(counts, default=0)
    kept = {
        (name, method, row): record
        for (name, method, row), record in store.records.items()
        if method not in methods or row < common.get(name, 0)
    }
    return Store(store.path, kept)


def key(record: Record) -> Key:
    """Return what a result is about."""
    return record["data"], record["method"], record["row"]
