"""The one search: whatever may lead to the goal waits in a queue, and the best is followed first.

A lead is something that may come to the goal: a state on a path, a set of direct actions, the orders of such a set, another
place within a region. Its key is what no path that comes of it can beat, in the contract's order: effort, number of
actions, way gone, sequence of actions. So the first arrival is the best plan, going on gives the next best, and an empty
queue proves that there is no other.
"""

from __future__ import annotations

import heapq
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from p2c._plan.compiled.person import Places
    from p2c._plan.compiled.transitions import Transitions

Act = tuple[int, int]
"""The feature and the end of an action."""


class Key(NamedTuple):
    """What decides between paths, in the contract's order; of a lead, what no path that comes of it can beat.

    The order of these fields is the order of ties; what of the effort comes first, its cost or its actions, is `minimize`'s.
    """

    effort: int
    """The cost, and the number of direct actions, in the order that the question asks for."""
    length: int
    """The number of all actions, effects included."""
    way: int
    """How far direct actions go, each times its weight."""
    sequence: tuple[Act, ...]


START = Key(effort=0, length=0, way=0, sequence=())


class Move(NamedTuple):
    """One action of a path: a direct one has no `fired`."""

    axis: int
    start: int
    end: int
    direct: bool
    fired: int
    assumed: bool
    among: Sequence[int]


class Trail(NamedTuple):
    """The values of a feature with moves that direct actions have left."""

    axis: int
    left: frozenset[int]


class Chain(NamedTuple):
    """A linked list of moves, shared between paths."""

    move: Move
    before: Chain | None


def moves_of(chain: Chain | None) -> list[Move]:
    """Return the moves of a chain in the order in which they are made."""
    found = []
    while chain is not None:
        found.append(chain.move)
        chain = chain.before
    return found[::-1]


def chain_of(moves: Iterable[Move]) -> Chain | None:
    """Return some moves as a chain."""
    chain: Chain | None = None
    for move in moves:
        chain = Chain(move, chain)
    return chain


class Arrival(NamedTuple):
    """A path to a goal state: its effort, the way gone, its end, and its moves, newest first."""

    effort: int
    way: int
    places: Places
    chain: Chain | None

    @property
    def moves(self) -> list[Move]:
        """Return the moves in the order in which they are made."""
        return moves_of(self.chain)

    @property
    def direct(self) -> int:
        """Return the number of direct actions."""
        return sum(move.direct for move in self.moves)

    @property
    def key(self) -> Key:
        """Return what decides between this path and others."""
        moves = self.moves
        sequence = tuple([(move.axis, move.end) for move in moves])
        return Key(effort=self.effort, length=len(moves), way=self.way, sequence=sequence)


class Lead(Protocol):
    """Something that may come to the goal."""

    @property
    def key(self) -> Key:
        """Return what no path that comes of it can beat."""

    @property
    def known(self) -> Arrival | None:
        """Return a path to the goal that it already has."""

    def follow(self, limits: Limits) -> Iterable[Lead | Arrival]:
        """Return what comes of it: further leads, and arrivals whose key is its own."""


@dataclass
class Limits:
    """What the caller allows, nodes to expand and a moment to stop at; and how many nodes were expanded so far."""

    nodes: int | None = None
    deadline: float | None = None
    expanded: int = 0

    @classmethod
    def within(cls, seconds: float | None, nodes: int | None = None) -> Limits:
        """Return the limits that end so many seconds from now."""
        return cls(nodes, None if seconds is None else time.monotonic() + seconds)

    def for_share(self, share: float) -> Limits:
        """Return limits of the same nodes and a share of the remaining time."""
        if self.left is None:
            return Limits(self.nodes, None, self.expanded)
        return Limits(self.nodes, time.monotonic() + share * self.left, self.expanded)

    @property
    def left(self) -> float | None:
        """Return how many seconds are left, if they are counted."""
        return None if self.deadline is None else max(self.deadline - time.monotonic(), 0.0)

    @property
    def is_over(self) -> bool:
        """Tell whether the time has passed."""
        return self.left == 0.0

    @property
    def is_spent(self) -> bool:
        """Tell whether all nodes were expanded that may be."""
        return self.nodes is not None and self.expanded >= self.nodes

    def check(self) -> None:
        """Raise when it is time to stop."""
        if self.is_spent or (self.deadline is not None and time.monotonic() >= self.deadline):
            raise LimitReached(0, None)


class LimitReached(Exception):
    """Carries what is known when a limit ends the search: no path is cheaper than `effort`."""

    def __init__(self, effort: int, best: Arrival | None) -> None:
        self.effort = effort
        self.best = best


def best_first(leads: Iterable[Lead], limits: Limits) -> Iterator[Arrival]:
    """Yield arrivals in the contract's order; running out proves that there are no more."""
    queue = [(lead.key, number, lead) for number, lead in enumerate(leads)]
    heapq.heapify(queue)
    pushed = len(queue)
    while queue:
        key, _, lead = heapq.heappop(queue)
        try:
            limits.check()
            for following in lead.follow(limits):
                if isinstance(following, Arrival):
                    yield following
                else:
                    pushed += 1
                    heapq.heappush(queue, (following.key, pushed, following))
        except LimitReached:
            waiting = [lead.known, *(each.known for _, _, each in queue)]
            known = [each for each in waiting if each is not None]
            best = min(known, key=lambda each: each.key, default=None)
            raise LimitReached(key.effort, best) from None
        limits.expanded += 1


def step_ends(transitions: Transitions, moves: Sequence[Move]) -> tuple[int, ...]:
    """Return after how many moves of a path a step ends, which is where the state is consistent."""
    if not (transitions.person.space.governed or transitions.person.space.constraints):
        return tuple(range(1, len(moves) + 1))
    places = list(transitions.person.places)
    found = []
    for count, move in enumerate(moves, start=1):
        places[move.axis] = move.end
        if transitions.judge(tuple(places)).consistent:
            found.append(count)
    return tuple(found)
