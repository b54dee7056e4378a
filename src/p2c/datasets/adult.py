"""Adult (census income): 48,842 people of the US census of 1994, with their income bracket."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from p2c.datasets.archive import raw_lines

if TYPE_CHECKING:
    from p2c.datasets.archive import Row

COLUMNS = (
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education_num",
    "marital_status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital_gain_raw",
    "capital_loss",
    "hours_per_week",
    "native_country",
    "label",
)
NUMERIC = frozenset(
    {"age", "fnlwgt", "education_num", "capital_gain_raw", "capital_loss", "hours_per_week"}
)


def read_adult(file: str) -> list[Row]:
    """Read `adult.data` or `adult.test` into rows with readable names."""
    return [_row(line) for line in raw_lines(file)]


def _row(line: str) -> Row:
    """Decode one line; '?' stays the value '?', as the paper's learner treats it."""
    cells = dict(zip(COLUMNS, map(sys.intern, line.split(", ")), strict=True))
    row: Row = {}
    for name, text in cells.items():
        if name == "capital_gain_raw":
            # The authors' capital gain is what is left of it after the loss.
            row["capital_gain"] = int(text) - int(cells["capital_loss"])
        row[name] = int(text) if name in NUMERIC else text
    # adult.test ends each label with a full stop, adult.data does not.
    row["label"] = cells["label"].removesuffix(".")
    return row
