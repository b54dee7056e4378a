"""A scorecard as a plain table: a CSV of feature, from, to, points, whose sum is accepted from a score on.

    feature,from,to,points
    ,600,,400
    age,,30,10
    age,30,,55
    home,owner,,120
    home,,,80

A number is in the line where from <= number < to, an empty end being open; a category is named in `from`. A line with
neither is for missing values and for whatever no other line of the feature has. The line without a feature gives the
points that everybody has and, in `from`, the score from which on a row is accepted.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from p2c._spec.files import read_sheet
from p2c.errors import P2CError, and_more

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pandas as pd
    from numpy.typing import NDArray

    from p2c._learn.model.arrays import Floats

HEADER = ("feature", "from", "to", "points")


class PointsLine(NamedTuple):
    """A line of the file as it stands there."""

    number: int
    feature: str
    start: str
    stop: str
    points: str


@dataclass(frozen=True)
class FeaturePoints:
    """The lines of one feature: categories by name, or numbers from each start to the next."""

    column: str
    points: tuple[float, ...]
    otherwise: float | None
    starts: tuple[float, ...] = ()
    stops: tuple[float, ...] = ()
    names: tuple[str, ...] = ()

    @property
    def uppers(self) -> Floats:
        """Return the last float before each end of a line."""
        ends = np.array([*self.starts, *self.stops])
        return np.asarray(np.nextafter(np.unique(ends[np.isfinite(ends)]), -np.inf))

    def bins(self, values: Any) -> NDArray[np.int64]:
        """Return the line of each value, past the last where none has it."""
        rest = len(self.points)
        if not rest:
            return np.zeros(len(values), dtype=np.int64)
        if self.names:
            places = {name: place for place, name in enumerate(self.names)}
            return np.array([places.get(str(value), rest) for value in values], dtype=np.int64)
        numbers = np.asarray(values, dtype=np.float64)
        found = np.searchsorted(self.starts, numbers, side="right") - 1
        inside = (found >= 0) & (numbers < np.array(self.stops)[found])
        return np.where(inside, found, rest).astype(np.int64)

    def score(self, values: Any) -> Floats:
        """Return the points of each value, or say which has none."""
        bins = self.bins(values)
        if self.otherwise is None and (bins == len(self.points)).any():
            value = list(values)[int(np.flatnonzero(bins == len(self.points))[0])]
            raise P2CError(f"{self.column}: the scorecard has no line for {value!r}")
        return np.asarray(np.array([*self.points, self.otherwise or 0.0])[bins])


@dataclass(frozen=True)
class PointsTable:
    """A scorecard that can be asked as an estimator is; its classes are False and True."""

    parts: tuple[FeaturePoints, ...]
    base: float
    cutoff: float

    @cached_property
    def feature_names_in_(self) -> NDArray[Any]:
        """Return the columns that it reads."""
        return np.array([part.column for part in self.parts], dtype=object)

    @property
    def classes_(self) -> NDArray[np.bool_]:
        """Return refused and accepted."""
        return np.array([False, True])

    def score(self, rows: pd.DataFrame) -> Floats:
        """Return the points of each row."""
        total = np.full(len(rows), self.base)
        for part in self.parts:
            total += part.score(rows[part.column].tolist())
        return total

    def predict(self, rows: pd.DataFrame) -> NDArray[np.bool_]:
        """Tell of each row whether its points reach the cutoff."""
        return np.asarray(self.score(rows) >= self.cutoff)


def load_points(path: Path) -> PointsTable:
    """Read a scorecard from a CSV file."""
    sheet = read_sheet(path)
    if tuple(sheet.names) != HEADER:
        found = and_more(sheet.names)
        raise P2CError(f"{path}: expected the columns {', '.join(HEADER)}, found {found}")
    lines = [PointsLine(row.line, *map(str.strip, row.cells)) for row in sheet.rows]
    own = [line for line in lines if not line.feature]
    if len(own) != 1 or not own[0].start:
        raise P2CError(
            f"{path}: expected one line without a feature, with the score that is accepted in 'from'"
        )
    base, cutoff = (_number(path, own[0], text) for text in (own[0].points or "0", own[0].start))
    names = dict.fromkeys(line.feature for line in lines if line.feature)
    parts = [_part(path, [line for line in lines if line.feature == name]) for name in names]
    return PointsTable(tuple(parts), base, cutoff)


def _part(path: Path, lines: Sequence[PointsLine]) -> FeaturePoints:
    """Return the lines of one feature, which must not contradict each other."""
    rest = [line for line in lines if not line.start and not line.stop]
    if len(rest) > 1:
        raise _fault(path, rest[1], "a second line for all other values")
    otherwise = _number(path, rest[0], rest[0].points) if rest else None
    named = [line for line in lines if line not in rest]
    if named and all(not line.stop and not _is_number(line.start) for line in named):
        return _listed(path, named, otherwise)
    return _ranged(path, named, otherwise, name=lines[0].feature)


def _listed(path: Path, lines: Sequence[PointsLine], otherwise: float | None) -> FeaturePoints:
    texts = [line.start for line in lines]
    for place, line in enumerate(lines):
        if line.start in texts[:place]:
            raise _fault(path, line, f"a second line for {line.start!r}")
    points = tuple(_number(path, line, line.points) for line in lines)
    return FeaturePoints(lines[0].feature, points, otherwise, names=tuple(texts))


def _ranged(
    path: Path, lines: Sequence[PointsLine], otherwise: float | None, *, name: str
) -> FeaturePoints:
    spans = sorted(
        (
            _number(path, line, line.start or "-inf"),
            _number(path, line, line.stop or "inf"),
            line,
        )
        for line in lines
    )
    ends = [-np.inf, *(stop for _, stop, _ in spans)]
    starts = [*(start for start, *_ in spans), np.inf]
    for place, (stop, start) in enumerate(zip(ends, starts, strict=True)):
        if start < stop:
            raise _fault(path, spans[place][2], f"{start:g} is in another line too")
        if start > stop and otherwise is None:
            raise P2CError(
                f"{path}: {name!r} has no line from {stop:g} to {start:g}:"
                " add it, or one with neither end for all other values"
            )
    points = tuple(_number(path, line, line.points) for *_, line in spans)
    return FeaturePoints(name, points, otherwise, tuple(starts[:-1]), tuple(ends[1:]))


def _fault(path: Path, line: PointsLine, message: str) -> P2CError:
    return P2CError(f"{path}, line {line.number}: {line.feature!r}: {message}")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _number(path: Path, line: PointsLine, text: str) -> float:
    if not _is_number(text):
        raise _fault(path, line, f"expected a number, found {text!r}")
    return float(text)
