"""Paths followed state by state: for problems in which the order of actions decides what they cost or bring about.

A node is a state together with the direct actions already spent, since they limit what may still be done. Of two ways to
a node only the better one is followed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from p2c._plan.compiled.transitions import Variety
from p2c._plan.search.best_first import START, Arrival, Chain, Key, Move, Trail

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from p2c._plan.compiled.person import Places
    from p2c._plan.compiled.transitions import Judgement, Transitions
    from p2c._plan.search.best_first import Lead, Limits


Gone = tuple[tuple[int, int], ...]
"""How far direct actions have taken each feature with moves, where that decides what the next one costs."""


class Node(NamedTuple):
    """A state, the features spent on direct actions, and the trails of those with moves."""

    places: Places
    spent: int
    trails: tuple[Trail, ...]
    loose: tuple[tuple[int, int], ...] = ()
    """Where end states count as points: the features whose place may still vary, and where each came from."""
    held: int = 0
    """What no effect may carry off until the step ends."""


class Path(NamedTuple):
    """A way to a node: its effort, its direct actions, the way gone, and its moves, newest first."""

    effort: int
    direct: int
    way: int
    node: Node
    gone: Gone
    chain: Chain | None


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


@dataclass(frozen=True)
class StateSearch:
    """What is searched state by state: only the relevant features are changed directly, a goal state is never left."""

    transitions: Transitions
    relevant: Sequence[int]
    land: Callable[[Arrival], Lead | Arrival]
    frontier: Frontier = field(default_factory=Frontier)

    def leads(self) -> Iterator[StateLead]:
        """Yield where the search begins."""
        start = Path(0, 0, 0, Node(self.transitions.person.places, 0, ()), (), None)
        self.frontier.admits(start.node, START, ())
        yield StateLead(self, START, start)


class StateLead(NamedTuple):
    """A path that has come to a state."""

    search: StateSearch
    key: Key
    path: Path

    @property
    def known(self) -> None:
        """Return nothing: whether the state meets the goal is seen when it is followed."""

    def follow(self, limits: Limits) -> Iterable[Lead | Arrival]:
        """Yield the state itself where it meets the goal, else what may follow."""
        search, key, path = self
        if not search.frontier.holds(path.node, key, path.gone):
            return
        verdict = search.transitions.judge(path.node.places)
        if verdict.goal:
            yield search.land(Arrival(path.effort, path.way, path.node.places, path.chain))
            return
        for following in successors(search.transitions, path, verdict, search.relevant):
            assert following.chain is not None
            move = following.chain.move
            sequence = (*key.sequence, (move.axis, move.end))
            onward = Key(
                effort=following.effort,
                length=key.length + 1,
                way=following.way,
                sequence=sequence,
            )
            if search.frontier.admits(following.node, onward, following.gone):
                yield StateLead(search, onward, following)


def _no_further(one: Gone, other: Gone) -> bool:
    """Tell whether a way has gone no further than another on any feature; both name the same ones."""
    return all(a <= b for (_, a), (_, b) in zip(one, other, strict=True))


def successors(
    transitions: Transitions, path: Path, verdict: Judgement, relevant: Sequence[int]
) -> Iterator[Path]:
    """Yield what may follow: effects where there are any in an inconsistent state, else direct actions too."""
    node = path.node
    effects = transitions.effects(node.places, verdict)
    for index, place, fired, assumed, among in effects:
        if node.held >> index & 1:
            continue
        move = Move(index, node.places[index], place, False, fired, assumed, among)
        following = _moved(transitions, node, move)
        yield path._replace(node=following, chain=Chain(move, path.chain))
    if verdict.consistent or not effects:
        for index in relevant:
            if transitions.person.space.axes[index].feature.moves_from is not None:
                yield from _further_moves(transitions, path, index)
            elif not node.spent >> index & 1:
                yield from _single_changes(transitions, path, index)


def _single_changes(transitions: Transitions, path: Path, index: int) -> Iterator[Path]:
    """Yield the direct actions on a feature that may be changed once."""
    person, node = transitions.person, path.node
    start, spent = node.places[index], node.spent | 1 << index
    for end, among in transitions.targets(index, start):
        move = Move(index, start, end, True, 0, False, among)
        yield Path(
            path.effort + person.effort(index, start, end),
            path.direct + 1,
            path.way + person.way(index, start, end),
            _moved(transitions, node, move)._replace(spent=spent),
            path.gone,
            Chain(move, path.chain),
        )


def _further_moves(transitions: Transitions, path: Path, index: int) -> Iterator[Path]:
    """Yield the direct actions on a feature with moves, never back to a value that one has left."""
    person, node = transitions.person, path.node
    start = node.places[index]
    left = next((each.left for each in node.trails if each.axis == index), frozenset[int]())
    other_trails = [each for each in node.trails if each.axis != index]
    trails = tuple(sorted((*other_trails, Trail(index, left | {start}))))
    gone = dict(path.gone)
    apart = person.space.theory.norm.adds_up
    for end, among in transitions.targets(index, start):
        if end in left:
            continue
        before = gone.get(index, 0)
        if not transitions.affords(index, start, end, before):
            continue
        ways = {} if apart else {**gone, index: before + person.length(index, start, end)}
        move = Move(index, start, end, True, 0, False, among)
        yield Path(
            path.effort + person.effort(index, start, end, gone=before),
            path.direct + 1,
            path.way + person.way(index, start, end),
            _moved(transitions, node, move)._replace(trails=trails),
            tuple(sorted(ways.items())),
            Chain(move, path.chain),
        )


def _moved(transitions: Transitions, node: Node, move: Move) -> Node:
    index, places = move.axis, node.places
    after = (*places[:index], move.end, *places[index + 1 :])
    held = transitions.held(node.held, index, after, direct=move.direct)
    if transitions.variety is Variety.PLANS:
        return Node(after, node.spent, node.trails, (), held)
    loose = [each for each in node.loose if each[0] != index]
    if move.among[1:]:
        loose.append((index, move.start))
    return Node(after, node.spent, node.trails, tuple(sorted(loose)), held)
