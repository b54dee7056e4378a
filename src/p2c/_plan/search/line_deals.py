"""What is open of courses as deals: the hulls of features, and which part of a stretch is worth its price.

Where a price or a gain bends, corners are added outside of it, so that no place is a better deal than what lies between them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from p2c._plan.search.courses import first_where
from p2c._plan.search.relaxation import Stretch, closed, hull_of, relax, sloped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from p2c._plan.search.courses import Course, Gains, Survey
    from p2c._plan.search.relaxation import Deal, Hull, Open, Opens, Relaxed

OUTSIDE = -1
"""The step of a corner that no place has, beyond a price or a gain that bends."""


@dataclass(frozen=True)
class LineDeals:
    """The hulls of one person's features, remembered."""

    survey: Survey
    _hulls: dict[tuple[int, Open, int], Hull] = field(default_factory=dict)

    def relaxed(self, box: Opens, needed: Gains) -> Relaxed | None:
        """Return the relaxed box in which the dearest margin is reached; None where one cannot be."""
        best: Relaxed | None = None
        for margin, gain in enumerate(needed):
            hulls = {axis: self._hull(axis, open_, margin) for axis, open_ in box.items()}
            found = relax(hulls, 0.0, gain, margin)
            if found is None:
                return None
            if best is None or found.price > best.price:
                best = found
        return best

    def _hull(self, axis: int, open_: Open, margin: int) -> Hull:
        key = axis, open_, margin
        known = self._hulls.get(key)
        if known is None:
            known = self._hulls[key] = hull_of(axis, self._deals(axis, open_, margin))
        return known

    def _deals(self, axis: int, open_: Open, margin: int) -> list[Deal]:
        found: list[Deal] = []
        for stretch in open_:
            number, near, far = stretch
            course = self.survey.course(axis, number)
            found.append((course.price(near), -course.gain(near, margin), stretch, near))
            if near < far:
                if course.square or course.rise is None:
                    found += _outside(course, stretch, margin)
                found.append((course.price(far), -course.gain(far, margin), stretch, far))
        return found

    def spread(self, axis: int, open_: Open, margin: int) -> float:
        """Return by how much what is open to a feature differs in gain."""
        losses = [loss for _, loss, _, _ in self._deals(axis, open_, margin)]
        return max(losses) - min(losses)

    def closed(self, box: Opens, relaxed: Relaxed, most: float) -> Opens:
        """Return what is left to features of which something would make every choice with it dearer than some price."""
        return closed(box, relaxed, most, partial(self._within, relaxed.margin))

    def _within(
        self, margin: int, axis: int, stretch: Stretch, rate: float, most: float
    ) -> Stretch | None:
        number, near, far = stretch
        course = self.survey.course(axis, number)

        def told(step: int) -> float:
            return _worth(course.price(step), course.gain(step, margin), rate)

        if near == far:
            return stretch if told(near) <= most else None
        if course.rise is None:
            return _worth_it(course, stretch, margin, rate, most)
        if course.stride and not course.square:
            return sloped(stretch, told(near), told(far), most)
        return _dip(stretch, told, most)


def _worth(price: float, gain: float, rate: float) -> float:
    """Return a price less what its gain is worth; a gain without bound is worth nothing where gains are."""
    return price - rate * gain if rate else price


def _worth_it(
    course: Course, stretch: Stretch, margin: int, rate: float, most: float
) -> Stretch | None:
    """Return a bent stretch from its first to its last worthwhile piece.

    Sound because no place of a piece is a better deal than what lies between its ends and its crest.
    """

    def may_do(one: int, other: int) -> bool:
        deals = [(course.price(each), course.gain(each, margin)) for each in (one, other)]
        return any(
            _worth(*deal, rate) <= most for deal in [*deals, course.crest(one, other, margin)]
        )

    pieces = pairwise(course.pieces(stretch.near, stretch.far))
    kept = [(one, other) for one, other in pieces if may_do(one, other)]
    return Stretch(stretch.number, kept[0][0], kept[-1][1]) if kept else None


def _outside(course: Course, stretch: Stretch, margin: int) -> Iterator[Deal]:
    """Yield deals such that no place of a stretch is a better deal than what lies between them."""
    for one, other in pairwise(course.pieces(stretch.near, stretch.far)):
        if course.rise is None:
            price, gain = course.crest(one, other, margin)
            yield price, -gain, stretch, OUTSIDE
            if course.curve is not None and other < stretch.far:
                yield course.price(other), -course.gain(other, margin), stretch, other
            continue
        # Where the tangents of a square meet.
        a, b = course.first + course.offset(one), course.first + course.offset(other)
        price = course.base + course.unit * (a + b) / 2 + course.square * a * b
        gain = (course.gain(one, margin) + course.gain(other, margin)) / 2
        yield price, -gain, stretch, OUTSIDE


def _dip(stretch: Stretch, told: Callable[[int], float], most: float) -> Stretch | None:
    """Return the steps where something that falls and then rises is at most so much."""
    number, near, far = stretch
    ends = told(near) <= most, told(far) <= most
    if all(ends):
        return stretch
    lowest = first_where(near, far, lambda step: told(step) <= told(step + 1))
    if told(lowest) > most:
        return None
    first = near if ends[0] else first_where(near, lowest, lambda step: told(step) <= most)
    last = far if ends[1] else first_where(lowest, far, lambda step: told(step + 1) > most)
    return Stretch(number, first, last)
