"""Conflicts: options of which a set needs one, since without them it ends in no state at the goal.

Every state in which the set may end is looked at, feature by feature, as far as propagation leaves any; then options are
added back, halves of them at a time, as long as that does not help either. What is left is a reason to branch on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from p2c.plan.compiled.bitsets import numbers
from p2c.plan.search.propagation import DeadEnd, some_state

if TYPE_CHECKING:
    from p2c.plan.search.best_first import Limits
    from p2c.plan.search.options import Choice, Options
    from p2c.plan.search.propagation import End


def conflict(options: Options, choice: Choice, end: End, limits: Limits) -> int | None:
    """Return options of which a choice needs one, from what it may end with; None where it may need none."""

    def ends_nowhere(open_options: int) -> bool:
        more = (*choice.chosen, *numbers(open_options))
        way = end.propagation.reach.on_the_way(options.stirring_of(tuple(sorted(more))))
        try:
            case = end.narrowed(choice.chosen, open_options)
            case.within(way.regions)
            case.settle()
        except DeadEnd:
            return True
        return not some_state(case, limits)

    if not ends_nowhere(0):
        return None
    useless, waiting = 0, [tuple(numbers(end.left))]
    while waiting:
        part = waiting.pop()
        mask = sum(1 << number for number in part)
        if ends_nowhere(useless | mask):
            useless |= mask
        elif len(part) > 1:
            middle = len(part) // 2
            waiting += [part[middle:], part[:middle]]
    return end.left & ~useless
