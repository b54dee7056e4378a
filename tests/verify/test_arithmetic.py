"""Certificates of problems with equations and arithmetic comparisons."""

from __future__ import annotations

import itertools
import random
import re
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest

import p2c._plan.lifting
from p2c._plan.certificate.canonical import canonical
from p2c.errors import P2CError, UncertifiedError
from p2c.problem import Problem
from p2c_verify import VerifyError
from p2c_verify.arithmetic import ANYTHING, NOTHING, Interval, applied
from p2c_verify.values import MAYBE
from tests.arithmetic_problems import arithmetic_problem
from tests.oracle_arithmetic import value_of
from tests.plan.boxes.test_models import fitted, table
from tests.verify.certified import Certified, certified, certified_answers
from tests.verify.test_certificates import mutants, truthful

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Document = dict[str, Any]
DTI: Document = {
    "goal": "not reject(X)",
    "rules": "reject(X) :- dti(X,R), R>0.36. reject(X) :- debt(X,D), income(X,I), D > 3*I.",
    "features": {
        "debt": {"type": "int", "min": 0, "max": 100},
        "income": {"type": "int", "min": 0, "max": 200},
        "dti": {"type": "float", "equation": "debt / income"},
    },
}


@pytest.fixture(autouse=True)
def near_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let lifted limits reach no further than the slow planner can count."""
    monkeypatch.setattr(p2c._plan.lifting, "REACH", 0)


def documents(seeds: range) -> Iterator[tuple[Document, Document]]:
    """Yield random problems with arithmetic and a row each."""
    for seed in seeds:
        yield arithmetic_problem(random.Random(f"certified/{seed}"))


def computed(seeds: range) -> Iterator[tuple[Problem, Mapping[str, Any]]]:
    """Yield the problems that can be read, with a row each."""
    for document, row in documents(seeds):
        try:
            yield Problem.from_dict(document), row
        except P2CError:
            continue


def test_every_answer_with_arithmetic_is_certified() -> None:
    verified = [answer.verify() for answer in certified_answers(computed(range(60)))]
    assert len(verified) > 30


@pytest.mark.slow
@pytest.mark.parametrize("part", range(20))
def test_every_answer_with_arithmetic_is_certified_of_many(part: int) -> None:
    first = 1_000 + 200 * part
    for answer in certified_answers(computed(range(first, first + 200))):
        answer.verify()


def dti(row: Mapping[str, Any], **changes: Any) -> Certified:
    """Return a certified answer about debt and income."""
    problem = Problem.from_dict(DTI | changes)
    return certified(problem, row, problem.plan(row).to_dict())


def test_plans_with_equations_carry_verified_certificates() -> None:
    problem = Problem.from_dict(DTI)
    for row in ({"debt": 45, "income": 100}, {"debt": 45, "income": 100, "dti": 0.5}):
        plan = problem.plan(row, certificate=True)
        assert plan.proof == "certificate"
        assert plan.certificate is not None
        assert problem.verify(row, plan, plan.certificate).claim.startswith("the plan is a path")
        assert "p2c_verify" in str(problem.check(plan, prove=True))


def test_a_row_without_its_residual_is_another_row() -> None:
    answer = dti({"debt": 45, "income": 100})
    given = dict(answer.row)
    with pytest.raises(VerifyError, match="another row"):
        replace(answer, row=given).verify()
    other = dti({"debt": 45, "income": 100, "dti": 0.5})
    assert other.plan["cost"] != answer.plan["cost"]
    with pytest.raises(VerifyError):
        replace(other, plan=answer.plan).verify()


def test_recomputations_are_listed_as_they_happen() -> None:
    answer = dti({"debt": 45, "income": 100})
    (step,) = answer.plan["steps"]
    direct, change = step["actions"]
    for actions in (
        [direct],
        [direct, change, change],
        [direct, change | {"to": 0.35}],
        [direct, change | {"because": []}],
        [direct, change | {"cost": 1}],
        [change, direct],
    ):
        plan = answer.plan | {"steps": [step | {"actions": actions}]}
        with pytest.raises(VerifyError):
            replace(answer, plan=plan).verify()


def test_nobody_is_accepted_by_making_an_equation_undefined() -> None:
    fixed = {**DTI["features"], "debt": DTI["features"]["debt"] | {"action": "fixed"}}
    low = {**fixed, "income": DTI["features"]["income"] | {"action": "down"}}
    answer = dti({"debt": 45, "income": 100}, features=low)
    assert answer.plan["status"] == "infeasible"
    assert answer.verify().claim == "no path exists"


def test_a_contradicted_equation_is_an_exception() -> None:
    told = DTI["features"]["dti"] | {"residual": "none"}
    features = DTI["features"] | {"dti": told}
    answer = dti({"debt": 45, "income": 100, "dti": 0.5}, features=features)
    (exception,) = answer.plan["exceptions"]
    assert exception["computed"] == 0.45
    assert answer.verify()
    for exceptions in ([], [exception | {"computed": 0.5}], [exception] * 2):
        with pytest.raises(VerifyError, match="exceptions"):
            replace(answer, plan=answer.plan | {"exceptions": exceptions}).verify()


@pytest.mark.parametrize(
    "change",
    [
        {"expression": ["/", "debt"]},
        {"expression": ["power", "debt", "income"]},
        {"expression": "dti"},
        {"expression": "name"},
        {"expression": True},
        {"residual": "some"},
        {"step": 0},
        {"step": -1},
        {"feature": "debt"},
    ],
)
def test_a_malformed_equation_is_refused(change: Document, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = dti({"debt": 45, "income": 100})
    document = canonical(answer.problem.theory)
    document["equations"][0] |= change
    monkeypatch.setattr("tests.verify.certified.canonical", lambda _: document)
    with pytest.raises(VerifyError):
        answer.verify(forge=True)


def changed_documents(data: Document, rng: random.Random) -> Iterator[Document]:
    """Yield problems with another number, residual or limit of an equation or rule."""
    for name, keys in data["features"].items():
        if "equation" not in keys:
            continue
        for key, value in (
            ("residual", "none" if keys.get("residual", "add") == "add" else "add"),
            ("min", keys.get("min", 0) + rng.choice((-1, 1))),
            ("max", keys.get("max", 5) + rng.choice((-1, 1))),
            ("step", rng.choice((1, 2))),
            ("equation", _changed(keys["equation"], rng)),
            ("equation", f"({keys['equation']}) + {rng.choice((0.5, 1, -1))}"),
        ):
            yield {**data, "features": {**data["features"], name: {**keys, key: value}}}
    for _ in range(3):
        yield {**data, "rules": _changed(data["rules"], rng)}


def _changed(text: str, rng: random.Random) -> str:
    numbers = list(re.finditer(r"(?<=[<>=*+/ ])\d+(\.\d+)?", text))
    if not numbers:
        return text
    one = rng.choice(numbers)
    other = str(round(float(one[0]) + rng.choice((-1, 1, 0.5, 2)), 3))
    return text[: one.start()] + other + text[one.end() :]


def accepted(answers: list[Certified], rng: random.Random) -> tuple[int, int]:
    """Return the number of mutants and of accepted ones, which are all true."""
    tried = kept = 0
    for answer, other in itertools.pairwise(answers):
        changed = _changed_problems(answer, rng)
        for mutant in (*mutants(answer, other, rng), *changed):
            tried += 1
            try:
                mutant.verify(forge=True)
            except VerifyError:
                continue
            kept += 1
            assert truthful(mutant), f"a false claim was accepted: {mutant}"
    return tried, kept


def _changed_problems(answer: Certified, rng: random.Random) -> Iterator[Certified]:
    before = canonical(answer.problem.theory)
    stated = {name: value for name, value in answer.row.items() if name not in _omitted(answer)}
    for data in changed_documents(answer.problem.to_dict(), rng):
        try:
            problem = Problem.from_dict(data)
            row = problem.read_row(stated)
            if canonical(problem.theory) != before:
                yield replace(answer, problem=problem, row=row)
        except P2CError:
            continue


def _omitted(answer: Certified) -> list[str]:
    return list(answer.plan.get("omitted", ()))


def test_no_false_claim_with_arithmetic_is_accepted() -> None:
    answers = list(certified_answers(computed(range(100, 130))))
    tried, kept = accepted(answers, random.Random(1))
    assert tried > 250
    assert kept > 10


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_no_false_claim_with_arithmetic_is_accepted_of_many(part: int) -> None:
    first = 10_000 + 60 * part
    answers = list(certified_answers(computed(range(first, first + 60))))
    tried, _ = accepted(answers, random.Random(part))
    assert tried > 500


def test_a_dearer_path_with_arithmetic_gets_no_certificate() -> None:
    problem, row = Problem.from_dict(DTI), {"debt": 45, "income": 100}
    cheap, *others = problem.nearest(row, k=3)
    for other in others:
        assert cheap.cost is not None
        assert other.cost is not None
        assert other.cost > cheap.cost
        with pytest.raises(UncertifiedError):
            certified(problem, row, other.to_dict())


@pytest.mark.parametrize("seed", range(2))
def test_plans_of_parsed_models_with_equations_are_certified(seed: int) -> None:
    frame = table(seed)
    model = fitted(frame, seed)
    problem = Problem.from_model(
        model, frame, equations={"r": "a / b"}, actions=dict.fromkeys("abc", "free")
    )
    for row in frame[~model.predict(frame)].head(4).to_dict("records"):
        plan = problem.plan({name: row[name] for name in "abc"}, certificate=True)
        assert plan.uncertified == ""
        assert plan.proof == "certificate"


def test_intervals_contain_the_exact_value_of_each_operation() -> None:
    rng = random.Random(3)
    kinds = {"+": 2, "*": 2, "/": 2, "min": 2, "max": 2, "neg": 1, "abs": 1, "floor": 1}
    kinds |= {"ceil": 1, "round": 1, "log": 1, "log1p": 1, "exp": 1, "sqrt": 1}
    for _ in range(4_000):
        kind, arity = rng.choice(list(kinds.items()))
        ends = [sorted(Fraction(rng.randint(-40, 60), 8) for _ in "ab") for _ in range(arity)]
        inner = [low + (high - low) * Fraction(rng.randint(0, 8), 8) for low, high in ends]
        hull = applied(kind, [Interval(low, high) for low, high in ends])
        exactly = applied(kind, [Interval(each, each) for each in inner])
        assert exactly == _due(kind, inner)
        assert exactly.joined(hull) == hull
    assert applied("+", [NOTHING, Interval(Fraction(0), Fraction(1))]) == NOTHING
    assert applied("*", [ANYTHING, Interval(Fraction(0), Fraction(0))]) == ANYTHING
    half = Interval(Fraction(0), Fraction(1), MAYBE)
    assert applied("neg", [half]).defined == MAYBE


def _due(kind: str, operands: list[Fraction]) -> Interval:
    from p2c._spec.expression import Apply, Number

    value = value_of(Apply(kind, tuple(map(Number, operands))), {})
    return NOTHING if value is None else Interval(value, value)


def test_a_quotient_without_known_ends_may_have_any_value() -> None:
    problem = Problem.from_dict(
        {
            "goal": "y(X,N), N>4",
            "rules": "",
            "features": {
                "x": {"type": "int", "min": -5, "max": 5},
                "y": {"type": "float", "equation": "10 / x"},
            },
        }
    )
    answer = certified(problem, {"x": -5}, problem.plan({"x": -5}).to_dict())
    assert answer.plan["counterfactual"] == {"x": 1, "y": 10.0}
    emptied = answer.plan | {"status": "infeasible", "steps": [], "cost": None}
    forged = answer.certificate | {"status": "infeasible", "cover": ["p"], "lemmas": []}
    with pytest.raises(VerifyError, match="not closed"):
        replace(answer, plan=emptied, certificate=forged).verify()
