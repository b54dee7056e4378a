"""The orders of a set of direct actions, best first: least effort, fewest effects on the way, then the contract's order.

All of the set is done, so what is left of it is sure to come, and so is an effect on every governed feature that stands where
it cannot be in the end: a path counts with the moves that it still has to make, and those with the fewest in all are followed
first (A*).
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from p2c._plan.compiled.transitions import Variety
from p2c._plan.search.best_first import Arrival, Chain, Key, Move, Trail

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from p2c._plan.compiled.person import Places
    from p2c._plan.compiled.transitions import Transitions
    from p2c._plan.search.best_first import Limits
    from p2c._plan.search.options import Options


FEW = 12
"""After how many beginnings of orders it is worth it to look ahead from each."""


@dataclass(frozen=True)
class Ordering:
    """What is to be put in order: options by number, when they arrive, and which place a governed feature must leave."""

    options: Options
    chosen: tuple[int, ...]
    arrives: Callable[[Places], bool]
    strays: Callable[[int, int], bool]
    halts: bool
    """Whether some of the options may reach the goal without the others, where a path would end."""
    least: Mapping[int, int]
    """What options on governed features take at least, where more is known than their price."""
    may_come: Callable[[Places, tuple[int, ...]], bool] | None
    """Whether a state and the options still to be done may lead to where governed features must end, where a look ahead tells."""

    @property
    def transitions(self) -> Transitions:
        """Return the moves open to the person."""
        return self.options.transitions

    @cached_property
    def position(self) -> dict[int, int]:
        """Return the place of each governed feature among all governed ones."""
        governed = self.transitions.person.space.governed
        return {each.index: position for position, each in enumerate(governed)}

    @cached_property
    def repeats(self) -> bool:
        """Tell whether some option may be done again."""
        return any(self.options.listed[number].again for number in self.chosen)

    @cached_property
    def first(self) -> Partway:
        """Return the path that has done nothing yet."""
        listed = [self.options.listed[number] for number in self.chosen]
        places = self.transitions.person.places
        set_later = {each.axis for each in listed}
        astray = sum(
            self.strays(position, places[axis])
            for axis, position in self.position.items()
            if axis not in set_later
        )
        effort, way = sum(map(self.price, self.chosen)), sum(each.way for each in listed)
        left = tuple(sorted(self.chosen, key=lambda n: self.options.listed[n][2:4]))
        length = sum(len(each.trail) for each in listed) + astray
        key = Key(effort=effort, length=length, way=way, sequence=())
        return Partway(key, places, left, (), 0, (), None)

    def price(self, number: int) -> int:
        """Return what an option counts for until it is done."""
        known = self.least.get(number)
        return self.options.listed[number].effort if known is None else known


Trails = tuple[tuple[Trail, int], ...]


class Partway(NamedTuple):
    """A path that has done some of the set: what it comes to at least, where it is, and the options still to be done."""

    key: Key
    places: Places
    left: tuple[int, ...]
    loose: tuple[tuple[int, int], ...]
    """Where end states count as points: the governed features whose place may still vary, and where each came from."""
    held: int
    """What no effect may carry off until the step ends."""
    trails: Trails
    """Of options that are done again, the values that they have left so far, and how far they went where that matters."""
    chain: Chain | None

    @property
    def node(self) -> tuple[object, ...]:
        """Return all that what may follow depends on."""
        return self[1:6]

    def trail(self, axis: int) -> tuple[Trail, int]:
        """Return how far a feature has come by an option that is done again."""
        found = (each for each in self.trails if each[0].axis == axis)
        return next(found, (Trail(axis, frozenset()), 0))


def orders(ordering: Ordering, limits: Limits) -> Iterator[Arrival]:
    """Yield the best path that does all of the set for each state in which it can arrive, best first."""
    queue = [(ordering.first.key, 0, ordering.first)]
    best = {ordering.first.node: ordering.first.key}
    followed: dict[tuple[object, ...], list[Trails]] = {}
    pushed = 0
    while queue:
        key, _, path = heapq.heappop(queue)
        if best[path.node] != key:
            continue
        if ordering.repeats:
            before = followed.setdefault(path.node[:-1], [])
            if any(_leaves_less(trails, path.trails) for trails in before):
                continue
            before.append(path.trails)
        if not path.left and ordering.arrives(path.places):
            yield Arrival(key.effort, key.way, path.places, path.chain)
            continue
        limits.check()
        may_come = ordering.may_come if pushed > FEW else None
        if may_come is not None and not may_come(path.places, path.left):
            continue
        for following in _following(ordering, path):
            known = best.get(following.node)
            if known is None or following.key < known:
                best[following.node] = following.key
                pushed += 1
                heapq.heappush(queue, (following.key, pushed, following))


def _following(ordering: Ordering, path: Partway) -> Iterator[Partway]:
    """Yield what may come next: effects, or the next of the options where nothing has to happen by itself."""
    verdict = ordering.transitions.judge(path.places)
    if ordering.halts and verdict.goal:
        return
    effects = ordering.transitions.effects(path.places, verdict)
    for index, place, fired, assumed, among in effects:
        if path.held >> index & 1:
            continue
        move = Move(index, path.places[index], place, False, fired, assumed, among)
        yield _made(ordering, path, move, path.left)
    if verdict.consistent or not effects:
        for place, number in enumerate(path.left):
            others = path.left[:place] + path.left[place + 1 :]
            option = ordering.options.listed[number]
            axis = option.axis
            for end, among in ordering.options.targets(number, path.places[axis]):
                move = Move(axis, path.places[axis], end, True, 0, False, among)
                if not option.again:
                    left = path.left if end in option.via else others
                    yield _made(ordering, path, move, left, number)
                elif _may_repeat(ordering, path, move):
                    yield _made(ordering, path, move, others, number)
                    yield _made(ordering, path, move, path.left, number)


def _leaves_less(one: Trails, other: Trails) -> bool:
    """Tell whether all that was left on one path was left on another too, and no feature went farther."""
    farther = {trail.axis: (trail.left, gone) for trail, gone in other}
    for trail, gone in one:
        left, far = farther.get(trail.axis, (frozenset(), 0))
        if gone > far or not trail.left <= left:
            return False
    return True


def _may_repeat(ordering: Ordering, path: Partway, move: Move) -> bool:
    """Tell whether a move leads to no value that its option has left, and stays below the ceiling, if there is one."""
    trail, gone = path.trail(move.axis)
    affords = ordering.transitions.affords
    return move.end not in trail.left and affords(move.axis, move.start, move.end, gone)


def _made(
    ordering: Ordering, path: Partway, move: Move, left: tuple[int, ...], number: int | None = None
) -> Partway:
    """Return a path with one more move; an option on a governed feature now shows its price."""
    effort, length, way = path.key.effort, path.key.length, path.key.way
    index, listed = move.axis, ordering.options.listed
    loose, trails = path.loose, path.trails
    if index in ordering.position:
        position = ordering.position[index]
        later = any(listed[n].axis == index for n in left)
        if number is not None:
            person = ordering.transitions.person
            trail, gone = path.trail(index)
            effort += person.effort(index, move.start, move.end, gone=gone)
            way += person.way(index, move.start, move.end)
            trails = tuple(each for each in trails if each[0].axis != index)
            if later:
                length += 1
                if not person.space.theory.norm.adds_up:
                    gone += person.length(index, move.start, move.end)
                trails = tuple(sorted((*trails, (Trail(index, trail.left | {move.start}), gone))))
            else:
                effort -= ordering.price(number)
                length += ordering.strays(position, move.end)
        else:
            length += 1
            if not later:
                length += ordering.strays(position, move.end)
                length -= ordering.strays(position, move.start)
        if ordering.transitions.variety is Variety.POINTS:
            loose = tuple(each for each in loose if each[0] != index)
            if move.among[1:]:
                loose = tuple(sorted((*loose, (index, move.start))))
    places = (*path.places[:index], move.end, *path.places[index + 1 :])
    sequence = (*path.key.sequence, (index, move.end))
    key = Key(effort=effort, length=length, way=way, sequence=sequence)
    held = ordering.transitions.held(path.held, index, places, direct=move.direct)
    return Partway(key, places, left, loose, held, trails, Chain(move, path.chain))
