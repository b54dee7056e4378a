"""Columns as codes: every distinct value once, numbers ascending and then strings sorted, and a small integer a row.

All that the learner does afterwards is count these integers, so a value is compared and hashed only here.
"""

from __future__ import annotations

import math
import numbers
import re
from bisect import bisect_left
from collections import defaultdict
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cached_property
from itertools import accumulate
from math import ceil, log2
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils import check_array

from p2c._learn.foldse.literals import MISSING, LearnedLiteral, Relation, predicate_name

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence


Rows = NDArray[np.intp]
Mask = NDArray[np.bool_]

NUMERIC_OBJECTS = frozenset({"integer", "floating", "mixed-integer-float"})


@dataclass(frozen=True, slots=True, eq=False)
class CodedColumn:
    """A coded column: code c is the c-th number, or past the numbers the string at c minus their count."""

    codes: NDArray[Any]
    numbers: NDArray[np.float64]
    strings: tuple[str, ...]

    @property
    def size(self) -> int:
        """Return the number of distinct values."""
        return len(self.numbers) + len(self.strings)

    def value(self, code: int) -> float | str:
        """Return the value that a code stands for."""
        count = len(self.numbers)
        return float(self.numbers[code]) if code < count else self.strings[code - count]

    def code(self, value: float | str) -> int:
        """Return the code of a value, or the one that it would have in its place."""
        if isinstance(value, str):
            return len(self.numbers) + bisect_left(self.strings, value)
        return int(np.searchsorted(self.numbers, value))

    def holds(self, literal: LearnedLiteral, rows: Rows | None = None) -> Mask:
        """Tell for each row, or each of `rows`, whether the literal holds."""
        codes = self.codes if rows is None else self.codes[rows]
        return np.asarray(self._plain_holds(literal, codes) != literal.negated)

    def _plain_holds(self, literal: LearnedLiteral, codes: NDArray[Any]) -> Mask:
        count = len(self.numbers)
        if literal.relation is Relation.EQUAL:
            code = self.code(literal.value)
            if code == self.size or self.value(code) != literal.value:
                return np.zeros(len(codes), dtype=bool)
            return np.asarray(codes == code)
        bound = int(np.searchsorted(self.numbers, literal.value, side="right"))
        if literal.relation is Relation.AT_MOST:
            return np.asarray(codes < bound)
        return np.asarray((codes >= bound) & (codes < count))


def encode(values: Any) -> CodedColumn:
    """Code one column of a frame or an array.

    Numbers stay numbers, everything else becomes a string: truth values and dates as Python writes them, a missing
    value as ''.
    """
    dtype = values.dtype
    if isinstance(dtype, np.dtype) and dtype.kind in "iuf":
        return _encode_numbers(np.asarray(values, dtype=np.float64))
    if isinstance(dtype, np.dtype) and dtype.kind in "bU":
        return _encode_objects(np.asarray(values, dtype=object))
    series = values if isinstance(values, pd.Series) else pd.Series(values, copy=False)
    if isinstance(dtype, pd.CategoricalDtype):
        return _encode_categories(series)
    if isinstance(dtype, pd.StringDtype):
        return _encode_objects(series.to_numpy(dtype=object))
    if pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_bool_dtype(dtype):
        return _encode_numbers(series.to_numpy(dtype=np.float64, na_value=np.nan))
    cells = series.to_numpy(dtype=object)
    if pd.api.types.infer_dtype(cells, skipna=True) in NUMERIC_OBJECTS:
        return _encode_numbers(np.where(pd.isna(cells), np.nan, cells).astype(np.float64))
    return _encode_objects(cells)


def _encode_numbers(values: NDArray[np.float64]) -> CodedColumn:
    distinct, codes = np.unique(values + 0.0, return_inverse=True)
    missing = bool(len(distinct)) and bool(np.isnan(distinct[-1]))
    known = distinct[: len(distinct) - missing]
    small = codes.reshape(-1).astype(_code_type(len(distinct)))
    return _finite(CodedColumn(small, known, (MISSING,) if missing else ()))


def _encode_categories(series: pd.Series) -> CodedColumn:
    places = series.cat.codes.to_numpy()
    categories = np.append(series.cat.categories.to_numpy(dtype=object), [None])
    present = np.unique(places)
    column = _encode_objects(categories[present])
    ranks = np.zeros(len(categories), dtype=column.codes.dtype)
    ranks[present] = column.codes
    return CodedColumn(ranks[places], column.numbers, column.strings)


def _encode_objects(cells: NDArray[Any]) -> CodedColumn:
    try:
        places, distinct = _first_places(cells)
        if not {0, 1}.isdisjoint(distinct):
            # Python has True == 1; here one is a string and the other a number.
            cells = np.array(
                [str(cell) if isinstance(cell, bool) else cell for cell in cells], dtype=object
            )
            places, distinct = _first_places(cells)
    except TypeError as error:
        raise TypeError(f"argument must be a string or a number: {error}") from None
    plain = [_plain(cell) for cell in distinct]
    found = sorted({value for value in plain if isinstance(value, float)})
    strings = sorted({value for value in plain if isinstance(value, str)})
    order = {value: rank for rank, value in enumerate([*found, *strings])}
    ranks = np.array([order[value] for value in plain], dtype=_code_type(len(order)))
    return _finite(
        CodedColumn(ranks[places], np.array(found, dtype=np.float64) + 0.0, tuple(strings))
    )


def _first_places(cells: NDArray[Any]) -> tuple[NDArray[np.intp], list[Any]]:
    """Return the distinct cells as they first occur, and for each cell its place among them."""
    places: defaultdict[Any, int] = defaultdict()
    places.default_factory = places.__len__
    coded = np.fromiter(map(places.__getitem__, cells), np.intp, len(cells))
    return coded, list(places)


def _plain(value: object) -> float | str:
    match value:
        case str():
            return value
        case bool() | np.bool_():
            return str(value)
        case None:
            return MISSING
        case numbers.Real() | Decimal():
            number = float(value)
            return MISSING if math.isnan(number) else number
        case _ if value is pd.NaT or value is pd.NA:
            return MISSING
        case date():
            return str(value)
        case _:
            raise TypeError(
                f"argument must be a string or a number, not {type(value).__name__!r}: no rule can be about it"
            )


def _finite(column: CodedColumn) -> CodedColumn:
    if not np.isfinite(column.numbers).all():
        raise ValueError("Input X contains infinity: a threshold must be a finite number")
    return column


def _code_type(size: int) -> np.dtype[Any]:
    return np.min_scalar_type(max(size - 1, 0))


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


EXCEPTION_NAME = re.compile(r"ab\d+")
PRECISION = 40
"""The sum of the weights of all rows is at most two to this power steps, far below where sums of floats begin to round."""


def as_table(X: Any) -> Any:
    """Return a frame as it is and anything else as an array of two dimensions, without mixing up its types."""
    if isinstance(X, pd.DataFrame):
        if not X.shape[0] or not X.shape[1]:
            raise ValueError(
                f"Found array with {X.shape[0]} sample(s) and {X.shape[1]} feature(s) "
                f"(shape={X.shape}) while a minimum of 1 is required."
            )
        return X
    if isinstance(X, list | tuple):
        # Left to itself, numpy makes strings of the numbers that stand beside strings.
        X = np.array(X, dtype=object)
    return check_array(X, dtype=None, ensure_all_finite="allow-nan")


def encode_table(
    table: Any, names: Sequence[str], *, needed: Collection[str] | None = None
) -> dict[str, CodedColumn]:
    """Code the columns of a table, all of them or those that are needed."""
    columns = (each for _, each in table.items()) if isinstance(table, pd.DataFrame) else table.T
    pairs = zip(names, columns, strict=True)
    return {name: encode(column) for name, column in pairs if needed is None or name in needed}


def check_names(names: Sequence[str], *, target: str) -> None:
    """Refuse columns that a program about the target could not tell apart."""
    owners = {predicate_name(target): "the target"}
    for name in names:
        predicate = predicate_name(name)
        if EXCEPTION_NAME.fullmatch(predicate):
            raise ValueError(f"column {name!r} has the name of an exception: rename it")
        if predicate in owners:
            other = owners[predicate]
            raise ValueError(f"column {name!r} and {other} are both called {predicate}: rename one")
        owners[predicate] = f"column {name!r}"


def read_weights(given: Any, count: int) -> Weights | None:
    """Return a weight for each row, a multiple of one power of two; None where all rows count alike.

    With exact sums the order of the rows cannot change a score, and a row of weight 3 is the same as three rows.
    """
    if given is None:
        return None
    weights = np.asarray(given, dtype=np.float64)
    if weights.shape != (count,):
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(count,)}!")
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError("sample_weight: a weight is a finite number that is not negative")
    total = float(weights.sum())
    if not total:
        raise ValueError("sample_weight: all weights are zero, so there is nothing to learn from")
    step = 2.0 ** (ceil(log2(total)) - PRECISION)
    return np.asarray(np.round(weights / step) * step)
