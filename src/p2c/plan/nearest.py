"""The k nearest: end states in the order of their cost, each with its own best path, one at a time.

The search works on regions, whose places have the same future; the end states of one path of regions are then a product
of short walks outward from the cheapest place of each. Both are lazy, so the size of a domain does not matter.
"""

from __future__ import annotations

import heapq
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from p2c.plan.answer import ask, found
from p2c.plan.dynamics import Dynamics, Variety
from p2c.plan.outcome import Already
from p2c.plan.person import place_person
from p2c.plan.planner import refuse_if_strict
from p2c.plan.search import Arrival, Chain, Limits, search

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from p2c.domain.feature import Value
    from p2c.plan.outcome import Plan
    from p2c.plan.person import Places
    from p2c.plan.search import Key, Move
    from p2c.plan.space import Space


class Distinct(Enum):
    """What makes two end states different: a value, or something that a rule can see."""

    POINTS = "points"
    CELLS = "cells"


def nearest_plans(
    space: Space, state: Mapping[str, Value], *, distinct: Distinct = Distinct.POINTS
) -> Iterator[Plan]:
    """Yield plans to distinct end states, cheapest first; one if the goal holds at the start, none if no way exists."""
    variety = Variety.POINTS if distinct is Distinct.POINTS else Variety.PLANS
    dynamics = Dynamics(place_person(space, state), variety)
    refuse_if_strict(dynamics)
    if dynamics.judge(dynamics.person.places).goal:
        yield Already(ask(dynamics))
        return
    question = ask(dynamics)
    paths = _points(dynamics) if distinct is Distinct.POINTS else _cells(dynamics)
    for arrival in paths:
        yield found(dynamics, question, arrival)


def _cells(dynamics: Dynamics) -> Iterator[Arrival]:
    space = dynamics.person.space
    seen = set()
    for arrival in search(dynamics, relevant=space.relevant, limits=Limits()):
        cells = tuple(
            place if place < 0 else axis.cell(place)
            for axis, place in zip(space.axes, arrival.node.places, strict=True)
        )
        if cells not in seen:
            seen.add(cells)
            yield arrival


def _points(dynamics: Dynamics) -> Iterator[Arrival]:
    """Merge the variations of every path, in the order of the contract."""
    settable = [
        index
        for index, axis in enumerate(dynamics.person.space.axes)
        if axis.feature.action.is_direct
    ]
    paths = search(dynamics, relevant=settable, limits=Limits())
    upcoming = next(paths, None)
    waiting: list[tuple[Key, int, Arrival, Iterator[tuple[Key, Arrival]]]] = []
    seen: set[Places] = set()
    streams = 0
    while waiting or upcoming:
        if upcoming and (not waiting or _key(upcoming) <= waiting[0][0]):
            stream = _variations(dynamics, upcoming)
            key, arrival = next(stream)
            streams += 1
            heapq.heappush(waiting, (key, streams, arrival, stream))
            upcoming = next(paths, None)
            continue
        _, number, arrival, stream = heapq.heappop(waiting)
        if arrival.node.places not in seen:
            seen.add(arrival.node.places)
            yield arrival
        for key, onward in stream:
            heapq.heappush(waiting, (key, number, onward, stream))
            break


def _key(arrival: Arrival) -> Key:
    moves = arrival.moves
    return arrival.effort, len(moves), tuple((move.axis, move.end) for move in moves)


class LooseMove(NamedTuple):
    """A move whose place may vary without changing what follows, and the places to try, cheapest first."""

    position: int
    options: _Lazy


class _Lazy:
    """A list that grows as it is asked for."""

    def __init__(self, source: Iterator[int]) -> None:
        self._source = source
        self._known: list[int] = []

    def at(self, index: int) -> int | None:
        while len(self._known) <= index:
            following = next(self._source, None)
            if following is None:
                return None
            self._known.append(following)
        return self._known[index]


def _variations(dynamics: Dynamics, arrival: Arrival) -> Iterator[tuple[Key, Arrival]]:
    """Yield the path itself and every other choice of places within its regions, best first."""
    moves = arrival.moves
    last = {move.axis: position for position, move in enumerate(moves)}
    choices = [
        LooseMove(position, _Lazy(_options(dynamics, move)))
        for position, move in enumerate(moves)
        if last[move.axis] == position and move.among[1:]
    ]
    start = (0,) * len(choices)
    first = _varied(dynamics, arrival, moves, choices, start)
    assert first is not None, "a path is one of its own variations"
    queue = [(_key(first), start, first)]
    while queue:
        key, indices, varied = heapq.heappop(queue)
        yield key, varied
        highest = max((i for i, each in enumerate(indices) if each), default=0)
        for i in range(highest, len(choices)):
            further = (*indices[:i], indices[i] + 1, *indices[i + 1 :])
            following = _varied(dynamics, arrival, moves, choices, further)
            if following is not None:
                heapq.heappush(queue, (_key(following), further, following))


def _varied(
    dynamics: Dynamics,
    arrival: Arrival,
    moves: list[Move],
    choices: list[LooseMove],
    indices: tuple[int, ...],
) -> Arrival | None:
    person = dynamics.person
    changed = list(moves)
    places = list(arrival.node.places)
    effort = arrival.effort
    for choice, index in zip(choices, indices, strict=True):
        place = choice.options.at(index)
        if place is None:
            return None
        move = moves[choice.position]
        if move.direct:
            effort += person.effort(move.axis, move.start, place)
            effort -= person.effort(move.axis, move.start, move.end)
        changed[choice.position] = move._replace(end=place)
        places[move.axis] = place
    chain: Chain | None = None
    for move in changed:
        chain = Chain(move, chain)
    node = arrival.node._replace(places=tuple(places))
    return arrival._replace(effort=effort, node=node, chain=chain)


def _options(dynamics: Dynamics, move: Move) -> Iterator[int]:
    """Yield the places that a move may take instead, in the order of cost and then of the domain."""
    index, start, among = move.axis, move.start, move.among
    person = dynamics.person
    apart = index in dynamics.own_matters
    barred = {start, person.places[index]} if apart else {start}
    missing = person.missing(index, start)
    fit = (
        place
        for place in _outward(dynamics, move)
        if place not in barred
        and (missing or not move.direct or dynamics.leads(index, start, place))
    )
    yield from (fit if among[1:] else iter(among))


def _outward(dynamics: Dynamics, move: Move) -> Iterator[int]:
    index, among = move.axis, move.among
    person = dynamics.person
    flat = person.prices.flat[index] or person.missing(index, move.start)
    if flat or not move.direct or not isinstance(among, range):
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
