"""Walks and the confirmed search against the planner, on small worlds where a rule plays the model."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from p2c._blackbox.judge import Judge, Ruling
from p2c._blackbox.search import ConfirmedSearch
from p2c._blackbox.trial_values import choose_values
from p2c._blackbox.walk import Walker
from p2c._plan.outcome import Found
from p2c._rules.evaluate import goal_holds
from p2c._rules.render import render_atom
from p2c._rules.syntax import Atom, Constant, Variable
from p2c.errors import P2CError
from p2c.problem import Problem
from tests.strategies import seeded_problems

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from p2c._spec.feature import Value


def towards(problem: Problem, end: Mapping[str, Any]) -> Problem:
    """Return the problem whose goal is one state."""
    values = [
        render_atom(Atom(name, (Variable("X"), Constant(value))))
        for name, value in end.items()
        if value is not None
    ]
    return Problem.from_dict({**problem.to_dict(), "goal": ", ".join(values)})


def readable(document: dict[str, Any], row: dict[str, Any]) -> tuple[Problem, Walker] | None:
    problem = Problem.from_dict(document)
    try:
        problem.nearest(row)
    except P2CError:
        return None
    return problem, Walker(problem.theory, problem.read_row(row))


def every_value(problem: Problem) -> dict[str, tuple[Value, ...]]:
    return {
        feature.name: tuple(feature.domain.value(place) for place in range(feature.domain.size))
        for feature in problem.theory.features
    }


@pytest.mark.parametrize("seed", range(3))
def test_a_random_walk_replays_by_the_contract(seed: int) -> None:
    chance = random.Random(seed)
    checked = 0
    for document, row in seeded_problems(seed, 25):
        world = readable(document, row)
        if world is None:
            continue
        problem, walker = world
        trials = choose_values(problem.theory, {})
        walks = [walker.start()]
        for _ in range(4):
            ends = [
                end
                for name, values in trials.items()
                for value in values
                for end in walker.act(walks[-1], name, value)
            ]
            ends += walker.wait(walks[-1])
            if not ends:
                break
            walks.append(chance.choice(ends))
        for walk in (each for each in walks[1:] if not each.pending):
            plan = walker.found(walk)
            verdict = towards(problem, plan.end).check(plan)
            assert verdict, f"{verdict}\n{document}\n{row}"
            checked += 1
    assert checked > 10


@pytest.mark.parametrize("seed", range(3))
def test_with_every_value_on_trial_the_search_finds_the_least_cost(seed: int) -> None:
    found = best = 0
    for document, row in seeded_problems(seed, 20):
        world = readable({**document, "minimize": "cost"}, row)
        if world is None:
            continue
        problem, walker = world

        def ask(states: Sequence[Any], problem: Problem = problem) -> list[Ruling]:
            return [Ruling(goal_holds(problem.theory, state), None) for state in states]

        plan = problem.plan(row, node_limit=20_000)
        size = sum(map(len, every_value(problem).values()))
        if plan.status == "gave_up" or size > 40:
            continue
        trials = choose_values(problem.theory, every_value(problem))
        search = ConfirmedSearch(walker, Judge(ask, 2_000), trials, trials)
        walks = search.run([])
        if isinstance(plan, Found) and search.judge.left():
            assert walks, f"{document}\n{row}"
            cost = walker.cost(walks[0])
            assert cost >= plan.cost - 1e-9, f"{document}\n{row}"
            found += 1
            best += cost <= plan.cost * (1 + 1e-9) + 1e-12
        if plan.status == "infeasible":
            assert not walks, f"{document}\n{row}"
    assert found > 2
    assert best >= 0.9 * found, (best, found)
