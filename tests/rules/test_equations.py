"""Computed features: faults, meaning, and the replay."""

from __future__ import annotations

from typing import Any

import pytest

from p2c import P2CError, Problem
from p2c._rules.meaning import abduce, consistent, origin

Document = dict[str, Any]
WHOLE: Document = {"type": "int", "min": 0, "max": 100}


def problem(rules: str = "", goal: str = "a(X,N), N>=0", **features: Document) -> Problem:
    """Return a problem about `a` and `b`, and more features."""
    named = {"a": WHOLE, "b": WHOLE, "job": {"type": "category", "values": ["none", "clerk"]}}
    return Problem.from_dict({"goal": goal, "rules": rules, "features": {**named, **features}})


def ratio(**keys: Any) -> Document:
    """Return a feature with the equation `a / b`."""
    return {"type": "float", "equation": "a / b", **keys}


def recomputed(made: Problem, row: Document, **changed: Any) -> Document:
    """Return the state after changes of a row."""
    start = origin(made.theory, made.read_row(row))
    assert start is not None
    return start.recomputed({**start.initial, **changed})


REFUSED = [
    (
        ratio(equation="a / c"),
        "features.r.equation: there is no feature 'c'; known: 'a', 'b', 'job'",
    ),
    (
        ratio(equation="a / job"),
        "'job' is no number; compare it in a condition, as in if(job = 'none'",
    ),
    (
        ratio(equation="if(job = 'Clerk', a, b)"),
        "'Clerk' is not a value of 'job'; did you mean 'clerk'?",
    ),
    (ratio(equation="if(job < 'clerk', a, b)"), "'<' needs an order, and 'job' is a category"),
    (ratio(equation="a +"), "features.r.equation: character 4: expected a number"),
    (ratio(equation="r + 1"), "an equation may not depend on its own feature: r -> r"),
    (ratio(action="free"), "features.r.action: a computed feature is never set"),
    (ratio(weight=2), "features.r.weight: a computed feature costs nothing"),
    (ratio(values=[1.0, 2.0]), "features.r.values: its values follow from its equation"),
    ({"type": "category", "equation": "a"}, "features.r.equation: only a number is computed"),
    ({**WHOLE, "residual": "add"}, "features.r.residual: only a feature with an 'equation'"),
    (ratio(residual="keep"), "features.r.residual: expected 'add' or 'none', found 'keep'"),
]


@pytest.mark.parametrize(("keys", "message"), REFUSED)
def test_a_wrong_equation_is_refused_with_its_place(keys: Document, message: str) -> None:
    with pytest.raises(P2CError) as caught:
        problem(r=keys)
    assert message in str(caught.value)


def test_a_cycle_through_causal_rules_is_named() -> None:
    with pytest.raises(
        P2CError, match="an equation may not depend on its own feature: r -> b -> r"
    ):
        problem("b(X,N) :- r(X,V), V>1, N>=5.", r=ratio())


def test_a_causal_rule_of_a_computed_feature_is_refused() -> None:
    with pytest.raises(P2CError, match="a causal rule has this feature as its head"):
        problem("r(X,N) :- a(X,V), V>1, N>=5.", r=ratio())


def test_a_row_may_omit_a_computed_feature() -> None:
    made = problem(r=ratio())
    assert made.read_row({"a": 1, "b": 4, "job": "none"})["r"] == 0.25
    assert made.read_row({"a": 1, "b": 0, "job": "none"})["r"] is None


def test_the_residual_of_a_row_is_kept_and_an_omitted_feature_has_none() -> None:
    made = problem(r=ratio(equation="a + 0.4", type="int", min=0, max=10))
    row = {"a": 1, "b": 1, "job": "none"}
    assert recomputed(made, row, a=2)["r"] == 2
    assert recomputed(made, {**row, "r": 2}, a=2)["r"] == 3
    assert recomputed(made, {**row, "r": 2}, a=50)["r"] == 10
    assert recomputed(made, {**row, "r": None}, a=2)["r"] == 2
    assert recomputed(made, {**row, "r": None}, b=2)["r"] is None


def test_the_rounding_of_doubles_is_no_residual() -> None:
    made = problem(r=ratio())
    row = {"a": 1, "b": 3, "job": "none", "r": 1 / 3}
    assert recomputed(made, row, a=2)["r"] == 2 / 3


def test_without_a_residual_a_row_that_contradicts_the_equation_is_an_exception() -> None:
    made = problem(r=ratio(residual="none"))
    row = {"a": 1, "b": 4, "job": "none", "r": 0.3}
    assert made.plan(row).to_dict()["exceptions"] == [
        {"feature": "r", "equation": "a / b", "given": 0.3, "computed": 0.25}
    ]
    assert made.check(made.plan(row))
    assert recomputed(made, row)["r"] == 0.3
    assert recomputed(made, row, a=2)["r"] == 0.5
    assert not abduce(made.theory, made.read_row({**row, "r": 0.25 + 1e-10}))
    with pytest.raises(P2CError, match=r"r: the value 0\.3 is not a / b, which is"):
        made.plan(row, exceptions="strict")


@pytest.mark.parametrize(
    ("keys", "a", "value"),
    [
        ({"type": "int", "equation": "a / 2"}, 5, 2),
        ({"type": "int", "equation": "a / 2"}, 7, 4),
        ({"type": "int", "equation": "a", "min": 1, "max": 9, "step": 3}, 100, 7),
        ({"type": "int", "equation": "a", "min": 10, "max": 20}, 3, 10),
        ({"type": "float", "equation": "a / 8", "step": 0.25}, 3, 0.5),
        ({"type": "float", "equation": "a / 8", "step": 0.25}, 1, 0.0),
        ({"type": "float", "equation": "a / 8", "min": 0.1, "step": 0.5}, 3, 0.6),
    ],
)
def test_values_are_clipped_and_then_rounded_to_the_even_place(
    keys: Document, a: int, value: float
) -> None:
    assert problem(r=keys).read_row({"a": a, "b": 1, "job": "none"})["r"] == value


def test_what_is_undefined_later_is_inconsistent() -> None:
    made = problem(r=ratio())
    state = made.read_row({"a": 1, "b": 4, "job": "none"})
    start = origin(made.theory, state)
    assert not consistent(made.theory, recomputed(made, state, b=0), (), start)
    state = made.read_row({"a": 1, "b": 0, "job": "none"})
    start = origin(made.theory, state)
    assert consistent(made.theory, recomputed(made, state, a=2), (), start)


def test_equations_follow_one_another() -> None:
    made = problem(s={"type": "float", "equation": "r * 2"}, r=ratio())
    assert recomputed(made, {"a": 1, "b": 4, "job": "none"}, a=2)["s"] == 1.0


def test_a_comparison_of_expressions_is_read_in_rules() -> None:
    made = problem("bad(X) :- a(X,A), b(X,B), A > 0.5*B + 1.", "not bad(X)")
    assert made.predict({"a": 3, "b": 4, "job": "none"})
    assert not made.predict({"a": 4, "b": 4, "job": "none"})
    assert made.predict({"a": None, "b": 4, "job": "none"})
    proof = made.why({"a": 4, "b": 4, "job": "none"}).to_text()
    assert "a(X,A), b(X,B), A > 0.5 * B + 1: a is 4, b is 4" in proof


def test_two_numbers_are_compared_by_their_variables() -> None:
    made = problem("bad(X) :- a(X,A), b(X,B), A>B.", "not bad(X)")
    assert [made.predict({"a": a, "b": 5, "job": "none"}) for a in (5, 6)] == [True, False]


WRONG_BODIES = [
    ("bad(X) :- a(X,A), A > 2*C.", "line 1, column 19: the variable C is unsafe"),
    ("bad(X) :- a(X,A), job(X,J), A > 2*J.", "J stands for job, which is no number"),
    (
        "bad(X) :- a(X,A), A > if(A=1, 2, 3).",
        "line 1, column 23: 'if' is not allowed in rule bodies",
    ),
    ("b(X,N) :- a(X,A), N >= 2*A.", "the head variable N is compared with constants only"),
    ("bad(X) :- a(X,A), 1+1 > 2.", "a comparison of constants says nothing of the person"),
]


@pytest.mark.parametrize(("rule", "message"), WRONG_BODIES)
def test_a_wrong_comparison_is_refused_with_its_place(rule: str, message: str) -> None:
    with pytest.raises(P2CError) as caught:
        problem(rule)
    assert message in str(caught.value)


def forged(document: Document, **changed: Any) -> Document:
    """Return a plan with the listed change of a computed feature replaced."""
    step = document["steps"][0]
    direct, computed = step["actions"]
    return {**document, "steps": [{**step, "actions": [direct, {**computed, **changed}]}]}


def test_the_replay_judges_recomputed_values() -> None:
    made = problem("bad(X) :- r(X,V), V > 0.5.", "not bad(X)", r=ratio())
    plan = made.plan({"a": 60, "b": 100, "job": "none"}, time_limit=60)
    document = plan.to_dict()
    assert document["steps"][0]["actions"][1]["because"] == ["a / b"]
    assert made.check(document)
    faults = {
        "found": forged(document, to=0.4),
        "because": forged(document, because=[]),
        "costs": forged(document, cost=1),
        "never set directly": forged(document, kind="direct"),
    }
    for word, each in faults.items():
        assert word in str(made.check(each))
    step = document["steps"][0]
    missing = {**document, "steps": [{**step, "actions": step["actions"][:1]}]}
    assert "does not list that r goes from 0.6 to 0.5" in str(made.check(missing))
