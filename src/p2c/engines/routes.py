"""Moves: how long the changes of a feature with moves are, and the shortest ways through them."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, NamedTuple

from p2c.domain.feature import Action
from p2c.domain.spec import Minimize
from p2c.plan.compiled.axis import OFF
from p2c.plan.compiled.person import grid_measures

if TYPE_CHECKING:
    from p2c.plan.compiled.axis import Axis
    from p2c.plan.compiled.space import Space


class MoveRoute(NamedTuple):
    """A way from one place to another by direct actions."""

    length: int
    actions: int
    places: tuple[int, ...]


def move_length(space: Space, index: int, *, start: int, end: int) -> int:
    """Return how long a move is: 1 where only the change counts, else the difference in rank."""
    _, prices = grid_measures(space)
    if prices.flat[index]:
        return 1
    axis = space.axes[index]
    return max(axis.size - 1, 1) if start == OFF else abs(end - start)


def move_ends(axis: Axis, start: int) -> list[int]:
    """Return the places that a feature may move to; from a missing value, any."""
    feature = axis.feature
    assert feature.moves_from is not None
    if start == OFF:
        return list(range(axis.size))
    ends = {feature.places[end] for end in feature.moves_from.get(feature.domain.value(start), ())}
    match feature.action:
        case Action.UP:
            return sorted(end for end in ends if end > start)
        case Action.DOWN:
            return sorted(end for end in ends if end < start)
        case _:
            return sorted(ends - {start})


def routes(space: Space, index: int, start: int) -> dict[int, MoveRoute]:
    """Return the best route to every place that moves lead to: the least length, or where they come first, actions."""
    fewest = space.theory.minimize is Minimize.ACTIONS
    found: dict[int, MoveRoute] = {}
    queue: list[tuple[tuple[int, int], tuple[int, ...]]] = [((0, 0), (start,))]
    while queue:
        key, places = heapq.heappop(queue)
        here = places[-1]
        if here in found:
            continue
        length, actions = reversed(key) if fewest else key
        found[here] = MoveRoute(length, actions, places)
        for end in move_ends(space.axes[index], here):
            further = length + move_length(space, index, start=here, end=end)
            following = (actions + 1, further) if fewest else (further, actions + 1)
            heapq.heappush(queue, (following, (*places, end)))
    return found
