"""Columns laid out for counting: how many of some rows have each value, for all features in one pass.

The columns that have few distinct values lie side by side in one grid, each wide one in a grid of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from p2c._learn.foldse.columns import CodedColumn, Rows

Counts = NDArray[Any]
"""How many rows there are of each value or, where rows have weights, how much they weigh."""
Weights = NDArray[np.float64]

NARROW = 4_096
BLOCK = 1 << 18
WORTH_KEEPING = 8
"""How many rows for each distinct value make the counts of a column small beside the column."""


@dataclass(frozen=True, slots=True, eq=False)
class CountGrid:
    """Columns side by side: a row of `slots` holds, for each column, the place of its value in the order of trial.

    Column c owns the slots from `starts[c]` on, of which those before `ends_of_numbers[c]` are numbers.
    """

    features: tuple[str, ...]
    ranks: tuple[int, ...]
    columns: tuple[CodedColumn, ...]
    slots: NDArray[Any]
    starts: NDArray[np.intp]
    ends_of_numbers: NDArray[np.intp]
    owners: NDArray[np.intp]

    @property
    def size(self) -> int:
        """Return the number of slots."""
        return len(self.owners)

    def tally(self, rows: Rows, weights: Weights | None = None) -> Counts:
        """Count how many of the rows have each value, or how much they weigh."""
        step = max(BLOCK, self.size)
        counts = self._tally_block(rows[:step], weights)
        for start in range(step, len(rows), step):
            counts += self._tally_block(rows[start : start + step], weights)
        return counts

    def _tally_block(self, rows: Rows, weights: Weights | None) -> Counts:
        slots = self.slots[rows].ravel()
        if weights is None:
            return np.bincount(slots, minlength=self.size)
        each = np.repeat(weights[rows], len(self.columns))
        return np.bincount(slots, weights=each, minlength=self.size)


class Examples:
    """Rows of one side, positive or negative, that remember their counts."""

    def __init__(
        self, grids: Sequence[CountGrid], rows: Rows, weights: Weights | None = None
    ) -> None:
        self.grids = grids
        self.rows = rows
        self.weights = weights
        self._tallies: dict[int, Counts] = {}

    @cached_property
    def weight(self) -> float:
        """Return how many there are, or how much they weigh."""
        return len(self.rows) if self.weights is None else float(self.weights[self.rows].sum())

    def __len__(self) -> int:
        return len(self.rows)

    def keep(self, mask: NDArray[np.bool_]) -> Examples:
        """Return the examples where the mask holds."""
        return Examples(self.grids, self.rows[mask], self.weights)

    def tally(self, place: int) -> Counts:
        """Return the counts of one grid; those of a wide column, near as large as the column, are not kept."""
        if place in self._tallies:
            return self._tallies[place]
        grid = self.grids[place]
        counts = grid.tally(self.rows, self.weights)
        if len(grid.columns) > 1 or WORTH_KEEPING * len(counts) <= len(grid.slots):
            self._tallies[place] = counts
        return counts


def trial_order(columns: Mapping[str, CodedColumn]) -> list[str]:
    """Put the features that are strings throughout first, then those with numbers, each group as the data has them.

    A feature that mixes numbers with strings or missing values counts among the numbers, as the authors of the
    algorithm group it: their open learners try the categories first and then "numerical and mixed-type features".
    """
    return sorted(columns, key=lambda feature: len(columns[feature].numbers) > 0)


def build_grids(columns: Mapping[str, CodedColumn]) -> list[CountGrid]:
    """Lay the columns out in grids, in the order of trial."""
    order = trial_order(columns)
    narrow = [rank for rank, feature in enumerate(order) if columns[feature].size <= NARROW]
    wide = [rank for rank, feature in enumerate(order) if columns[feature].size > NARROW]
    groups = [narrow, *([rank] for rank in wide)]
    return [_build_grid(columns, order, group) for group in groups if group]


def _build_grid(
    columns: Mapping[str, CodedColumn], order: Sequence[str], ranks: Sequence[int]
) -> CountGrid:
    features = tuple(order[rank] for rank in ranks)
    members = tuple(columns[feature] for feature in features)
    starts = np.array([0, *accumulate(column.size for column in members)], dtype=np.intp)
    if len(members) == 1:
        slots = members[0].codes.reshape(-1, 1)
    else:
        kind = np.min_scalar_type(int(starts[-1]))
        slots = np.empty((len(members[0].codes), len(members)), dtype=kind)
        for place, column in enumerate(members):
            slots[:, place] = column.codes
            slots[:, place] += kind.type(starts[place])
    owners = np.repeat(np.arange(len(members)), np.diff(starts))
    if len(members) == 1:
        owners = np.broadcast_to(np.intp(0), members[0].size)
    ends = starts[:-1] + np.array([len(column.numbers) for column in members], dtype=np.intp)
    return CountGrid(features, tuple(ranks), members, slots, starts[:-1], ends, owners)
