"""Claims of an answer beyond its path: minimal cost, or no path at all.

A replay cannot judge them.

`refute` holds them against a second answer to the same question. That proves something only where the second answer is
proved itself, and where another solver gave it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from p2c._plan.check.replay import same_number
from p2c._plan.outcome import Found, GaveUp, Infeasible, TakenAction
from p2c._plan.plan_json import Status, answer_of
from p2c._spec.feature import exact
from p2c._spec.resources import ACTIONS, COST
from p2c.errors import Fault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from p2c._plan.outcome import Plan
    from p2c._plan.plan_json import PlanRecord
    from p2c._rules.theory import Theory
    from p2c._spec.feature import Number


BLOCKED = "what blocks it"
"""The claim that only our own search judges."""


def claims(theory: Theory, plan: PlanRecord) -> tuple[str, ...]:
    """Return the claims of an answer beyond its path."""
    match plan.status:
        case Status.FOUND if plan.optimal and plan.asked and plan.asked.nearest:
            nearer = f"only {plan.asked.nearest - 1} to nearer ends"
            return (f"that no cheaper path leads there, and {nearer}",)
        case Status.FOUND if plan.optimal:
            if theory.objectives == (COST,):
                return ("that no cheaper path exists",)
            if theory.objectives == (ACTIONS, COST):
                return ("that no shorter or cheaper path exists",)
            return (f"that no path is better by {', then '.join(theory.objectives)}",)
        case Status.INFEASIBLE:
            return ("that no path exists", *([BLOCKED] if plan.blockers else []))
        case Status.GAVE_UP if plan.bound:
            return (f"that no path costs less than {plan.bound:.10g}",)
        case _:
            return ()


def settled(plan: PlanRecord, answer: Plan) -> bool:
    """Tell whether a second answer is proved, and says enough to judge the first by."""
    evidence = answer.question.evidence
    if evidence is not None and not (evidence.proved or isinstance(answer, GaveUp)):
        return False
    match answer:
        case Found(optimal=False):
            return False
        case GaveUp(bound=bound):
            due = plan.bound if plan.status is Status.GAVE_UP else plan.cost
            return plan.status is not Status.INFEASIBLE and not above(due, bound)
        case Infeasible(explained=explained):
            return explained or not plan.blockers
        case _:
            return True


def refute(theory: Theory, plan: PlanRecord, answer: Plan, *, prover: str) -> Iterator[Fault]:
    """Yield the claims of an answer that a second answer to the same question shows to be false."""
    evidence = answer.question.evidence
    unproved = evidence is not None and not evidence.proved
    match answer:
        case Found() | GaveUp(best=Found()):
            path = answer if isinstance(answer, Found) else answer.best
            assert path is not None
            yield from _undercut(theory, plan, path)
        case Infeasible() if unproved:
            return
        case Infeasible() if plan.status is Status.FOUND:
            yield Fault(
                "status", f"{prover or 'the same search, repeated,'} finds that there is no path"
            )
        case Infeasible() if plan.status is Status.INFEASIBLE:
            yield from tuple(_wrong_blockers(plan, answer)) or _wrong_path(plan, answer)


def _undercut(theory: Theory, plan: PlanRecord, path: Found) -> Iterator[Fault]:
    """Yield what a path shows to be false."""
    cost = f"{path.cost:.10g}"
    match plan.status:
        case Status.FOUND if plan.optimal and _better(theory, path, plan):
            yield Fault("optimal", f"a better path exists: it costs {cost}, not {plan.cost:.10g}")
        case Status.INFEASIBLE:
            yield Fault("status", f"a path exists: it costs {cost}")
        case Status.GAVE_UP if above(plan.bound, path.cost):
            yield Fault("bound", f"a path costs {cost}, which is less than {plan.bound:.10g}")


def _wrong_path(plan: PlanRecord, answer: Infeasible) -> Iterator[Fault]:
    """Yield what is wrong with the cost of the path that opens without the blockers."""
    if plan.blockers is None or not answer.explained:
        return
    due, found = (each and each.cost for each in (answer.opened, plan.opened))
    if due is None or found is None:
        right, wrong = ("none" if each is None else f"one of {each:.10g}" for each in (due, found))
        if right != wrong:
            yield Fault("opened", f"expected a path that costs {right}, found {wrong}")
    elif not same_number(exact(due), exact(found)):
        yield Fault("opened", f"expected a path that costs {due:.10g}, found {found:.10g}")


def _wrong_blockers(plan: PlanRecord, answer: Infeasible) -> Iterator[Fault]:
    if plan.blockers is None or not answer.explained:
        return
    due, found = (
        [f"{each.feature} ({each.restriction})" for each in blockers]
        for blockers in (answer.blockers, [each.blocker for each in plan.blockers])
    )
    if sorted(due) != sorted(found):
        right, wrong = ", ".join(due) or "none", ", ".join(found) or "none"
        yield Fault("blockers", f"expected {right}, found {wrong}")


def _better(theory: Theory, path: Found, plan: PlanRecord) -> bool:
    """Tell whether a path is better than a plan by the objectives in their order."""
    own, other = _objectives(answer_of(plan), theory), _objectives(path, theory)
    for mine, less in zip(own, other, strict=True):
        if not same_number(exact(mine), exact(less)):
            return less < mine
    return False


def _objectives(path: Plan, theory: Theory) -> list[Number]:
    """Return the values of the objectives of a path in their order."""
    taken = {each.feature for each in path.actions if isinstance(each, TakenAction)}
    single = sum(not isinstance(each, TakenAction) for each in path.actions)
    values = {**path.uses, COST: path.cost or 0, ACTIONS: single + len(taken)}
    return [values.get(each, 0) for each in theory.objectives]


def above(one: Number | None, other: Number) -> bool:
    """Tell whether a cost is above another by more than rounding."""
    return one is not None and one > other and not same_number(exact(one), exact(other))
