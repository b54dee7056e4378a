"""What each feature adds to a model's score by itself, and what is left to those parts that read several at once."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, zip_longest
from typing import TYPE_CHECKING

import numpy as np

from p2c._learn.model.additive import Curve
from p2c._learn.model.leaves import Leaves

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from p2c._learn.model.additive import AdditiveScore, ScoreLine
    from p2c._learn.model.arrays import Floats
    from p2c._spec.feature import Value


SPARE = 4
"""How many times the model's own rounding is allowed for where gains are added in another order."""
MOST_MIXES = 12
"""How many sums of two margins are looked at besides the margins themselves."""
MOST_MIXED = 4
"""Up to how many margins they are worth it."""
CHUNK = 65_536
"""Number of rows for which transformers run at a time."""
TOGETHER = 64
"""How many times as far numbers go where none decides alone, since several margins pull them different ways."""
EXACT = float(np.finfo(np.float64).eps)
"""What our own sums are off by, where the model's are exact."""


Mix = tuple[int, int, float, float]
"""Two margins and the weights of their sum."""


@dataclass(frozen=True, eq=False)
class AloneParts:
    """The tables over one feature, the lines and the curves of a model."""

    score: AdditiveScore

    @cached_property
    def _lines(self) -> dict[str, list[ScoreLine | Curve]]:
        found: dict[str, list[ScoreLine | Curve]] = {}
        for line in self.score.lines:
            found.setdefault(self.score.axes[line.axis].feature, []).append(line)
        return found

    @cached_property
    def rest(self) -> Leaves | None:
        """Return the parts that read several features; None where there are none."""
        shared = tuple(table for table in self.score.tables if len(table.axes) > 1)
        if not shared and not self.score.trees.count:
            return None
        return Leaves.of(replace(self.score, tables=shared))

    @cached_property
    def margins(self) -> int:
        """Return how many sums must be reached: the margins, and mixes of two."""
        return self.score.margins + len(self._mixes)

    @cached_property
    def _mixes(self) -> tuple[Mix, ...]:
        """Return pairs of margins that a number pulls different ways, each with weights that take that number out.

        Where both are reached, so is their sum, which tells what neither does alone (Fourier-Motzkin elimination). Each number
        gets one in turn. A sum of curves may turn, and none is looked at where there is one.
        """
        curved = any(isinstance(line, Curve) for line in self.score.lines)
        if curved or self.score.margins > MOST_MIXED:
            return ()
        by_number = [
            _opposed(slope) for each in self._slopes.values() for _, slope in each if slope
        ]
        in_turn = [mix for round_ in zip_longest(*by_number) for mix in round_ if mix]
        return tuple(dict.fromkeys(in_turn))[:MOST_MIXES]

    def _mixed(self, margins: tuple[float, ...]) -> tuple[float, ...]:
        mixes = [a * margins[one] + b * margins[other] for one, other, a, b in self._mixes]
        return (*margins, *mixes) if mixes else margins

    def gain(self, name: str, cell: int, value: Value) -> tuple[float, ...]:
        """Return what a value in a cell of a feature adds by itself to each margin, and to mixes of two."""
        return self._mixed(self._gain(name, cell, value))

    def _gain(self, name: str, cell: int, value: Value) -> tuple[float, ...]:
        total = self._rows[name][cell] if name in self._rows else (0.0,) * self.score.margins
        if value is None or name not in self._lines:
            return total
        number = float(value)
        for line, slopes in self._slopes[name]:
            more = line.of(np.array([number]))[0].tolist() if slopes is None else slopes
            by = 1.0 if slopes is None else 0.0 if math.isnan(number) else number
            total = tuple([a + by * b for a, b in zip(total, more, strict=True)])
        return total

    def gains(self, name: str, numbers: Floats) -> Floats:
        """Return the gains of numbers of a feature, by number and margin.

        They are infinite where the model was not read.
        """
        axis = self.score.places[name]
        cells = self.score.axes[axis].locate(numbers)
        total = np.zeros((len(numbers), self.score.margins))
        for table in self.score.tables:
            if table.axes == (axis,):
                total += table.values[cells]
        for line in self._lines.get(name, ()):
            for at in range(0, len(numbers), CHUNK):
                total[at : at + CHUNK] += line.of(numbers[at : at + CHUNK])
        total[cells < 0] = np.inf
        return total

    @cached_property
    def _slopes(self) -> dict[str, list[tuple[ScoreLine | Curve, list[float] | None]]]:
        """Return the lines and curves that read each feature, and the slopes of lines."""
        return {
            name: [(e, None if isinstance(e, Curve) else e.slope.tolist()) for e in lines]
            for name, lines in self._lines.items()
        }

    @cached_property
    def _rows(self) -> dict[str, list[tuple[float, ...]]]:
        """Return what each cell of a feature adds by its tables."""
        found: dict[str, Floats] = {}
        for table in self.score.tables:
            if len(table.axes) == 1:
                name = self.score.axes[table.axes[0]].feature
                found[name] = found.get(name, 0.0) + table.values
        return {name: [*map(tuple, values.tolist())] for name, values in found.items()}

    def is_straight(self, name: str) -> bool:
        """Tell whether no curve reads a number."""
        return not any(isinstance(line, Curve) for line in self._lines.get(name, ()))

    def needed(
        self, boxes: Sequence[int] | None, size: float, floors: tuple[float, ...] | None = None
    ) -> tuple[float, ...]:
        """Return the least sum of gains in an accepted state of a box.

        Args:
            boxes: The open cells of each axis, as bits.
            size: The most that the sizes of all gains can come to.
            floors: What the margins must come to; None for the model's own borders.
        """
        slack = self.slack(size)
        below = self.score.refused_below if floors is None else np.array(floors)
        if self.rest is None:
            asked = self._asked if floors is None else (below - self.score.bias).tolist()
            return self._mixed(tuple([each - slack for each in asked]))
        most = np.full(self.score.margins, np.inf) if boxes is None else self.rest.most(boxes)
        return self._mixed(tuple((below - slack - most).tolist()))

    def floors(self, reach: Sequence[Sequence[tuple[float, ...]]]) -> tuple[float, ...]:
        """Return the margins of every accepted state of a person.

        Args:
            reach: For each feature, gains between which all in the person's reach lie.
        """
        blend, count = self.score.blend, self.score.margins
        assert blend is not None
        # Of a scaled margin, what it exceeds the mean of all by; the first margin is their sum.
        apart = np.vstack([np.full(count - 1, -1.0 / (count - 1)), np.diag(blend.scales)])
        mixes = np.column_stack([np.eye(count)[:, 1:], apart])
        least = most = self.score.bias @ mixes
        size = np.abs(most)
        for gains in reach:
            added = np.array(gains)[:, :count] @ mixes
            least, most = least + added.min(axis=0), most + added.max(axis=0)
            size = size + np.abs(added).max(axis=0)
        if self.rest is not None and len(self.rest.values):
            values = self.rest.values @ mixes
            under = np.minimum.reduceat(values, self.rest.starts, axis=0).sum(axis=0)
            over = np.maximum.reduceat(values, self.rest.starts, axis=0).sum(axis=0)
            least, most = least + under, most + over
            size = size + np.abs(under) + np.abs(over)
        slack = SPARE * max(self.score.rounding, EXACT) * (self.score.magnitude + size)
        # Gains without a bound tell nothing.
        least, most = (
            np.nan_to_num(least - slack, nan=-np.inf),
            np.nan_to_num(most + slack, nan=np.inf),
        )
        ends = np.stack([least, most], axis=1)
        floors = blend.floors_within(ends[: count - 1], ends[count - 1 :])
        return tuple(floors.tolist())

    @cached_property
    def _asked(self) -> list[float]:
        """Return what gains must add up to where no part reads several features."""
        asked: list[float] = (self.score.refused_below - self.score.bias).tolist()
        return asked

    def slack(self, size: float) -> float:
        """Return how far sums in any order may be off.

        Args:
            size: The sum of the sizes of all gains of weighed numbers.
        """
        return SPARE * max(self.score.rounding, EXACT) * (self.score.magnitude + size + 1)

    @cached_property
    def _borders(self) -> tuple[float, float]:
        bias = self.score.bias[0]
        return float(self.score.refused_below[0] - bias), float(self.score.accepted_from[0] - bias)

    def settled(self, gains: float, size: float) -> bool | None:
        """Tell whether gains that add up to so much suffice for the one margin; None where rounding might decide."""
        below, enough = self._borders
        slack = self.slack(size)
        return True if gains >= enough + slack else False if gains < below - slack else None

    def beyond(self, ends: Mapping[str, Sequence[Value]]) -> dict[str, float]:
        """Return how far from zero the line of each number outweighs all that the others can add, given the ends of each.

        Where there are several margins none may, and numbers go far together. It is rounded up by a little, so that people
        whose ends differ a little have the same.
        """
        most = {name: self._most(name, numbers) for name, numbers in ends.items()}
        size = self.score.magnitude + float(np.abs(self.score.accepted_from).max()) + 1
        times = 1 if self.score.margins == 1 else TOGETHER
        found = {}
        for name in ends:
            slopes = [
                each for _, slope in self._slopes.get(name, ()) for each in slope or () if each
            ]
            if not slopes or not self.is_straight(name):
                continue
            others = sum(each for other, each in most.items() if other != name)
            far = times * (size + others) / min(map(abs, slopes))
            # A slope may be so small that no number is as far.
            if math.isfinite(2 * far):
                share, power = math.frexp(far)
                found[name] = math.ldexp(math.ceil(16 * share) / 16, power)
        return found

    def _most(self, name: str, numbers: Sequence[Value]) -> float:
        """Return the most that lines and curves add to a margin at some numbers, as far as they can be told."""
        if name not in self._lines:
            return 0.0
        known = np.array([float(each) for each in numbers if each is not None])
        told = [np.abs(line.of(known)) for line in self._lines[name]]
        return sum(float(each[np.isfinite(each)].max(initial=0.0)) for each in told)

    def weighed(self, state: Mapping[str, Value]) -> tuple[Floats, float]:
        """Return what lines and curves add to the margins of a state, and how large the sum of their sizes is."""
        curved, sizes = [], 0.0
        for name, lines in self._lines.items():
            value = state[name]
            for line in lines if value is not None else ():
                if isinstance(line, Curve):
                    number = np.array([float(value)])  # type: ignore[arg-type]
                    curved.append(line.of(number)[0])
                    sizes += float(line.size(number)[0])
        values = [state[name] for name in self._straight[0]]
        numbers = [0.0 if each is None else float(each) for each in values]
        straight = np.array(numbers)[:, None] * self._straight[1]
        added = np.array([*curved, *straight]).reshape(-1, self.score.margins)
        return added.sum(axis=0), sizes + float(np.abs(straight).max(axis=1, initial=0.0).sum())

    @cached_property
    def _straight(self) -> tuple[tuple[str, ...], Floats]:
        """Return the numbers that lines read, and their slopes."""
        lines = [line for line in self.score.lines if not isinstance(line, Curve)]
        names = tuple(self.score.axes[line.axis].feature for line in lines)
        return names, np.array([line.slope for line in lines]).reshape(-1, self.score.margins)


def _opposed(slopes: Sequence[float]) -> list[Mix]:
    """Return the mixes of two margins from which a number with some slopes drops out.

    >>> _opposed([2.0, -1.0, 0.0])
    [(0, 1, 0.5, 1.0)]
    """
    found = []
    for one, other in combinations(range(len(slopes)), 2):
        weights = abs(slopes[other]), abs(slopes[one])
        most = max(weights)
        if slopes[one] * slopes[other] < 0 and min(weights) / most:
            found.append((one, other, weights[0] / most, weights[1] / most))
    return found
