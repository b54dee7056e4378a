from __future__ import annotations

from typing import Any

import pytest

from p2c._engines.clingo.engine import ClingoEngine
from p2c.problem import Problem
from tests.engines.test_contract import ask

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


def with_moves() -> Problem:
    moves = {"a": ["b"], "b": ["a", "c"], "c": ["b", "d"], "d": ["c"]}
    features = {name: {**keys, "moves": moves} for name, keys in LARGE["features"].items()}
    return Problem.from_dict({**LARGE, "features": features})


@pytest.mark.parametrize(
    ("problem", "cost"),
    [
        (Problem.from_dict(LARGE), 5),
        (Problem.from_dict({**LARGE, "effects": "supported"}), 5),
        (with_moves(), 10),
    ],
)
def test_whoever_names_no_engine_gets_our_own_planner_however_large_the_problem(
    problem: Problem, cost: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(ClingoEngine, "plan")
    assert not problem.compiled.is_small
    assert ask("auto", problem, ROW).cost == cost


def test_a_limit_that_is_over_is_said_to_be() -> None:
    assert ask("auto", Problem.from_dict(LARGE), ROW, time_limit=0).status == "gave_up"
