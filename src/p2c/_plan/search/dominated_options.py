"""Options that no best plan takes, because another on the same feature does all that they do, and is better.

Let the best plan take one value of a feature where another, or the person's own, is cheaper or comes first in the order of
ties. If causal rules, constraints and the decisions that they call see no difference between the two, the other may stand in
for it: the same happens on the way. Only at the end may more rules fire that the goal forbids. Where none of these can fire
because of what the other features may end with, the plan was not the best one.
"""

from __future__ import annotations

from functools import reduce
from operator import and_
from typing import TYPE_CHECKING

from p2c._plan.compiled.bitsets import nearly_all

if TYPE_CHECKING:
    from collections.abc import Sequence

    from p2c._plan.search.relaxed_reach import RelaxedReach

BetterOptions = list[tuple[int, int, list[tuple[int, list[int]]]]]
"""Features with their options; for each option, the rules that each better value lets fire and the option does not."""

MOST_COMPARED = 64
"""Number of first and of last better options that each option is compared with."""


def better_options(reach: RelaxedReach) -> BetterOptions:
    """Return what stands between each option and better ones; options without any are left out.

    Options on a feature are numbered by effort, way and place, so those with lower numbers are better, and to stay is best.
    Each is compared with `MOST_COMPARED` at either end of the better ones: a comparison left out only keeps an option, and all
    of them would grow with the square of the number of rules.
    """
    blamed = reach.transitions.person.space.blamed
    found: BetterOptions = []
    for axis, options in reach.on_axis.items():
        if axis in reach.transitions.own_matters or axis in reach.moves_of:
            continue
        space = reach.transitions.person.space
        if axis in space.model_axes or space.axes[axis].feature.moves_from is not None:
            # A model tells apart what rules do not, and what lies on the way by moves counts, too.
            continue
        own, listed = reach.own[axis], []
        alike = {own & ~blamed: [own]}
        for bit, body in reach.ways[axis]:
            before = alike.setdefault(body & ~blamed, [])
            if before:
                compared = before
                if len(before) > 2 * MOST_COMPARED:
                    compared = before[:MOST_COMPARED] + before[-MOST_COMPARED:]
                listed.append((bit, [each & ~body for each in compared]))
            before.append(body)
        if listed:
            found.append((axis, options, listed))
    return found


def dominated(better: BetterOptions, options: int, may_of: Sequence[int]) -> int:
    """Return those of some options that a better one can stand in for, given what each feature may let fire at the end."""
    most, all_let = nearly_all(may_of), reduce(and_, may_of)
    found = 0
    for axis, own, listed in better:
        if not own & options:
            continue
        # The rules that fire if this feature lets them.
        possible = most & (all_let | ~may_of[axis])
        for bit, extras in listed:
            if bit & options:
                for extra in extras:
                    if not extra & possible:
                        found |= bit
                        break
    return found
