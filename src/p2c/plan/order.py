"""The best order of a set of direct actions: fewest effects on the way, then the first by the contract's order.

All of the set is done, so what is left of it is sure to come, and so is an effect on every governed feature that stands where
it cannot be in the end: a path counts with the moves that it still has to make, and those with the fewest in all are followed
first (A*).
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from p2c.plan.search import Chain, LimitReached, Move

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from p2c.plan.dynamics import Dynamics
    from p2c.plan.person import Places
    from p2c.plan.search import Limits

Act = tuple[int, int]
"""The axis and the end of a move."""


@dataclass(frozen=True)
class Task:
    """What is to be put in order: the acts, when they arrive, and which place a governed feature must surely leave."""

    dynamics: Dynamics
    acts: Sequence[Act]
    arrives: Callable[[Places], bool]
    strays: Callable[[int, int], bool]

    @cached_property
    def position(self) -> dict[int, int]:
        """Return the place of each governed feature among all governed ones."""
        governed = self.dynamics.person.space.governed
        return {each.index: position for position, each in enumerate(governed)}


class Partway(NamedTuple):
    """A path that has done some of the set: how many moves it will have at least, and which it has made."""

    length: int
    sequence: tuple[Act, ...]
    places: Places
    left: tuple[Act, ...]
    """The acts that are still to be done."""


def best_order(task: Task, *, most: int | None, limits: Limits) -> Chain | None:
    """Return the best path that does all of the acts, with at most so many moves."""
    places = task.dynamics.person.places
    astray = sum(task.strays(position, places[axis]) for axis, position in task.position.items())
    start = Partway(len(task.acts) + astray, (), places, tuple(sorted(task.acts)))
    queue = [start]
    best = {(start.places, start.left): start[:2]}
    while queue:
        path = heapq.heappop(queue)
        length, sequence, places, left = path
        if best[places, left] != (length, sequence):
            continue
        if not left and task.arrives(places):
            return _chain(task.dynamics, sequence)
        if limits.deadline is not None and limits.reached(0):
            raise LimitReached(0, None)
        for following in _following(task, path):
            if most is not None and following.length > most:
                continue
            key = following.places, following.left
            known = best.get(key)
            if known is None or following[:2] < known:
                best[key] = following[:2]
                heapq.heappush(queue, following)
    return None


def _following(task: Task, path: Partway) -> Iterator[Partway]:
    """Yield what may come next: effects, or the next of the acts where nothing happens by itself."""
    length, sequence, places, left = path
    effects = task.dynamics.effects(places, task.dynamics.judge(places))
    for effect in effects:
        index, place = effect.axis, effect.place
        position = task.position[index]
        sooner = task.strays(position, places[index]) - task.strays(position, place)
        after = (*places[:index], place, *places[index + 1 :])
        yield Partway(length + 1 - sooner, (*sequence, (index, place)), after, left)
    if not effects:
        for number, act in enumerate(left):
            index, place = act
            after = (*places[:index], place, *places[index + 1 :])
            yield Partway(length, (*sequence, act), after, left[:number] + left[number + 1 :])


def _chain(dynamics: Dynamics, sequence: tuple[Act, ...]) -> Chain | None:
    """Return the moves of a path, effects with what brought them about."""
    places = list(dynamics.person.places)
    chain: Chain | None = None
    for axis, end in sequence:
        state = tuple(places)
        effects = dynamics.effects(state, dynamics.judge(state))
        if effects:
            effect = next(each for each in effects if (each.axis, each.place) == (axis, end))
            move = Move(axis, places[axis], end, False, effect.fired, effect.assumed, effect.among)
        else:
            move = Move(axis, places[axis], end, True, 0, False, (end,))
        chain = Chain(move, chain)
        places[axis] = end
    return chain
