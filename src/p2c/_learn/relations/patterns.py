"""Orders of columns, one-hot groups, and clocks that pass together."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from p2c._learn.relations.candidate import FEWEST, Judged

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from p2c._learn.relations.columns import DataColumn, DataTable, Floats, Mask


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


EXACT = 0.999
"""Least share of rows that a group must hold on."""
EXPECTED = 20
"""Minimum number of rows with two columns set if the columns were independent."""
MOST_COLUMNS = 60
MOST_STEPS = 20_000
"""Maximum number of attempts to complete a group without a common name."""
SEPARATOR = re.compile(r"[_.=: ]+")


@dataclass(frozen=True, eq=False)
class Group:
    """Columns of 0 and 1 of which one is set.

    Attributes:
        name: Name of the category that they stand for.
        columns: The columns in the order of the table.
        complete: Whether one is set in every row; otherwise "none of them" is a value too.
        judged: The rows with at most one set, or exactly one for a complete group.
    """

    name: str
    columns: tuple[DataColumn, ...]
    complete: bool
    judged: Judged


def find_groups(table: DataTable) -> Iterator[Group]:
    """Yield the one-hot groups of a table, common prefixes first."""
    binary = [each for each in table.numbers if each.is_binary]
    taken: set[str] = set()
    names = {each.name for each in table.columns}
    for prefix, columns in _by_prefix(binary):
        if not taken & {each.name for each in columns}:
            group = _group(_free_name(prefix, names), columns, named=True)
            if group is not None:
                taken |= {each.name for each in columns}
                yield group
    rest = [each for each in binary if each.name not in taken][:MOST_COLUMNS]
    for columns in _exact_covers(rest):
        joined = "_or_".join(each.name for each in columns[:3])
        group = _group(_free_name(joined, names), columns, named=False)
        if group is not None:
            yield group


def _free_name(name: str, names: set[str]) -> str:
    while name in names:
        name = f"{name}_group"
    return name


def _by_prefix(binary: Iterable[DataColumn]) -> list[tuple[str, tuple[DataColumn, ...]]]:
    """Return the columns with a common prefix, the largest sets first."""
    sets: dict[str, list[DataColumn]] = {}
    for each in binary:
        parts = SEPARATOR.split(each.name)
        for count in range(1, len(parts)):
            sets.setdefault("_".join(parts[:count]), []).append(each)
    several = [(prefix, tuple(each)) for prefix, each in sets.items() if len(each) > 1 and prefix]
    return sorted(several, key=lambda pair: (-len(pair[1]), -len(pair[0])))


def _group(name: str, columns: tuple[DataColumn, ...], *, named: bool) -> Group | None:
    values = np.column_stack([each.values for each in columns])
    valid: Mask = np.asarray(np.isfinite(values).all(axis=1))
    total = values.sum(axis=1)
    counted = int(valid.sum())
    if counted < FEWEST or not _is_telling(values[valid]):
        return None
    exactly: Mask = valid & (total == 1)
    if exactly.sum() >= EXACT * counted:
        return Group(name, columns, complete=True, judged=Judged(valid, exactly))
    at_most: Mask = valid & (total <= 1)
    if named and at_most.sum() >= EXACT * counted:
        return Group(name, columns, complete=False, judged=Judged(valid, at_most))
    return None


def _is_telling(values: Floats) -> bool:
    """Tell whether independent columns would often be set together."""
    shares = values.mean(axis=0)
    together = (shares.sum() ** 2 - (shares**2).sum()) / 2
    return bool(together * len(values) >= EXPECTED)


def _exact_covers(binary: Sequence[DataColumn]) -> Iterator[tuple[DataColumn, ...]]:
    """Yield sets of three or more columns of which each row sets one."""
    whole = [each for each in binary if np.isfinite(each.values).all()]
    if len(whole) < 3:
        return
    search = _CoverSearch(np.column_stack([each.values for each in whole]))
    taken: set[int] = set()
    for start in range(len(whole)):
        later = [at for at in range(start + 1, len(whole)) if at not in taken]
        cover = None if start in taken else search.cover((start,), later)
        if cover is not None:
            taken |= {*cover}
            yield tuple(whole[at] for at in cover)


class _CoverSearch:
    """Depth-first search for columns of which exactly one is set in each row."""

    def __init__(self, matrix: Floats) -> None:
        self.rows = len(matrix)
        self.counts = matrix.sum(axis=0)
        self.together = matrix.T @ matrix
        self.steps_left = MOST_STEPS

    def cover(self, chosen: tuple[int, ...], later: Sequence[int]) -> tuple[int, ...] | None:
        """Return columns that include the chosen ones and set every row once.

        Args:
            chosen: Columns that never are set together.
            later: Columns that may be added.
        """
        total = self.counts[[*chosen]].sum()
        if total == self.rows:
            return chosen if len(chosen) > 2 else None
        for place, at in enumerate(later):
            self.steps_left -= 1
            if self.steps_left < 0:
                return None
            apart = not any(self.together[at, each] for each in chosen)
            if apart and total + self.counts[at] <= self.rows:
                found = self.cover((*chosen, at), later[place + 1 :])
                if found is not None:
                    return found
        return None


UNIT = {"day": 365.0, "week": 52.0, "month": 12.0, "mth": 12.0, "year": 1.0, "yr": 1.0}
"""How many of a unit make a year."""
COUNTS_TIME = re.compile(
    r"(?:^|_)(?:age|tenure|seniority)(?:$|_)|since|(?:^|_)in_?file|minfile"
    r"|(?:^|_)(?:days|weeks|months|mths|years|yrs)_(?:at|in|on|with|of|as|employed|open|resident|experience)"
    r"|(?:account|credit|employment|job|customer|vehicle|oldest|newest)_?(?:age|length|tenure)"
)
NO_CLOCK = re.compile(
    r"group|band|bin|class|score|ratio|share|percent|pct|count|num(?:ber)?(?:_|$)"
)
MONTHS = re.compile(r"^m(?:ths?)?since|m(?:th)?s?_?in_?file")
FEWEST_TIMES = 10


def find_clock(table: DataTable) -> tuple[DataColumn, ...]:
    """Return the columns that count time by their names, the longest first.

    Rows of one day cannot show that columns pass together, so names alone suggest it.
    """
    columns = [
        each
        for each in table.numbers
        if each.distinct >= FEWEST_TIMES
        and float(each.levels[0]) >= 0
        and COUNTS_TIME.search(each.name)
        and not NO_CLOCK.search(each.name)
    ]
    return tuple(sorted(columns, key=lambda each: -each.levels[-1] / units_a_year(each)))


def units_a_year(column: DataColumn) -> float:
    """Return the number of units of a column in a year."""
    name = column.name
    if MONTHS.search(name):
        return UNIT["month"]
    for unit, count in UNIT.items():
        if unit in name:
            return count
    return 1.0 if column.levels[-1] <= 120 else 12.0


def clock_text(columns: tuple[DataColumn, ...]) -> str:
    """Return equations by which every column passes with the first one.

    A person keeps the difference between the two sides, which is the residual of the equation.
    """
    first, *others = columns
    lines = []
    for each in others:
        factor = units_a_year(each) / units_a_year(first)
        text = first.name
        if factor > 1:
            text = f"{factor:g} * {first.name}"
        elif factor < 1:
            text = f"{first.name} / {1 / factor:g}"
        lines.append(f"{each.name} = {text}")
    return "\n".join(lines)
