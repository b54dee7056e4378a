"""Columns in: a table's values as places on the axes, a column at a time, with what does not fit marked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from p2c._plan.compiled.axis import OFF
from p2c._spec.feature import Grid, Kind, Points
from p2c._spec.row import read_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from p2c._plan.compiled.axis import Axis
    from p2c._spec.feature import Feature, Value

    Whole = np.ndarray[Any, np.dtype[np.int64]]
    Column = np.ndarray[Any, np.dtype[Any]]

ASTRAY = -2
"""The code of a value off the grid: admissible, but to be looked at on its own."""
INVALID = -3
"""The code of a value that may not fit the feature, such as one out of its range: its row is read again on its own."""
WIDEST = 2**62
"""From how many places on a feature is too wide for arrays of whole numbers: its rows are looked at one by one."""
TRUTHS = frozenset({bool, np.bool_})
"""Types whose values equal 0 and 1, but stand for no number and no category."""


@dataclass(frozen=True, slots=True)
class Coded:
    """A column as numbers into a short list of values; -1 stands for a missing one."""

    numbers: Whole
    values: Sequence[Any]

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, row: Any) -> Any:
        number = self.numbers[row]
        return None if number < 0 else self.values[number]

    @classmethod
    def of(cls, values: Sequence[Any]) -> Coded:
        """Return a column of values, few of which differ."""
        known = {value: number for number, value in enumerate(dict.fromkeys(values))}
        return cls(np.array([known[value] for value in values], dtype=np.int64), tuple(known))

    def tolist(self) -> list[Any]:
        """Return the values themselves."""
        table = np.array([*self.values, None], dtype=object)
        found: list[Any] = table[self.numbers].tolist()
        return found


class Words:
    """A column of a few different texts, written by and by."""

    def __init__(self, size: int) -> None:
        self._numbers = np.zeros(size, dtype=np.int64)
        self._known = {"": 0}

    def __setitem__(self, rows: Any, text: str) -> None:
        self._numbers[rows] = self._known.setdefault(text, len(self._known))

    def coded(self) -> Coded:
        """Return the column."""
        texts = tuple(self._known)
        if self._numbers.all():
            return Coded(self._numbers - 1, texts[1:])
        return Coded(self._numbers, texts)


def encode(axis: Axis, column: Column | Coded) -> Whole:
    """Return the place of each value of a column; `OFF` for a missing one."""
    feature = axis.feature
    if max(axis.size, abs(feature.minimum), abs(feature.maximum)) >= WIDEST:
        return np.full(len(column), ASTRAY, dtype=object)
    if isinstance(column, Coded):
        table = np.array([*(_code(axis, raw) for raw in column.values), OFF], dtype=np.int64)
        return table[column.numbers]
    grid = feature.domain
    whole = feature.kind is Kind.INT and isinstance(grid, Grid)
    if whole and column.dtype.kind in "iu" and np.can_cast(column.dtype, np.int64):
        return _whole_places(feature, column.astype(np.int64))
    if whole and column.dtype.kind == "f":
        known = np.isfinite(column) & (column == np.floor(column)) & (np.abs(column) < 2**53)
        places = _whole_places(feature, np.where(known, column, 0).astype(np.int64))
        return np.where(known, places, np.where(np.isnan(column), OFF, INVALID))
    values = column.tolist()
    try:
        codes = {raw: _code(axis, raw) for raw in set(values)}
    except TypeError:  # something that cannot be hashed, and so is no value
        codes = {}
    if not codes or not TRUTHS.isdisjoint(map(type, values)):
        return np.array([_code(axis, raw) for raw in values], dtype=np.int64)
    return np.fromiter(map(codes.__getitem__, values), dtype=np.int64, count=len(values))


def _code(axis: Axis, raw: Any) -> int:
    try:
        value = read_value(axis.feature, raw)
    except ValueError:
        return INVALID
    if value is None:
        return OFF
    place = axis.feature.place(value)
    return ASTRAY if place is None else place


def _whole_places(feature: Feature, numbers: Whole) -> Whole:
    grid = feature.domain
    assert isinstance(grid, Grid)
    places, rest = np.divmod(numbers - int(grid.start), int(grid.step))
    inside = (numbers >= feature.minimum) & (numbers <= feature.maximum)
    on_grid = (rest == 0) & (places < grid.size)
    return np.where(inside, np.where(on_grid, places, ASTRAY), INVALID)


def decode(axis: Axis, places: Whole, own: Column | Coded) -> Column | Coded:
    """Return the values at some places; where there is no place, the own value if it is one.

    Whole numbers stay whole: where some are missing, they are objects in a column with None.
    """
    domain = axis.feature.domain
    astray = places < 0
    if isinstance(domain, Points) and axis.feature.is_listed:
        return Coded(np.where(astray, -1, places), domain.values)
    if axis.feature.kind is Kind.INT and isinstance(domain, Grid) and not astray.any():
        return places * int(domain.step) + int(domain.start)
    if axis.size <= 100_000:
        table = np.array([domain.value(place) for place in range(axis.size)], dtype=object)
        values = table[np.where(astray, 0, places)]
    else:
        values = np.array(
            [domain.value(int(place)) for place in np.where(astray, 0, places)], object
        )
    for row in np.flatnonzero(astray):
        values[row] = _own(axis, own[row])
    return values.astype(float) if axis.feature.kind is Kind.FLOAT else values


def _own(axis: Axis, raw: Any) -> Value:
    try:
        return read_value(axis.feature, raw)
    except ValueError:
        return None
