"""The planner of problems with arithmetic against the slow one."""

from __future__ import annotations

import random
from typing import Any

import pytest

import p2c._plan.lifting
from p2c import P2CError, Problem
from tests.arithmetic_problems import arithmetic_problem
from tests.loan import category, ordinal, whole
from tests.oracle import all_end_states, best_plan
from tests.plan.test_agreement import nearest_differences, plan_differences
from tests.verify.certified import certified

Document = dict[str, Any]
PER_SEED = 15


def compare(document: Document, row: Document) -> str:
    """Return where the planner and the slow one differ, or nothing."""
    try:
        problem = Problem.from_dict(document)
        state = problem.read_row(row)
    except P2CError:
        return ""
    expected = best_plan(problem.theory, state)
    if expected is None:
        with pytest.raises(P2CError):
            problem.plan(row)
        return ""
    plan = problem.plan(row).to_dict()
    differences = plan_differences(expected, plan)
    if expected.document["steps"] != plan["steps"]:
        differences.append(f"steps: expected {expected.document['steps']}, found {plan['steps']}")
    certified(problem, row, plan).verify()
    if plan["status"] != "infeasible" and not differences:
        differences += [f"check: {fault}" for fault in problem.check(plan).faults]
        ends = all_end_states(problem.theory, state, limit=4)
        nearest = [each.to_dict() for each in problem.nearest(row, k=4)]
        differences += nearest_differences(ends, nearest)
    return "\n".join(differences)


def wrong(seeds: range) -> list[tuple[int, str]]:
    """Return the seeds on which the two differ."""
    results = ((seed, compare(*arithmetic_problem(random.Random(f"eq/{seed}")))) for seed in seeds)
    return [each for each in results if each[1]]


@pytest.fixture(autouse=True)
def near_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let lifted limits reach no further than the slow planner can count."""
    monkeypatch.setattr(p2c._plan.lifting, "REACH", 0)


@pytest.mark.parametrize("seed", range(3))
def test_plans_agree_with_the_slow_planner(seed: int) -> None:
    assert wrong(range(seed * PER_SEED, (seed + 1) * PER_SEED)) == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100))
def test_plans_of_many_problems_agree_with_the_slow_planner(seed: int) -> None:
    assert wrong(range(100_000 + seed * 60, 100_000 + (seed + 1) * 60)) == []


def test_a_target_recurs_where_an_effect_has_carried_the_feature_away() -> None:
    document: dict[str, Any] = {
        "goal": "f(X,'b'), h(X,'on'), k(X,'k2')",
        "law": "if",
        "rules": "f(X,'c') :- k(X,'k1').\nh(X,'on') :- f(X,'c').\n:- n(X,N), N > 5 + N*0.",
        "features": {
            "f": {**category("a", "b", "c"), "moves": {"a": ["b"], "b": ["c"], "c": ["b"]}},
            "k": {**ordinal("k0", "k1", "k2"), "moves": {"k0": ["k1"], "k1": ["k2"]}},
            "h": category("off", "on"),
            "n": {**whole(0, 1), "action": "fixed"},
        },
    }
    document["features"]["f"]["action"] = "free"
    problem = Problem.from_dict(document)
    plan = problem.plan({"f": "a", "k": "k0", "h": "off", "n": 0})
    assert [each.end for each in plan.actions] == ["b", "k1", "k2", "b"]
    assert problem.check(plan, prove=True)


def test_too_many_sequences_of_moves_are_refused_in_one_line() -> None:
    names = [f"v{number}" for number in range(9)]
    moves = {one: [other for other in names if other != one] for one in names}
    features = {
        "f": {**category(*names), "action": "free", "moves": moves},
        "g": {**whole(0, 1), "action": "free"},
        "d": {"type": "float", "equation": "g / 2"},
    }
    rules = "f(X,'v1') :- g(X,1)."
    problem = Problem.from_dict(
        {"goal": "f(X,'v8'), d(X,D), D>0.4", "rules": rules, "features": features}
    )
    with pytest.raises(P2CError, match=r"features\.f\.moves: expected at most 200,000 sequences"):
        problem.plan({"f": "v0", "g": 0})
