"""Plans are judged as they were asked for: with keys replaced, what a person restricted, and as one of the nearest."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from p2c import Problem, datasets
from p2c.errors import PlanError

LOAN = Problem.example("loan")
JOHN = datasets.rows("loan")["john"]
ASKED: list[dict[str, Any]] = [
    {"restrict": {"debt": "fixed"}},
    {"restrict": {"bank_balance": {"min": 70_000}}},
    {"restrict": {"debt": {"weight": 5}}},
    {"minimize": "actions"},
    {"law": "if", "restrict": {"debt": {"max": 100, "weight": 2}}},
]


@pytest.mark.parametrize("asked", ASKED, ids=json.dumps)
def test_an_honest_plan_that_was_asked_otherwise_is_proved(asked: dict[str, Any]) -> None:
    document = json.loads(LOAN.plan(JOHN, **asked).to_json())
    verdict = LOAN.check(document, prove=True)
    assert verdict.ok
    assert verdict.proved
    assert verdict.asked
    assert LOAN.read_plan(document).to_dict() == document


@pytest.mark.parametrize("asked", ASKED[:3], ids=json.dumps)
def test_the_same_plan_is_refuted_where_it_hides_what_was_asked(asked: dict[str, Any]) -> None:
    document = LOAN.plan(JOHN, **asked).to_dict()
    del document["asked"]
    assert not LOAN.check(document, prove=True).ok


@pytest.mark.parametrize("distinct", ["points", "cells"])
def test_each_of_the_nearest_is_proved_by_its_place_among_them(distinct: str) -> None:
    choice = Problem.from_dict(
        {
            "goal": "good(X)",
            "rules": "good(X) :- a(X,N), N>=3.\ngood(X) :- b(X,N), N>=5.",
            "features": {name: {"type": "int", "min": 0, "max": 9} for name in ("a", "b")},
        }
    )
    plans = choice.nearest({"a": 0, "b": 0}, k=2, distinct=distinct)
    assert [choice.check(each, prove=True).ok for each in plans] == [True, True]
    modified = plans[1].to_dict()
    del modified["asked"]
    assert str(choice.check(modified, prove=True)).startswith("optimal: a better path exists")


def test_the_path_that_would_open_is_replayed_and_its_cost_compared() -> None:
    honest = LOAN.plan(JOHN, restrict={"debt": "fixed"}).to_dict()
    assert LOAN.check(honest, prove=True).ok
    cheaper, shorter, other = (copy.deepcopy(honest) for _ in range(3))
    cheaper["opened"]["cost"] = 0.001
    shorter["opened"]["steps"].pop(0)
    other["blockers"] = [{"feature": "debt", "restriction": "up"}]
    assert "opened: cost" in str(LOAN.check(cheaper))
    assert "opened: step 1" in str(LOAN.check(shorter))
    assert "debt (up) is no restriction that bears on the goal" in str(LOAN.check(other))
    hidden = honest | {"opened": None}
    assert "opened: expected a path that costs" in str(LOAN.check(hidden, prove=True))


def test_what_cannot_have_been_asked_is_one_line() -> None:
    document = LOAN.plan(JOHN).to_dict()
    with pytest.raises(PlanError, match=r"^asked: dept: no such feature; did you mean 'debt'\?$"):
        LOAN.check(document | {"asked": {"restrict": {"dept": {"action": "fixed"}}}})
    with pytest.raises(PlanError, match=r"^asked: "):
        LOAN.check(document | {"asked": {"minimize": "time"}})
    with pytest.raises(PlanError, match=r"^asked: nearest: expected a greater number, found 0$"):
        LOAN.check(document | {"asked": {"nearest": 0}})
    with pytest.raises(PlanError, match=r"^asked: nearest: expected a whole number, found 1\.5$"):
        LOAN.check(document | {"asked": {"nearest": 1.5}})
