"""Paths to the other places of a region: the same moves, some of which end elsewhere, cheapest first.

The places of a region have the same future, so the end states of one path of regions are a product of short walks outward
from the cheapest place of each. The walks are lazy, so the size of a domain does not matter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from p2c._plan.search.best_first import Arrival, Key, chain_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from p2c._plan.compiled.transitions import Transitions
    from p2c._plan.search.best_first import Lead, Limits, Move


@dataclass(frozen=True)
class LooseMove:
    """A move whose place may vary without changing what follows, and the places to try, its own first."""

    position: int
    known: list[int]
    source: Iterator[int]

    def place(self, index: int) -> int | None:
        """Return one of the places to try, if there are so many."""
        while len(self.known) <= index:
            following = next(self.source, None)
            if following is None:
                return None
            self.known.append(following)
        return self.known[index]


class Variations(NamedTuple):
    """A person's transitions, and the moves of a path whose places may vary."""

    transitions: Transitions
    choices: tuple[LooseMove, ...]

    def further(
        self, arrival: Arrival, moves: list[Move], which: int, index: int
    ) -> Arrival | None:
        """Return a path with one loose move at another of its places, if it has so many."""
        choice = self.choices[which]
        place = choice.place(index)
        if place is None:
            return None
        move = moves[choice.position]
        effort, way, places = arrival.effort, arrival.way, list(arrival.places)
        if move.direct:
            person = self.transitions.person
            for end, sign in ((place, 1), (move.end, -1)):
                effort += sign * person.effort(move.axis, move.start, end)
                way += sign * person.way(move.axis, move.start, end)
        places[move.axis] = place
        changed = [
            *moves[: choice.position],
            move._replace(end=place),
            *moves[choice.position + 1 :],
        ]
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
        indices, moves = self.indices, self.known.moves
        last = max((i for i, each in enumerate(indices) if each), default=0)
        for i in range(last, len(indices)):
            arrival = self.variations.further(self.known, moves, i, indices[i] + 1)
            if arrival is not None:
                further = (*indices[:i], indices[i] + 1, *indices[i + 1 :])
                yield VariedLead(self.variations, arrival.key, further, arrival)


def varied(transitions: Transitions, arrival: Arrival) -> VariedLead:
    """Return a path to a region as a lead, of which come the paths to its other places."""
    variations = _variations(transitions, arrival)
    return VariedLead(variations, arrival.key, (0,) * len(variations.choices), arrival)


def _variations(transitions: Transitions, arrival: Arrival) -> Variations:
    moves = arrival.moves
    last = {move.axis: position for position, move in enumerate(moves)}
    choices = tuple(
        LooseMove(position, [move.end], _others(transitions, move))
        for position, move in enumerate(moves)
        if last[move.axis] == position and move.among[1:]
    )
    return Variations(transitions, choices)


def _others(transitions: Transitions, move: Move) -> Iterator[int]:
    """Yield the places that a move may take instead of its own, in the order of cost and then of the domain."""
    index, start = move.axis, move.start
    person = transitions.person
    apart = index in transitions.own_matters
    barred = {start, move.end, *([person.places[index]] if apart else ())}
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
