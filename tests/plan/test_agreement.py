"""The planner against the slow one, on thousands of small worlds: the same status, cost and actions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest

from p2c._plan.planner import find_plan
from p2c._plan.search.best_first import Limits
from p2c.errors import P2CError
from p2c.problem import Problem
from tests.oracle import all_end_states, best_plan
from tests.strategies import seeded_problems

if TYPE_CHECKING:
    from tests.oracle import EndState, OraclePlan

Document = dict[str, Any]

PER_SEED = 50


def compare(document: Document, row: Document) -> str:
    """Return where the planner and the slow one differ on a row, or nothing."""
    problem = Problem.from_dict(document)
    state = problem.read_row(row)
    expected = best_plan(problem.theory, state)
    if expected is None:
        return _refused(problem, row)
    plan = problem.plan(row)
    found = plan.to_dict()
    differences = plan_differences(expected, found)
    alone = find_plan(problem.compiled, state, Limits(100_000))
    differences += [f"alone: {each}" for each in plan_differences(expected, alone.to_dict())]
    if found["status"] != "infeasible":
        differences += [f"check: {fault}" for fault in problem.check(plan).faults]
    if not differences and found["status"] != "infeasible":
        ends = all_end_states(problem.theory, state, limit=5)
        differences += nearest_differences(
            ends, [each.to_dict() for each in problem.nearest(row, k=5)]
        )
    return "\n".join(differences)


def _refused(problem: Problem, row: Document) -> str:
    try:
        plan = problem.plan(row)
    except P2CError:
        return ""
    return f"expected the row to be refused, found {plan.status}"


def plan_differences(expected: OraclePlan, found: Document) -> list[str]:
    if expected.status != found["status"]:
        return [f"status: expected {expected.status} {expected.acts}, found {found['status']}"]
    differences = []
    if not _equal(expected.cost, found["cost"]):
        differences.append(f"cost: expected {expected.cost}, found {found['cost']}")
    if _acts(expected.document) != _acts(found):
        differences.append(f"actions: expected {_acts(expected.document)}, found {_acts(found)}")
    if _excepted(expected.document) != _excepted(found):
        differences.append(
            f"exceptions: expected {_excepted(expected.document)}, found {_excepted(found)}"
        )
    return differences


def nearest_differences(ends: list[EndState], found: list[Document]) -> list[str]:
    costs, others = [end.cost for end in ends], [each["cost"] for each in found]
    if len(costs) != len(others) or not all(map(_equal, costs, others)):
        return [f"nearest: expected {costs}, found {others}"]
    if any(_acts(end.path) != _acts(each) for end, each in zip(ends, found, strict=True)):
        return [f"nearest: expected {[e.path for e in ends]}, found {found}"]
    points = {tuple(each["counterfactual"].values()) for each in found}
    return [] if len(points) == len(found) else ["nearest: an end state is listed twice"]


def _equal(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)


def _acts(document: Document) -> list[list[tuple[Any, ...]]]:
    keys = ("kind", "feature", "from", "to", "because", "assumed")
    return [
        [tuple(action.get(key) for key in keys) for action in step["actions"]]
        for step in document["steps"]
    ]


def _excepted(document: Document) -> list[tuple[Any, Any]]:
    return [(each.get("feature"), each.get("constraint")) for each in document["exceptions"]]


def assert_agreement(seed: int, count: int, **keys: str) -> None:
    """Compare on the problems of a seed; a failure shows the whole world."""
    for document, row in seeded_problems(seed, count):
        difference = compare(document | keys, row)
        assert not difference, f"{difference}\n{document | keys!r}\n{row!r}"


@pytest.mark.parametrize("seed", range(40))
def test_the_planner_agrees_with_the_slow_one(seed: int) -> None:
    assert_agreement(seed, PER_SEED)


@pytest.mark.parametrize("seed", range(40, 50))
def test_the_planner_agrees_with_the_slow_one_where_the_largest_cost_counts(seed: int) -> None:
    assert_agreement(seed, PER_SEED, norm="linf")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1400, 1480))
def test_the_planner_agrees_with_the_slow_one_where_the_largest_cost_counts_on_many_more(
    seed: int,
) -> None:
    assert_agreement(seed, PER_SEED, norm="linf")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 1400))
def test_the_planner_agrees_with_the_slow_one_on_many_more(seed: int) -> None:
    assert_agreement(seed, PER_SEED)
