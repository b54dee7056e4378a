"""The clause search against the slow planner and the search state by state."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from p2c._plan.answer import ask, found
from p2c._plan.compiled import space as compiled_space
from p2c._plan.compiled.person import place_person
from p2c._plan.compiled.transitions import Transitions
from p2c._plan.outcome import Already, GaveUp, Infeasible
from p2c._plan.planner import find_plan, search_plan
from p2c._plan.search import order_conflicts
from p2c._plan.search.best_first import Limits, best_first
from p2c._plan.search.ceilings import under_ceilings
from p2c._plan.search.devices import ALL, Device
from p2c._plan.search.states import StateSearch
from p2c.errors import P2CError
from p2c.problem import Problem
from tests.growing import FAMILIES
from tests.oracle import best_plan
from tests.plan.search.test_action_sets import along_moves
from tests.plan.test_agreement import plan_differences
from tests.strategies import seeded_problems
from tests.synthetic import synthetic
from tests.unplanted import unplanted, with_moves

if TYPE_CHECKING:
    from collections.abc import Iterator

    from p2c._plan.outcome import Plan
    from p2c._plan.search.best_first import Arrival

Document = dict[str, Any]

LEARNING = ALL - {Device.CLASS_ROUTES}


def learned(document: Document, row: Document) -> Document | None:
    """Return the plan of the search that learns, or None if it does not apply."""
    problem = Problem.from_dict(document)
    if not problem.compiled.selects_best:
        return None
    try:
        plan = find_plan(problem.compiled, problem.read_row(row), devices=LEARNING)
    except P2CError:
        return None
    return plan.to_dict()


def agrees(document: Document, row: Document) -> bool:
    """Compare with the slow planner; tell whether the search applies."""
    plan = learned(document, row)
    if plan is None:
        return False
    problem = Problem.from_dict(document)
    expected = best_plan(problem.theory, problem.read_row(row))
    assert expected is not None
    assert not plan_differences(expected, plan), f"{document!r}\n{row!r}"
    return True


def by_states(problem: Problem, row: Document) -> Plan:
    """Return the plan of the search state by state."""
    space = problem.compiled
    transitions, limits = Transitions(place_person(space, problem.read_row(row))), Limits()

    def search(transitions: Transitions) -> Iterator[Arrival]:
        states = StateSearch(transitions, space.relevant, lambda arrival: arrival)
        return best_first(states.leads(), limits)

    question = ask(transitions)
    if transitions.judge(transitions.person.places).goal:
        return Already(question)
    if space.theory.norm.largest:
        arrival = next(under_ceilings(transitions, search, None, limits), None)
    else:
        arrival = next(search(transitions), None)
    return Infeasible(question) if arrival is None else found(transitions, question, arrival)


def same_as_states(document: Document, row: Document) -> bool:
    """Compare with the search state by state; tell whether the clause search applies."""
    plan = learned(document, row)
    if plan is None:
        return False
    expected = by_states(Problem.from_dict(document), row)
    assert plan == expected.to_dict(), f"{document!r}\n{row!r}"
    return True


@pytest.mark.parametrize("seed", range(8))
def test_learning_agrees_with_the_slow_planner(seed: int) -> None:
    worlds = seeded_problems(seed + 200, 80)
    assert sum(agrees(*world) for world in worlds) >= 40


@pytest.mark.parametrize("seed", range(3))
def test_learning_agrees_with_the_slow_planner_where_the_largest_cost_counts(seed: int) -> None:
    for document, row in seeded_problems(seed + 230, 60):
        agrees(document | {"norm": "linf"}, row)


@pytest.mark.parametrize("few", [0, 2])
def test_learning_agrees_with_the_slow_planner_along_moves(
    few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled_space, "MOST_TRAILS", few)
    compared = 0
    for number, (document, row) in enumerate(seeded_problems(240, 250)):
        compared += agrees(along_moves(document, f"{few}/{number}"), row)
    assert compared >= 60


@pytest.mark.parametrize("norm", ["l0", "l1", "l2", "linf"])
def test_learning_finds_the_plans_of_the_search_by_states(norm: str) -> None:
    keys: Document = {"norm": norm}
    for seed in range(4, 19):
        document, row = unplanted(seed, 7, 9, 4)
        rng = Random(seed)
        keys["effects"] = rng.choice(("triggered", "supported"))
        keys["minimize"] = rng.choice(("cost", "actions"))
        same_as_states(document | keys, row)
        same_as_states(with_moves(document | keys, most=1), row)


def test_learning_finds_the_costs_of_clingo_where_one_is_planted() -> None:
    document, rows = synthetic(10, 20, 8, seed=1)
    problem = Problem.from_dict(document)
    for row in rows[:2]:
        plan = learned(document, row)
        assert plan is not None
        assert plan["cost"] == pytest.approx(problem.plan(row, engine="clingo").cost)


@pytest.mark.parametrize("followed", [0, 2])
def test_learning_without_following_orders_finds_the_same(
    followed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(order_conflicts, "MOST_FOLLOWED", followed)
    for document, row in seeded_problems(250, 150):
        agrees(document, row)


WIDE = ("cuts", "rules")
"""Families whose states are too many."""


@pytest.mark.parametrize("name", [each for each in FAMILIES if not each.startswith(WIDE)])
def test_families_that_grow_have_the_plans_of_the_search_by_states(name: str) -> None:
    sizes = {"all different": 4, "pigeonhole": 4}
    document, row = FAMILIES[name][0](sizes.get(name, 6))
    assert same_as_states(document, row)


@pytest.mark.parametrize("name", WIDE)
def test_families_that_grow_have_the_costs_of_clingo(name: str) -> None:
    document, row = FAMILIES[name][0](20)
    plan, other = learned(document, row), Problem.from_dict(document).plan(row, engine="clingo")
    assert plan is not None
    assert plan["status"] == other.status
    assert plan["cost"] == pytest.approx(other.cost)


def test_a_search_that_is_cut_off_gives_a_bound_that_no_plan_is_below() -> None:
    cut_off = 0
    for seed in range(30):
        document, row = unplanted(seed, 7, 9, 4)
        problem = Problem.from_dict(document)
        whole = find_plan(problem.compiled, problem.read_row(row), devices=LEARNING)
        for nodes in (1, 3, 10):
            transitions = Transitions(place_person(problem.compiled, problem.read_row(row)))
            plan = search_plan(transitions, Limits(nodes), LEARNING)
            if isinstance(plan, GaveUp):
                cut_off += 1
                assert whole.cost is None or plan.bound <= whole.cost + 1e-9
                if plan.best is not None:
                    assert whole.cost is not None
                    assert plan.best.cost >= whole.cost - 1e-9
            else:
                assert plan.to_dict() == whole.to_dict()
    assert cut_off


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100))
def test_learning_agrees_with_the_slow_planner_on_many_more(seed: int) -> None:
    for world in seeded_problems(seed + 5000, 100):
        agrees(*world)
