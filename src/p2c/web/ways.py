"""Which of several plans are ways of their own: one that contains a cheaper one adds something pointless to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from p2c.plan.outcome import Found

if TYPE_CHECKING:
    from collections.abc import Iterable

    from p2c.plan.outcome import DirectAction, Plan
    from p2c.rules.theory import Theory


def ways_of_their_own(theory: Theory, plans: Iterable[Plan]) -> list[Plan]:
    """Return the plans that contain no plan before them, in their order."""
    kept: list[Plan] = []
    for plan in plans:
        if not any(contains(theory, plan, each) for each in kept):
            kept.append(plan)
    return kept


def contains(theory: Theory, plan: Plan, other: Plan) -> bool:
    """Tell whether a plan does all that another one does directly, each as far or farther."""
    if not isinstance(plan, Found) or not isinstance(other, Found):
        return False
    mine = {each.feature: each for each in plan.direct_actions}
    return all(
        each.feature in mine and _reaches(theory, mine[each.feature], each)
        for each in other.direct_actions
    )


def _reaches(theory: Theory, mine: DirectAction, other: DirectAction) -> bool:
    feature = theory.feature[mine.feature]
    if mine.end == other.end:
        return True
    if not feature.has_order or other.start is None or mine.end is None or other.end is None:
        return False
    start, short, far = (feature.order(each) for each in (other.start, other.end, mine.end))
    return start < short < far or start > short > far
