"""Where a model that weighs numbers decides alone: the cheapest deals that add up to enough, one for each feature at most.

No rule has a say and every part of the model reads one feature, so a plan is a knapsack: each place of a feature has a price and
adds something to the score. A box says which places are open to each feature. The best deals on a feature are the corners of the
upper hull of price and gain; the steepest edges of all hulls, the last one in part, bound what a box costs (Sinha and Zoltners,
1979). What is next to them is tried, what would be dearer than the best so far is closed, and the rest is split.
"""

from __future__ import annotations

import heapq
import math
from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

from p2c.plan.compiled.person import grid_measures
from p2c.plan.search.best_first import Arrival, Key, Move, chain_of
from p2c.plan.search.courses import STAY
from p2c.plan.search.set_search import OrderLead
from p2c.plan.search.weighed_offers import offer_of, part_of, per_effort
from p2c.rules.theory import ACCEPTED, Call

if TYPE_CHECKING:
    from collections.abc import Iterator

    from p2c.plan.search.best_first import Lead, Limits
    from p2c.plan.search.line_search import LineSearch
    from p2c.plan.search.weighed_offers import Edge, Offer, Part, Stretch

NEARLY = 1e-11
"""By what share a bound is lowered, since floats round."""
STRIDE = 1_000
"""How many boxes are looked at before the clock is."""


Point = dict[int, tuple[int, int]]
"""The run and the step that each feature takes which does not stay."""


class Box(NamedTuple):
    """What is open to the features of which more than one place is, and where the others go, at what price and gain."""

    parts: dict[int, Part]
    taken: Point
    price: int
    gain: float


class Relaxed(NamedTuple):
    """The least price of a box if features could go part of the way: the rate, the corner of each feature that leaves its first.

    Where the last edge is taken in part, `split` is its feature and `wanted` the gain that is asked of it.
    """

    price: float
    rate: float
    corners: dict[int, int]
    split: int | None
    wanted: float


def weighed_leads(search: LineSearch) -> Iterator[WeighedLead] | None:
    """Return where the search of one person begins; None where it is no such knapsack, or more than the best plan is wanted."""
    space, transitions = search.options.space, search.options.transitions
    judge, person = search.survey.judge, transitions.person
    alone = space.theory.goal == (Call(ACCEPTED),) and not space.governed and not space.constraints
    if not (alone and search.first_only and judge.margins == 1 and judge.is_separate):
        return None
    norm, on_grid = space.theory.norm, person.prices is grid_measures(space)[1]
    even = norm.tells_way or (not norm.by_distance and on_grid)
    if transitions.ceiling is not None or not even:
        return None
    own = [search.survey.gain(axis, person.places[axis])[0] for axis in space.judged_axes]
    offers = {axis: offer_of(search, axis) for axis in search.options.settable}
    known = {axis: each for axis, each in offers.items() if each is not None}
    if len(known) < len(offers) or not all(map(math.isfinite, own)):
        return None
    points = WeighedPoints(
        search, {axis: each for axis, each in known.items() if each[0]}, sum(own)
    )
    return iter([WeighedLead(points)] if points.queue else [])


class WeighedPoints:
    """One person's search: the boxes that wait, by what they cost at least, and the best point so far."""

    def __init__(self, search: LineSearch, offers: dict[int, Offer], own: float) -> None:
        self.search, self.own = search, own
        self.runs = {axis: runs for axis, (runs, _) in offers.items()}
        self.needed = search.asked[0] - own
        self.queue: list[tuple[float, int, Box, Relaxed]] = []
        self.best: int | None = None
        self.tied: list[Point] = []
        self._pushed = 0
        self._push(Box({axis: part for axis, (_, part) in offers.items()}, {}, 0, 0.0))

    def _push(self, box: Box) -> None:
        relaxed = self._relaxed(box)
        if relaxed is not None and not self._is_beaten(relaxed.price):
            self._pushed += 1
            heapq.heappush(self.queue, (relaxed.price, self._pushed, box, relaxed))

    def _is_beaten(self, price: float) -> bool:
        return self.best is not None and price * (1 - NEARLY) > self.best

    def _relaxed(self, box: Box) -> Relaxed | None:
        price, short = float(box.price), self.needed - box.gain
        edges: list[Edge] = []
        for part in box.parts.values():
            first = part.corners[0]
            price += first[0]
            short -= first[1]
            edges += part.edges
        corners: dict[int, int] = {}
        if short <= 0:
            return Relaxed(price, 0.0, corners, None, 0.0)
        edges.sort()
        for rate, axis, corner, gain, cost in edges:
            if gain >= short:
                wanted = box.parts[axis].corners[corner][1] + short
                return Relaxed(price + rate * short, rate, corners, axis, wanted)
            price += cost
            short -= gain
            corners[axis] = corner + 1
        return None

    def advance(self, most: int) -> int:
        """Look at boxes until none is left that may have a better point, or so many are done; return how many."""
        count = 0
        while self.queue and count < most:
            price, _, box, relaxed = heapq.heappop(self.queue)
            if self._is_beaten(price):
                self.queue.clear()
                break
            count += 1
            self._follow(box, relaxed)
        return count

    def _follow(self, box: Box, relaxed: Relaxed) -> None:
        point = self._next(box, relaxed)
        self._try(point)
        if self.best is not None:
            closer = self._closer(box, relaxed)
            if closer:
                self._push_part(box, closer)
                return
        for changed in self._split(box, relaxed, point):
            self._push_part(box, changed)

    def _push_part(self, box: Box, changed: dict[int, tuple[Stretch, ...]]) -> None:
        """Wait with a part of a box in which less is open to some features."""
        parts, taken, (_, _, price, gain) = dict(box.parts), dict(box.taken), box
        for axis, stretches in changed.items():
            if not stretches:
                return
            number, near, far = stretches[0]
            if len(stretches) > 1 or near < far:
                parts[axis] = part_of(axis, self.runs[axis], stretches)
                continue
            del parts[axis]
            if number != STAY:
                taken[axis] = number, near
                price += self._price(axis, number, near)
                gain += self._gain(axis, number, near)
        self._push(Box(parts, taken, price, gain))

    def _next(self, box: Box, relaxed: Relaxed) -> Point:
        """Return the point next to the relaxed one: where that goes part of the way, as far as is needed."""
        found = dict(box.taken)
        for axis, part in box.parts.items():
            corner = relaxed.corners.get(axis, 0)
            if axis == relaxed.split:
                _, _, number, step = part.corners[corner + 1]
                found[axis] = number, self._step(axis, part, number, step, relaxed.wanted)
            else:
                _, _, number, step = part.corners[corner]
                if number != STAY:
                    found[axis] = number, step
        return found

    def _step(self, axis: int, part: Part, number: int, at: int, wanted: float) -> int:
        """Return the first step that adds as much as is wanted, in the stretch of a corner that does."""
        run = self.runs[axis][number]
        near = next(
            near for each, near, far in part.stretches if each == number and near <= at <= far
        )
        if near == at or run.gain + near * run.more >= wanted:
            return near
        step = min(max(math.ceil((wanted - run.gain) / run.more), near), at)
        return step + (step < at and run.gain + step * run.more < wanted)

    def _try(self, point: Point) -> None:
        """Keep a point that is accepted and no dearer than the best so far."""
        price = sum([self._price(axis, *taken) for axis, taken in point.items()])
        if (self.best is None or price <= self.best) and self._suffices(point):
            self.tied = [*(self.tied if price == self.best else ()), point]
            self.best = price

    @property
    def found(self) -> Arrival | None:
        """Return the best point so far as a path, of several that cost the same the first."""
        if not self.tied:
            return None
        first = min(min(each) for each in self.tied)
        rivals = [self._earliest(each) for each in self.tied if min(each) == first]
        return self._arrival(min(rivals, key=self._sequence))

    def _sequence(self, point: Point) -> list[tuple[int, int]]:
        return sorted(
            (axis, self.runs[axis][number].places[step]) for axis, (number, step) in point.items()
        )

    def _price(self, axis: int, number: int, step: int) -> int:
        run = self.runs[axis][number]
        return run.price + step * run.per_step

    def _gain(self, axis: int, number: int, step: int) -> float:
        run = self.runs[axis][number]
        return run.gain + step * run.more

    def _suffices(self, point: Point) -> bool:
        """Tell whether the model accepts a point; by the sum, or where that is near the border by what decides states."""
        total = self.own + sum([self._gain(axis, *taken) for axis, taken in point.items()])
        told = self.search.survey.judge.settled(total, self.search.size)
        if told is None:
            return self.search.options.transitions.judge(self._arrival(point).places).goal
        return told

    def _earliest(self, point: Point) -> Point:
        """Return the point of the same prices that comes first: each feature in turn takes its first place that suffices."""
        alike = {axis: self._alike(axis, *taken) for axis, taken in point.items()}
        if all(len(some) == len(some[0][1]) == 1 for some in alike.values()):
            return point
        found = {
            axis: max(
                ((number, step) for number, steps in some for step in (steps[0], steps[-1])),
                key=lambda each: self._gain(axis, *each),
            )
            for axis, some in alike.items()
        }
        for axis in sorted(found):
            for number, steps in alike[axis]:
                step = self._first(found, axis, number, steps)
                if step is not None:
                    found[axis] = number, step
                    break
        return found if self._suffices(found) else point

    def _first(self, point: Point, axis: int, number: int, steps: range) -> int | None:
        """Return the first of some steps of a feature that suffices beside the rest of a point."""

        def suffices(step: int) -> bool:
            taken = number, step
            return taken == point[axis] or self._suffices({**point, axis: taken})

        rising = self._gain(axis, number, steps[-1]) > self._gain(axis, number, steps[0])
        if not suffices(steps[-1] if rising else steps[0]):
            return None
        return steps[bisect_left(steps, True, key=suffices)] if rising else steps[0]

    def _alike(self, axis: int, number: int, step: int) -> list[tuple[int, range]]:
        """Return where a feature may go at the price of some step: runs and their steps, both in the order of its places."""
        price, found = self._price(axis, number, step), []
        for each, run in enumerate(self.runs[axis]):
            at, rest = divmod(price - run.price, run.per_step or 1)
            steps = range(at, at + 1)
            if run.is_flat and not at:
                steps = range(len(run.places))[:: 1 if run.places[0] <= run.places[-1] else -1]
            if not rest and 0 <= at < len(run.places) and self._helps(axis, each, steps):
                found.append((run.places[steps[0]], each, steps))
        return [(each, steps) for _, each, steps in sorted(found, key=lambda one: one[:2])]

    def _helps(self, axis: int, number: int, steps: range) -> bool:
        return max(self._gain(axis, number, each) for each in (steps[0], steps[-1])) > 0

    def _arrival(self, point: Point) -> Arrival:
        person = self.search.options.transitions.person
        start, places = person.places, list(person.places)
        effort = way = 0
        moves = []
        for axis in sorted(point):
            number, step = point[axis]
            run = self.runs[axis][number]
            end = places[axis] = run.places[step]
            moves.append(Move(axis, start[axis], end, True, 0, False, run.among or (end,)))
            effort += person.effort(axis, start[axis], end)
            way += person.way(axis, start[axis], end)
        return Arrival(effort, way, tuple(places), chain_of(moves))

    def _closer(self, box: Box, relaxed: Relaxed) -> dict[int, tuple[Stretch, ...]]:
        """Return what is left to features of which something would make every point with it dearer than the best."""
        assert self.best is not None
        rate, spare = relaxed.rate, self.best * (1 + NEARLY) - relaxed.price
        changed = {}
        for axis, part in box.parts.items():
            most = spare + min([price - rate * gain for price, gain, _, _ in part.corners])
            told = [self._within(axis, stretch, rate, most) for stretch in part.stretches]
            kept = tuple([each for each in told if each is not None])
            if kept != part.stretches:
                changed[axis] = kept
        return changed

    def _within(self, axis: int, stretch: Stretch, rate: float, most: float) -> Stretch | None:
        """Return the steps whose price, less what their gain is worth, is at most so much."""
        number, near, far = stretch
        if number == STAY:
            return stretch if most >= 0 else None
        _, price, per_step, gain, more, _ = self.runs[axis][number]
        base, slope = price - rate * gain, per_step - rate * more
        first, last = base + slope * near <= most, base + slope * far <= most
        if first == last:
            return stretch if first else None
        # One step more on either side allows for rounding.
        step = (most - base) / slope
        if first:
            return number, near, min(math.floor(step) + 1, far)
        return number, max(math.ceil(step) - 1, near), far

    def _split(
        self, box: Box, relaxed: Relaxed, point: Point
    ) -> Iterator[dict[int, tuple[Stretch, ...]]]:
        """Yield what is open in the parts of a box: to the feature that goes part of the way, so far, or less far.

        Where none does, every part differs from the point in one feature, and goes along with it in those before.
        """
        if relaxed.split is not None:
            parts = _around(box.parts[relaxed.split].stretches, *point[relaxed.split])
            if all(parts):
                yield from ({relaxed.split: stretches} for stretches in parts)
                return
        same: dict[int, tuple[Stretch, ...]] = {}
        for axis, part in box.parts.items():
            number, step = point.get(axis, (STAY, 0))
            yield {**same, axis: tuple(_without(part.stretches, number, step))}
            same[axis] = ((number, step, step),)


def _around(
    open_: tuple[Stretch, ...], number: int, step: int
) -> tuple[tuple[Stretch, ...], tuple[Stretch, ...]]:
    """Return what is open of a run from a step on, and what else is."""
    farther, others = [], []
    for each, near, far in open_:
        if each != number or far < step:
            others.append((each, near, far))
        elif near >= step:
            farther.append((each, near, far))
        else:
            others.append((each, near, step - 1))
            farther.append((each, step, far))
    return tuple(farther), tuple(others)


def _without(open_: tuple[Stretch, ...], number: int, step: int) -> Iterator[Stretch]:
    """Yield what is open but for one place."""
    for each, near, far in open_:
        if each != number or not near <= step <= far:
            yield each, near, far
            continue
        if near < step:
            yield each, near, step - 1
        if step < far:
            yield each, step + 1, far


class WeighedLead(NamedTuple):
    """The points that are still to come, by what they cost at least."""

    points: WeighedPoints

    @property
    def key(self) -> Key:
        """Return what no point that comes can beat."""
        share = self.points.search.options.space.kept(per_effort)
        effort = int(self.points.queue[0][0] * (1 - NEARLY)) // share
        return Key(effort=effort, length=0, way=0, sequence=())

    @property
    def known(self) -> None:
        """Return nothing: a point that was found waits by itself."""

    def follow(self, limits: Limits) -> Iterator[Lead]:
        """Yield the best point so far, and what is left."""
        points = self.points
        most = STRIDE if limits.nodes is None else min(STRIDE, limits.nodes - limits.expanded)
        limits.expanded += max(points.advance(most) - 1, 0)
        found = points.found
        if found is not None:
            yield OrderLead(points.search, found.key, found, iter(()))
        if points.queue:
            yield self
