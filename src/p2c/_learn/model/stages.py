"""What each column of a model is of one feature of the table: the way through pipelines, and back from a column to the feature.

A stage is a point on the way of a row through a pipeline. It can be run, with the pipeline's own transformers, and knows
of each column which feature it comes from and how. So a bound in a column is found in the feature by bisection on the
transformer itself, to the very float.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from p2c._learn.model.floats import last_held
from p2c._learn.model.parts import Unreadable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from p2c._learn.model.arrays import Floats
    from p2c._learn.tables.view import ColumnView, View


FARTHEST = 40
"""How many doublings of a feature's range beyond its values bounds are looked for."""


class ColumnShape(Enum):
    """How a column follows its feature."""

    LISTED = "listed"
    """The feature is a category: its values are tried one by one."""
    MONOTONE = "monotone"
    """The column never turns back as the number grows."""
    STEPS = "steps"
    """The column is constant between the breaks."""
    CURVED = "curved"
    """The column goes up and down: it may have a weight, but no bound."""


@dataclass(frozen=True)
class StageColumn:
    """One column at a stage: the place of the feature that it comes from, None where it is constant.

    `affine` is its slope and offset where it is a straight line, `breaks` are the last numbers of each step but the last.
    """

    source: int | None
    shape: ColumnShape
    affine: tuple[Fraction, Fraction] | None = None
    breaks: tuple[float, ...] = ()
    tried: bool = False
    """Whether a transformer on the way is not known, so that this is only what trying it has shown."""


@dataclass(frozen=True, eq=False)
class Bench:
    """The rows on which transformers are tried: the table's own, and one row that others are variations of."""

    view: View
    frame: pd.DataFrame

    @cached_property
    def base(self) -> dict[Any, Any]:
        """Return one row in which, where the table allows, nothing is missing."""
        whole = self.frame.dropna()
        row = (whole if len(whole) else self.frame).iloc[0]
        found = {name: row[name] for name in self.frame.columns}
        for name, value in found.items():
            known = self.frame[name].dropna()
            if pd.isna(value) and len(known):
                found[name] = known.iloc[0]
        return found

    def gap(self, place: int) -> Any:
        """Return a missing value as the table writes it."""
        return self.view.columns[place].gap

    def vary(self, values: Sequence[Any | None]) -> pd.DataFrame:
        """Return rows in which each feature takes its given values, the base row's where it has none or no more."""
        count = max((len(each) for each in values if each is not None), default=1)
        columns = {}
        for column, given in zip(self.view.columns, values, strict=True):
            own = self.base[column.name]
            cells = [*([] if given is None else given)]
            columns[column.name] = self.typed(column, cells + [own] * (count - len(cells)))
        return pd.DataFrame(columns)

    def typed(self, column: ColumnView, cells: Any) -> pd.Series:
        """Return cells in the table's type; numbers stay wider where whole ones cannot hold them."""
        if column.dtype == object:
            return pd.Series(cells, dtype=object)
        if not column.is_number:
            words = pd.Series(cells)
            gone = column.dtype == bool and words.isna().any()
            return words.astype(np.float64 if gone else column.dtype)
        floats = pd.Series(cells, dtype=np.float64)
        kind = column.dtype
        if not pd.api.types.is_integer_dtype(kind):
            return floats.astype(kind)
        small = floats.abs().max() < 2**53 and bool((floats == floats.round()).all())
        return floats.astype(kind) if small and _fits(floats, kind) else floats

    @cached_property
    def ends(self) -> list[tuple[float, float]]:
        """Return the least and the greatest number of each feature, zeros where it is none."""
        numbers = [
            self.frame[each.name].dropna().to_numpy(dtype=np.float64)
            if each.is_number
            else np.zeros(1)
            for each in self.view.columns
        ]
        return [(float(each.min()), float(each.max())) for each in numbers]

    def varied(self, place: int) -> pd.Series:
        """Return different values of a feature: the table's, or numbers on all sides of the only one that it has."""
        column = self.view.columns[place]
        known = self.frame[column.name]
        alike = column.is_number and known.nunique() < 2
        return self.typed(column, self.ladder(place)) if alike else known

    def ladder(self, place: int) -> Floats:
        """Return numbers from far below the values of a feature to far above them, ascending."""
        low, high = self.ends[place]
        reach = max(high - low, abs(low), abs(high), 1.0) * 2.0 ** np.arange(FARTHEST)
        return np.concatenate([low - reach[::-1], np.linspace(low, high, 9), high + reach])


def _fits(floats: pd.Series, kind: Any) -> bool:
    try:
        limits = np.iinfo(str(kind).lower())
    except ValueError:
        return False
    return bool(floats.min() >= limits.min and floats.max() <= limits.max)


@dataclass(frozen=True, eq=False)
class Stage:
    """A point on the way through a pipeline: the columns there, and what brings rows of the table to it."""

    columns: tuple[StageColumn, ...]
    run: Callable[[pd.DataFrame], Any]
    bench: Bench
    beside: tuple[tuple[slice, Stage], ...] = ()
    """Stages whose columns stand side by side here, each in its place, where one can be run without the others."""
    is_first: bool = False
    """Whether no transformer stands before: columns are the table's."""

    def matrix(self, frame: pd.DataFrame) -> NDArray[Any]:
        """Return rows of the table as they are at this stage, as an array."""
        with np.errstate(all="ignore"):
            return dense(self.run(frame))

    @cached_property
    def is_sparse(self) -> bool:
        """Tell whether rows come as a sparse matrix at this stage."""
        return hasattr(self.run(self.bench.frame.head(2)), "toarray")

    def values(self, place: int, given: Any) -> NDArray[Any]:
        """Return the columns at this stage for some values of one feature."""
        values: list[Any] = [None] * len(self.bench.view.columns)
        values[place] = given
        return self.matrix(self.bench.vary(values))

    def pull_back(self, wanted: dict[int, Floats]) -> dict[int, Floats]:
        """Return for each column the last numbers of its feature at which the column is on one side of each bound.

        All columns are bisected at once. A bound that no number within reach crosses is left out.
        """
        if self.is_first:
            return {column: self._within_reach(column, each) for column, each in wanted.items()}
        jobs = [job for column, bounds in wanted.items() for job in self._brackets(column, bounds)]
        if not jobs:
            return {column: np.zeros(0) for column in wanted}
        columns, bounds, rising, low, high = map(np.array, zip(*jobs, strict=True))
        sources = np.array([self.columns[column].source for column in columns])
        queues = {source: np.flatnonzero(sources == source) for source in set(sources.tolist())}
        rows = np.empty(len(jobs), dtype=np.int64)
        for queue in queues.values():
            rows[queue] = np.arange(len(queue))

        def holds(at: Floats) -> NDArray[np.bool_]:
            values: list[Any] = [None] * len(self.bench.view.columns)
            for source, queue in queues.items():
                values[source] = at[queue]
            seen = self.matrix(self.bench.vary(values))[rows, columns].astype(np.float64)
            return np.asarray(np.where(rising, seen <= bounds, seen > bounds))

        found = last_held(holds, low, high)
        return {column: np.unique(found[columns == column]) for column in wanted}

    def _within_reach(self, place: int, bounds: Floats) -> Floats:
        source = self.columns[place].source
        assert source is not None
        ladder = self.bench.ladder(source)
        return np.asarray(bounds[(bounds >= ladder[0]) & (bounds < ladder[-1])])

    def _brackets(self, place: int, bounds: Floats) -> list[tuple[int, float, bool, float, float]]:
        """Return for each bound of a column two numbers of its feature between which the column crosses it."""
        column = self.columns[place]
        assert column.source is not None
        ladder, seen = self._seen(column.source)
        known = seen[:, place].astype(np.float64)
        ladder, known = ladder[~np.isnan(known)], known[~np.isnan(known)]
        if not len(known) or known[0] == known[-1]:
            return []
        rising = bool(known[-1] > known[0])
        jobs = []
        for bound in bounds:
            holds = known <= bound if rising else known > bound
            if holds[0] and not holds[-1]:
                last = int(np.flatnonzero(holds)[-1])
                jobs.append(
                    (place, float(bound), rising, float(ladder[last]), float(ladder[last + 1]))
                )
        return jobs

    @cached_property
    def _ladders(self) -> dict[int, tuple[Floats, NDArray[Any]]]:
        return {}

    def _seen(self, source: int) -> tuple[Floats, NDArray[Any]]:
        """Return the ladder of a feature and the columns along it, near the table's values where farther ones are refused."""
        if source not in self._ladders:
            ladder = self.bench.ladder(source)
            try:
                seen = self.values(source, ladder)
            except (ValueError, TypeError, OverflowError):
                ladder = np.linspace(*self.bench.ends[source], 9)
                seen = self.values(source, ladder)
            self._ladders[source] = ladder, seen
        return self._ladders[source]

    def then(self, run: Callable[[Any], Any], columns: Sequence[StageColumn]) -> Stage:
        """Return the stage behind a transformer."""
        return Stage(tuple(columns), lambda frame: run(self.run(frame)), self.bench)


def first_stage(view: View, frame: pd.DataFrame, names: Sequence[Any], run: Any) -> Stage:
    """Return the stage before any transformer: the columns that the model is given, as they are in the table."""
    by_name = {each.name: place for place, each in enumerate(view.columns)}
    places = [by_name.get(name) for name in names]
    if None in places:
        raise Unreadable(
            f"the table has no column {names[places.index(None)]!r}, which the model reads"
        )
    columns = [
        StageColumn(place, ColumnShape.MONOTONE, (Fraction(1), Fraction(0)))
        if view.columns[place].is_number
        else StageColumn(place, ColumnShape.LISTED)
        for place in places
        if place is not None
    ]
    return Stage(tuple(columns), run, Bench(view, frame), is_first=True)


def dense(table: Any) -> NDArray[Any]:
    """Return what a transformer gave, a frame, an array or a sparse matrix, as an array."""
    if hasattr(table, "toarray"):
        table = table.toarray()
    if isinstance(table, pd.DataFrame):
        if all(pd.api.types.is_numeric_dtype(kind) for kind in table.dtypes):
            return table.to_numpy(dtype=np.float64, na_value=np.nan)
        return table.astype(object).to_numpy()
    return np.asarray(table)
