"""What a problem answers for one person and for tables, by rules or by a model that decides; every answer can tell itself.

Where a model decides, plans are confirmed by it: proved where it was read, else found by asking it. What few ask for is
imported when it is asked for.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from p2c._engines import ENGINES
from p2c._plan.nearest import Distinct
from p2c._plan.rendered import Plans
from p2c._report.plan_renderer import with_renderer
from p2c._rules.evaluate import goal_holds
from p2c._rules.theory import ACCEPTED, Call
from p2c._spec.overrides import OVERRIDES, whole_number
from p2c.errors import EngineError, Fault, P2CError, PlanError, UncertifiedError, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pandas as pd

    from p2c._engines.policy import Policy
    from p2c._plan.check.validate import Verdict
    from p2c._plan.outcome import Plan
    from p2c._plan.plan_json import PlanRecord
    from p2c._spec.row import State
    from p2c._statement import Statement

CERTIFY_SECONDS = 30.0
"""Time limit for making a certificate in a check whose caller sets none."""

PROVERS = {"clingo": "clingo", "scasp": "s(CASP)"}
"""The solvers that share no search with the planner."""


def told(
    problem: Statement, plan: Plan, *, rank: int = 1, distinct: Distinct = Distinct.POINTS
) -> Plan:
    """Return a plan, or another of the nearest by its rank, that can tell itself, and what it rests on and was asked."""
    evidence, decider = plan.question.evidence, problem.decider
    if evidence is not None and decider is not None:
        exact, wanted = decider.exact or decider.is_read, problem.theory.wants_yes
        guide = evidence.guide and told(problem, evidence.guide)
        evidence = replace(evidence, exact=exact, wanted=wanted, guide=guide)
        plan = replace(plan, question=replace(plan.question, evidence=evidence))
    asked = problem.asked
    if rank > 1:
        asked = asked | {"nearest": rank, "distinct": distinct.value}
    return with_renderer(
        problem.worded,
        plan,
        cheapest=rank == 1,
        resting_on=problem.theory,
        asked=asked,
        as_columns=None if decider is None else decider.source.view.as_columns,
    )


def plan_for(problem: Statement, row: Any, policy: Policy, *, state: State | None = None) -> Plan:
    """Return the path of least cost for a person, with what blocks it; `state` is the row, where it was read before."""
    if problem.decider is not None:
        return confirmed(problem, row, 1, policy, state=state)[0]
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
    kind = read_distinct(distinct)
    k = whole_number("k", k, least=1)
    if problem.decider is not None:
        answers = confirmed(problem, row, k, policy, distinct=kind, state=state)
        return Plans(each for each in answers if each.status != "infeasible")
    state = problem.read_row(row) if state is None else state
    plans = islice(policy.nearest(problem.compiled, state, k, kind, first=first), k)
    return Plans(
        told(problem, each, rank=rank, distinct=kind) for rank, each in enumerate(plans, start=1)
    )


def read_distinct(given: str) -> Distinct:
    """Return what makes two ends different, by its name."""
    try:
        return Distinct(given)
    except ValueError:
        kinds = " or ".join(each.value for each in Distinct)
        raise P2CError(f"distinct: expected {kinds}, found {shown(given)}") from None


def confirmed(
    problem: Statement,
    row: Any,
    k: int,
    policy: Policy,
    *,
    distinct: Distinct = Distinct.POINTS,
    state: State | None = None,
) -> list[Plan]:
    """Return up to k plans that the model confirms, cheapest first; one that is not, where none is."""
    policy.refuse_model()
    state = problem.read_row(row) if state is None else state
    row = problem.planner.decider.source.view.named(row)
    found = problem.planner.nearest(row, state, k, policy, distinct)
    return [
        told(problem, each, rank=rank, distinct=distinct)
        for rank, each in enumerate(found, start=1)
    ]


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
    from p2c._plan.tables.frames import like, plan_frame

    if problem.decider is None:
        how: dict[str, Any] = {"details": details, "progress": progress}
        return plan_frame(problem.compiled, frame, solver=policy, **how)
    from p2c._learn.tables.view import as_frame

    table = problem.decider.source.view.collapse(as_frame(frame))
    found = confirmed_many(problem, table, policy, progress=progress)
    shown = found if details else found.drop(columns=["actions", "steps"])
    return like(frame, shown, problem.theory.feature)


def confirmed_many(
    problem: Statement, table: pd.DataFrame, policy: Policy, *, progress: bool | None = None
) -> pd.DataFrame:
    """Return the confirmed plan of each row of a table."""
    from p2c._blackbox.table import as_table

    lines = confirmed_lines(problem, table, policy, progress=progress)
    return as_table(problem.theory, lines, table)


def confirmed_lines(
    problem: Statement, table: pd.DataFrame, policy: Policy, *, progress: bool | None = None
) -> list[dict[str, Any]]:
    """Return the confirmed plan of each row of a table: proved where the model was read, else found by asking it."""
    from p2c._blackbox.table import Chunks, plan_lines

    policy.refuse_model()
    needed = {each.name for each in problem.theory.features if not each.kept}
    problem.planner.decider.source.view.refuse_absent(table, needed)
    return plan_lines(
        problem.theory,
        lambda row: confirmed(problem, row, 1, policy)[0],
        table,
        progress=progress,
        chunks=Chunks(problem.planner, problem.read_row, policy)
        if problem.planner.proves
        else None,
    )


def predict(problem: Statement, rows: Any) -> Any:
    """Tell for whom the goal holds as they are: a column for a table, a truth value for one row."""
    decider, is_table = problem.decider, hasattr(rows, "columns")
    if is_table:
        rows = problem.by_features(rows)
    if decider is None and not is_table:
        return goal_holds(problem.theory, problem.read_row(rows))
    from p2c._plan.tables.frames import decide_frame

    if decider is None:
        return decide_frame(problem.compiled, rows, problem.read_row)
    from p2c._learn.tables.view import as_frame

    if not is_table and getattr(rows, "ndim", 1) != 2:
        return goal_holds(problem.theory, problem.read_row(rows))
    model, view = decider.source.model, decider.source.view
    table = view.collapse(as_frame(rows))
    view.refuse_absent(table, {each.name for each in problem.theory.features if not each.kept})
    by_column = {each.name for each in view.columns} <= set(table.columns)
    if model is not None and by_column and problem.theory.goal == (Call(ACCEPTED),):
        accepted = model.answer(view.people(table)).accepted
        return table.assign(accepted=accepted)["accepted"]
    if decider.is_read:
        return decide_frame(problem.compiled, table, problem.read_row)
    people: list[Any] = table.to_dict("records")
    holds = [goal_holds(problem.theory, problem.read_row(row)) for row in people]
    return table.assign(accepted=holds)["accepted"]


def check(
    problem: Statement, document: Mapping[str, Any], *, prove: Policy | None = None
) -> Verdict:
    """Replay a plan's JSON as it was asked for, and ask the model, where one decides, about its end.

    With a policy to plan again by, what the plan claims beyond its path is refuted or proved, too.
    """
    from p2c._plan.check.validate import (
        CERTIFICATE,
        certified_claims,
        check_record,
        prove_claims,
    )
    from p2c._plan.plan_json import read_record

    plan = read_record(document, problem.theory.feature)
    problem = _as_asked(problem, plan)
    verdict = check_record(problem.theory, plan)
    by_model = tuple(_model_faults(problem, plan, replayed=verdict.ok))
    faults = (
        *verdict.faults,
        *_source_faults(problem, plan),
        *by_model,
        *_opened_faults(problem, plan, document),
    )
    verdict = replace(verdict, faults=faults, asked=str(plan.asked or ""))
    if prove is None or by_model or not verdict.unchecked:
        return verdict
    if verdict.ok and _has_certificate(problem, plan, document, prove):
        if not plan.blockers:
            return certified_claims(problem.theory, plan, verdict)
        answer, prover = _answered_again(problem, plan, prove), CERTIFICATE
    else:
        answer, prover = _second_answer(problem, plan, prove)
    return prove_claims(problem.theory, plan, verdict, answer, prover=prover)


def _has_certificate(
    problem: Statement, plan: PlanRecord, document: Mapping[str, Any], policy: Policy
) -> bool:
    """Tell whether a certificate of a plan's claim can be made and is verified by the independent checker."""
    from p2c._plan.certificate.attach import verify_claim
    from p2c._plan.certificate.certify import certificate_for

    if policy.engine != "auto" or _place_among(plan)[0] > 1 or problem.is_asked:
        return False
    seconds = CERTIFY_SECONDS if policy.time_limit is None else policy.time_limit
    theory, row = problem.theory, problem.read_row(plan.initial)
    try:
        certificate = certificate_for(theory, row, document, time_limit=seconds / 2)
        verify_claim(theory, row, document, certificate)
    except UncertifiedError:
        return False
    return True


def read_plan(problem: Statement, document: Mapping[str, Any]) -> Plan:
    """Return the plan that `to_dict` wrote, able to tell itself as it was asked for."""
    from p2c._plan.plan_json import answer_of, read_record

    plan = read_record(document, problem.theory.feature)
    rank, distinct = _place_among(plan)
    return told(_as_asked(problem, plan), answer_of(plan), rank=rank, distinct=distinct)


def _place_among(plan: PlanRecord) -> tuple[int, Distinct]:
    """Return which of the nearest a plan says it is, and what makes two of them different."""
    if plan.asked is None or plan.asked.nearest is None:
        return 1, Distinct.POINTS
    return plan.asked.nearest, Distinct(plan.asked.distinct or Distinct.POINTS)


def as_asked(problem: Statement, document: Mapping[str, Any]) -> Statement:
    """Return a problem with the keys and restrictions that a plan's JSON says it was asked with."""
    from p2c._plan.plan_json import read_record

    return _as_asked(problem, read_record(document, problem.theory.feature))


def _as_asked(problem: Statement, plan: PlanRecord) -> Statement:
    """Return a problem with what a plan says that it was asked besides."""
    given = plan.asked.model_dump(exclude_none=True) if plan.asked else {}
    if plan.norm is not None and plan.norm is not problem.theory.norm:
        given["norm"] = plan.norm.value
    keys: Any = {key: each for key, each in given.items() if key in OVERRIDES}
    try:
        return problem.restricted(given.get("restrict", {})).with_keys(**keys)
    except P2CError as error:
        raise PlanError(f"asked: {'; '.join(str(error).splitlines())}") from None


def _source_faults(problem: Statement, plan: PlanRecord) -> Iterator[Fault]:
    """Yield the absence of what every answer of learned rules says of them."""
    due = problem.theory.told_source
    if due and plan.source is None:
        yield Fault("source", f"expected {due}, found none")


def _model_faults(problem: Statement, plan: PlanRecord, *, replayed: bool) -> Iterator[Fault]:
    """Yield what is wrong with the claims of a plan about the model that decides."""
    if problem.decider is None:
        if plan.model is not None:
            from p2c._blackbox.evidence import faults_without_model

            yield from faults_without_model(plan)
        return
    from p2c._blackbox.evidence import evidence_faults

    yield from evidence_faults(problem.planner, plan, replayed=replayed)


def _opened_faults(
    problem: Statement, plan: PlanRecord, document: Mapping[str, Any]
) -> Iterator[Fault]:
    """Yield what is wrong with the path that opens without the blockers."""
    from p2c._plan.check.validate import check_plan
    from p2c._plan.lifting import lifted, liftings

    if plan.opened is None:
        return
    blockers = [each.blocker for each in plan.blockers or ()]
    seen = {name: (value,) for name, value in plan.initial.items()}
    known = {each.blocker: each for each in liftings(problem.compiled, seen)}
    for each in blockers:
        if each not in known:
            what = f"{each.feature} ({each.restriction})"
            yield Fault("blockers", f"{what} is no restriction that bears on the goal")
            return
    chosen = [known[each] for each in blockers]
    features = tuple(lifted(each, chosen) for each in problem.theory.features)
    theory = replace(problem.theory, features=features)
    for fault in check_plan(theory, document["opened"]).faults:
        yield Fault(f"opened: {fault.place}", fault.message)


def _second_answer(problem: Statement, plan: PlanRecord, policy: Policy) -> tuple[Plan, str]:
    """Return a second answer to the question of a plan, and the solver that gave it where it is not the same search.

    Without a choice of the caller that is clingo, where it is installed and takes the problem.
    """
    if policy.engine == "auto" and problem.decider is None and ENGINES["clingo"].version():
        try:
            return _answered_again(problem, plan, replace(policy, engine="clingo")), PROVERS[
                "clingo"
            ]
        except EngineError:
            pass
    return _answered_again(problem, plan, policy), PROVERS.get(policy.engine, "")


def _answered_again(problem: Statement, plan: PlanRecord, policy: Policy) -> Plan:
    """Return a second answer to the question of a plan: one to the same end, where it is another of the nearest."""
    rank, distinct = _place_among(plan)
    if rank == 1:
        return plan_for(problem, plan.initial, policy)
    found = nearest(problem, plan.initial, rank, policy, distinct=distinct.value)
    ends = (each for each in found if each.end == plan.counterfactual)
    return next(ends, None) or (found[-1] if found else plan_for(problem, plan.initial, policy))
