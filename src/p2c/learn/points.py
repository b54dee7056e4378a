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
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from p2c.errors import P2CError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

HEADER = ("feature", "from", "to", "points")

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Part:
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
        return np.nextafter(np.unique(ends[np.isfinite(ends)]), -np.inf)

    def bins(self, values: Any) -> NDArray[np.int64]:
        """Return the line of each value, past the last where none has it."""
        rest = len(self.points)
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
        return np.array([*self.points, self.otherwise or 0.0])[bins]


@dataclass(frozen=True)
class PointsTable:
    """A scorecard that can be asked as an estimator is; its classes are False and True."""

    parts: tuple[Part, ...]
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
    try:
        table = pd.read_csv(path, dtype=str, keep_default_na=False, skipinitialspace=True)
    except (OSError, ValueError, pd.errors.ParserError) as error:
        raise P2CError(f"{path}: cannot be read: {' '.join(str(error).split())}") from None
    table.columns = table.columns.str.strip()
    if tuple(table.columns) != HEADER:
        found = ", ".join(map(str, table.columns))
        raise P2CError(f"{path}: expected the columns {', '.join(HEADER)}, found {found}")
    lines = [
        (place + 2, *(str(cell).strip() for cell in row))
        for place, row in enumerate(table.itertuples(index=False))
    ]
    own = [line for line in lines if not line[1]]
    if len(own) != 1 or not own[0][2]:
        raise P2CError(
            f"{path}: expected one line without a feature, with the score that is accepted in 'from'"
        )
    names = list(dict.fromkeys(str(line[1]) for line in lines if line[1]))
    parts = [_part(path, name, [line for line in lines if line[1] == name]) for name in names]
    _, _, cutoff, _, base = own[0]
    return PointsTable(tuple(parts), _number(path, own[0][0], base or "0"), _number(path, own[0][0], cutoff))


def _part(path: Path, name: str, lines: Sequence[tuple[Any, ...]]) -> Part:
    points = {line[0]: _number(path, line[0], line[4]) for line in lines}
    rest = [line for line in lines if not line[2] and not line[3]]
    if len(rest) > 1:
        raise P2CError(f"{path}, line {rest[1][0]}: a second line of {name!r} for all other values")
    otherwise = points[rest[0][0]] if rest else None
    named = [line for line in lines if line[2] or line[3]]
    if named and all(not line[3] and not _is_number(line[2]) for line in named):
        texts = [line[2] for line in named]
        twice = [line for line in named if texts.count(line[2]) > 1]
        if twice:
            raise P2CError(f"{path}, line {twice[1][0]}: {name!r} has two lines for {twice[1][2]!r}")
        return Part(name, tuple(points[line[0]] for line in named), otherwise, names=tuple(texts))
    spans = sorted(
        (_number(path, line[0], line[2] or "-inf"), _number(path, line[0], line[3] or "inf"), line[0])
        for line in named
    )
    for (_, stop, _), (start, _, line) in zip(spans, spans[1:], strict=False):
        if start < stop:
            raise P2CError(f"{path}, line {line}: {start:g} of {name!r} is in another line too")
    return Part(
        name,
        tuple(points[line] for *_, line in spans),
        otherwise,
        starts=tuple(start for start, *_ in spans),
        stops=tuple(stop for _, stop, _ in spans),
    )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _number(path: Path, line: int, text: str) -> float:
    if not _is_number(text):
        raise P2CError(f"{path}, line {line}: expected a number, found {text!r}")
    return float(text)
