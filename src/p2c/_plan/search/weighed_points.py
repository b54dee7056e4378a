"""Where a model that weighs numbers decides alone: the cheapest deals that add up to enough, one for each feature at most.

No rule has a say and every part of the model reads one feature, so a plan is a knapsack: each place of a feature has a price and
adds something to the score. A box says which places are open to each feature. What it costs at least is its `relaxation`: the point
next to that is tried, what would be dearer than the best so far is closed, and the rest is split.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

from p2c._plan.compiled.person import grid_measures
from p2c._plan.search.action_sets import OrderLead
from p2c._plan.search.best_first import Arrival, Key, Move, chain_of
from p2c._plan.search.relaxation import NEARLY, STAY, closed, is_settled, relax, sloped, split
from p2c._plan.search.weighed_offers import offer_of, per_effort, run_hull
from p2c._rules.theory import ACCEPTED, Call

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from p2c._plan.search.best_first import Lead, Limits
    from p2c._plan.search.line_search import LineSearch
    from p2c._plan.search.relaxation import Hull, Opens, Relaxed, Steps, Stretch
    from p2c._plan.search.weighed_offers import Offer


class Box(NamedTuple):
    """What is open to the features of which more than one place is, and where the others go that do not stay, at what price and gain."""

    opens: Opens
    taken: Steps
    price: int
    gain: float


def weighed_leads(search: LineSearch) -> Iterator[WeighedLead] | None:
    """Return where the search of one person begins; None where it is no such knapsack, or more than the best plan is wanted."""
    space, transitions = search.options.space, search.options.transitions
    model, person = search.survey.model, transitions.person
    alone = space.theory.goal == (Call(ACCEPTED),) and not space.governed and not space.constraints
    if not (alone and search.first_only and model.margins == 1 and model.is_separate):
        return None
    norm, on_grid = space.theory.norm, person.prices is grid_measures(space)[1]
    even = norm.tells_way or (not norm.by_distance and on_grid)
    if transitions.ceiling is not None or not even:
        return None
    own = [search.survey.gain(axis, person.places[axis])[0] for axis in space.model_axes]
    offers = {axis: offer_of(search, axis) for axis in search.options.settable}
    known = {axis: each for axis, each in offers.items() if each is not None}
    if len(known) < len(offers) or not all(map(math.isfinite, own)):
        return None
    helpful = {axis: each for axis, each in known.items() if each.runs}
    return WeighedPoints(search, helpful, sum(own)).leads()


class WeighedPoints:
    """One person's search: what is offered to them, and the best points so far."""

    def __init__(self, search: LineSearch, offers: Mapping[int, Offer], own: float) -> None:
        self.search, self.offers, self.own = search, offers, own
        self.needed = search.asked[0] - own
        self.tied: list[Steps] = []
        self._per_effort = search.options.space.kept(per_effort)

    def leads(self) -> Iterator[WeighedLead]:
        """Yield the box of everything."""
        opens = {axis: offer.open for axis, offer in self.offers.items()}
        hulls = {axis: offer.hull for axis, offer in self.offers.items()}
        lead = self._boxed(Box(opens, {}, 0, 0.0), hulls)
        if lead is not None:
            yield lead

    def _boxed(self, box: Box, hulls: Mapping[int, Hull]) -> WeighedLead | None:
        """Return a box, if a better point may be in it."""
        relaxed = relax(hulls, box.price, self.needed - box.gain)
        if relaxed is None or self.search.is_beaten(relaxed.price):
            return None
        return WeighedLead(self, self._key(int(relaxed.price * (1 - NEARLY))), box, relaxed)

    def _key(self, price: int) -> Key:
        """Return what no point at some price or above can beat."""
        return self.search.key(*divmod(price, self._per_effort))

    def narrowed(self, box: Box, relaxed: Relaxed, left: Opens) -> WeighedLead | None:
        """Return the part of a box in which no more is left to some features, if a better point may be in it."""
        opens, taken, (_, _, price, gain) = dict(box.opens), dict(box.taken), box
        hulls = dict(relaxed.hulls)
        for axis, open_ in left.items():
            if not open_:
                return None
            if not is_settled(open_):
                opens[axis] = open_
                hulls[axis] = run_hull(axis, self.offers[axis].runs, open_)
                continue
            del opens[axis], hulls[axis]
            number, step, _ = open_[0]
            if number != STAY:
                taken[axis] = number, step
                price += self._price(axis, number, step)
                gain += self._gain(axis, number, step)
        return self._boxed(Box(opens, taken, price, gain), hulls)

    def next_point(self, box: Box, relaxed: Relaxed) -> Steps:
        """Return the point next to the relaxed one: where that goes part of the way, as far as is needed."""
        found = dict(box.taken)
        for axis, hull in relaxed.hulls.items():
            corner, splits = relaxed.corners.get(axis, 0), axis == relaxed.split
            _, _, stretch, step = hull.corners[corner + splits]
            if splits:
                step = self._first_step(axis, stretch, step, relaxed.wanted)
            if stretch.number != STAY:
                found[axis] = stretch.number, step
        return found

    def _first_step(self, axis: int, stretch: Stretch, at: int, wanted: float) -> int:
        """Return the first step that adds as much as is wanted, in the stretch of a corner that does."""
        run, near = self.offers[axis].runs[stretch.number], stretch.near
        if near == at or run.gain + near * run.more >= wanted:
            return near
        step = min(max(math.ceil((wanted - run.gain) / run.more), near), at)
        return step + (step < at and run.gain + step * run.more < wanted)

    def arrive(self, point: Steps) -> Iterator[Lead]:
        """Yield a point that is accepted, no dearer than the best so far, and may come before those that cost the same."""
        price, best = sum([self._price(axis, *to) for axis, to in point.items()]), self.search.best
        if best and (price > best[0] or (price == best[0] and self._comes_after(point))):
            return
        if self._suffices(point):
            if not best or price < best[0]:
                best[:] = [price]
                self.tied.clear()
            self.tied.append(point)
            yield AcceptedLead(self, self._key(price), point)

    def _comes_after(self, point: Steps) -> bool:
        """Tell whether a point is known, or surely comes after one that is: its first feature does."""
        return point in self.tied or min(point) > min(self.tied[-1])

    def _price(self, axis: int, number: int, step: int) -> int:
        run = self.offers[axis].runs[number]
        return run.price + step * run.per_step

    def _gain(self, axis: int, number: int, step: int) -> float:
        run = self.offers[axis].runs[number]
        return run.gain + step * run.more

    def _suffices(self, point: Steps) -> bool:
        """Tell whether the model accepts a point; by the sum, or where that is near the border by what decides states."""
        total = self.own + sum([self._gain(axis, *taken) for axis, taken in point.items()])
        told = self.search.survey.model.settled(total, self.search.size)
        if told is None:
            return self.search.options.transitions.judge(self._arrival(point).places).goal
        return told

    def earliest(self, point: Steps) -> Arrival:
        """Return the first of the points that cost the same in every feature, as a path."""
        return self._arrival(self._earliest(point))

    def _earliest(self, point: Steps) -> Steps:
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

    def _first(self, point: Steps, axis: int, number: int, steps: range) -> int | None:
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
        for each, run in enumerate(self.offers[axis].runs):
            at, rest = divmod(price - run.price, run.per_step or 1)
            steps = range(at, at + 1)
            if run.is_flat and not at:
                steps = range(len(run.places))[:: 1 if run.places[0] <= run.places[-1] else -1]
            if not rest and 0 <= at < len(run.places) and self._helps(axis, each, steps):
                found.append((run.places[steps[0]], each, steps))
        return [(each, steps) for _, each, steps in sorted(found, key=lambda one: one[:2])]

    def _helps(self, axis: int, number: int, steps: range) -> bool:
        return max(self._gain(axis, number, each) for each in (steps[0], steps[-1])) > 0

    def _arrival(self, point: Steps) -> Arrival:
        person = self.search.options.transitions.person
        start, places = person.places, list(person.places)
        effort = way = 0
        moves = []
        for axis in sorted(point):
            number, step = point[axis]
            run = self.offers[axis].runs[number]
            end = places[axis] = run.places[step]
            moves.append(Move(axis, start[axis], end, True, 0, False, run.among or (end,)))
            effort += person.effort(axis, start[axis], end)
            way += person.way(axis, start[axis], end)
        return Arrival(effort, way, tuple(places), chain_of(moves))

    def within(self, axis: int, stretch: Stretch, rate: float, most: float) -> Stretch | None:
        """Return the steps whose price, less what their gain is worth, is at most so much."""
        number, near, far = stretch
        if number == STAY:
            return stretch if most >= 0 else None
        _, price, per_step, gain, more, _ = self.offers[axis].runs[number]
        base, slope = price - rate * gain, per_step - rate * more
        return sloped(stretch, base + slope * near, base + slope * far, most)


class WeighedLead(NamedTuple):
    """A box, by what its points cost at least."""

    points: WeighedPoints
    key: Key
    box: Box
    relaxed: Relaxed

    @property
    def known(self) -> None:
        """Return nothing: a point that was found waits by itself."""

    def follow(self, _: Limits) -> Iterable[Lead]:
        """Yield the point next to the relaxed one where it is accepted, and parts of the box."""
        points, box, relaxed = self.points, self.box, self.relaxed
        best = points.search.best
        if points.search.is_beaten(relaxed.price):
            return
        point = points.next_point(box, relaxed)
        yield from points.arrive(point)
        left = {}
        if best:
            left = closed(box.opens, relaxed, best[0] * (1 + NEARLY), points.within)
        for each in [left] if left else split(box.opens, relaxed, point):
            part = points.narrowed(box, relaxed, each)
            if part is not None:
                yield part


class AcceptedLead(NamedTuple):
    """A point that is accepted; which of those that cost the same comes first is seen once none is cheaper."""

    points: WeighedPoints
    key: Key
    point: Steps

    @property
    def known(self) -> Arrival:
        """Return the point as a path."""
        return self.points.earliest(self.point)

    def follow(self, _: Limits) -> Iterable[Lead]:
        """Yield the point, if none that is cheaper was found since."""
        if self.point in self.points.tied:
            arrival = self.known
            yield OrderLead(self.points.search, arrival.key, arrival, iter(()))
