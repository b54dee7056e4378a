"""The best order of a set of direct actions: fewest effects on the way, then the first by the contract's order.

All of the set is done, so what is left of it is sure to come: a path counts with the actions that it still has to take,
and those with the fewest in all are followed first.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, NamedTuple

from p2c.plan.search import Chain, LimitReached, Move

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from p2c.plan.dynamics import Dynamics
    from p2c.plan.person import Places
    from p2c.plan.search import Limits


class Partway(NamedTuple):
    """A path that has done some of the set: how many moves it will have at least, and which it has made."""

    length: int
    sequence: tuple[tuple[int, int], ...]
    places: Places
    left: tuple[tuple[int, int], ...]
    """The axis and the end of each action that is still to be done."""
    chain: Chain | None


def best_order(
    dynamics: Dynamics,
    acts: Sequence[tuple[int, int]],
    *,
    arrives: Callable[[Places], bool],
    most: int | None,
    limits: Limits,
) -> Chain | None:
    """Return the best path that does all of these acts, axis and end each, with at most so many moves."""
    start = Partway(len(acts), (), dynamics.person.places, tuple(sorted(acts)), None)
    queue = [start]
    best: dict[tuple[Places, tuple[tuple[int, int], ...]], tuple[int, tuple[tuple[int, int], ...]]]
    best = {(start.places, start.left): start[:2]}
    while queue:
        path = heapq.heappop(queue)
        if best[path.places, path.left] != path[:2]:
            continue
        if not path.left and path.chain is not None and arrives(path.places):
            return path.chain
        if limits.deadline is not None and limits.reached(0):
            raise LimitReached(0, None)
        for following in _following(dynamics, path):
            if most is not None and following.length > most:
                continue
            key = following.places, following.left
            known = best.get(key)
            if known is None or following[:2] < known:
                best[key] = following[:2]
                heapq.heappush(queue, following)
    return None


def _following(dynamics: Dynamics, path: Partway) -> Iterator[Partway]:
    """Yield what may come next: effects, or the next of the acts where nothing happens by itself."""
    effects = dynamics.effects(path.places, dynamics.judge(path.places))
    for index, place, fired, assumed, among in effects:
        move = Move(index, path.places[index], place, False, fired, assumed, among)
        yield _after(path, move, path.length + 1, path.left)
    if not effects:
        for number, (index, end) in enumerate(path.left):
            move = Move(index, path.places[index], end, True, 0, False, (end,))
            left = path.left[:number] + path.left[number + 1 :]
            yield _after(path, move, path.length, left)


def _after(path: Partway, move: Move, count: int, left: tuple[tuple[int, int], ...]) -> Partway:
    index = move.axis
    places = (*path.places[:index], move.end, *path.places[index + 1 :])
    sequence = (*path.sequence, (index, move.end))
    return Partway(count, sequence, places, left, Chain(move, path.chain))
