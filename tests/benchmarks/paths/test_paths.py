"""Paths by a planner that knows no causes, and what becomes of them in a world that has some."""

from __future__ import annotations

import pytest

from benchmarks.paths.standard import PLANNERS, standard_path
from benchmarks.paths.walk import walk
from p2c import Problem
from tests.benchmarks.tiny import JOHN, LOAN

END = {**JOHN, "debt": 0, "balance": 6, "score": "high"}
THEORY = LOAN.theory

MOVES = Problem.from_dict(
    {
        "name": "moves",
        "goal": "status(X,'divorced')",
        "rules": "",
        "features": {
            "status": {
                "type": "category",
                "values": ["single", "married", "divorced"],
                "moves": {"single": ["married"], "married": ["divorced"]},
            }
        },
    }
)


@pytest.mark.parametrize("planner", PLANNERS)
def test_a_standard_planner_sets_every_feature_that_differs(planner: str) -> None:
    pytest.importorskip("unified_planning")
    pytest.importorskip(f"up_{planner.replace('-', '_')}")
    path = standard_path(THEORY, JOHN, END, planner=planner)
    assert sorted(path or (), key=str) == [("balance", 6), ("debt", 0), ("score", "high")]


@pytest.mark.parametrize("planner", PLANNERS)
def test_a_standard_planner_keeps_to_moves_and_to_what_is_fixed(planner: str) -> None:
    pytest.importorskip("unified_planning")
    pytest.importorskip(f"up_{planner.replace('-', '_')}")
    single, divorced = {"status": "single"}, {"status": "divorced"}
    ways = [("status", "married"), ("status", "divorced")]
    assert standard_path(MOVES.theory, dict(single), dict(divorced), planner=planner) == ways
    assert standard_path(MOVES.theory, dict(divorced), dict(single), planner=planner) is None
    assert standard_path(THEORY, JOHN, {**JOHN, "age": 4}, planner=planner) is None


def test_setting_an_effect_is_illegal_before_its_cause_and_needless_after_it() -> None:
    score, debt, balance = ("score", "high"), ("debt", 0), ("balance", 6)
    late = walk(THEORY, JOHN, [debt, score, balance], aim=END)
    assert late.legal
    assert late.state == END
    assert late.cost == pytest.approx(0.5 + 0.2)
    early = walk(THEORY, JOHN, [score, debt, balance], aim=END)
    assert not early.legal
    assert len(early.illegal) == 1
    # Without the illegal step the person still gets there, because the score follows.
    assert early.state == END


def test_a_path_to_an_impossible_state_does_not_arrive_there() -> None:
    aim = {**JOHN, "balance": 6, "score": "high"}
    found = walk(THEORY, JOHN, [("score", "high"), ("balance", 6)], aim=aim)
    assert not found.promised
    assert found.state == {**JOHN, "balance": 6}
    assert found.consistent


def test_a_change_of_something_fixed_is_illegal() -> None:
    assert not walk(THEORY, JOHN, [("age", 4)], aim={**JOHN, "age": 4}).legal
