from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from p2c.engines import own
from p2c.engines.clingo.engine import ClingoEngine
from p2c.problem import Problem
from tests.engines.test_contract import ask

if TYPE_CHECKING:
    from p2c.plan.outcome import Plan

NAMES = [f"f{number}" for number in range(24)]
VALUES = ["a", "b", "c", "d"]
LARGE: dict[str, Any] = {
    "goal": "not refused(X)",
    "rules": " ".join(
        f"refused(X) :- {name}(X,'d')." + f" refused(X) :- not {name}(X,'c')." * (name in NAMES[:5])
        for name in NAMES
    ),
    "features": {name: {"type": "category", "values": VALUES} for name in NAMES},
}
ROW = dict.fromkeys(NAMES, "a")


@pytest.fixture
def handed_over(monkeypatch: pytest.MonkeyPatch) -> list[Plan]:
    """Return what clingo answers from now on; our own planner has no patience."""
    plans: list[Plan] = []
    plan = ClingoEngine.plan

    def note(*given: Any, **options: Any) -> Plan:
        plans.append(plan(*given, **options))
        return plans[-1]

    monkeypatch.setattr(own, "PATIENCE", 0.0)
    monkeypatch.setattr(ClingoEngine, "plan", note)
    return plans


def with_moves() -> Problem:
    moves = {"a": ["b"], "b": ["a", "c"], "c": ["b", "d"], "d": ["c"]}
    features = {name: {**keys, "moves": moves} for name, keys in LARGE["features"].items()}
    return Problem.from_dict({**LARGE, "features": features})


def with_supported_effects() -> Problem:
    return Problem.from_dict({**LARGE, "effects": "supported"})


def test_a_large_problem_with_supported_effects_is_handed_over(handed_over: list[Plan]) -> None:
    problem = with_supported_effects()
    assert not problem.compiled.is_small
    assert ask("auto", problem, ROW).cost == 5
    assert len(handed_over) == 1


@pytest.mark.parametrize(("problem", "cost"), [(Problem.from_dict(LARGE), 5), (with_moves(), 10)])
def test_where_sets_of_actions_or_trails_come_first_our_own_planner_answers(
    problem: Problem, cost: float, handed_over: list[Plan]
) -> None:
    assert not problem.compiled.is_small
    assert ask("auto", problem, ROW).cost == cost
    assert not handed_over


def test_a_limit_that_is_over_hands_nothing_over(handed_over: list[Plan]) -> None:
    assert ask("auto", with_supported_effects(), ROW, time_limit=0).status == "gave_up"
    assert not handed_over
