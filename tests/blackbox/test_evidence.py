"""Claims about a model in an answer are checked by asking the model itself again."""

from __future__ import annotations

import random
from typing import Any

import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import p2c

ROW = {"a": 0, "b": 12, "c": 12}


def numbers() -> pd.DataFrame:
    rng = random.Random(0)
    return pd.DataFrame({name: [rng.randint(0, 99) for _ in range(400)] for name in "abc"})


@pytest.fixture(scope="module")
def black_box() -> p2c.Problem:
    """Return a problem of a black-box model for which the search proves no best plan."""

    def model(rows: pd.DataFrame) -> Any:
        return (rows["a"] >= 60) | ((rows["b"] == 13) & (rows["c"] == 13))

    return p2c.Problem.from_model(model, numbers())


@pytest.fixture(scope="module")
def parsed() -> p2c.Problem:
    """Return a problem of a model that was parsed."""
    table = numbers()
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(table, table["a"] > 60)
    return p2c.Problem.from_model(model, table)


def test_nothing_is_proved_of_a_model_that_can_only_be_asked(black_box: p2c.Problem) -> None:
    honest = black_box.plan(ROW).to_dict()
    assert black_box.check(honest, prove=True).ok
    verdict = black_box.check({**honest, "optimal": True, "proof": "exhausted"}, prove=True)
    assert [str(each) for each in verdict.faults] == [
        "optimal: expected false: the model can only be asked, so nothing is proved of it"
    ]
    assert not verdict.proved
    assert not verdict.repeated
    none: dict[str, Any] = {
        "status": "infeasible",
        "cost": None,
        "counterfactual": None,
        "steps": [],
    }
    assert "status: expected 'gave_up'" in str(black_box.check({**honest, **none}, prove=True))


@pytest.mark.parametrize("kind", ["black_box", "parsed"])
def test_an_answer_without_its_model_block_is_refuted(
    kind: str, request: pytest.FixtureRequest
) -> None:
    problem = request.getfixturevalue(kind)
    document = problem.plan(ROW).to_dict()
    del document["model"]
    for prove in (False, True):
        verdict = problem.check(document, prove=prove)
        assert [each.place for each in verdict.faults] == ["model"]
        assert not verdict.proved


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("proved", True),
        ("asked", 0),
        ("asked", -3),
        ("refused", True),
        ("score", 0.7),
        ("threshold", 0.1),
    ],
)
def test_a_modified_word_of_an_asked_model_is_a_fault(
    black_box: p2c.Problem, key: str, value: Any
) -> None:
    plan = black_box.plan(ROW).to_dict()
    assert black_box.check(plan)
    verdict = black_box.check({**plan, "model": {**plan["model"], key: value}})
    assert [each.place for each in verdict.faults] == [f"model: {key}"]


@pytest.mark.parametrize(
    ("key", "value"),
    [("asked", -1), ("asked", 0), ("refused", True), ("score", 0.75), ("threshold", 0.1)],
)
def test_a_modified_word_of_a_parsed_model_is_a_fault(
    parsed: p2c.Problem, key: str, value: Any
) -> None:
    plan = parsed.plan(ROW).to_dict()
    assert parsed.check(plan, prove=True).proved == "that no cheaper path exists"
    verdict = parsed.check({**plan, "model": {**plan["model"], key: value}})
    assert [each.place for each in verdict.faults] == [f"model: {key}"]


def test_an_answer_and_what_it_says_of_the_model_agree_on_the_proof(parsed: p2c.Problem) -> None:
    plan = parsed.plan(ROW).to_dict()
    unproved = {**plan, "model": {**plan["model"], "proved": False}}
    assert str(parsed.check(unproved)).startswith("optimal: claims a proof")
    assert "model: proved" in str(parsed.check({**plan, "optimal": False, "proof": "none"}))


def test_an_end_that_the_model_refuses_is_not_verified(parsed: p2c.Problem) -> None:
    plan = parsed.plan(ROW).to_dict()
    stuck = {
        **plan,
        "status": "gave_up",
        "optimal": False,
        "proof": "none",
        "bound": 0,
        "model": {**plan["model"], "proved": False},
    }
    end = {**plan["counterfactual"], "a": 1}
    step = {**plan["steps"][-1], "state": end}
    step["actions"] = [{**step["actions"][0], "to": 1}]
    verdict = parsed.check({**stuck, "counterfactual": end, "steps": [step]})
    assert "counterfactual: the model refuses this state" in str(verdict)


def test_no_model_has_said_anything_where_none_decides() -> None:
    loan, john = p2c.Problem.example("loan"), p2c.datasets.rows("loan")["john"]
    told = {"verified": True, "proved": True, "asked": 3}
    assert str(loan.check({**loan.plan(john).to_dict(), "model": told})).startswith(
        "model: no model"
    )


def test_the_source_of_learned_rules_is_repeated() -> None:
    data = p2c.Problem.example("loan").to_dict()
    learned = p2c.Problem.from_dict({**data, "source": {"from": "model", "fidelity": 0.98}})
    plan = learned.plan(p2c.datasets.rows("loan")["john"]).to_dict()
    assert learned.check(plan)
    del plan["source"]
    assert "source: expected {'from': 'model', 'fidelity': 0.98}, found none" in str(
        learned.check(plan)
    )


def test_an_exception_is_listed_once() -> None:
    data = {
        "goal": "f(X,N), N>=5",
        "rules": ":- g(X,0).\nh(X,1) :- g(X,0).",
        "features": {
            "f": {"type": "int", "min": 0, "max": 9},
            "g": {"type": "int", "min": 0, "max": 1},
            "h": {"type": "int", "min": 0, "max": 1, "action": "effect"},
        },
    }
    problem = p2c.Problem.from_dict(data)
    plan = problem.plan({"f": 0, "g": 0, "h": 0}).to_dict()
    assert len(plan["exceptions"]) == 2
    assert problem.check(plan)
    for each in plan["exceptions"]:
        verdict = problem.check({**plan, "exceptions": [*plan["exceptions"], each]})
        assert [fault.message.endswith("is listed twice") for fault in verdict.faults] == [True]
