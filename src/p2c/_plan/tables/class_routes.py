"""Routes of classes: for everyone whom the rules see alike, the few one of which is the best, found once and kept.

Two people whose values lie in the same regions have the same future: the same places can be reached by the same
actions, and only what a change from their own value costs differs. So the routes from one such class to the goal are
enumerated once, without costs, and of two routes the one is dropped that can never be better: it takes the same steps
or more, each as far or farther. What is left is priced for each person. No route means that nobody in the class has a
path.

The person's own place is kept symbolic (`OFF`) in that enumeration, except where an exception hangs on it: there it is
part of what makes the class.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from p2c._plan.answer import exceptions_of, named_steps
from p2c._plan.compiled.axis import OFF
from p2c._plan.compiled.transitions import Transitions
from p2c._plan.search.best_first import Key, moves_of
from p2c._plan.search.states import Node, Path, successors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from p2c._plan.answer import NamedMove
    from p2c._plan.compiled.person import Person, Places
    from p2c._plan.compiled.space import Space
    from p2c._plan.search.best_first import Move

LABELS = 3_000
"""How many partial routes a class may take before its people are searched for one by one."""

QUICK = 300
"""How many partial routes a class may take for one person alone, where there is another quick way to an answer."""


class Route(NamedTuple):
    """A path as everyone in a class may take it: an effort that is the same for all, and changes from one's own."""

    effort: int
    lengths: tuple[tuple[int, int], ...]
    """The feature and the end of each change whose cost depends on where the person starts."""
    way: int
    """How far the route goes for everyone, but for the changes from one's own."""
    direct: int
    moves: tuple[Move, ...]
    steps: tuple[tuple[NamedMove, ...], ...]
    """The same moves, step by step, as they are told."""

    def key(self, effort: Any = 0, way: Any = 0) -> Key:
        """Return what decides between routes, whose effort and way for a person may be fractions."""
        sequence = tuple((move.axis, move.end) for move in self.moves)
        return Key(effort=effort, length=len(self.moves), way=way, sequence=sequence)


@dataclass(frozen=True)
class Entry:
    """What is known of a class: its transitions, whether the goal holds at the start, and else its routes, if not too many."""

    transitions: Transitions
    anchors: tuple[int, ...]
    """The features whose very value makes the class, since an exception hangs on it."""
    already: bool
    routes: tuple[Route, ...] | None
    tried: int = 0
    """After how many partial routes there were too many."""

    @cached_property
    def exceptions(self) -> tuple[dict[str, Any], ...]:
        """Return what everyone in the class is excused from."""
        return exceptions_of(self.transitions)


@dataclass(frozen=True)
class ClassRoutes:
    """The classes met so far."""

    space: Space
    _entries: dict[tuple[Places, Places], Entry] = field(default_factory=dict)
    _anchors: dict[Places, tuple[int, ...]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Return what is known of each class."""
        return tuple(self._entries.values())

    @cached_property
    def telling(self) -> tuple[int, ...]:
        """Return the features that decide a person's class: those that some rule or model can see, if only when they are missing."""
        by_model = self.space.model_places
        return tuple(
            index
            for index, axis in enumerate(self.space.axes)
            if axis.is_seen or axis.feature.moves_from is not None or index in by_model
        )

    def regions(self, person: Person) -> Places:
        """Return the region of each telling value; that of a missing one is `OFF`."""
        places = person.places
        return tuple(
            [
                OFF if places[index] == OFF else region(places[index])
                for index, region in self._tellers
            ]
        )

    @cached_property
    def _tellers(self) -> list[tuple[int, Callable[[int], int]]]:
        return [(index, self.space.axes[index].region) for index in self.telling]

    def entry(self, person: Person, most: int = LABELS) -> Entry | None:
        """Return the person's class, or None for a person off the grid, whose class has nobody else in it."""
        places = person.places
        if person.off_grid:
            return None
        regions = self.regions(person)
        anchors = self._anchors.get(regions)
        if anchors is None:
            anchors = self._anchors[regions] = tuple(sorted(Transitions(person).own_matters))
        key = regions, tuple([places[index] for index in anchors])
        known = self._entries.get(key)
        if known is None or (known.routes is None and known.tried < most):
            known = self._entries[key] = _explore(_symbolic(person, anchors), anchors, most)
        return known


def class_routes(space: Space) -> ClassRoutes:
    """Return the routes found so far in a space; kept there for the next person of the same class."""
    return space.kept(ClassRoutes)


def _symbolic(person: Person, anchors: tuple[int, ...]) -> Transitions:
    """Return the transitions of a class, from one of its members."""
    places = tuple(
        place if axis.feature.moves_from is not None or index in anchors else OFF
        for index, (axis, place) in enumerate(zip(person.space.axes, person.places, strict=True))
    )
    lines = tuple(
        line if place == OFF else line._replace(own=line.position(place))
        for line, place in zip(person.lines, person.places, strict=True)
    )
    return Transitions(replace(person, places=places, homes=person.places, lines=lines))


class _Charge(NamedTuple):
    """What a partial route takes on one feature: the end of a change from one's own, or an effort and a way for all."""

    end: int | None
    effort: int
    way: int


class _Label(NamedTuple):
    """A partial route, and what it charges for each feature."""

    path: Path
    charges: dict[int, _Charge]
    length: int
    sequence: tuple[tuple[int, int], ...]


def _explore(transitions: Transitions, anchors: tuple[int, ...], most: int) -> Entry:
    person = transitions.person
    start = Path(0, 0, 0, Node(person.places, 0, ()), (), None)
    if transitions.judge(person.places).goal:
        return Entry(transitions, anchors, True, ())
    queue = [(0, 0, (), 0, _Label(start, {}, 0, ()))]
    known: dict[Node, list[_Label]] = {}
    goals: list[_Label] = []
    made = 0
    while queue:
        label = heapq.heappop(queue)[-1]
        if any(_beats(person, goal, label) for goal in goals):
            continue
        verdict = transitions.judge(label.path.node.places)
        if verdict.goal:
            goals = [goal for goal in goals if not _beats(person, label, goal)]
            goals.append(label)
            continue
        for path in successors(transitions, label.path, verdict, person.space.relevant):
            onward = _extended(person, label, path)
            others = known.setdefault(path.node, [])
            if any(_beats(person, other, onward) for other in others):
                continue
            others[:] = [other for other in others if not _beats(person, onward, other)]
            others.append(onward)
            made += 1
            if made > most:
                return Entry(transitions, anchors, False, None, most)
            key = (path.direct, onward.length, onward.sequence, made, onward)
            heapq.heappush(queue, key)  # type: ignore[misc]
    routes = tuple(_route(transitions, goal) for goal in goals)
    return Entry(transitions, anchors, False, tuple(sorted(routes, key=Route.key)))


def _extended(person: Person, label: _Label, path: Path) -> _Label:
    assert path.chain is not None
    move = path.chain.move
    sequence = (*label.sequence, (move.axis, move.end))
    if not move.direct:
        return _Label(path, label.charges, label.length + 1, sequence)
    effort, way = path.effort - label.path.effort, path.way - label.path.way
    own = move.start == OFF and not person.missing(move.axis, OFF)
    if own and not person.prices.even[move.axis]:
        charge = _Charge(move.end, effort if person.prices.flat[move.axis] else 0, 0)
    else:
        _, before, gone = label.charges.get(move.axis, _Charge(None, 0, 0))
        charge = _Charge(None, before + effort, gone + way)
    charges = {**label.charges, move.axis: charge}
    return _Label(path, charges, label.length + 1, sequence)


def _beats(person: Person, one: _Label, other: _Label) -> bool:
    """Tell whether one label is at least as good as another for everyone in the class, whatever follows."""
    cheaper = len(one.charges) < len(other.charges)
    nearer = False
    for axis, charge in one.charges.items():
        rival = other.charges.get(axis)
        if rival is None or (rival.end is None) != (charge.end is None):
            return False
        if charge.end is None or rival.end is None:
            if charge[1:] > rival[1:]:
                return False
            cheaper = cheaper or charge.effort < rival.effort
            nearer = nearer or charge.way < rival.way
        elif charge.end != rival.end:
            if not _between(person, axis, charge.end, rival.end):
                return False
            nearer = True
            cheaper = cheaper or not person.prices.flat[axis]
    if one.path.gone != other.path.gone and any(
        far > dict(other.path.gone).get(axis, 0) for axis, far in one.path.gone
    ):
        return False
    better = Key(effort=-cheaper, length=one.length, way=-nearer, sequence=one.sequence)
    return better <= Key(effort=0, length=other.length, way=0, sequence=other.sequence)


def _between(person: Person, axis: int, near: int, far: int) -> bool:
    """Tell whether one place lies on the way from the person's own value to another."""
    line = person.lines[axis]
    own, here, there = line.own, line.position(near), line.position(far)
    return own < here < there or there < here < own


def _route(transitions: Transitions, label: _Label) -> Route:
    moves = tuple(moves_of(label.path.chain))
    charges = label.charges
    return Route(
        sum(charge.effort for charge in charges.values()),
        tuple((axis, each.end) for axis, each in charges.items() if each.end is not None),
        sum(charge.way for charge in charges.values()),
        label.path.direct,
        moves,
        named_steps(transitions, moves),
    )


def best_route(person: Person, routes: tuple[Route, ...]) -> tuple[int, Route]:
    """Return the route of least effort for a person; the routes stand in the order that decides between equals."""
    efforts = list(_efforts(person, routes))
    least = min(efforts)
    best = routes[efforts.index(least)]
    if efforts.count(least) > 1 and not person.space.theory.norm.tells_way:
        equal = [each for each, effort in zip(routes, efforts, strict=True) if effort == least]
        best = min(equal, key=lambda each: each.key(way=way_of(person, each)))
    return least, best


def way_of(person: Person, route: Route) -> int:
    """Return how far a route goes for a person."""
    places = person.places
    return route.way + sum([person.way(axis, places[axis], end) for axis, end in route.lengths])


def _efforts(person: Person, routes: tuple[Route, ...]) -> Iterator[int]:
    places, flat = person.places, person.prices.flat
    for route in routes:
        yield route.effort + sum(
            [
                person.effort(axis, places[axis], end)
                for axis, end in route.lengths
                if not flat[axis]
            ]
        )
