"""Random tables for the learner: numbers, strings and missing values, apart or mixed in one column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd
from hypothesis import strategies as st

NUMBERS = (-3.0, 0.0, 0.25, 1.0, 2.5, 7.125, 40.0)
STRINGS = ("a", "b", "c d", "?", "", "it's")
KINDS = {
    "numbers": st.sampled_from(NUMBERS),
    "strings": st.sampled_from(STRINGS),
    "mixed": st.sampled_from(NUMBERS + STRINGS),
    "holes": st.sampled_from((*NUMBERS, "")),
    "measures": st.integers(-2_000, 2_000).map(lambda number: number / 8),
}


@dataclass(frozen=True, slots=True)
class Table:
    """Rows with their labels, and the settings to learn with."""

    rows: tuple[dict[str, Any], ...]
    labels: tuple[str, ...]
    ratio: float
    tail: float

    @property
    def frame(self) -> pd.DataFrame:
        """Return the rows as a frame, a missing value as None."""
        plain = [
            {name: None if cell == "" else cell for name, cell in row.items()} for row in self.rows
        ]
        return pd.DataFrame(plain, dtype=object)


@st.composite
def tables(draw: st.DrawFn, classes: int = 2) -> Table:
    """Draw a table whose labels depend on a column or two, more or less."""
    count = draw(st.integers(4, 60))
    kinds = draw(st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=4))
    columns = {
        f"f{place}": draw(st.lists(KINDS[kind], min_size=count, max_size=count))
        for place, kind in enumerate(kinds)
    }
    rows = tuple(
        dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)
    )
    noise = draw(st.lists(st.integers(0, 9), min_size=count, max_size=count))
    labels = [_label(row, classes, extra) for row, extra in zip(rows, noise, strict=True)]
    labels[:classes] = [f"class {place}" for place in range(classes)][:count]
    ratio = draw(st.sampled_from((0.5, 0.5, 0.0, 0.2, 1.5)))
    tail = draw(st.sampled_from((0.005, 0.0, 0.05)))
    return Table(rows, tuple(labels), ratio, tail)


def _label(row: dict[str, Any], classes: int, noise: int) -> str:
    tests = [
        cell in {"a", "", "?"} if isinstance(cell, str) else cell <= 1 for cell in row.values()
    ]
    place = sum(tests[:2]) + (noise if noise < 2 else 0)
    return f"class {place % classes}"
