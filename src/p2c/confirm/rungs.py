"""A few values of each column that stand for all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from p2c.learn.tables.domains import is_number

if TYPE_CHECKING:
    import pandas as pd

    from p2c.domain.feature import Value

PARTS = 8
"""Into how many parts the rows, and the distinct values, of a number are cut."""
FINE_PARTS = 1_000
"""The same where the values are looked at closely: as good as all of them, for a model made of trees flips at any."""
MOST_VALUES = 40


def sample_values(table: pd.DataFrame, *, parts: int = PARTS) -> dict[str, tuple[Value, ...]]:
    """Return quantiles of each number, over rows and over distinct values, and the frequent values of each category."""
    return {str(name): _samples(column.dropna(), parts) for name, column in table.items()}


def _samples(column: pd.Series, parts: int) -> tuple[Value, ...]:
    if not is_number(column):
        frequent = column.value_counts().index[:MOST_VALUES]
        return tuple(sorted(str(value) for value in frequent))
    values = column.to_numpy(dtype=np.float64)
    shares = np.arange(parts + 1) / parts
    by_row = np.quantile(values, shares, method="nearest")
    by_value = np.quantile(np.unique(values), shares, method="nearest")
    return tuple(np.unique(np.concatenate([by_row, by_value])).tolist())
