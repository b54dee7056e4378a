"""Actions played on the reference meaning."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings

from p2c import Problem
from p2c._plan.check.validate import check_plan
from p2c._plan.outcome import Found
from p2c._rules.play import Player, towards
from tests.loan import JOHN, LOAN
from tests.strategies import problems

PROBLEM = Problem.from_dict(LOAN)
START = PROBLEM.read_row(JOHN)


def test_what_follows_from_an_action_is_played_until_nothing_more_happens() -> None:
    player = Player(PROBLEM.theory, START)
    (rest,) = player.settle({**START, "debt": 0})
    assert rest.consistent
    assert [(each.feature, each.start, each.value) for each in rest.effects] == [
        ("credit_score", 599, 620)
    ]


def test_an_effect_is_never_set_and_a_value_off_the_grid_neither() -> None:
    player = Player(PROBLEM.theory, START)
    assert player.may_set(START, "debt", 0)
    assert not player.may_set(START, "credit_score", 620)
    assert not player.may_set(START, "debt", 0.5)
    assert not player.may_set(START, "debt", START["debt"])


@given(problems())
@settings(max_examples=60, deadline=None)
def test_the_end_of_a_plan_may_stand_in_the_place_of_its_goal(
    world: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    data, row = world
    problem = Problem.from_dict(data | {"exceptions": "abduce"})
    plan = problem.plan(row)
    if isinstance(plan, Found):
        end = plan.counterfactual
        assert check_plan(problem.theory, plan.to_dict(), goal=lambda state: state == end)
        assert not check_plan(problem.theory, plan.to_dict(), goal=lambda _: False)
        assert Player(towards(problem.theory, end), plan.question.initial).arrives(end)


def test_decisions_are_called_through_other_decisions_but_not_the_other_way_round() -> None:
    rules = "a(X) :- not b(X). b(X) :- c(X). c(X) :- debt(X,D), D>0. d(X) :- a(X)."
    theory = Problem.from_dict({**LOAN, "goal": "a(X)", "rules": rules}).theory
    called = [decision.predicate for decision, _ in theory.called([theory.goal])]
    assert called == ["c", "b", "a"]
