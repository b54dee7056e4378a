"""The k nearest: end states in the order of their cost, each with its own best path, one at a time.

The search works on regions, whose places have the same future; the end states of one path of regions are then a product
of short walks outward from the cheapest place of each. Both are lazy, so the size of a domain does not matter.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from p2c.plan.answer import found
from p2c.plan.dynamics import Dynamics, Variety
from p2c.plan.outcome import Found, Infeasible
from p2c.plan.person import place_person
from p2c.plan.planner import arrivals, find_plan, gave_up
from p2c.plan.search import Arrival, Key, LimitReached, Limits, chain_of
from p2c.plan.ways import ways_of_their_own

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from p2c.domain.feature import Value
    from p2c.plan.outcome import Plan
    from p2c.plan.person import Places
    from p2c.plan.search import Lead, Move
    from p2c.plan.space import Space


class Distinct(Enum):
    """What makes two end states different: a value, or something that a rule can see.

    Where they differ in kind, a way that contains another one is no other way.
    """

    POINTS = "points"
    CELLS = "cells"


def nearest_plans(
    space: Space,
    state: Mapping[str, Value],
    *,
    distinct: Distinct = Distinct.POINTS,
    limits: Limits | None = None,
    first: Plan | None = None,
) -> Iterator[Plan]:
    """Yield plans to distinct end states, cheapest first; one if the goal holds at the start, none if no way exists.

    The first is the plan, at its price, and is not looked for again where it is given. Where a limit ends the search,
    that it gave up comes last.
    """
    limits = limits or Limits()
    first = first or find_plan(space, state, limits)
    if isinstance(first, Infeasible):
        return
    yield first
    if not isinstance(first, Found):
        return
    variety = Variety.POINTS if distinct is Distinct.POINTS else Variety.PLANS
    dynamics = Dynamics(place_person(space, state), variety)
    paths = _points(dynamics, limits) if variety is Variety.POINTS else _cells(dynamics, limits)
    plans: Iterator[Found] = (found(dynamics, first.question, arrival) for arrival in paths)
    if distinct is Distinct.CELLS:
        plans = ways_of_their_own(space.theory, plans)
    try:
        yield from islice(plans, 1, None)
    except LimitReached as reached:
        yield gave_up(dynamics, first.question, reached)


def _cells(dynamics: Dynamics, limits: Limits) -> Iterator[Arrival]:
    """Yield paths to ends that some rule tells apart."""
    axes = dynamics.person.space.axes
    ends: set[Places] = set()
    for arrival in arrivals(dynamics, limits, first_only=False):
        cells = tuple(
            place if place < 0 else axis.cell(place)
            for axis, place in zip(axes, arrival.places, strict=True)
        )
        if cells not in ends:
            ends.add(cells)
            yield arrival


def _points(dynamics: Dynamics, limits: Limits) -> Iterator[Arrival]:
    """Yield paths to ends that differ in some value."""

    def land(arrival: Arrival) -> Lead:
        variations = _variations(dynamics, arrival)
        return VariedLead(variations, arrival.key, (0,) * len(variations.choices), arrival)

    seen: set[Places] = set()
    for arrival in arrivals(dynamics, limits, first_only=False, every=True, land=land):
        if arrival.places not in seen:
            seen.add(arrival.places)
            yield arrival


@dataclass(frozen=True)
class LooseMove:
    """A move whose place may vary without changing what follows, and the places to try, cheapest first."""

    position: int
    source: Iterator[int]
    known: list[int] = field(default_factory=list)

    def place(self, index: int) -> int | None:
        """Return one of the places to try, if there are so many."""
        while len(self.known) <= index:
            following = next(self.source, None)
            if following is None:
                return None
            self.known.append(following)
        return self.known[index]


class Variations(NamedTuple):
    """A path, and its moves whose places may vary."""

    dynamics: Dynamics
    arrival: Arrival
    moves: list[Move]
    choices: tuple[LooseMove, ...]

    def at(self, indices: tuple[int, ...]) -> Arrival | None:
        """Return the path with each loose move at one of its places."""
        person = self.dynamics.person
        changed, places = list(self.moves), list(self.arrival.places)
        effort, way = self.arrival.effort, self.arrival.way
        for choice, index in zip(self.choices, indices, strict=True):
            place = choice.place(index)
            if place is None:
                return None
            move = self.moves[choice.position]
            if move.direct:
                for end, sign in ((place, 1), (move.end, -1)):
                    effort += sign * person.effort(move.axis, move.start, end)
                    way += sign * person.way(move.axis, move.start, end)
            changed[choice.position] = move._replace(end=place)
            places[move.axis] = place
        return Arrival(effort, way, tuple(places), chain_of(changed))


class VariedLead(NamedTuple):
    """A path with its loose moves at some of their places; further ones vary no move before the last one varied."""

    variations: Variations
    key: Key
    indices: tuple[int, ...]
    known: Arrival

    def follow(self, limits: Limits) -> Iterable[Lead | Arrival]:
        """Yield the path, then those that go one place further."""
        yield self.known
        indices = self.indices
        last = max((i for i, each in enumerate(indices) if each), default=0)
        for i in range(last, len(indices)):
            further = (*indices[:i], indices[i] + 1, *indices[i + 1 :])
            arrival = self.variations.at(further)
            if arrival is not None:
                yield VariedLead(self.variations, arrival.key, further, arrival)


def _variations(dynamics: Dynamics, arrival: Arrival) -> Variations:
    moves = arrival.moves
    last = {move.axis: position for position, move in enumerate(moves)}
    choices = tuple(
        LooseMove(position, _options(dynamics, move))
        for position, move in enumerate(moves)
        if last[move.axis] == position and move.among[1:]
    )
    return Variations(dynamics, arrival, moves, choices)


def _options(dynamics: Dynamics, move: Move) -> Iterator[int]:
    """Yield the places that a move may take instead, in the order of cost and then of the domain."""
    index, start = move.axis, move.start
    person = dynamics.person
    apart = index in dynamics.own_matters
    barred = {start, person.places[index]} if apart else {start}
    missing = person.missing(index, start)
    for place in _outward(dynamics, move):
        permitted = missing or not move.direct or dynamics.leads(index, start, place)
        if place not in barred and permitted:
            yield place


def _outward(dynamics: Dynamics, move: Move) -> Iterator[int]:
    index, among = move.axis, move.among
    person = dynamics.person
    even = person.prices.even[index] or person.missing(index, move.start)
    if even or not move.direct or not isinstance(among, range):
        yield from among
        return
    here = dynamics.position(index, move.start)
    high = dynamics.first_from(index, among, here)
    low = high - 1
    while low >= among[0] or high <= among[-1]:
        below = here - dynamics.position(index, low) if low >= among[0] else None
        above = dynamics.position(index, high) - here if high <= among[-1] else None
        if above is None or (below is not None and below <= above):
            yield low
            low -= 1
        else:
            yield high
            high += 1
