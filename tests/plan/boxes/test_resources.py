"""Plans with resources and named actions against the slow planner."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

import p2c._plan.lifting
from p2c import P2CError, Problem
from tests.oracle_resources import ResourceWorld, TooLarge, document_of, ends_of, front_of
from tests.resource_problems import resource_problem

Document = dict[str, Any]


def compare(document: Document, row: Document) -> str | None:
    """Compare the planner and the slow one; None if they cannot be compared."""
    try:
        problem = Problem.from_dict(document)
        state = problem.read_row(row)
    except P2CError:
        return None
    if not problem.theory.is_arithmetic:
        return None
    world = ResourceWorld(problem.theory, state)
    if world.refused:
        with pytest.raises(P2CError):
            problem.plan(row)
        return ""
    try:
        ends = ends_of(world, 4)
    except TooLarge:
        return None
    plan = problem.plan(row)
    expected = "infeasible" if not ends else "found" if ends[0].acts else "already"
    if plan.status != expected:
        return f"status: expected {expected}, found {plan.status}"
    if expected == "infeasible":
        return blocker_faults(problem, plan)
    if expected == "already":
        return ""
    faults = [str(each) for each in problem.check(plan).faults]
    if problem.read_plan(plan.to_dict()) != plan:
        faults.append("the plan is read as another one")
    nearest = problem.nearest(row, k=4)
    if len(nearest) != len(ends):
        return f"nearest: expected {len(ends)}, found {len(nearest)}"
    for each, found in zip(ends, [plan, *nearest[1:]], strict=True):
        right, own = document_of(world, each), found.to_dict()
        faults += [
            f"{key}: expected {right[key]}, found {own.get(key)}"
            for key in ("exceptions", "steps", "uses")
            if right[key] != own.get(key, {})
        ]
        if abs(right["cost"] - own["cost"]) > 1e-9 * max(1, right["cost"]):
            faults.append(f"cost: expected {right['cost']}, found {own['cost']}")
    size = random.Random(str(row)).choice((1, 2, 2))
    by = random.Random(str(row)).sample(["cost", "actions", *problem.spec.resources], size)
    return "\n".join([*faults, *front_faults(problem, row, state, by)])


def blocker_faults(problem: Problem, plan: Any) -> str:
    """Return the faults of the blockers of a person."""
    return "\n".join(str(each) for each in problem.check(plan).faults)


def front_faults(problem: Problem, row: Document, state: Document, by: list[str]) -> list[str]:
    """Return where the trade-offs differ from the slow planner."""
    objectives = tuple(dict.fromkeys([*by, "cost"]))
    world = ResourceWorld(replace(problem.theory, objectives=objectives), state)
    expected = [document_of(world, each) for each in front_of(world, len(by))]
    plans = [each.to_dict() for each in problem.tradeoffs(row, by)]
    if [each["steps"] for each in expected] == [each["steps"] for each in plans]:
        return []
    return [f"trade-offs by {by}: expected {expected}, plans {plans}"]


def wrong(seeds: range) -> tuple[int, list[tuple[int, str]]]:
    """Return the number of compared problems, and the seeds with differences."""
    results = [(n, compare(*resource_problem(random.Random(f"use/{n}")))) for n in seeds]
    told = [(number, text) for number, text in results if text is not None]
    return len(told), [(number, text) for number, text in told if text]


@pytest.fixture(autouse=True)
def near_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let lifted limits reach no further than the slow planner can count."""
    monkeypatch.setattr(p2c._plan.lifting, "REACH", 0)


def test_plans_agree_with_the_slow_planner() -> None:
    compared, faults = wrong(range(90))
    assert faults == []
    assert compared > 40


@pytest.mark.slow
@pytest.mark.parametrize("part", range(50))
def test_plans_of_many_problems_agree_with_the_slow_planner(part: int) -> None:
    compared, faults = wrong(range(10_000 + part * 120, 10_000 + (part + 1) * 120))
    assert faults == []
    assert compared > 40
