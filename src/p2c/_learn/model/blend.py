"""Decide by several scores at once, each through a monotone term.

The mean of calibrated probabilities is one such total. It is no sum over the features, but it grows with every score,
so bounds on the scores of a box bound the total.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from p2c._learn.model.floats import first_held

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from p2c._learn.model.arrays import Floats

    Term = Callable[[Floats, int], Floats]
    """The share of a margin in the total, which never falls.

    The second argument is 1 for an upper bound in spite of rounding, -1 for a lower one.
    """

FUZZ = 64 * float(np.finfo(np.float64).eps)
"""Relative error of a total."""
KNOTS = 4_096
"""Number of steps by which a term is bounded from above."""
FINE = 1_025
"""Number of points between the ends of a distance."""
STEEPEST = 1e4
"""Slope of the steepest lines that bound totals; the inverse is the least slope."""
TRIES = 30
"""Number of slopes that are tried for one bound."""
GOLDEN = 0.618
ROUNDS = 40
"""Number of halvings of a range in which a border lies."""
MOST = 1e6
"""Size of margins beyond which a term counts as level."""
FAR = 1e100
"""Size of a bound that no margin misses."""


@dataclass(frozen=True, eq=False)
class Blend:
    """A total of monotone terms, which accepts from `high` and refuses below `low`.

    Attributes:
        terms: One for each margin after the first.
        low: The total below which the model refuses.
        high: The total from which the model accepts.
        ends: The least and the greatest value of each of these margins; infinite where lines or curves add to it.
        scales: Weights of the margins in the first one, their sum.
    """

    terms: tuple[Term, ...]
    low: float
    high: float
    ends: Floats
    scales: Floats

    def bounds(self, margins: Floats, slack: Floats) -> tuple[Floats, Floats]:
        """Return a lower and an upper bound on the total of each row of margins."""
        own = margins[:, 1:]
        least, most, size = np.zeros(len(own)), np.zeros(len(own)), np.ones(len(own))
        for place, term in enumerate(self.terms):
            down, up = term(own[:, place] - slack, -1), term(own[:, place] + slack, 1)
            least, most = least + down, most + up
            size += np.maximum(np.abs(down), np.abs(up))
        return least - FUZZ * size, most + FUZZ * size

    def decide(self, margins: Floats, slack: float) -> bool | None:
        """Tell whether one row is accepted; None where rounding might decide."""
        least, most = self.bounds(margins[None, :], np.array([slack]))
        return True if least[0] >= self.high else False if most[0] < self.low else None

    def gap(self, most: Floats, slack: float) -> Floats:
        """Return the room of boxes above the border; a box without room is refused.

        Args:
            most: The greatest margins of each box.
            slack: The rounding error of a margin.

        Sound because no term falls, and a table entry is the term at the upper end of its step.
        """
        start, step, table = self._table
        at = np.ceil((most[..., 1:] + slack - start) / step)
        at = np.clip(np.nan_to_num(at, nan=KNOTS), 0, KNOTS).astype(np.int64)
        total = table[np.arange(len(self.terms)), at].sum(axis=-1)
        return np.asarray(total - self.low)

    @cached_property
    def _table(self) -> tuple[Floats, Floats, Floats]:
        """Return the start and width of the steps of each term, and their bounds."""
        ends = np.clip(self.ends, -MOST, MOST)
        start = ends[:, 0]
        step = np.maximum(ends[:, 1] - start, 1e-9) / (KNOTS - 1)
        rows = []
        for place, term in enumerate(self.terms):
            # One step more than needed, for the rounding of the quotient that finds the step.
            uppers = start[place] + step[place] * np.arange(1, KNOTS + 2)
            values = term(uppers, 1)
            values[-1] = term(np.array([FAR]), 1)[0]
            rows.append(values + FUZZ * (1 + np.abs(values)))
        return start, step, np.array(rows)

    @cached_property
    def floors(self) -> Floats:
        """Return the least margins of every accepted state."""
        return self.floors_within(self.ends)

    def floors_within(self, ends: Floats, apart: Floats | None = None) -> Floats:
        """Return the least margins of every accepted state in reach.

        Args:
            ends: The least and the greatest value of each margin in reach.
            apart: How far each scaled margin lies from the mean of all, at least and at most; None where that is not
                known.
        """
        most = ends[:, 1]
        room = [
            float(term(np.array([at]), 1)[0]) for term, at in zip(self.terms, most, strict=True)
        ]
        total = sum(room)
        low = self.low - FUZZ * (1 + sum(map(abs, room)))
        single = []
        for term, own in zip(self.terms, room, strict=True):
            need = low - (total - own) if np.isfinite(total) else -np.inf
            single.append(_reaches(term, need, 1, FAR))
        first = replace(self, ends=ends)._line()
        if apart is not None:
            first = max(first, self._together(low, most, apart))
        return np.asarray(np.clip(np.array([first, *single]), -FAR, FAR))

    def _together(self, low: float, most: Floats, apart: Floats) -> float:
        """Return the least first margin, by the distances of scaled margins.

        Sound because these distances add up to 0: at any rate, the total is at most the sum over the terms of the most
        that each comes to at some distance, less the rate times the distance. Between two points a term is bounded by
        its value at the upper one, the distance by the lower one. No total grows where the mean falls, so what is too
        little at one mean is too little at all below.
        """
        count = len(self.terms)
        if not np.isfinite(apart).all():
            return -np.inf
        points = np.linspace(apart[:, 0], apart[:, 1], FINE, axis=1)

        def holds(mean: float) -> bool:
            values = [
                f((mean + points[k, 1:]) / self.scales[k], 1) for k, f in enumerate(self.terms)
            ]
            return _least_total(np.array(values), points[:, :-1], low) >= low

        one = float((self.scales * np.clip(self.ends[:, 0], -MOST, MOST)).sum()) / count
        other = float((self.scales * np.clip(most, -MOST, MOST)).sum()) / count
        if holds(one):
            return -np.inf
        for _ in range(ROUNDS):
            middle = (one + other) / 2
            one, other = (one, middle) if holds(middle) else (middle, other)
        return one * count - FUZZ * (1 + abs(one))

    def _line(self) -> float:
        """Return the least first margin by straight lines above the terms.

        Sound because each line with the slope of its scale is lifted to lie above every step of the term, so the total
        is at most the first margin plus the lifts.
        """
        if not np.isfinite(self.ends).all():
            return -np.inf
        start, step, table = self._table
        slopes = self.scales * self._steepness
        lowers = start[:, None] + step[:, None] * (np.arange(KNOTS + 1) - 2)
        within = np.maximum(lowers, self.ends[:, :1])
        lifts = (table - slopes[:, None] * within).max(axis=1)
        need = self.low - lifts.sum()
        return float((need - FUZZ * (1 + np.abs(lifts).sum())) / self._steepness)

    @cached_property
    def _steepness(self) -> float:
        """Return the slope of the lines above the terms, by the first margin."""
        start, step, table = self._table
        best, steepest = -np.inf, 1.0
        lowers = np.maximum(
            start[:, None] + step[:, None] * (np.arange(KNOTS + 1) - 1), start[:, None]
        )
        middle = self._middle
        for slope in np.geomspace(0.02, 2.0, 25) * (table[:, -1] - table[:, 0]).sum() / self._width:
            lines = (table - slope * self.scales[:, None] * lowers).max(axis=1).sum()
            need = (self.low - lines) / slope - middle
            if need > best:
                best, steepest = need, float(slope)
        return steepest

    @cached_property
    def _width(self) -> float:
        return max(float(((self.ends[:, 1] - self.ends[:, 0]) * self.scales).sum()), 1e-9)

    @cached_property
    def _middle(self) -> float:
        return float((self.ends.mean(axis=1) * self.scales).sum())


def _least_total(values: Floats, distances: Floats, low: float) -> float:
    """Return the least bound on the total over the rates; it is convex in them.

    The search ends at a bound below `low`.
    """

    def bound(exponent: float) -> float:
        return float((values - np.exp(exponent) * distances).max(axis=1).sum())

    one, other = -np.log(STEEPEST), np.log(STEEPEST)
    left, right = other - GOLDEN * (other - one), one + GOLDEN * (other - one)
    at_left, at_right = bound(left), bound(right)
    for _ in range(TRIES):
        if min(at_left, at_right) < low:
            break
        if at_left < at_right:
            other, right, at_right = right, left, at_left
            left = other - GOLDEN * (other - one)
            at_left = bound(left)
        else:
            one, left, at_left = left, right, at_right
            right = one + GOLDEN * (other - one)
            at_right = bound(right)
    return min(at_left, at_right)


def _reaches(term: Term, level: float, way: int, limit: float) -> float:
    """Return the first margin at which a term reaches a level."""
    return first_held(lambda at: term(at, way) >= level, limit)


def scales_of(terms: Sequence[Term], ends: Floats) -> Floats:
    """Return weights that make terms equally steep where they rise.

    Each is the rise of the term in its middle half, over its width.
    """
    rates = []
    for term, (low, high) in zip(terms, np.clip(ends, -MOST, MOST), strict=True):
        down, up = term(np.array([low, high]), 0)
        quarters = down + (up - down) * np.array([0.25, 0.75])
        one, other = (
            max(min(_reaches(term, float(each), 0, MOST), high), low) for each in quarters
        )
        width = other - one
        rates.append((quarters[1] - quarters[0]) / width if width > 0 else 0.0)
    scales = np.array(rates)
    if not (scales > 0).any():
        return np.full(len(scales), 1 / len(scales))
    scales = np.where(scales > 0, scales, scales[scales > 0].min())
    return np.asarray(scales / scales.sum())
