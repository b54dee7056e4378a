"""Paths to the other places of a region: the same moves, some of which end elsewhere, cheapest first.

The places of a region have the same future, so the end states of one path of regions are a product of short walks outward
from the cheapest place of each. The walks are lazy, so the size of a domain does not matter.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from p2c.plan.search.best_first import Arrival, Key, chain_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from p2c.plan.compiled.transitions import Transitions
    from p2c.plan.search.best_first import Lead, Limits, Move


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

    transitions: Transitions
    arrival: Arrival
    moves: list[Move]
    choices: tuple[LooseMove, ...]

    def at(self, indices: tuple[int, ...]) -> Arrival | None:
        """Return the path with each loose move at one of its places."""
        person = self.transitions.person
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


def varied(transitions: Transitions, arrival: Arrival) -> VariedLead:
    """Return a path to a region as a lead, of which come the paths to its other places."""
    variations = _variations(transitions, arrival)
    return VariedLead(variations, arrival.key, (0,) * len(variations.choices), arrival)


def _variations(transitions: Transitions, arrival: Arrival) -> Variations:
    moves = arrival.moves
    last = {move.axis: position for position, move in enumerate(moves)}
    choices = tuple(
        LooseMove(position, _options(transitions, move))
        for position, move in enumerate(moves)
        if last[move.axis] == position and move.among[1:]
    )
    return Variations(transitions, arrival, moves, choices)


def _options(transitions: Transitions, move: Move) -> Iterator[int]:
    """Yield the places that a move may take instead, in the order of cost and then of the domain."""
    index, start = move.axis, move.start
    person = transitions.person
    apart = index in transitions.own_matters
    barred = {start, person.places[index]} if apart else {start}
    for place in _outward(transitions, move):
        if place in barred:
            continue
        if not move.direct:
            yield place
        elif transitions.chooses(index, start, place):
            if not transitions.affords(index, start, place):
                return
            yield place


def _outward(transitions: Transitions, move: Move) -> Iterator[int]:
    index, among = move.axis, move.among
    person = transitions.person
    even = person.prices.even[index] or person.missing(index, move.start)
    if even or not move.direct or not isinstance(among, range):
        yield from among
        return
    here = transitions.position(index, move.start)
    high = transitions.first_from(index, among, here)
    low = high - 1
    while low >= among[0] or high <= among[-1]:
        below = here - transitions.position(index, low) if low >= among[0] else None
        above = transitions.position(index, high) - here if high <= among[-1] else None
        if above is None or (below is not None and below <= above):
            yield low
            low -= 1
        else:
            yield high
            high += 1
