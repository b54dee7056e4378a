"""The search: uniform cost over states and what has been spent, cheapest path first, ties as the contract breaks them.

A node is a state together with the direct actions already spent, since they limit what may still be done. Nodes leave
the queue in the order of (effort, number of actions, sequence of actions), so the first one at the goal is the answer,
and an empty queue proves that there is no path.
"""

from __future__ import annotations

import heapq
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from p2c.domain.spec import Norm
from p2c.plan.dynamics import Variety

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from p2c.plan.dynamics import Dynamics, Judgement
    from p2c.plan.person import Places


class Trail(NamedTuple):
    """The values of a feature with moves that direct actions have left."""

    axis: int
    left: frozenset[int]


Gone = tuple[tuple[int, int], ...]
"""How far direct actions have taken each feature with moves, where that decides what the next one costs."""


class Node(NamedTuple):
    """A state, the features spent on direct actions, and the trails of those with moves."""

    places: Places
    spent: int
    trails: tuple[Trail, ...]
    loose: tuple[tuple[int, int], ...] = ()
    """Where end states count as points: the features whose place may still vary, and where each came from."""


class Move(NamedTuple):
    """One action of a path: a direct one has no `fired`."""

    axis: int
    start: int
    end: int
    direct: bool
    fired: int
    assumed: bool
    among: Sequence[int]


class Arrival(NamedTuple):
    """A path to a node: its effort, its number of direct actions, and its moves, newest first."""

    effort: int
    direct: int
    node: Node
    gone: Gone
    chain: Chain | None

    @property
    def moves(self) -> list[Move]:
        """Return the moves in the order in which they are made."""
        return moves_of(self.chain)


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


def step_ends(dynamics: Dynamics, moves: Sequence[Move]) -> tuple[int, ...]:
    """Return after how many moves of a path a step ends, which is where the state is consistent."""
    places = list(dynamics.person.places)
    found = []
    for count, move in enumerate(moves, start=1):
        places[move.axis] = move.end
        if dynamics.judge(tuple(places)).consistent:
            found.append(count)
    return tuple(found)


@dataclass
class Limits:
    """What the caller allows: nodes to expand and a moment to stop at."""

    nodes: int | None = None
    deadline: float | None = None

    def reached(self, expanded: int) -> bool:
        """Tell whether to stop."""
        if self.nodes is not None and expanded >= self.nodes:
            return True
        return self.deadline is not None and time.monotonic() >= self.deadline


class LimitReached(Exception):
    """Carries what is known when a limit ends the search: no path is cheaper than `effort`."""

    def __init__(self, effort: int, best: Arrival | None) -> None:
        self.effort = effort
        self.best = best


Key = tuple[int, int, tuple[tuple[int, int], ...]]


def search(dynamics: Dynamics, *, relevant: Sequence[int], limits: Limits) -> Iterator[Arrival]:
    """Yield paths to goal states, best first; running out is a proof that there are no more.

    Only the relevant features are changed directly. A goal state is never left.
    """
    start = Arrival(0, 0, Node(dynamics.person.places, 0, ()), (), None)
    queue: list[tuple[int, int, tuple[tuple[int, int], ...], int, Arrival]] = []
    frontier = Frontier()
    frontier.admits(start.node, (0, 0, ()), ())
    heapq.heappush(queue, (0, 0, (), 0, start))
    expanded = pushed = 0
    while queue:
        effort, count, sequence, _, arrival = heapq.heappop(queue)
        if not frontier.holds(arrival.node, (effort, count, sequence), arrival.gone):
            continue
        verdict = dynamics.judge(arrival.node.places)
        if verdict.goal:
            yield arrival
            continue
        if limits.reached(expanded):
            raise LimitReached(effort, None)
        expanded += 1
        for following in successors(dynamics, arrival, verdict, relevant):
            assert following.chain is not None
            move = following.chain.move
            key = (following.effort, count + 1, (*sequence, (move.axis, move.end)))
            if frontier.admits(following.node, key, following.gone):
                pushed += 1
                heapq.heappush(queue, (*key, pushed, following))


class Frontier:
    """The best ways known to each node; with squared costs, a dearer one that has gone less far may still win."""

    def __init__(self) -> None:
        self._best: dict[Node, list[tuple[Key, Gone]]] = {}

    def admits(self, node: Node, key: Key, gone: Gone) -> bool:
        """Keep a way to a node unless a known one is as good."""
        known = self._best.get(node)
        if known is None:
            self._best[node] = [(key, gone)]
            return True
        if any(other <= key and _no_further(way, gone) for other, way in known):
            return False
        known[:] = [
            (other, way) for other, way in known if not (key <= other and _no_further(gone, way))
        ]
        known.append((key, gone))
        return True

    def holds(self, node: Node, key: Key, gone: Gone) -> bool:
        """Tell whether a way to a node is still among the best."""
        return (key, gone) in self._best[node]


def _no_further(one: Gone, other: Gone) -> bool:
    """Tell whether a way has gone no further than another on any feature; both name the same ones."""
    return all(a <= b for (_, a), (_, b) in zip(one, other, strict=True))


def successors(
    dynamics: Dynamics, arrival: Arrival, verdict: Judgement, relevant: Sequence[int]
) -> Iterator[Arrival]:
    """Yield what may follow: effects where there are any in an inconsistent state, else direct actions too."""
    node = arrival.node
    effects = dynamics.effects(node.places, verdict)
    for index, place, fired, assumed, among in effects:
        move = Move(index, node.places[index], place, False, fired, assumed, among)
        following = _moved(dynamics, node, move)
        chain = Chain(move, arrival.chain)
        yield Arrival(arrival.effort, arrival.direct, following, arrival.gone, chain)
    if verdict.consistent or not effects:
        for index in relevant:
            if dynamics.person.space.axes[index].feature.moves_from is not None:
                yield from _further_moves(dynamics, arrival, index)
            elif not node.spent >> index & 1:
                yield from _single_changes(dynamics, arrival, index)


def _single_changes(dynamics: Dynamics, arrival: Arrival, index: int) -> Iterator[Arrival]:
    """Yield the direct actions on a feature that may be changed once."""
    person, node = dynamics.person, arrival.node
    start, spent = node.places[index], node.spent | 1 << index
    for end, among in dynamics.targets(index, start):
        move = Move(index, start, end, True, 0, False, among)
        yield Arrival(
            arrival.effort + person.effort(index, start, end),
            arrival.direct + 1,
            _moved(dynamics, node, move)._replace(spent=spent),
            arrival.gone,
            Chain(move, arrival.chain),
        )


def _further_moves(dynamics: Dynamics, arrival: Arrival, index: int) -> Iterator[Arrival]:
    """Yield the direct actions on a feature with moves, never back to a value that one has left."""
    person, node = dynamics.person, arrival.node
    start = node.places[index]
    left = next((each.left for each in node.trails if each.axis == index), frozenset[int]())
    other_trails = [each for each in node.trails if each.axis != index]
    trails = tuple(sorted((*other_trails, Trail(index, left | {start}))))
    gone = dict(arrival.gone)
    squared = person.space.theory.norm is Norm.L2
    for end, among in dynamics.targets(index, start):
        if end in left:
            continue
        before = gone.get(index, 0)
        ways = {**gone, index: before + person.length(index, start, end)} if squared else {}
        move = Move(index, start, end, True, 0, False, among)
        yield Arrival(
            arrival.effort + person.effort(index, start, end, gone=before),
            arrival.direct + 1,
            _moved(dynamics, node, move)._replace(trails=trails),
            tuple(sorted(ways.items())),
            Chain(move, arrival.chain),
        )


def _moved(dynamics: Dynamics, node: Node, move: Move) -> Node:
    index, places = move.axis, node.places
    after = (*places[:index], move.end, *places[index + 1 :])
    if dynamics.variety is Variety.PLANS:
        return Node(after, node.spent, node.trails)
    loose = [each for each in node.loose if each[0] != index]
    if move.among[1:]:  # which may be more than a length can say
        loose.append((index, move.start))
    return Node(after, node.spent, node.trails, tuple(sorted(loose)))
