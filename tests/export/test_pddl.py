from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

import pytest

from p2c._engines.instance import Instance
from p2c._export import EXPORTS
from p2c._export.pddl import Pddl
from p2c.datasets import problem_text, rows
from p2c.errors import EngineError
from p2c.problem import Problem
from tests.loan import JOHN, LOAN

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.filterwarnings("ignore")

PLANNERS = ("fast-downward-opt", "enhsp-opt", "aries")
planners = pytest.mark.parametrize("planner", PLANNERS)


def solved(
    folder: Path, problem: Problem, row: dict[str, Any], *, causal: bool, planner: str
) -> Any:
    """Return the task that an exported domain and problem are read as, and the plan that a planner finds."""
    planning = pytest.importorskip("unified_planning.shortcuts")
    reader = pytest.importorskip("unified_planning.io").PDDLReader
    planning.get_environment().credits_stream = None
    if planner not in planning.get_environment().factory.engines:
        pytest.skip(f"{planner} is not installed here")
    files = EXPORTS["pddl"](problem.compiled, problem.read_row(row))
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    ending = "causal" if causal else "plain"
    domain, task = (str(folder / name) for name in files if f"-{ending}-" in name)
    read = reader().parse_problem(domain, task)
    with planning.OneshotPlanner(name=planner) as engine:
        engine.skip_checks = True
        return read, engine.solve(read).plan


def cost_of(problem: Problem, row: dict[str, Any], task: Any, plan: Any, *, causal: bool) -> float:
    metric = task.quality_metrics[0]
    total = sum(int(str(metric.get_action_cost(each.action))) for each in plan.actions)
    return Pddl(Instance.of(problem.compiled, problem.read_row(row)), causal).tariff.cost(total)


@planners
@pytest.mark.parametrize("name", ["john", "only_balance", "exception"])
def test_planners_find_the_cost_of_the_plan(planner: str, name: str, tmp_path: Path) -> None:
    problem = Problem.from_dict(tomllib.loads(problem_text("loan")))
    row = rows("loan")[name]
    task, plan = solved(tmp_path, problem, row, causal=True, planner=planner)
    expected = problem.plan(row, engine="native").cost
    assert cost_of(problem, row, task, plan, causal=True) == pytest.approx(expected)


@planners
def test_a_standard_planner_sets_the_score_itself(planner: str, tmp_path: Path) -> None:
    problem = Problem.from_dict(LOAN)
    _, plan = solved(tmp_path, problem, JOHN, causal=False, planner=planner)
    names = {each.action.name for each in plan.actions}
    assert "set-credit-score-599-to-credit-score-620" in names


@pytest.mark.parametrize("planner", PLANNERS[:2])
def test_planners_agree_that_there_is_no_way(planner: str, tmp_path: Path) -> None:
    problem = Problem.from_dict(tomllib.loads(problem_text("loan")))
    _, plan = solved(tmp_path, problem, rows("loan")["no_way"], causal=True, planner=planner)
    assert plan is None


def test_moves_under_l2_are_refused_by_name() -> None:
    problem = Problem.from_dict(
        {
            "goal": "job(X,'c')",
            "rules": "",
            "norm": "l2",
            "features": {
                "job": {
                    "type": "ordinal",
                    "values": ["a", "b", "c"],
                    "moves": {"a": ["b"], "b": ["c"]},
                }
            },
        }
    )
    with pytest.raises(EngineError, match="pddl: under l2 the lengths of moves are squared"):
        EXPORTS["pddl"](problem.compiled, problem.read_row({"job": "a"}))
