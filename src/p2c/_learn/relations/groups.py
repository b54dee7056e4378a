"""One-hot groups: columns of 0 and 1 of which exactly one is set in each row."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from p2c._learn.relations.verdict import FEWEST, Judged

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from p2c._learn.relations.columns import DataColumn, DataTable, Floats, Mask

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
