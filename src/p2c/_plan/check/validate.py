"""Checks a plan against the contract by replaying it, with code that no planner shares.

The verdict lists every fault with its place: `step 2, action 1: credit_score is an effect of its causal rules and is
never set directly`. It also names the claims that a replay cannot judge: that no cheaper path exists, or none at all.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from p2c._plan.check.claims import BLOCKED, above, claims, refute, settled
from p2c._plan.check.replay import TOLERANCE, Replay, decimal, rules_differ, same_number
from p2c._plan.plan_json import EquationRecord, Status, read_record
from p2c._rules.evaluate import in_head
from p2c._rules.meaning import (
    ConstraintException,
    EquationException,
    FeatureException,
    abduce,
    origin,
)
from p2c._rules.parse import parse
from p2c._rules.render import render_rule
from p2c._spec.feature import exact
from p2c._spec.resources import number_of
from p2c._spec.row import read_row
from p2c._spec.spec import Exceptions
from p2c.errors import Fault, PlanError, RowError, RuleError, counted, fault_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from p2c._plan.check.replay import Goal
    from p2c._plan.outcome import Plan
    from p2c._plan.plan_json import ExceptionRecord, PlanRecord
    from p2c._rules.meaning import AbducedException
    from p2c._rules.syntax import Rule
    from p2c._rules.theory import Theory


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is wrong with a plan, and what was looked at; it is true where nothing is wrong.

    `unchecked` is what the plan claims and a replay cannot tell, such as that nothing cheaper exists. Of that, `proved`
    is what another solver, the `prover`, has proved as well, and `repeated` what the same search has found again, which
    is no second proof. `asked` is what was asked besides the problem, by which the plan was judged.

    >>> import p2c
    >>> loan, john = p2c.Problem.example("loan"), p2c.datasets.rows("loan")["john"]
    >>> verdict = loan.check({**loan.plan(john).to_dict(), "cost": 0})
    >>> bool(verdict), str(verdict)
    (False, 'cost: the path costs 0.00502 in l1, found 0')
    """

    faults: tuple[Fault, ...] = ()
    checked: str = ""
    unchecked: str = ""
    proved: str = ""
    asked: str = ""
    repeated: str = field(default="", repr=False)
    prover: str = field(default="", repr=False)

    @property
    def ok(self) -> bool:
        """Tell whether the plan keeps the contract."""
        return not self.faults

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        asked = [f"judged as it was asked: {self.asked}"] if self.asked else []
        if self.faults:
            return "\n".join([*fault_lines(self.faults), *asked])
        lines = [self.checked or "nothing is wrong with it", *asked]
        lines += [f"proved by {self.prover}: {self.proved}"] if self.proved else []
        lines += [f"repeated by the same search: {self.repeated}"] if self.repeated else []
        lines += [f"not checked: {self.unchecked}"] if self.unchecked else []
        return "\n".join(lines)


def check_plan(theory: Theory, document: Mapping[str, Any], *, goal: Goal | None = None) -> Verdict:
    """Replay a plan given as the contract's JSON; what is no plan at all raises a PlanError.

    `goal` stands in the place of the theory's own.
    """
    return check_record(theory, read_record(document, theory.feature), goal=goal)


def check_record(theory: Theory, plan: PlanRecord, *, goal: Goal | None = None) -> Verdict:
    """Replay a plan that was read."""
    try:
        initial = read_row(theory.features, plan.row)
    except RowError as error:
        raise PlanError(f"initial: {error}") from None
    broken = abduce(theory, initial)
    strict = theory.exceptions is Exceptions.STRICT
    replay = Replay(
        theory,
        initial,
        exceptions=() if strict else broken,
        norm=plan.norm or theory.norm,
        goal=goal,
        start=origin(theory, initial),
    )
    met = replay.met
    replay.compare("initial", plan.initial)
    for number, step in enumerate(plan.steps, start=1):
        replay.step(step, number=number, last=number == len(plan.steps))
    if plan.counterfactual is not None and (plan.steps or plan.status is Status.ALREADY):
        replay.compare("counterfactual", plan.counterfactual)
    faults = [
        *_question_faults(theory, plan),
        *(_strict_faults(broken) if strict else ()),
        *_exception_faults(theory, () if strict else broken, plan),
        *_status_faults(plan, met=met),
        *replay.faults,
        *_cost_faults(plan, replay),
        *_amount_faults(plan, replay),
    ]
    return Verdict(tuple(faults), _checked(plan), ", and ".join(claims(theory, plan)))


def _checked(plan: PlanRecord) -> str:
    """Say what the replay of a plan without faults tells."""
    if plan.steps:
        return "the path is valid: every step, the cost and the end"
    if plan.status is Status.ALREADY:
        return "the answer is valid: the goal holds at the start"
    return "there is no path to replay: only that the goal does not hold at the start"


CERTIFICATE = "a certificate that p2c_verify has checked"
"""The prover of a claim that has a verified certificate."""


def certified_claims(theory: Theory, plan: PlanRecord, verdict: Verdict) -> Verdict:
    """Return the verdict of a plan with all claims covered by a certificate."""
    proved = ", and ".join(claims(theory, plan))
    return replace(verdict, unchecked="", proved=proved, prover=CERTIFICATE)


def prove_claims(
    theory: Theory, plan: PlanRecord, verdict: Verdict, answer: Plan, *, prover: str = ""
) -> Verdict:
    """Judge the claims of a plan by a second answer to the same question.

    Args:
        theory: The problem.
        plan: The plan.
        verdict: The verdict of its replay.
        answer: The second answer.
        prover: The solver that gave the second answer; empty where it was the same search.
    """
    faults = (*verdict.faults, *refute(theory, plan, answer, prover=prover))
    if faults or not verdict.unchecked or not settled(plan, answer):
        return replace(verdict, faults=faults)
    made = claims(theory, plan)
    proved = [each for each in made if prover and each != BLOCKED]
    repeated = [each for each in made if each not in proved]
    return replace(
        verdict,
        unchecked="",
        proved=", and ".join(proved),
        repeated=", and ".join(repeated),
        prover=prover if proved else "",
    )


def _question_faults(theory: Theory, plan: PlanRecord) -> Iterator[Fault]:
    if plan.problem is not None and plan.problem != theory.name:
        yield Fault("problem", f"expected '{theory.name}', found '{plan.problem}'")
    if plan.proof is not None and plan.optimal not in (None, plan.proof != "none"):
        yield Fault("proof", f"'{plan.proof}' contradicts optimal, which is {plan.optimal}")
    if plan.optimal and plan.status is Status.GAVE_UP:
        yield Fault("optimal", "expected false, for the search gave up")
    due = theory.missing(plan.initial)
    if plan.unknown is not None and set(plan.unknown) != set(due):
        yield Fault("unknown", f"expected {', '.join(due) or 'none'}, found {list(plan.unknown)}")
    if plan.source is not None and plan.source != theory.source:
        own = theory.source.to_dict() if theory.source else "none, for the rules were not learned"
        yield Fault("source", f"expected {own}, found {plan.source.to_dict()}")
    if plan.cost is not None and above(plan.bound, plan.cost):
        yield Fault("bound", f"expected at most its own cost of {plan.cost}, found {plan.bound}")


def _status_faults(plan: PlanRecord, *, met: bool) -> Iterator[Fault]:
    status = plan.status
    if met and status is not Status.ALREADY:
        yield Fault(
            "status", f"expected 'already', for the goal holds at the start, not '{status.value}'"
        )
    if not met and status is Status.ALREADY:
        yield Fault("status", "'already' means that the goal holds at the start, and it does not")
    if status is Status.FOUND and not plan.steps:
        yield Fault("status", "'found' needs at least one step, and there is none")
    if status in (Status.ALREADY, Status.INFEASIBLE) and plan.steps:
        yield Fault("status", f"'{status.value}' has no steps, found {len(plan.steps)}")
    if status in (Status.FOUND, Status.ALREADY) or plan.steps:
        for key in ("cost", "counterfactual"):
            if getattr(plan, key) is None:
                yield Fault(key, f"'{status.value}' with this path needs one, found null")
        return
    for key in ("cost", "counterfactual"):
        if getattr(plan, key) is not None:
            yield Fault(key, f"expected null, for '{status.value}' comes without a path here")


def _cost_faults(plan: PlanRecord, replay: Replay) -> Iterator[Fault]:
    """Compare the total cost, raised to the norm's power: no root is rounded then."""
    if plan.cost is None or not (plan.steps or plan.status is Status.ALREADY):
        return
    due, found, power = total(replay), exact(plan.cost), replay.norm.power
    if not same_number(found**power, due, tolerance=power * TOLERANCE) or found < 0:
        right = decimal(due) ** (1 / Decimal(power))
        yield Fault(
            "cost", f"the path costs {right:.10g} in {replay.norm.value}, found {plan.cost}"
        )


def total(replay: Replay) -> Fraction:
    """Return the cost of the direct actions, raised to the norm's power, which is exact."""
    norm, features, theory = replay.norm, replay.theory.feature, replay.theory
    shares = [
        exact(features[name].weight) * norm.share(sum(lengths, Fraction(0)))
        for name, lengths in replay.lengths.items()
    ]
    taken = replay.taken
    shares += [norm.share(taken[each.name] * each.cost) for each in theory.named_actions]
    weighed = sum(
        (each.weight * replay.totals[each.name] for each in theory.resources), Fraction(0)
    )
    return Fraction(norm.total(shares)) + weighed


def _amount_faults(plan: PlanRecord, replay: Replay) -> Iterator[Fault]:
    """Yield wrong totals of resources, and a path of too many actions."""
    most = replay.theory.max_actions
    if most is not None and replay.count > most:
        yield Fault("steps", f"expected at most {counted(most, 'action')}, found {replay.count}")
    stated = plan.uses or {}
    for name in {**replay.totals, **stated}:
        due, found = replay.totals.get(name, Fraction(0)), stated.get(name, 0)
        if not same_number(exact(found), due):
            yield Fault("uses", f"the path uses {number_of(due)} {name}, found {found}")


def _strict_faults(broken: tuple[AbducedException, ...]) -> Iterator[Fault]:
    for each in broken:
        match each:
            case FeatureException(feature=name, value=value):
                what = f"the rules of {name} do not allow {value!r}"
            case EquationException(name, equation, value, due):
                right = "undefined" if due is None else repr(due)
                what = f"{name} is {value!r}, and its equation {equation} is {right}"
            case ConstraintException(constraint=clause):
                what = f"it breaks the constraint {render_rule(clause.rule)}"
        yield Fault("initial", f"{what}, and exceptions are strict")


def _exception_faults(
    theory: Theory, broken: tuple[AbducedException, ...], plan: PlanRecord
) -> Iterator[Fault]:
    if plan.exceptions is None:
        return
    yield from _equation_faults(broken, plan)
    of_features = {each.feature: each for each in broken if isinstance(each, FeatureException)}
    of_rules = {each.constraint.rule for each in broken if isinstance(each, ConstraintException)}
    for record in plan.exceptions:
        if isinstance(record, EquationRecord):
            continue
        if record.feature in of_features:
            wrong = _misnamed(theory, of_features[record.feature], record)
            if wrong:
                yield Fault("exceptions", f"the rules of {record.feature}: {wrong}")
        elif record.feature:
            yield Fault("exceptions", f"{record.feature} breaks no law at the start")
        elif not (_rules(record) and _rules(record) <= of_rules):
            yield Fault("exceptions", f"'{record.rules[0]}' is no constraint broken at the start")
    yield from _doubled(plan.exceptions, broken)
    listed = {each.feature for each in plan.exceptions if not isinstance(each, EquationRecord)}
    for name in of_features:
        if name not in listed:
            yield Fault("exceptions", f"{name} breaks its law at the start and is not listed")
    named = {rule for record in plan.exceptions if not record.feature for rule in _rules(record)}
    for rule in sorted(of_rules - named, key=render_rule):
        yield Fault("exceptions", f"'{render_rule(rule)}' is broken at the start and not listed")


def _equation_faults(broken: tuple[AbducedException, ...], plan: PlanRecord) -> Iterator[Fault]:
    """Yield the faults of the listed exceptions of equations."""
    due = {each.feature: each for each in broken if isinstance(each, EquationException)}
    for record in plan.exceptions or ():
        if not isinstance(record, EquationRecord):
            continue
        each = due.pop(record.feature, None)
        if each is None:
            yield Fault(
                "exceptions", f"the row does not contradict an equation of {record.feature}"
            )
        elif " ".join(record.equation.split()) != each.equation:
            yield Fault("exceptions", f"the equation of {record.feature} is {each.equation}")
        elif (record.stated, record.computed) != (each.stated, each.computed):
            right = f"given {each.stated} and computed {each.computed}"
            found = f"{record.stated} and {record.computed}"
            yield Fault("exceptions", f"{record.feature}: expected {right}, found {found}")
    for name in due:
        yield Fault("exceptions", f"{name} contradicts its equation at the start and is not listed")


def _doubled(
    exceptions: tuple[ExceptionRecord, ...], broken: tuple[AbducedException, ...]
) -> Iterator[Fault]:
    """Yield the exceptions that are listed more often than the problem states them."""
    stated = Counter[object](
        each.constraint.rule for each in broken if isinstance(each, ConstraintException)
    )
    listed = Counter[object]()
    for record in exceptions:
        if isinstance(record, EquationRecord):
            continue
        marks: set[object] = {record.feature}
        if not record.feature:
            marks = {*(_rules(record) or record.rules)}
        if not record.feature and len(marks) > 1:
            yield Fault("exceptions", f"expected one constraint each, found '{record.rules[0]}'")
        listed.update(marks)
        if any(listed[each] > max(1, stated.get(each, 1)) for each in marks):
            yield Fault("exceptions", f"'{record.feature or record.rules[0]}' is listed twice")


def _misnamed(theory: Theory, broken: FeatureException, record: ExceptionRecord) -> str:
    """Say how the rules of an exception are wrong: they are those that fired.

    Where none fired, the list may be empty or name those that would have had to, whose heads have the value.
    """
    if broken.fired or not record.rules:
        return rules_differ(record.rules, (clause.rule for clause in broken.fired))
    clauses = theory.rules_of[broken.feature]
    return rules_differ(
        record.rules, (each.rule for each in clauses if in_head(theory, each, broken.value))
    )


def _rules(record: ExceptionRecord) -> set[Rule]:
    try:
        return {rule for text in record.rules for rule in parse(text).rules}
    except RuleError:
        return set()
