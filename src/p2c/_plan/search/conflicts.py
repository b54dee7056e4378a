"""Conflicts: options of which a set needs one, since without them it ends in no state at the goal.

All orders of the set are followed to the states in which they come to rest; a governed feature that the set sets and that
no other one notices may be set last, so that it counts as standing anywhere. Where no such state may be at the goal, options
are added back that do not change where the others come to rest, halves of them at a time, as long as that does not help
either. What is left is a reason to branch on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from p2c._plan.compiled.bitsets import grown
from p2c._plan.search.propagation import DeadEnd, some_state

if TYPE_CHECKING:
    from p2c._plan.search.best_first import Limits
    from p2c._plan.search.landmarks import Standing

FEW = 14
"""Up to how many options that stir others all their orders are followed."""


def conflict(standing: Standing, limits: Limits) -> int | None:
    """Return options of which a choice needs one, from what it may end with; None where it may need none."""
    chosen, end = standing.choice.chosen, standing.end
    reach = end.propagation.reach
    still = reach.set_last(chosen)
    stirring = reach.stirring(chosen, still)
    if len(stirring) > FEW:
        return None
    rests = _boxes(standing, stirring, still, limits)

    def ends_nowhere(open_options: int) -> bool:
        return not any(_ends_in(standing, list(each), open_options, limits) for each in rests)

    if not ends_nowhere(0):
        return None
    useful = 0
    for _, axis, _ in reach.governed:
        if axis not in still:
            useful |= standing.landmarks.stirred(axis)
    return end.left & ~grown(0, end.left & ~useful, ends_nowhere)


def _boxes(
    standing: Standing, stirring: tuple[int, ...], still: frozenset[int], limits: Limits
) -> list[tuple[int, ...]]:
    """Return the regions in which all orders of some options leave governed features, as boxes."""
    reach, stopovers = standing.end.propagation.reach, standing.ends.stopovers
    placed = {reach.options[number].axis for number in stirring}

    def regions(position: int, axis: int, place: int) -> int:
        if axis in still:
            return reach.permitted[position]
        if stopovers is not None and axis in placed:
            return stopovers.alike(axis, place).regions
        return reach.region(position, place)

    boxes = list(
        {
            tuple([regions(n, axis, stand[n]) for n, axis, _ in reach.governed])
            for stand in standing.ends.rests(stirring, limits, still)
        }
    )
    for n, _, _ in reach.governed:
        # Boxes that differ in one feature are one.
        joined: dict[tuple[int, ...], int] = {}
        for box in boxes:
            others = box[:n] + box[n + 1 :]
            joined[others] = joined.get(others, 0) | box[n]
        boxes = [(*others[:n], some, *others[n:]) for others, some in joined.items()]
    return boxes


def _ends_in(standing: Standing, regions: list[int], open_options: int, limits: Limits) -> bool:
    """Tell whether a choice may end at the goal with governed features in some regions and other options left open."""
    try:
        case = standing.end.narrowed(standing.choice.chosen, open_options)
        case.within(regions)
        case.settle()
    except DeadEnd:
        return False
    return some_state(case, limits)
