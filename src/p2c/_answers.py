"""Answers of a problem for one person and for tables, and checks of answers.

If a model decides, it verifies each plan: the plan is proved if the model was parsed, else found by queries. Rarely used
modules, such as the formats of words and pictures, are imported on first use.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING, Any

from p2c._engines import ENGINES
from p2c._plan.nearest import Distinct
from p2c._plan.outcome import Found, answer_to
from p2c._plan.rendered import Plans
from p2c._plan.restriction import Restriction
from p2c._rules.evaluate import goal_holds
from p2c._rules.theory import ACCEPTED, Call
from p2c._spec.feature import Action, exact
from p2c._spec.overrides import OVERRIDES, whole_number
from p2c._spec.resources import ACTIONS, COST
from p2c._spec.spec import Minimize
from p2c.errors import (
    EngineError,
    Fault,
    P2CError,
    PlanError,
    UncertifiedError,
    shown,
    suggestion,
    words_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    import pandas as pd

    from p2c._engines.policy import Policy
    from p2c._plan.check.progress import Progress
    from p2c._plan.check.validate import Verdict
    from p2c._plan.outcome import Plan
    from p2c._plan.plan_json import PlanRecord
    from p2c._report.document import Document
    from p2c._report.follow_up import FollowUp
    from p2c._rules.theory import Theory
    from p2c._spec.feature import Value
    from p2c._spec.row import State
    from p2c._statement import Statement

CERTIFY_SECONDS = 30.0
"""Time limit for making a certificate in a check whose caller sets none."""

PROVERS = {"clingo": "clingo", "scasp": "s(CASP)"}
"""The solvers that share no search with the planner."""


@dataclass(frozen=True, slots=True)
class PlanRenderer:
    """Tells and draws the plans of one problem.

    `cheapest` is false where others of the k nearest come before.
    """

    theory: Theory
    cheapest: bool = True
    decides: Theory | None = None
    """The theory that decides, if another one gives the words."""
    _slacks: dict[Any, Mapping[str, Any] | None] = field(
        default_factory=dict, compare=False, repr=False
    )

    def slack(self, plan: Found) -> Mapping[str, Any] | None:
        """Return the values around each target that reach the goal as well."""
        from p2c._plan.slack import find_slack

        key = tuple(plan.actions)
        if key not in self._slacks:
            self._slacks[key] = find_slack(self.decides or self.theory, plan)
        return self._slacks[key]

    def explain(self, plan: Plan, *, language: str) -> str:
        """Return the outcome in words for the person."""
        from p2c._report.text import plain_text

        return plain_text(self._letter(plan, language))

    def svg(self, plan: Plan, *, theme: str, language: str) -> str:
        """Return the outcome as a picture."""
        from p2c._report.picture import plan_svg

        return plan_svg(self.theory, plan, theme=theme, language=language)

    def png(self, plan: Plan, *, theme: str, language: str) -> bytes:
        """Return the outcome as a picture in pixels."""
        from p2c._report.canvas import png

        return png(self.svg(plan, theme=theme, language=language))

    def html(self, plan: Plan, *, language: str = "en") -> str:
        """Return the outcome as a piece of a notebook: the picture and the words."""
        from p2c._report.html import notebook_html

        picture = self.svg(plan, theme="auto", language=language)
        return notebook_html(self._letter(plan, language), picture)

    def _letter(self, plan: Plan, language: str) -> Document:
        from p2c._explain.letter import write_letter
        from p2c._report.document import letter_document

        letter = write_letter(self.theory, plan, language=language, cheapest=self.cheapest)
        return letter_document(letter)


def described(
    problem: Statement, plan: Plan, *, rank: int = 1, distinct: Distinct = Distinct.POINTS
) -> Plan:
    """Attach the renderer, the question and the evidence to a plan.

    Args:
        problem: The problem as the question has it.
        plan: The plan.
        rank: The position of the plan among the nearest.
        distinct: The difference between two of the nearest.
    """
    evidence, decider = plan.question.evidence, problem.decider
    if evidence is not None and decider is not None:
        exact, wanted = decider.exact or decider.is_read, problem.theory.wants_yes
        guide = evidence.guide and described(problem, evidence.guide)
        evidence = replace(evidence, exact=exact, wanted=wanted, guide=guide)
        plan = replace(plan, question=replace(plan.question, evidence=evidence))
    question = problem.question
    if rank > 1:
        question = question | {"nearest": rank, "distinct": distinct.value}
    answered = plan.question.with_renderer(
        PlanRenderer(problem.worded, rank == 1, problem.theory),
        unknown=problem.theory.missing(plan.question.initial),
        source=problem.worded.told_source,
        asked=question,
        as_columns=None if decider is None else decider.source.view.as_columns,
    )
    return answer_to(answered, plan)


def plan_for(problem: Statement, row: Any, policy: Policy, *, state: State | None = None) -> Plan:
    """Return the path of least cost for a person, or the blockers.

    Args:
        problem: The problem.
        row: The person's values.
        policy: The engine and its limits.
        state: The row, if it was read before.
    """
    if problem.decider is not None:
        return model_plans(problem, row, 1, policy, state=state)[0]
    state = problem.read_row(row) if state is None else state
    return described(problem, policy.explained_plan(problem.compiled, state))


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
    """Return the k cheapest distinct end states, cheapest first.

    Args:
        problem: The problem.
        row: The person's values.
        k: Number of end states.
        policy: The engine and its limits.
        distinct: The difference between two end states.
        state: The row, if it was read before.
        first: The plan of the person, if it was made before.
    """
    kind = read_distinct(distinct)
    k = whole_number("k", k, least=1)
    if problem.decider is not None:
        answers = model_plans(problem, row, k, policy, distinct=kind, state=state)
        return Plans(each for each in answers if each.status != "infeasible")
    state = problem.read_row(row) if state is None else state
    plans = islice(policy.nearest(problem.compiled, state, k, kind, first=first), k)
    return Plans(
        described(problem, each, rank=rank, distinct=kind)
        for rank, each in enumerate(plans, start=1)
    )


def tradeoffs(problem: Statement, row: Any, by: Iterable[str], policy: Policy) -> Plans[Plan]:
    """Return a plan for each Pareto-optimal vector of objectives, ascending.

    Args:
        problem: The problem.
        row: The person's values.
        by: The objectives: "cost", "actions" or resources.
        policy: The limits.
    """
    from p2c._plan.boxes.planner import plans

    objectives = tuple(words_of(by, "by: expected names of objectives"))
    available = (COST, ACTIONS, *(each.name for each in problem.theory.resources))
    for name in objectives:
        if name not in available:
            hint = suggestion(name, available)
            raise P2CError(
                f"by: expected 'cost', 'actions' or a resource, found {shown(name)}; {hint}"
            )
    if not objectives or len(set(objectives)) < len(objectives):
        raise P2CError(
            f"by: expected one or more objectives, each once, found {shown(list(objectives))}"
        )
    if not policy.is_own:
        raise EngineError(f"no trade-offs by '{policy.engine}': use native")
    if problem.is_asked:
        raise EngineError("no trade-offs with a black-box model: they are proved by a search")
    state = problem.read_row(row)
    theory = replace(problem.theory, objectives=tuple(dict.fromkeys([*objectives, COST])))
    answers = list(plans(theory, state, policy.limits, front=len(objectives)))
    if answers[0].status == "infeasible":
        return Plans()
    if problem.decider is not None:
        answers = problem.planner.tradeoffs(problem.planner.decider.source.view.named(row), answers)
    return Plans(described(problem, each) for each in answers)


def read_distinct(name: str) -> Distinct:
    """Return the kind of difference between end states by its name."""
    try:
        return Distinct(name)
    except ValueError:
        kinds = " or ".join(each.value for each in Distinct)
        raise P2CError(f"distinct: expected {kinds}, found {shown(name)}") from None


def model_plans(
    problem: Statement,
    row: Any,
    k: int,
    policy: Policy,
    *,
    distinct: Distinct = Distinct.POINTS,
    state: State | None = None,
) -> list[Plan]:
    """Return up to k plans that the model verifies, cheapest first.

    Without a verified plan it is a single one that is not verified.
    """
    policy.refuse_model()
    state = problem.read_row(row) if state is None else state
    row = problem.planner.decider.source.view.named(row)
    plans = problem.planner.nearest(row, state, k, policy, distinct)
    return [
        described(problem, each, rank=rank, distinct=distinct)
        for rank, each in enumerate(plans, start=1)
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
    # Modules for tables load slowly, which a question about one person does not pay for.
    from p2c._plan.tables.frames import like, plan_frame

    if problem.decider is None:
        how: dict[str, Any] = {"details": details, "progress": progress}
        return plan_frame(problem.compiled, frame, solver=policy, **how)
    from p2c._learn.tables.view import as_frame

    table = problem.decider.source.view.collapse(as_frame(frame))
    answers = model_table(problem, table, policy, progress=progress)
    if not details:
        answers = answers.drop(columns=["actions", "steps"])
    return like(frame, answers, problem.theory.feature)


def model_table(
    problem: Statement, table: pd.DataFrame, policy: Policy, *, progress: bool | None = None
) -> pd.DataFrame:
    """Return the plan of each row of a table, verified by the model."""
    from p2c._blackbox.table import as_table

    lines = model_lines(problem, table, policy, progress=progress)
    return as_table(problem.theory, lines, table)


def model_lines(
    problem: Statement, table: pd.DataFrame, policy: Policy, *, progress: bool | None = None
) -> list[dict[str, Any]]:
    """Return the plan of each row, as cells by column."""
    from p2c._blackbox.table import Chunks, plan_lines

    policy.refuse_model()
    problem.planner.decider.source.view.refuse_absent(table, _needed(problem))
    return plan_lines(
        problem.theory,
        lambda row: model_plans(problem, row, 1, policy)[0],
        table,
        progress=progress,
        chunks=Chunks(problem.planner, problem.read_row, policy)
        if problem.planner.proves
        else None,
    )


def _needed(problem: Statement) -> set[str]:
    """Return the features that a table has to have."""
    features = problem.theory.features
    return {each.name for each in features if not each.kept and each.equation is None}


def predict(problem: Statement, rows: Any) -> Any:
    """Return whether the goal holds: a column for a table, a bool for one row."""
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
    view.refuse_absent(table, _needed(problem))
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
    """Replay a plan's JSON as an answer to its question.

    If a model decides, it is asked about the end.

    Args:
        problem: The problem.
        document: The plan as JSON.
        prove: How to plan again, so that claims beyond the path are refuted or proved as well.
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
        *(_slack_faults(problem, plan) if verdict.ok else ()),
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
    """Make a certificate of a plan's claim and have `p2c_verify` check it."""
    from p2c._plan.certificate.attach import verify_claim
    from p2c._plan.certificate.certify import certificate_for

    if policy.engine != "auto" or _place_among(plan)[0] > 1 or problem.is_asked:
        return False
    seconds = CERTIFY_SECONDS if policy.time_limit is None else policy.time_limit
    theory, row = problem.theory, problem.read_row(plan.row)
    try:
        certificate = certificate_for(theory, row, document, time_limit=seconds / 2)
        verify_claim(theory, row, document, certificate)
    except UncertifiedError:
        return False
    return True


def read_plan(problem: Statement, document: Mapping[str, Any]) -> Plan:
    """Return the plan that `to_dict` wrote, with its renderer."""
    from p2c._plan.plan_json import answer_of, read_record

    plan = read_record(document, problem.theory.feature)
    rank, distinct = _place_among(plan)
    return described(_as_asked(problem, plan), answer_of(plan), rank=rank, distinct=distinct)


def follow_up(
    problem: Statement, document: Mapping[str, Any], row: Any, policy: Policy
) -> FollowUp:
    """Compare a plan with a later row and plan again from there.

    Args:
        problem: The problem.
        document: The plan as JSON.
        row: The person's values now.
        policy: The engine and its limits.

    Raises:
        PlanError: The plan has no steps.
    """
    from p2c._plan.check.progress import progress_of
    from p2c._plan.check.rehearse import rehearse
    from p2c._report.follow_up import FollowUp

    old = read_plan(problem, document)
    if not old.steps:
        raise PlanError(f"steps: a follow-up needs a plan with steps; the status is {old.status}")
    variant = as_asked(problem, document)
    if variant.theory.spending:
        raise P2CError(f"a follow-up cannot take {variant.theory.spending} into account")
    state = variant.read_row(row)
    progress = progress_of(variant.theory, old, state)
    rest = rehearse(variant.theory, state, progress.rest)
    now = variant.restricted(_after(variant, progress))
    plan = plan_for(now, row, policy)
    cheapest = None
    if rest.goal and plan.optimal and plan.cost is not None:
        cheapest = _rank(variant, rest.changes) <= _rank(variant, _changes_of(plan))
    return FollowUp(variant.worded, progress, rest.goal, cheapest, plan)


def _after(problem: Statement, progress: Progress) -> dict[str, Restriction]:
    """Return the restrictions of a person after the done part of a plan.

    A feature that was changed directly is left to effects. One with moves may move on, but not back.
    """
    restrictions = dict(problem.restrictions)
    for name in dict.fromkeys(each.feature for each in progress.done):
        feature, own = problem.theory.feature[name], restrictions.get(name, Restriction())
        if feature.moves is None:
            action = Action.EFFECT if feature.governed else Action.FIXED
            restrictions[name] = own.model_copy(update={"action": action})
        else:
            left = {each.start for each in progress.done if each.feature == name}
            only = feature.places if own.only is None else own.only
            kept = tuple(each for each in only if each not in left)
            change = {"only": kept} if kept else {"action": Action.FIXED}
            restrictions[name] = own.model_copy(update=change)
    return restrictions


def _changes_of(plan: Plan) -> list[tuple[str, Value, Value]]:
    return [(each.feature, each.start, each.end) for each in plan.actions]


def _rank(problem: Statement, changes: Iterable[tuple[str, Value, Value]]) -> tuple[float, float]:
    """Return the number of actions, if it comes first, and the rounded cost."""
    theory, lengths = problem.theory, dict[str, Fraction]()
    listed = list(changes)
    for name, start, end in listed:
        length = theory.norm.length(theory.feature[name], start, end)
        lengths[name] = lengths.get(name, Fraction(0)) + length
    cost = theory.norm.cost((exact(theory.feature[n].weight), far) for n, far in lengths.items())
    count = len(listed) if theory.minimize is Minimize.ACTIONS else 0
    return count, float(f"{cost:.9g}")


def _place_among(plan: PlanRecord) -> tuple[int, Distinct]:
    """Return the stated rank of a plan among the nearest, and their difference."""
    if plan.asked is None or plan.asked.nearest is None:
        return 1, Distinct.POINTS
    return plan.asked.nearest, Distinct(plan.asked.distinct or Distinct.POINTS)


def as_asked(problem: Statement, document: Mapping[str, Any]) -> Statement:
    """Return a problem with the keys and restrictions of a plan's question."""
    from p2c._plan.plan_json import read_record

    return _as_asked(problem, read_record(document, problem.theory.feature))


def _as_asked(problem: Statement, plan: PlanRecord) -> Statement:
    """Return a problem with the keys and restrictions of a plan's question."""
    stated = plan.asked.model_dump(exclude_none=True) if plan.asked else {}
    if plan.norm is not None and plan.norm is not problem.theory.norm:
        stated["norm"] = plan.norm.value
    keys: Any = {key: each for key, each in stated.items() if key in OVERRIDES}
    try:
        return problem.restricted(stated.get("restrict", {})).with_keys(**keys)
    except P2CError as error:
        raise PlanError(f"asked: {'; '.join(str(error).splitlines())}") from None


def _source_faults(problem: Statement, plan: PlanRecord) -> Iterator[Fault]:
    """Yield a fault if an answer by learned rules does not name their source."""
    due = problem.theory.told_source
    if due and plan.source is None:
        yield Fault("source", f"expected {due}, found none")


def _model_faults(problem: Statement, plan: PlanRecord, *, replayed: bool) -> Iterator[Fault]:
    """Yield the faults in the claims of a plan about the model."""
    if problem.decider is None:
        if plan.model is not None:
            from p2c._blackbox.evidence import faults_without_model

            yield from faults_without_model(plan)
        return
    from p2c._blackbox.evidence import evidence_faults

    yield from evidence_faults(problem.planner, plan, replayed=replayed)


def _slack_faults(problem: Statement, plan: PlanRecord) -> Iterator[Fault]:
    """Yield a fault if a plan states another slack than it has."""
    if plan.slack is None:
        return
    from p2c._plan.plan_json import answer_of
    from p2c._plan.slack import find_slack

    path = answer_of(plan)
    due = find_slack(problem.theory, path) if isinstance(path, Found) else None
    for name in dict.fromkeys((*plan.slack, *(due or {}))):
        stated, right = plan.slack.get(name), (due or {}).get(name)
        if stated != right:
            yield Fault(f"slack: {name}", f"expected {shown(right)}, found {shown(stated)}")


def _opened_faults(
    problem: Statement, plan: PlanRecord, document: Mapping[str, Any]
) -> Iterator[Fault]:
    """Yield the faults of the path that exists without the blockers."""
    from p2c._plan.check.validate import check_plan
    from p2c._plan.lifting import caps, lifted, liftings, uncapped

    if plan.opened is None:
        return
    blockers = [each.blocker for each in plan.blockers or ()]
    seen = {name: (value,) for name, value in plan.initial.items()}
    possible = {each.blocker: each for each in liftings(problem.compiled, seen)}
    capped = caps(problem.theory)
    for each in blockers:
        if each not in possible and each not in capped:
            what = f"{each.feature} ({each.restriction})"
            yield Fault("blockers", f"{what} is no restriction that bears on the goal")
            return
    chosen = [possible[each] for each in blockers if each in possible]
    features = tuple(lifted(each, chosen) for each in problem.theory.features)
    theory = uncapped(replace(problem.theory, features=features), blockers)
    for fault in check_plan(theory, document["opened"]).faults:
        yield Fault(f"opened: {fault.place}", fault.message)


def _second_answer(problem: Statement, plan: PlanRecord, policy: Policy) -> tuple[Plan, str]:
    """Return a second answer to a plan's question, and its solver.

    The solver is empty for the same search. By default it is clingo if that is installed and takes the problem.
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
    """Return a second answer to a plan's question.

    For one of the nearest after the first it is the one with the same end.
    """
    rank, distinct = _place_among(plan)
    if rank == 1:
        return plan_for(problem, plan.initial, policy)
    plans = nearest(problem, plan.initial, rank, policy, distinct=distinct.value)
    same = (each for each in plans if each.end == plan.counterfactual)
    return next(same, None) or (plans[-1] if plans else plan_for(problem, plan.initial, policy))
