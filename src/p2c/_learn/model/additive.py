"""A model that was read: a sum of tables, trees and lines over the features, each feature cut where the model cuts it.

Every value of a feature falls into one *cell*; within a cell no table and no tree can tell two values apart. A row is
then one cell number a feature, and the number itself where a line or a curve reads it.

The model accepts a row where every *margin* reaches its cut. A model of two classes has one margin, its score; one of
several classes has a margin against each rival: the score of the desired class less the rival's.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from p2c._learn.model.trees import Trees

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pandas as pd

    from p2c._learn.model.arrays import Floats
    from p2c._learn.model.blend import Blend

Cells = NDArray[np.int64]

ACCEPTED, REFUSED, UNSURE = 1, 0, -1
"""What `AdditiveScore.decide` says of a row; unsure rows are settled by asking the model."""


@dataclass(frozen=True, eq=False)
class ColumnCells:
    """The cells of one feature, as a model tells its values apart.

    A number `v` is in cell `i` where `uppers[i-1] < v <= uppers[i]`, above all of them in cell `len(uppers)`. Every
    comparison is exact: where a model asks `v < t`, the upper bound is the last float below `t`. A category is in cell
    `places[value]`. `missing` is the cell of a missing value, None where the model cannot be asked about one.
    """

    feature: str
    size: int
    uppers: Floats | None
    places: Mapping[str, int] = field(default_factory=dict)
    missing: int | None = None
    whole: bool = False
    """Whether the table has whole numbers only: the cell of any other number is unknown."""

    @property
    def is_number(self) -> bool:
        """Tell whether the values are numbers."""
        return self.uppers is not None

    def locate(self, values: Any) -> Cells:
        """Return the cell of each value, -1 where it is a category or a missing value that the model was not read for."""
        gone = -1 if self.missing is None else self.missing
        if self.uppers is None:
            return np.array([self._listed(value, gone) for value in values], dtype=np.int64)
        numbers = np.asarray(values, dtype=np.float64)
        cells = np.searchsorted(self.uppers, numbers, side="left").astype(np.int64)
        if self.whole:
            cells = np.where(numbers == np.floor(numbers), cells, -1)
        return np.where(np.isnan(numbers), gone, cells)

    def cell(self, value: Any) -> int:
        """Return the cell of one value, as `locate` does."""
        gone = -1 if self.missing is None else self.missing
        if self.uppers is None:
            return self._listed(value, gone)
        number = math.nan if value is None else float(value)
        if math.isnan(number):
            return gone
        if self.whole and math.isfinite(number) and not number.is_integer():
            return -1
        return bisect_left(self._uppers, number)

    @cached_property
    def _uppers(self) -> list[float]:
        return [] if self.uppers is None else self.uppers.tolist()

    def _listed(self, value: Any, gone: int) -> int:
        if value is None or value != value:  # noqa: PLR0124 - only NaN differs from itself
            return gone
        return self.places.get(str(value), -1)


@dataclass(frozen=True, eq=False)
class Table:
    """A value for every cell of one feature, or for every pair of cells of two: `values[cell, …, margin]`."""

    axes: tuple[int, ...]
    values: Floats

    def score(self, cells: Cells) -> Floats:
        """Return what the table adds to the margins of each row."""
        return np.asarray(self.values[tuple(cells[:, axis] for axis in self.axes)])


@dataclass(frozen=True, eq=False)
class ScoreLine:
    """A feature times a slope for each margin; a missing value adds nothing here, its share is in a table."""

    axis: int
    slope: Floats

    def of(self, numbers: Floats) -> Floats:
        """Return what numbers of the feature add to the margins."""
        return np.where(np.isnan(numbers), 0.0, numbers)[:, None] * self.slope

    def size(self, numbers: Floats) -> Floats:
        """Return how large the terms are that the model adds for each number."""
        return np.asarray(np.abs(self.of(numbers)).max(axis=1))


@dataclass(frozen=True, eq=False)
class Curve:
    """What a feature adds through a transformer that is no straight line, such as a logarithm.

    `apply` runs the model's own transformer, for so many `margins`. Within a cell a curve never turns.
    """

    axis: int
    apply: Callable[[Floats], Floats]
    margins: int
    sizes: Callable[[Floats], Floats]
    """How large the terms are that the model adds, which may cancel."""

    def of(self, numbers: Floats) -> Floats:
        """Return what numbers of the feature add to the margins; a missing one adds nothing here."""
        known = ~np.isnan(numbers)
        told = np.zeros((len(numbers), self.margins))
        if known.any():
            told[known] = self.apply(numbers[known])
        return told

    def size(self, numbers: Floats) -> Floats:
        """Return how large the terms are that the model adds for each number."""
        present = ~np.isnan(numbers)
        sizes = np.zeros(len(numbers))
        if present.any():
            sizes[present] = self.sizes(numbers[present])
        return sizes


@dataclass(frozen=True, eq=False)
class AdditiveScore:
    """A model as margins over cells: `bias` plus tables, trees, lines and curves.

    A row is accepted where every margin is at least `accepted_from`, refused where one is below `refused_below`. The two
    differ where the model's own way from score to answer rounds. Both are widened by `slack`: the most that the sum here
    and the model's own sum can differ by, in the model's precision. A slack of 0 says that every sum is exact.
    """

    axes: tuple[ColumnCells, ...]
    bias: Floats
    refused_below: Floats
    accepted_from: Floats
    tables: tuple[Table, ...] = ()
    trees: Trees = field(default_factory=Trees.none)
    lines: tuple[ScoreLine | Curve, ...] = ()
    rounding: float = 0.0
    """The relative error of a sum, in the model's precision."""
    blend: Blend | None = None
    """The total that decides; borders of margins are then necessary only."""
    magnitude: float = 0.0
    """The greatest sum of sizes that bias, tables and trees can come to, lines and curves not counted."""

    @property
    def margins(self) -> int:
        """Return how many margins must all be reached."""
        return len(self.bias)

    @cached_property
    def places(self) -> dict[str, int]:
        """Return the place of each feature among the axes."""
        return {axis.feature: place for place, axis in enumerate(self.axes)}

    def locate(self, table: pd.DataFrame) -> tuple[Cells, Floats]:
        """Return rows of features as cells and as numbers, the numbers of a category being NaN."""
        cells = np.empty((len(table), len(self.axes)), dtype=np.int64)
        numbers = np.full((len(table), len(self.axes)), np.nan)
        for place, axis in enumerate(self.axes):
            column = table[axis.feature]
            if axis.is_number:
                numbers[:, place] = column.to_numpy(dtype=np.float64, na_value=np.nan)
                cells[:, place] = axis.locate(numbers[:, place])
            else:
                cells[:, place] = axis.locate(column.tolist())
        return cells, numbers

    def score(self, cells: Cells, numbers: Floats | None = None) -> Floats:
        """Return the margins of each row; `numbers` are needed where there are lines or curves."""
        total = np.repeat(self.bias[None, :], len(cells), axis=0)
        for table in self.tables:
            total += table.score(cells)
        total += self.trees.score(cells)
        for line in self.lines:
            assert numbers is not None, "a model with lines is asked about numbers"
            total += line.of(numbers[:, line.axis])
        return total

    def slack(self, numbers: Floats | None = None) -> Floats:
        """Return for each row how far the model's own sum may be from ours; one figure for all where there are no lines."""
        if numbers is None or not self.lines:
            return np.full(1 if numbers is None else len(numbers), self.rounding * self.magnitude)
        size = np.full(len(numbers), self.magnitude)
        for line in self.lines:
            size += line.size(numbers[:, line.axis])
        return self.rounding * size

    def decide(self, cells: Cells, numbers: Floats | None = None) -> NDArray[np.int64]:
        """Return `ACCEPTED`, `REFUSED` or `UNSURE` for each row; a row with a value unknown to the reading is unsure."""
        known = (cells >= 0).all(axis=1)
        told = np.full(len(cells), UNSURE)
        if known.any():
            some = None if numbers is None else numbers[known]
            told[known] = self.ruling(self.score(cells[known], some), self.slack(some))
        return told

    def ruling(self, margins: Floats, slack: Floats) -> NDArray[np.int64]:
        """Return `ACCEPTED`, `REFUSED` or `UNSURE` for rows of known margins and slack."""
        if self.blend is not None:
            least, most = self.blend.bounds(margins, slack)
            refused = np.where(most < self.blend.low, REFUSED, UNSURE)
            return np.where(least >= self.blend.high, ACCEPTED, refused)
        sure = (margins >= self.accepted_from + slack[:, None]).all(axis=1)
        never = (margins < self.refused_below - slack[:, None]).any(axis=1)
        return np.where(sure, ACCEPTED, np.where(never, REFUSED, UNSURE))
