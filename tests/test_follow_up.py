"""Follow-ups against a search over states and changed features."""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import count
from typing import Any

import pytest

from p2c import P2CError, Problem, datasets
from p2c._rules.meaning import goal_met
from p2c._spec.feature import may_set
from p2c._spec.spec import Effects
from tests.plan.test_slack import Replays
from tests.strategies import seeded_problems


def least_cost(problem: Problem, plan: Any, row: dict[str, Any], acted: frozenset[str]) -> Any:
    """Return the least cost from a row with each other feature changed at most once."""
    replays = Replays(problem, plan, row)
    replays.lucky = True
    theory = problem.theory
    supported = theory.effects is Effects.SUPPORTED
    starts = replays.ends(dict(row), supported=True) if supported else [dict(row)]
    ties = count()
    queue: list[Any] = [(0, next(ties), state, acted) for state in starts]
    seen = set()
    while queue:
        cost, _, state, gone = heappop(queue)
        key = tuple(state.values()), gone
        if key in seen:
            continue
        seen.add(key)
        if goal_met(theory, state, replays.exceptions, replays.start):
            return cost
        for feature in theory.features:
            if feature.name in gone:
                continue
            for place in range(feature.domain.size):
                value = feature.domain.value(place)
                if may_set(feature, state[feature.name], value):
                    more = theory.norm.action_cost(feature, state[feature.name], value)
                    after = replays.after(state, feature.name, value)
                    for end in replays.ends(after, supported=supported):
                        entry = (cost + more, next(ties), end, gone | {feature.name})
                        heappush(queue, entry)
    return None


def compare(document: dict[str, Any], row: dict[str, Any], norm: str) -> int:
    """Compare the follow-up from each state of a plan; return the number of states."""
    features = {
        name: {key: each for key, each in keys.items() if key != "moves"}
        for name, keys in document["features"].items()
    }
    keys = {**document, "features": features, "norm": norm, "minimize": "cost"}
    try:
        problem = Problem.from_dict(keys)
        plan = problem.plan(row, time_limit=2)
    except P2CError:
        return 0
    if plan.status != "found":
        return 0
    acted: frozenset[str] = frozenset()
    for step in plan.steps[:-1]:
        direct = [each.feature for each in step.actions if not hasattr(each, "because")]
        acted |= set(direct)
        later = problem.follow_up(plan, dict(step.state), time_limit=5)
        assert {each.feature for each in later.done} == acted
        expected = least_cost(problem, plan, dict(step.state), acted)
        shown = f"{keys!r}\n{row!r}\n{step.state}"
        assert later.plan.status == ("infeasible" if expected is None else "found"), shown
        if expected is None:
            assert not later.valid, shown
            continue
        assert later.plan.cost == pytest.approx(float(expected)), shown
        rest = sum(each.cost for each in later.left)
        if later.valid:
            assert later.cheapest == (rest == pytest.approx(float(expected))), shown
    return len(plan.steps) - 1


@pytest.mark.parametrize("norm", ["l0", "l1"])
def test_the_plan_from_every_state_is_the_cheapest_that_is_left(norm: str) -> None:
    assert sum(compare(*world, norm) for world in seeded_problems(31, 60)) >= 5


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_the_plans_from_the_states_of_many_paths_are_the_cheapest(seed: int) -> None:
    for norm in ("l0", "l1"):
        sum(compare(*world, norm) for world in seeded_problems(8_000 + seed, 150))


def test_values_within_the_slack_count_as_done_and_others_as_changed() -> None:
    loan, john = Problem.example("loan"), datasets.rows("loan")["john"]
    plan = loan.plan(john)
    later = loan.follow_up(plan, {**john, "bank_balance": 65_000, "age": 32})
    assert [(each.feature, each.end, each.cost) for each in later.done] == [
        ("bank_balance", 65_000, 2.5e-05)
    ]
    assert [each.feature for each in later.left] == ["debt"]
    assert later.changed == {"age": (31, 32)}
    assert (later.valid, later.cheapest, later.plan.status) == (True, True, "found")
    assert "bank_balance" not in {each.feature for each in later.plan.actions}
    text = later.explain()
    assert "- Your bank balance is now 65,000 dollars." in text
    assert "- Your age is 32 years, where 31 years was expected." in text
    assert "Was Sie getan haben" in later.explain("de")


def test_a_step_that_was_done_halfway_is_left_and_may_be_done_from_there() -> None:
    loan, john = Problem.example("loan"), datasets.rows("loan")["john"]
    later = loan.follow_up(loan.plan(john), {**john, "debt": 2_000})
    assert later.done == ()
    assert later.changed == {"debt": (5_000, 2_000)}
    assert [(each.feature, each.start) for each in later.plan.actions] == [
        ("debt", 2_000),
        ("bank_balance", 40_000),
    ]


def test_a_plan_that_no_longer_leads_to_the_goal_is_replaced() -> None:
    features = {name: {"type": "int", "min": 0, "max": 9} for name in ("a", "b", "c")}
    rules = "ok(X) :- a(X,N), N>=3, b(X,M), M>=5, c(X,K), K<4. ok(X) :- c(X,N), N>=8."
    problem = Problem.from_dict({"goal": "ok(X)", "rules": rules, "features": features})
    plan = problem.plan({"a": 1, "b": 1, "c": 0})
    assert [each.feature for each in plan.actions] == ["a", "b"]
    later = problem.follow_up(plan, {"a": 3, "b": 1, "c": 6})
    assert not later.valid
    assert later.changed == {"c": (0, 6)}
    assert [(each.feature, each.end) for each in later.plan.actions] == [("c", 8)]
    assert later.explain().startswith("The rest of your plan does not lead to a yes any more.")
    nearer = problem.follow_up(plan, {"a": 3, "b": 0, "c": 3})
    assert nearer.valid
    assert nearer.cheapest


def test_the_limits_of_the_question_hold_after_a_part_was_done() -> None:
    loan, john = Problem.example("loan"), datasets.rows("loan")["john"]
    plan = loan.plan(john, restrict={"bank_balance": {"max": 62_000}}, norm="l0")
    later = loan.follow_up(plan.to_dict(), {**john, "debt": 0, "credit_score": 620})
    assert later.plan.question.norm == "l0"
    assert "bank_balance" in later.plan.question.asked["restrict"]


def test_a_plan_without_steps_has_no_follow_up() -> None:
    loan = Problem.example("loan")
    plan = loan.plan(datasets.rows("loan")["already"])
    with pytest.raises(P2CError, match="needs a plan with steps; the status is already"):
        loan.follow_up(plan, datasets.rows("loan")["already"])
