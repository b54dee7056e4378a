"""Columns of a table as arrays: numbers as they are, words as codes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import narwhals as nw
import numpy as np

from p2c._learn.relations.relation import Example
from p2c.errors import P2CError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Mask: TypeAlias = NDArray[np.bool_]

PLAIN_NAME = re.compile(r"[a-z_][a-z0-9_]*")
"""Names that equations can refer to."""
MOST_DECIMALS = 6
MOST_WORDS = 60
"""Maximum number of distinct words in a column that relations are sought for."""
SAMPLE = 4_000
"""Number of rows on which candidates are screened."""
SINGLE_PRECISION = 1e-6
"""Relative error of a number that was stored in single precision."""
DOUBLE_PRECISION = 1e-9
CODES = frozenset({-1.0, -2.0, -7.0, -8.0, -9.0, -99.0, -999.0, -9999.0})
"""Codes of missing values, in columns without other negative numbers."""
MOST_CODES = 3
FAR = 10
"""Least ratio of a code of nines to the greatest other value."""


@dataclass(frozen=True, eq=False)
class DataColumn:
    """One column.

    Attributes:
        name: The feature that the column becomes.
        values: The numbers, or the index of each word; NaN for a missing value and for a code of one.
        words: The distinct words; None for a column of numbers.
        place: Position of the column in the table.
    """

    name: str
    values: Floats
    words: tuple[str, ...] | None
    place: int

    @cached_property
    def _counts(self) -> tuple[Floats, NDArray[np.intp]]:
        present = self.values[np.isfinite(self.values)]
        return np.unique(present, return_counts=True)

    @property
    def levels(self) -> Floats:
        """Return the distinct values, ascending."""
        return self._counts[0]

    @property
    def distinct(self) -> int:
        """Return the number of distinct values."""
        return len(self._counts[0])

    @cached_property
    def mode(self) -> float:
        """Return the most frequent value."""
        levels, counts = self._counts
        return float(levels[np.argmax(counts)])

    @property
    def is_number(self) -> bool:
        """Tell whether the column holds numbers."""
        return self.words is None

    @cached_property
    def is_whole(self) -> bool:
        """Tell whether all numbers are whole."""
        return self.is_number and bool((self.levels == np.round(self.levels)).all())

    @cached_property
    def is_binary(self) -> bool:
        """Tell whether the column holds only 0 and 1."""
        return self.is_number and self.levels.tolist() == [0.0, 1.0]

    @cached_property
    def half_unit(self) -> float | None:
        """Return half a unit of the last decimal.

        Returns:
            None for numbers with more than six decimals.
        """
        for count in range(MOST_DECIMALS + 1):
            if np.isclose(np.round(self.levels, count), self.levels, rtol=0, atol=1e-9).all():
                return float(0.5 * 10**-count)
        return None

    def tolerance(self, predicted: Floats) -> Floats:
        """Return the error up to which a number equals the rounded prediction."""
        if self.half_unit is None:
            return SINGLE_PRECISION * np.abs(predicted) + 1e-12
        return self.half_unit * (1 + 1e-6) + DOUBLE_PRECISION * np.abs(predicted)

    def at(self, rows: NDArray[np.intp]) -> Floats:
        """Return the values of a few rows."""
        return self.values[rows]

    def cell(self, row: int) -> Any:
        """Return one value as a row has it."""
        value = self.values[row]
        if not np.isfinite(value):
            return None
        if self.words is not None:
            return self.words[int(value)]
        return int(value) if float(value).is_integer() else float(value)


@dataclass(frozen=True, eq=False)
class DataTable:
    """The usable columns of a table, and the rows to screen candidates on."""

    columns: tuple[DataColumn, ...]
    rows: int
    screened: NDArray[np.intp]

    @cached_property
    def numbers(self) -> tuple[DataColumn, ...]:
        """Return the columns of numbers."""
        return tuple(each for each in self.columns if each.is_number)

    def examples(
        self, columns: Iterable[DataColumn], against: Mask, most: int
    ) -> tuple[Example, ...]:
        """Return the first rows of a mask with the values of a few columns."""
        named = tuple(columns)
        places = np.flatnonzero(against)[:most].tolist()
        return tuple(
            Example(place + 1, tuple((each.name, each.cell(place)) for each in named))
            for place in places
        )


def read_table(
    frame: Any, names: dict[str, str], *, seed: int, any_name: bool = False
) -> DataTable:
    """Return the columns of a frame as arrays.

    Columns of one value, of dates and of more than 60 words are left out, and so are those whose name equations cannot
    refer to.

    Args:
        frame: A pandas, polars or other eager frame.
        names: The feature of each column.
        seed: Random seed for the rows to screen on.
        any_name: Whether columns stay whose name equations cannot refer to.

    Raises:
        P2CError: The frame is no table, or has no rows.
    """
    table = nw.from_native(frame, pass_through=True, eager_only=True)
    if not isinstance(table, nw.DataFrame):
        raise P2CError(f"expected a table of rows, found a {type(frame).__name__}")
    if not len(table):
        raise P2CError("the table has no rows: relations are found in rows")
    columns = []
    for place, column in enumerate(table.columns):
        name = names.get(str(column), "")
        if PLAIN_NAME.fullmatch(name) or (any_name and name):
            read = _read_column(name, table.get_column(column), place)
            if read is not None and read.distinct > 1:
                columns.append(read)
    count = min(SAMPLE, len(table))
    rows = np.sort(np.random.default_rng(seed).permutation(len(table))[:count])
    return DataTable(tuple(columns), len(table), rows)


def _read_column(name: str, series: nw.Series[Any], place: int) -> DataColumn | None:
    if series.dtype.is_temporal():
        return None
    if series.dtype.is_numeric() or series.dtype == nw.Boolean:
        numbers = series.cast(nw.Float64).to_numpy().astype(np.float64)
        return DataColumn(name, _without_codes(numbers), None, place)
    gone = series.is_null().to_list()
    cells = [None if no else each for each, no in zip(series.to_list(), gone, strict=True)]
    present = [each for each in cells if each is not None]
    if present and all(isinstance(each, bool) for each in present):
        return DataColumn(name, _booleans(cells), None, place)
    distinct = sorted({str(each) for each in present} - {""})
    if len(distinct) > MOST_WORDS:
        return None
    index = {word: float(at) for at, word in enumerate(distinct)}
    codes = [index.get(str(each), np.nan) if each is not None else np.nan for each in cells]
    return DataColumn(name, np.array(codes, dtype=np.float64), tuple(distinct), place)


def _booleans(cells: list[Any]) -> Floats:
    known = (float(each) if isinstance(each, bool) else np.nan for each in cells)
    return np.fromiter(known, dtype=np.float64, count=len(cells))


def _without_codes(values: Floats) -> Floats:
    """Replace codes of missing values by NaN.

    A code is a number such as -9 among counts, or 999999 far above all others.
    """
    levels = np.unique(values[np.isfinite(values)])
    if not len(levels):
        return values
    negative = set(levels[levels < 0].tolist())
    codes = negative if negative <= CODES and len(negative) <= MOST_CODES else set()
    rest = levels[levels >= 0]
    if len(rest) > 2 and _is_nines(rest[-1]) and rest[-1] > FAR * max(rest[-2], 1.0):
        codes = {*codes, float(rest[-1])}
    missing = np.isin(values, list(codes)) | ~np.isfinite(values)
    return np.where(missing, np.nan, values)


def _is_nines(value: float) -> bool:
    return set(str(int(value))) == {"9"}
