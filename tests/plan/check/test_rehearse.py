"""A plan without one action: the whole plan replays to its end, and no cheaper part of it does."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings

from p2c import Problem, datasets
from p2c._plan.check.rehearse import rehearse_without
from p2c._plan.outcome import DirectAction, Found
from tests.embedded import embedded, people
from tests.strategies import problems

NONE = DirectAction("", None, None, 0)
"""An action of no plan, so that leaving it out leaves the plan whole."""


def rehearse_all(problem: Problem, row: dict[str, Any]) -> int:
    """Check each part of a person's plan, and return how many there were."""
    plan = problem.plan(row)
    if not isinstance(plan, Found):
        return 0
    whole = rehearse_without(problem.theory, plan, NONE)
    assert (whole.state, whole.stuck, whole.goal) == (dict(plan.counterfactual), False, True)
    for action in plan.actions:
        part = rehearse_without(problem.theory, plan, action)
        assert action.cost == 0 or not part.goal
    return len(plan.actions)


@given(problems())
@settings(max_examples=60, deadline=None)
def test_a_plan_replays_to_its_end_and_no_cheaper_part_of_it_does(
    world: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    data, row = world
    rehearse_all(Problem.from_dict(data | {"exceptions": "abduce"}), row)


@pytest.mark.parametrize("name", datasets.names())
def test_every_action_of_an_embedded_plan_is_needed(name: str) -> None:
    parts = [rehearse_all(embedded(name), row) for row in people(name, 150)]
    assert max(parts) > (1 if name != "german" else 0)


def test_a_step_without_which_another_cannot_be_done_leaves_the_rest_stuck() -> None:
    feature = {"type": "category", "values": ["a", "b", "c"], "moves": {"a": ["b"], "b": ["c"]}}
    problem = Problem.from_dict({"goal": "f(X,'c')", "rules": "", "features": {"f": feature}})
    plan = problem.plan({"f": "a"})
    assert isinstance(plan, Found)
    first = rehearse_without(problem.theory, plan, plan.actions[0])
    assert first.stuck
    assert "Leave out step 1, and the rest does not work." in plan.explain()
