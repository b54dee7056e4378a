"""Who belongs together: people divided by the values of columns, or by bands of numbers, and by two of them at a time."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from p2c.errors import P2CError, words_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Rows = np.ndarray[Any, np.dtype[np.bool_]]
    Codes = np.ndarray[Any, np.dtype[np.int64]]

MOST = 30
"""How many values a column may have that people are divided by without bands."""
NUMBER = r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?"
BAND = re.compile(rf"(?P<sign><=|>=|<|>)(?P<edge>{NUMBER})|(?P<low>{NUMBER})-(?P<high>{NUMBER})")
UNKNOWN, ELSEWHERE = "unknown", "elsewhere"


@dataclass(frozen=True, slots=True)
class Band:
    """Numbers between two ends, each of which belongs to it where it is closed."""

    text: str
    low: float
    high: float
    closed: tuple[bool, bool]

    def holds(self, numbers: Any) -> Rows:
        """Tell which numbers lie in the band."""
        above = numbers >= self.low if self.closed[0] else numbers > self.low
        below = numbers <= self.high if self.closed[1] else numbers < self.high
        found: Rows = above & below
        return found


@dataclass(frozen=True, slots=True)
class Division:
    """A column by which people are divided, in bands where there are any."""

    column: str
    bands: tuple[Band, ...] = ()

    @property
    def text(self) -> str:
        """Return the division as it is written."""
        return (
            f"{self.column}:{','.join(b.text for b in self.bands)}" if self.bands else self.column
        )


@dataclass(frozen=True, slots=True)
class Group:
    """Some of the people: the traits that they share, none for everybody, and which rows they are."""

    traits: tuple[tuple[str, str], ...]
    rows: Rows

    @property
    def name(self) -> str:
        """Return the traits as text."""
        return ", ".join(f"{column}: {value}" for column, value in self.traits)


def read_divisions(by: str | Sequence[str]) -> tuple[Division, ...]:
    """Return how people are to be divided: `sex`, or `age:<30,30-50,>50`.

    >>> [band.text for band in read_divisions("age:<30,30-50,>50")[0].bands]
    ['<30', '30-50', '>50']
    """
    texts = words_of(by, "by: expected columns such as 'sex' or 'age:<30,30-50,>50'")
    found = tuple(_division(text) for text in texts)
    names = [each.column for each in found]
    for name in names:
        if names.count(name) > 1:
            raise P2CError(f"by: '{name}' is given {names.count(name)} times; give it once")
    return found


def _division(text: str) -> Division:
    column, colon, rest = text.partition(":")
    if not colon:
        return Division(text)
    bands = tuple(_band(text, part.strip()) for part in rest.split(","))
    for one, other in combinations(bands, 2):
        low, high = max(one.low, other.low), min(one.high, other.high)
        shared = one.holds(np.array([low, high])) & other.holds(np.array([low, high]))
        if low < high or (low == high and shared.all()):
            raise P2CError(f"by: {column}: '{one.text}' and '{other.text}' overlap")
    return Division(column, bands)


def _band(text: str, part: str) -> Band:
    match = BAND.fullmatch(part)
    if match is None:
        raise P2CError(f"by: {text}: expected bands such as <30,30-50,>50, found '{part}'")
    if match["sign"]:
        edge, closed = float(match["edge"]), "=" in match["sign"]
        if match["sign"][0] == "<":
            return Band(part, -np.inf, edge, (False, closed))
        return Band(part, edge, np.inf, (closed, False))
    low, high = float(match["low"]), float(match["high"])
    if low > high:
        raise P2CError(f"by: {text}: '{part}' ends below its start")
    return Band(part, low, high, (True, True))


def divide(
    divisions: Sequence[Division], columns: Mapping[str, Sequence[Any]], size: int
) -> list[Group]:
    """Return everybody, the groups of each division, and those of each two divisions that have anybody in them."""
    everybody = Group((), np.ones(size, dtype=bool))
    parts = [list(_groups(each, columns[each.column])) for each in divisions]
    pairs = [
        Group((*one.traits, *other.traits), one.rows & other.rows)
        for first, second in combinations(parts, 2)
        for one in first
        for other in second
    ]
    return [
        everybody,
        *(each for part in parts for each in part),
        *(p for p in pairs if p.rows.any()),
    ]


def _groups(division: Division, column: Sequence[Any]) -> Iterator[Group]:
    if division.bands:
        yield from _banded(division, column)
        return
    names = np.array([_name(each) for each in column], dtype=object)
    values, codes = np.unique(names.astype(str), return_inverse=True)
    if len(values) > MOST:
        raise P2CError(
            f"by: {division.column} has {len(values)} different values, at most {MOST} make groups;"
            f" numbers can be put into bands, such as {division.column}:<30,30-50,>50"
        )
    for number, value in enumerate(values.tolist()):
        yield Group(((division.column, value),), codes == number)


def _banded(division: Division, column: Sequence[Any]) -> Iterator[Group]:
    told = [_number(division, row, each) for row, each in enumerate(column, start=1)]
    numbers = np.array(told, dtype=float)
    rest = ~np.isnan(numbers)
    for band in division.bands:
        rows = band.holds(numbers)
        rest &= ~rows
        yield Group(((division.column, band.text),), rows)
    for name, rows in ((ELSEWHERE, rest), (UNKNOWN, np.isnan(numbers))):
        if rows.any():
            yield Group(((division.column, name),), rows)


def _name(value: Any) -> str:
    return UNKNOWN if is_missing(value) else str(value).strip() or UNKNOWN


def is_missing(value: Any) -> bool:
    """Tell whether a value of any library stands for none."""
    if isinstance(value, float):
        return bool(np.isnan(value))
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def _number(division: Division, row: int, value: Any) -> float:
    try:
        return np.nan if _name(value) == UNKNOWN else float(value)
    except (TypeError, ValueError):
        raise P2CError(
            f"by: {division.column}: bands need numbers, found {str(value)[:60]!r} in row {row}"
        ) from None
