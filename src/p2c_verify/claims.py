"""The claim of a plan as a whole: digests, the path, its measure, and the cover."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from p2c_verify.cover import Cover
from p2c_verify.facts import YES, Facts, Judge
from p2c_verify.forest import Forest
from p2c_verify.pricing import INFINITE, Pricing
from p2c_verify.problem import Problem, VerifyError, digest, read_problem
from p2c_verify.replay import Replay, close, lone, root

FORMAT = "p2c-certificate/1"


@dataclass(frozen=True)
class Report:
    """A verified claim, and the recorded answers of the model that it rests on."""

    claim: str
    leaves: int
    assumptions: tuple[str, ...]

    def __str__(self) -> str:
        lines = [f"verified: {self.claim}", f"boxes closed: {self.leaves:,}"]
        lines += [f"assumed: {each}" for each in self.assumptions]
        return "\n".join(lines)


def digests(problem: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, str | None]:
    """Return the digests of the problem without its model, of the model, and of the row."""
    model = problem.get("model")
    rest = {key: value for key, value in problem.items() if key != "model"}
    return {
        "problem": digest(rest),
        "model": None if model is None else digest(model),
        "row": digest(row),
    }


def recorded(answers: Any) -> dict[tuple[object, ...], bool]:
    """Return the model's recorded answers by state key."""
    return {tuple(key): bool(accepted) for key, accepted in answers}


def opened(
    problem: Mapping[str, Any], row: Mapping[str, Any], answers: Mapping[tuple[object, ...], bool]
) -> tuple[Problem, Judge, list[int | None]]:
    """Return the problem, the judge of one person, and the initial values."""
    read = read_problem(problem, row)
    names = {each.name for each in read.features}
    if set(row) != names:
        raise VerifyError("the row does not give every feature once")
    initial = [each.read(row[each.name]) for each in read.features]
    forest = Forest(read.model, read.features, answers) if read.model else None
    judge = Judge(read, forest, [lone(value) for value in initial])
    if read.strict and (judge.excused or judge.broken):
        raise VerifyError("the row breaks a law or constraint, which `strict` refuses")
    return read, judge, initial


def verify(
    problem: Mapping[str, Any],
    row: Mapping[str, Any],
    plan: Mapping[str, Any],
    certificate: Mapping[str, Any],
) -> Report:
    """Verify that a plan is a path of its cost and that no path costs less, or that there is no path.

    Args:
        problem: The problem in canonical form, as `problem.parse` reads it.
        row: The person's value of every feature.
        plan: The plan as JSON.
        certificate: The certificate as JSON.

    Returns:
        The verified claim with its assumptions.

    Raises:
        VerifyError: Anything is malformed, false, or not verified.
    """
    try:
        return _verify(problem, row, plan, certificate)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise VerifyError(f"malformed document: {type(error).__name__}: {error}") from None


def _verify(
    problem: Mapping[str, Any],
    row: Mapping[str, Any],
    plan: Mapping[str, Any],
    certificate: Mapping[str, Any],
) -> Report:
    if certificate["format"] != FORMAT:
        raise VerifyError(f"the certificate is not in the form {FORMAT}")
    for name, value in digests(problem, row).items():
        if certificate[name] != value:
            raise VerifyError(f"the certificate is for another {name}")
    read, judge, initial = opened(problem, row, recorded(certificate["answers"]))
    if plan["problem"] != problem["name"] or plan["norm"] != problem["norm"]:
        raise VerifyError("the plan is for another problem or norm")
    if certificate["status"] != plan["status"]:
        raise VerifyError("the certificate is for another status")
    if plan["status"] == "found" and plan["optimal"] is not True:
        raise VerifyError("the plan does not claim to be optimal")
    replay = Replay(read, judge, initial)
    replay.compare(plan["initial"], "initial")
    _compare_exceptions(read, judge, plan["exceptions"])
    leaves, claim = 0, ""
    match plan["status"]:
        case "already":
            if judge.final(replay.facts()) != YES or plan["steps"] or plan["cost"] != 0:
                raise VerifyError("the goal does not hold at the start at cost 0")
            replay.compare(plan["counterfactual"], "counterfactual")
            claim = "the goal holds at the start"
        case "found":
            if not plan["steps"]:
                raise VerifyError("a plan that was found has steps")
            measure = replay.run(plan)
            replay.compare(plan["counterfactual"], "counterfactual")
            exact = Fraction(measure[1], replay.pricing.common)
            if not close(Fraction(plan["cost"]), root(read.norm, exact)):
                raise VerifyError("the plan does not cost what it says")
            cover = Cover(read, judge, tuple(map(lone, initial)), measure)
            leaves = cover.check(certificate["cover"])
            claim = f"the plan is a path of cost {float(root(read.norm, exact)):.10g}, and no path costs less"
        case "infeasible":
            if judge.final(replay.facts()) == YES or plan["steps"] or plan["cost"] is not None:
                raise VerifyError("an infeasible answer has no steps and no cost")
            cover = Cover(read, judge, tuple(map(lone, initial)), INFINITE)
            leaves = cover.check(certificate["cover"])
            claim = "no path exists"
        case other:
            raise VerifyError(f"there is nothing to verify about the status {other!r}")
    used = judge.forest.used if judge.forest else ()
    assumed = tuple(
        f"the model {'accepts' if judge.forest.answers[key] else 'refuses'} the state {list(key)}"
        for key in used
        if judge.forest is not None
    )
    return Report(claim, leaves, assumed)


def _compare_exceptions(problem: Problem, judge: Judge, listed: Any) -> None:
    """Refuse a list of exceptions that is not the one of the initial state."""
    start = Facts(problem, judge.forest, judge.initial)
    due = []
    for cause in problem.causes:
        if cause.feature in judge.excused:
            pairs = list(zip(cause.rules, start.fired(cause), strict=True))
            rules = sorted(rule.text for rule, fires in pairs if fires == YES)
            if not rules:  # the value would need one of the rules whose heads hold it
                rules = sorted(
                    rule.text for rule, _ in pairs if start.headed(cause, rule.head) == YES
                )
            due.append((problem.features[cause.feature].name, rules))
    due += [("", [each.text]) for each in judge.broken]
    found = [
        (each["feature"], sorted(each["rules"]))
        if "feature" in each
        else ("", [each["constraint"]])
        for each in listed
    ]
    if sorted(due) != sorted(found):
        raise VerifyError("the exceptions are not those of the initial state")
