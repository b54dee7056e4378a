"""Which of several plans are ways of their own: one that contains a cheaper one adds something pointless to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from p2c.plan.outcome import DirectAction, Found
    from p2c.rules.theory import Theory


def ways_of_their_own(theory: Theory, plans: Iterable[Found]) -> Iterator[Found]:
    """Yield the plans that contain no plan before them, in their order."""
    before: list[Found] = []
    for plan in plans:
        if not any(contains(theory, plan, each) for each in before):
            yield plan
        before.append(plan)


def contains(theory: Theory, plan: Found, other: Found) -> bool:
    """Tell whether a plan does all that another one does directly, each as far or farther, and more than that."""
    mine = {each.feature: each for each in plan.direct_actions}
    theirs = other.direct_actions
    same = {(each.feature, each.end) for each in theirs}
    if same == {(each.feature, each.end) for each in plan.direct_actions}:
        # The same in another order, which leads elsewhere.
        return False
    return all(
        each.feature in mine and _reaches(theory, mine[each.feature], each) for each in theirs
    )


def _reaches(theory: Theory, mine: DirectAction, other: DirectAction) -> bool:
    feature = theory.feature[mine.feature]
    if mine.end == other.end:
        return True
    if not feature.has_order or other.start is None or mine.end is None or other.end is None:
        return False
    start, short, far = (feature.order(each) for each in (other.start, other.end, mine.end))
    return start < short < far or start > short > far
