"""Conflicts: options of which a set needs one, since without them it ends in no state at the goal.

All orders of the set are followed to the states in which they come to rest; a governed feature that the set sets and that
no other one notices may be set last, so that it counts as standing anywhere. Where no such state may be at the goal, options
are added back that do not change where the others come to rest, halves of them at a time, as long as that does not help
either. What is left is a reason to branch on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from p2c.plan.compiled.bitsets import mask_of, numbers
from p2c.plan.search.propagation import DeadEnd, some_state

if TYPE_CHECKING:
    from p2c.plan.search.best_first import Limits
    from p2c.plan.search.landmarks import Standing

FEW = 12
"""Up to how many options that stir others all their orders are followed."""


def conflict(standing: Standing, limits: Limits) -> int | None:
    """Return options of which a choice needs one, from what it may end with; None where it may need none."""
    chosen, end = standing.choice.chosen, standing.end
    reach = end.propagation.reach
    still = reach.set_last(chosen)
    stirring = reach.stirring(chosen, still)
    if len(stirring) > FEW:
        return None
    grids = [moves.grid if moves.index in still else 0 for moves in reach.causal_moves]
    rests = {
        tuple(grids[n] or reach.region(n, places[axis]) for n, axis, _ in reach.governed)
        for places in standing.ends.rests(stirring, limits, still)
    }

    def ends_nowhere(open_options: int) -> bool:
        return not any(_ends_in(standing, list(each), open_options, limits) for each in rests)

    if not ends_nowhere(0):
        return None
    useful = 0
    for _, axis, _ in reach.governed:
        if axis not in still:
            useful |= standing.landmarks.stirred(axis)
    useless, waiting = 0, [tuple(numbers(end.left & ~useful))]
    while waiting:
        part = waiting.pop()
        mask = mask_of(part)
        if ends_nowhere(useless | mask):
            useless |= mask
        elif len(part) > 1:
            middle = len(part) // 2
            waiting += [part[middle:], part[:middle]]
    return end.left & ~useless


def _ends_in(standing: Standing, regions: list[int], open_options: int, limits: Limits) -> bool:
    """Tell whether a choice may end at the goal with governed features in some regions and other options left open."""
    try:
        case = standing.end.narrowed(standing.choice.chosen, open_options)
        case.within(regions)
        case.settle()
    except DeadEnd:
        return False
    return some_state(case, limits)
