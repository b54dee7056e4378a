"""The growth of the time for a first answer as a table, and where another method is ahead."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.growth import GROWTH, METHODS
from benchmarks.tables.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.store import Store


def table(store: Store) -> Table:
    """Return the points of the growth figure."""
    rows = []
    for way, amounts in GROWTH.items():
        for method in METHODS:
            known = {r["row"]: r["found"] for r in store.of(way, f"growth {method}")}
            cells = [
                f"{amount}: {_seconds(known[amount])}" for amount in amounts if amount in known
            ]
            rows.append((way, method, ", ".join(cells)))
    return Table(
        "Growth, seconds of processor time for a first answer",
        ("grows", "method", "size: seconds"),
        tuple(rows),
    )


def wins(store: Store) -> Iterator[str]:
    """Say where another method answers a growing problem faster than ours."""
    for way in GROWTH:
        known = {
            method: {r["row"]: r["found"] for r in store.of(way, f"growth {method}")}
            for method in METHODS
        }
        own = known.pop("p2c")
        for method, times in known.items():
            ahead = [
                f"{size} ({_seconds(times[size])} s, p2c {_seconds(own[size])})"
                for size in sorted(times.keys() & own.keys())
                if times[size] is not None and (own[size] is None or times[size] < own[size])
            ]
            if ahead:
                yield f"growth of {way}: {method} is faster at {', '.join(ahead)}."


def _seconds(spent: float | None) -> str:
    return "gave up" if spent is None else f"{spent:.3f}"
