"""Orders: columns of numbers of which one is never greater than another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from p2c._learn.relations.verdict import FEWEST, Judged

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from p2c._learn.relations.columns import DataColumn, DataTable, Mask

FEWEST_VALUES = 5
"""Minimum number of distinct values in an ordered column."""
SURE = 0.99
"""Least share of rows on which an order holds."""
NEAR = 0.03
"""The share of rows that lie nearest to equality."""
MOST_CROSSED = 0.02
"""Maximum share of the rows near equality on which an order is broken."""
CLOSEST = 0.01
CLOSE = 0.1
"""How small the gaps next to equality are, as a part of the median gap."""
LEAST_BY_CHANCE = 0.02
"""Minimum share of rows that break the order once a column is shuffled."""


def find_orders(
    table: DataTable, apart: Collection[frozenset[str]], *, threshold: float
) -> Iterator[tuple[DataColumn, DataColumn, Judged]]:
    """Yield pairs of columns in order, the lesser one first.

    Orders that follow from two others are left out.

    Correlated columns seldom cross over, so a small share of exceptions proves little. Of an order that the data obey
    because it is one, many rows lie near equality and next to none beyond it.

    Args:
        table: The table.
        apart: Pairs that are not compared, since an equation connects them.
        threshold: The least share of rows; 0.99 at least.
    """
    columns = [each for each in table.numbers if each.distinct >= FEWEST_VALUES]
    orders: dict[tuple[str, str], tuple[DataColumn, DataColumn, Judged]] = {}
    for low in columns:
        for high in columns:
            if low is not high and frozenset((low.name, high.name)) not in apart:
                judged = _judged(table, low, high, max(threshold, SURE))
                if judged is not None:
                    orders[low.name, high.name] = (low, high, judged)
    names = [each.name for each in columns]
    for (least, most), order in orders.items():
        if not any((least, each) in orders and (each, most) in orders for each in names):
            yield order


def _judged(table: DataTable, low: DataColumn, high: DataColumn, threshold: float) -> Judged | None:
    rows = table.screened
    least, most = low.values[rows], high.values[rows]
    valid = np.isfinite(least) & np.isfinite(most)
    valid &= (least > low.levels[0]) & (most < high.levels[-1])
    gaps = most[valid] - least[valid]
    if len(gaps) < 5 * FEWEST or (gaps < 0).mean() > 1 - threshold:
        return None
    if not _has_border(gaps) or not _says_something(least[valid], most[valid]):
        return None
    every = np.isfinite(low.values) & np.isfinite(high.values)
    holds: Mask = every & (np.where(every, low.values - high.values, 0.0) <= 0)
    judged = Judged(every, holds)
    return judged if judged.share >= threshold else None


def _has_border(gaps: np.ndarray) -> bool:
    """Tell whether rows near equality lie on one side of it."""
    count = max(FEWEST, int(NEAR * len(gaps)))
    sizes = np.sort(np.abs(gaps))
    near = np.abs(gaps) <= sizes[min(count, len(sizes)) - 1]
    return bool((gaps[near] < 0).mean() <= MOST_CROSSED) and _reaches_border(gaps)


def _reaches_border(gaps: np.ndarray) -> bool:
    """Tell whether gaps reach down to equality instead of ending far above it."""
    equal, broken = int((gaps == 0).sum()), int((gaps < 0).sum())
    if equal >= FEWEST and broken <= MOST_CROSSED * equal:
        return True
    positive = gaps[gaps >= 0]
    return bool(np.quantile(positive, CLOSEST) <= CLOSE * np.median(positive))


def _says_something(least: np.ndarray, most: np.ndarray) -> bool:
    shuffled = np.random.default_rng(0).permutation(least)
    return bool((shuffled > most).mean() >= LEAST_BY_CHANCE)
