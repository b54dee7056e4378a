"""A counterfactual from elsewhere, judged as the plan that it would be."""

from __future__ import annotations

import pytest

from p2c._plan.compiled.space import Space
from p2c._plan.one_shot_plan import one_shot_document
from p2c._plan.planner import find_plan
from p2c._rules.play import towards
from p2c.problem import Problem
from tests.loan import JOHN, LOAN

PROBLEM = Problem.from_dict(LOAN)
START = PROBLEM.read_row(JOHN)
END = {**START, "debt": 0, "bank_balance": 60_000, "credit_score": 620}


@pytest.mark.parametrize("norm", ["l0", "l1", "l2", "linf"])
def test_setting_an_effect_directly_is_its_only_fault(norm: str) -> None:
    problem = PROBLEM.with_keys(norm=norm)
    verdict = problem.check(one_shot_document(problem.theory, START, END))
    assert verdict.faults
    assert not [each for each in verdict.faults if each.place == "cost"]
    assert any("never set directly" in each.message for each in verdict.faults)


def test_a_leap_that_is_a_plan_passes() -> None:
    rich = {**START, "debt": 0, "credit_score": 700}
    end = {**rich, "bank_balance": 60_000}
    assert PROBLEM.check(one_shot_document(PROBLEM.theory, rich, end)).ok


def test_the_goal_of_one_state_leads_there_and_nowhere_else() -> None:
    there = towards(PROBLEM.theory, END)
    assert find_plan(Space(there), START).counterfactual == END
    assert there.goal == PROBLEM.with_keys(goal=there.goal_text).theory.goal
    unreachable = towards(PROBLEM.theory, {**END, "age": 30})
    assert find_plan(Space(unreachable), START).status == "infeasible"
