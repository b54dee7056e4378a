"""The least price at which features together may add what the model asks for, if each could go part of the way.

For each feature the best deals are the corners of the upper hull of price and gain over the places that are open to it. The
cheapest way to a sum of gains takes the steepest edges of all hulls first and the last one in part: the relaxation of a
multiple-choice knapsack, solved exactly by sorting (Sinha and Zoltners, 1979). Its price bounds that of every choice in a
box, and the rate of the last edge tells what any other place would add to it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from p2c.plan.search.courses import STAY, Gains, first_where

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from p2c.plan.search.courses import Course, Survey


class Stretch(NamedTuple):
    """What is open of an option: its steps from near to far."""

    number: int
    near: int
    far: int


Open = tuple[Stretch, ...]
"""What is open to a feature."""
Box = dict[int, Open]
"""What is open to each feature that may be set."""
STAYING = Stretch(STAY, 0, 0)
OUTSIDE = -1
"""The step of a corner that no place has, beyond a price or a gain that bends."""


class Corner(NamedTuple):
    """A deal: a price, what it adds, and where it stands."""

    price: float
    gain: float
    stretch: Stretch
    step: int


class Edge(NamedTuple):
    """From one corner of a feature's hull to the next: what a unit of gain costs, and how much of it there is."""

    rate: float
    price: float
    gain: float
    axis: int
    corner: int


class Hull(NamedTuple):
    """The best deals on a feature, and the way from each to the next."""

    corners: list[Corner]
    edges: list[Edge]


class Relaxed(NamedTuple):
    """The least price of a box: for which margin, at what rate, and the corner that each feature takes.

    Where the last edge is taken in part, `split` is its feature and `wanted` the gain that is asked of it.
    """

    price: float
    margin: int
    rate: float
    corners: dict[int, int]
    split: int | None
    wanted: float


@dataclass(frozen=True)
class Relaxation:
    """The hulls of one person's features, remembered."""

    survey: Survey
    _hulls: dict[tuple[int, Open, int], Hull] = field(default_factory=dict)
    _stays: dict[int, Gains] = field(default_factory=dict)

    def of(self, box: Box, needed: Gains) -> Relaxed | None:
        """Return the relaxed box in which the dearest margin is reached; None where one cannot be."""
        best: Relaxed | None = None
        for margin, gain in enumerate(needed):
            found = self._margin(box, margin, gain)
            if found is None:
                return None
            if best is None or found.price > best.price:
                best = found
        return best

    def _margin(self, box: Box, margin: int, needed: float) -> Relaxed | None:
        price, short = 0.0, needed
        edges: list[Edge] = []
        for axis, open_ in box.items():
            hull = self.hull(axis, open_, margin)
            price += hull.corners[0].price
            short -= hull.corners[0].gain
            edges += hull.edges
        corners = dict.fromkeys(box, 0)
        if short <= 0:
            return Relaxed(price, margin, 0.0, corners, None, 0.0)
        edges.sort()
        for edge in edges:
            if edge.gain >= short:
                wanted = self.hull(edge.axis, box[edge.axis], margin).corners[edge.corner].gain
                price += edge.rate * short
                return Relaxed(price, margin, edge.rate, corners, edge.axis, wanted + short)
            price += edge.price
            short -= edge.gain
            corners[edge.axis] = edge.corner + 1
        return None

    def hull(self, axis: int, open_: Open, margin: int) -> Hull:
        """Return the best deals among what is open to a feature."""
        key = axis, open_, margin
        known = self._hulls.get(key)
        if known is None:
            known = self._hulls[key] = self._hull(axis, open_, margin)
        return known

    def _hull(self, axis: int, open_: Open, margin: int) -> Hull:
        deals = [corner for stretch in open_ for corner in self._corners(axis, stretch, margin)]
        deals.sort(key=lambda each: (each.price, -each.gain))
        kept: list[Corner] = []
        for deal in deals:
            if kept and deal.gain <= kept[-1].gain:
                continue
            while len(kept) > 1 and _is_inside(kept[-2], kept[-1], deal):
                kept.pop()
            kept.append(deal)
        edges = [
            Edge(
                (b.price - a.price) / (b.gain - a.gain), b.price - a.price, b.gain - a.gain, axis, n
            )
            for n, (a, b) in enumerate(pairwise(kept))
        ]
        return Hull(kept, edges)

    def _corners(self, axis: int, stretch: Stretch, margin: int) -> Iterator[Corner]:
        number, near, far = stretch
        if number == STAY:
            yield Corner(0.0, self.stays(axis)[margin], stretch, 0)
            return
        course = self.survey.course(number)
        yield Corner(course.price(near), course.gain(near, margin), stretch, near)
        if near == far:
            return
        if course.square or course.rise is None:
            yield from self._outside(course, stretch, margin)
        yield Corner(course.price(far), course.gain(far, margin), stretch, far)

    def _outside(self, course: Course, stretch: Stretch, margin: int) -> Iterator[Corner]:
        """Yield corners such that no place of a stretch is a better deal than what lies between them."""
        steps = course.pieces(stretch.near, stretch.far)
        for one, other in pairwise(steps):
            if course.rise is None:
                gain = max(course.gain(one, margin), course.gain(other, margin))
                yield Corner(course.price(one), gain, stretch, OUTSIDE)
                continue
            # Where the tangents of a square meet.
            a, b = course.first + course.offset(one), course.first + course.offset(other)
            price = course.base + course.unit * (a + b) / 2 + course.square * a * b
            gain = (course.gain(one, margin) + course.gain(other, margin)) / 2
            yield Corner(price, gain, stretch, OUTSIDE)

    def stays(self, axis: int) -> Gains:
        """Return what a feature adds that stays as it is; a governed one adds nothing here."""
        known = self._stays.get(axis)
        if known is None:
            space, places = self.survey.options.space, self.survey.options.transitions.person.places
            counts = axis in space.judged_places and axis not in space.governed_axes
            known = self.survey.gain(axis, places[axis]) if counts else self.survey.nothing
            self._stays[axis] = known
        return known

    def spread(self, axis: int, open_: Open, margin: int) -> float:
        """Return by how much what is open to a feature differs in gain."""
        told = [corner.gain for stretch in open_ for corner in self._corners(axis, stretch, margin)]
        return max(told) - min(told)

    def narrowed(self, box: Box, relaxed: Relaxed, most: float) -> Box:
        """Return a box without what would make every choice with it dearer than some price."""
        margin, rate = relaxed.margin, relaxed.rate
        found: Box = {}
        for axis, open_ in box.items():
            if is_settled(open_):
                found[axis] = open_
                continue
            corners = self.hull(axis, open_, margin).corners
            least = min(_worth(each.price, each.gain, rate) for each in corners)
            spare = most - relaxed.price + least
            found[axis] = tuple(
                kept
                for stretch in open_
                if (kept := self._within(axis, stretch, margin, rate, spare)) is not None
            )
        return found

    def _within(
        self, axis: int, stretch: Stretch, margin: int, rate: float, spare: float
    ) -> Stretch | None:
        """Return the part of a stretch whose price, less what its gain is worth, is within what may be spared."""
        number, near, far = stretch
        if number == STAY:
            return stretch if _worth(0.0, self.stays(axis)[margin], rate) <= spare else None
        course = self.survey.course(number)

        def worth(step: int) -> float:
            return _worth(course.price(step), course.gain(step, margin), rate)

        if near == far:
            return stretch if worth(near) <= spare else None
        if course.rise is None:
            best = max(course.gain(near, margin), course.gain(far, margin))
            return stretch if _worth(course.price(near), best, rate) <= spare else None
        if course.stride and not course.square:
            return _slope(stretch, worth(near), worth(far), spare)
        return _dip(stretch, worth, spare)


def is_settled(open_: Open) -> bool:
    """Tell whether a single place is open."""
    return len(open_) == 1 and open_[0].near == open_[0].far


def _worth(price: float, gain: float, rate: float) -> float:
    """Return a price less what its gain is worth; a gain without bound is worth nothing where gains are."""
    return price - rate * gain if rate else price


def _slope(stretch: Stretch, first: float, last: float, most: float) -> Stretch | None:
    """Return the steps where something that goes from one number to another in a straight line is at most so much."""
    number, near, far = stretch
    if first <= most and last <= most:
        return stretch
    if first > most and last > most:
        return None
    # One step more on either side allows for rounding.
    step = near + (most - first) / (last - first) * (far - near)
    if first <= most:
        return Stretch(number, near, min(math.floor(step) + 1, far))
    return Stretch(number, max(math.ceil(step) - 1, near), far)


def _dip(stretch: Stretch, worth: Callable[[int], float], most: float) -> Stretch | None:
    """Return the steps where something that falls and then rises is at most so much."""
    number, near, far = stretch
    ends = worth(near) <= most, worth(far) <= most
    if all(ends):
        return stretch
    lowest = first_where(near, far, lambda step: worth(step) <= worth(step + 1))
    if worth(lowest) > most:
        return None
    first = near if ends[0] else first_where(near, lowest, lambda step: worth(step) <= most)
    last = far if ends[1] else first_where(lowest, far, lambda step: worth(step + 1) > most)
    return Stretch(number, first, last)


def _is_inside(one: Corner, middle: Corner, other: Corner) -> bool:
    """Tell whether a corner is no better a deal than what lies between its neighbours."""
    left = (middle.gain - one.gain) * (other.price - one.price)
    return left <= (other.gain - one.gain) * (middle.price - one.price)
