"""What a problem answers for one person and for tables, by rules or by a model that decides; every answer can tell itself.

Where a model decides, plans are confirmed by it: proved where it was read, else found by asking it. What few ask for is
imported when it is asked for.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from p2c.domain.overrides import whole_number
from p2c.errors import P2CError
from p2c.plan.nearest import Distinct
from p2c.plan.rendered import Plans
from p2c.report.plan_renderer import with_renderer
from p2c.rules.evaluate import goal_holds

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from p2c.confirm.result import VerifiedPlan
    from p2c.domain.row import State
    from p2c.engines.policy import Policy
    from p2c.plan.check.validate import Verdict
    from p2c.plan.outcome import Plan
    from p2c.statement import Statement


def told(problem: Statement, plan: Plan, *, cheapest: bool = True) -> Plan:
    """Return a plan that can tell itself; what it rests on is what the model reads."""
    return with_renderer(problem.worded, plan, cheapest=cheapest, resting_on=problem.theory)


def plan_for(problem: Statement, row: Any, policy: Policy, *, state: State | None = None) -> Plan:
    """Return the path of least cost for a person, with what blocks it; `state` is the row, where it was read before."""
    if problem.decider is not None:
        return confirmed(problem, row, 1, policy, state=state)[0].plan
    state = problem.read_row(row) if state is None else state
    return told(problem, policy.explained_plan(problem.compiled, state))


def nearest(
    problem: Statement,
    row: Any,
    k: int,
    policy: Policy,
    *,
    distinct: str,
    state: State | None = None,
    first: Plan | None = None,
) -> Plans[Plan]:
    """Return the k cheapest distinct end states, cheapest first; the plan, where it is known, is the `first`."""
    kinds = [each.value for each in Distinct]
    if distinct not in kinds:
        raise P2CError(f"distinct: expected {' or '.join(kinds)}, found '{distinct}'")
    k, kind = whole_number("k", k, least=1), Distinct(distinct)
    if problem.decider is not None:
        answers = confirmed(problem, row, k, policy, distinct=kind, state=state)
        return Plans(each.plan for each in answers if each.status != "infeasible")
    state = problem.read_row(row) if state is None else state
    plans = islice(policy.nearest(problem.compiled, state, k, kind, first=first), k)
    return Plans(told(problem, each, cheapest=number == 0) for number, each in enumerate(plans))


def confirmed(
    problem: Statement,
    row: Any,
    k: int,
    policy: Policy,
    *,
    distinct: Distinct = Distinct.POINTS,
    state: State | None = None,
) -> list[VerifiedPlan]:
    """Return up to k plans that the model confirms, cheapest first; one that is not, where none is."""
    policy.refuse_model()
    state = problem.read_row(row) if state is None else state
    found = problem.planner.nearest(row, state, k, policy, distinct)
    return [_told(problem, each, cheapest=number == 0) for number, each in enumerate(found)]


def _told(problem: Statement, answer: VerifiedPlan, *, cheapest: bool) -> VerifiedPlan:
    """Return an answer of the model whose plans can tell themselves."""
    plan = told(problem, answer.plan, cheapest=cheapest)
    guide = plan if answer.guide is answer.plan else told(problem, answer.guide)
    return replace(answer, plan=plan, guide=guide)


def plan_many(
    problem: Statement,
    frame: Any,
    policy: Policy,
    *,
    details: bool = True,
    progress: bool | None = None,
) -> Any:
    """Return a table of the same kind with the plan of each row."""
    # What reads tables takes longer to load than most people who ask for one plan would wait.
    from p2c.plan.tables.frames import like, plan_frame

    if problem.decider is None:
        how: dict[str, Any] = {"details": details, "progress": progress}
        return plan_frame(problem.compiled, frame, solver=policy, **how)
    from p2c.learn.tables.view import as_frame

    found = confirmed_many(problem, as_frame(frame), policy, progress=progress)
    return like(frame, found if details else found.drop(columns=["actions", "steps"]))


def confirmed_many(
    problem: Statement, table: pd.DataFrame, policy: Policy, *, progress: bool | None = None
) -> pd.DataFrame:
    """Return the confirmed plan of each row of a table: proved where the model was read, else found by asking it."""
    from p2c.confirm.table import Chunks, plan_table

    policy.refuse_model()
    return plan_table(
        problem.theory.features,
        lambda row: confirmed(problem, row, 1, policy)[0],
        table,
        progress=progress,
        chunks=None if problem.is_asked else Chunks(problem.planner, problem.read_row, policy),
    )


def decide(problem: Statement, rows: Any) -> Any:
    """Tell for whom the goal holds as they are: a column for a table, a truth value for one row."""
    if not hasattr(rows, "columns"):
        return goal_holds(problem.theory, problem.read_row(rows))
    if problem.is_asked:
        accepted = [decide(problem, row) for row in rows.to_dict("records")]
        return rows.assign(accepted=accepted)["accepted"]
    from p2c.plan.tables.frames import decide_frame

    return decide_frame(problem.compiled, rows, problem.read_row)


def check(problem: Statement, document: Mapping[str, Any]) -> Verdict:
    """Replay a plan's JSON by the contract, and ask the model, where one decides, about its end."""
    from p2c.plan.check.validate import check_plan

    verdict = check_plan(problem.theory, document)
    if problem.decider is None:
        return verdict
    return problem.decider.testified(verdict, document, problem.theory)
