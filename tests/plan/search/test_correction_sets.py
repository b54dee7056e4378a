"""Correction sets are complete, in order, and have sound bounds."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from p2c._plan.blockers import Trial, find_blockers
from p2c._plan.lifting import liftings
from p2c._plan.outcome import Blocker, Found
from p2c._plan.planner import find_plan
from p2c._plan.search.best_first import Limits
from p2c.problem import Problem
from tests.growing import fixed_cover, fixed_features, fixed_ring
from tests.strategies import seeded_problems
from tests.unplanted import unplanted

Document = dict[str, Any]


def with_fixed(document: Document, every: int) -> Document:
    """Return a problem in which every n-th feature is fixed."""
    features = dict(document["features"])
    for name in list(features)[::every]:
        features[name] = features[name] | {"action": "fixed"}
    return document | {"features": features, "exceptions": "abduce"}


def opened_costs(trial: Trial, most: int) -> dict[tuple[int, ...], float]:
    """Return the cost of the plan that each set of up to `most` restrictions opens."""
    costs = {}
    for size in range(1, most + 1):
        for chosen in combinations(sorted(trial.every), size):
            space = trial.lifted_space(frozenset(chosen))
            plan = find_plan(space, trial.state)
            if isinstance(plan, Found):
                costs[chosen] = plan.cost
    return costs


def check_candidates(document: Document, row: Document) -> int:
    """Compare candidates with all sets; return the number of opened plans."""
    problem = Problem.from_dict(document)
    state = problem.read_row(row)
    seen = {name: (value,) for name, value in state.items()}
    trial = Trial(problem.compiled, state, liftings(problem.compiled, seen), Limits())
    if find_plan(problem.compiled, state).status != "infeasible" or not trial.liftings:
        return 0
    most = 2 if len(trial.liftings) > 6 else 3
    expected = opened_costs(trial, most)
    bounds: dict[tuple[int, ...], float] = {}
    order = []
    for relaxed, bound in trial.sets.candidates():
        if len(relaxed) > most:
            break
        bounds[relaxed] = bound
        order.append((len(relaxed), bound, relaxed))
        absent = [each for each in trial.sets.restrictions if each not in relaxed]
        trial.sets.exclude(relaxed, absent)
    assert order == sorted(order), (document, row)
    for chosen, cost in expected.items():
        assert chosen in bounds, (chosen, document, row)
        assert bounds[chosen] <= cost + 1e-9, (chosen, document, row)
    return len(expected)


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_every_set_that_opens_a_plan_is_a_candidate_and_its_bound_is_sound(norm: str) -> None:
    opening = 0
    for number, (document, row) in enumerate(seeded_problems(910, 50)):
        world = with_fixed(document | {"norm": norm}, 2 + number % 2)
        opening += check_candidates(world, row)
    assert opening > 30


def test_candidates_of_larger_problems_are_complete() -> None:
    opening = 0
    for seed in range(12):
        document, row = unplanted(seed, 6, 9, 5)
        opening += check_candidates(with_fixed(document, 3), row)
    assert opening > 10


@pytest.mark.parametrize(
    ("world", "count", "cost"),
    [(fixed_features(40), 40, 40.0), (fixed_cover(40), 23, 115.0), (fixed_ring(12), 12, 1.0)],
)
def test_blockers_of_families_that_grow_take_few_nodes(
    world: tuple[Document, Document], count: int, cost: float
) -> None:
    document, row = world
    problem, limits = Problem.from_dict(document), Limits(nodes=300)
    explanation = find_blockers(problem.compiled, problem.read_row(row), limits)
    assert explanation.known
    assert len(explanation.blockers) == count
    assert explanation.opened is not None
    assert explanation.opened.cost == cost


def test_places_of_a_weighed_number_that_differ_in_cost_alone_are_one_option() -> None:
    rng = np.random.default_rng(11)
    table = pd.DataFrame(
        {
            "a": rng.integers(20, 60, 60),
            "b": np.round(rng.uniform(0, 10, 60), 2),
            "c": rng.integers(0, 2, 60),
        }
    )
    model = LogisticRegression().fit(table, (table.a > 45) | (table.b > 8))
    actions = {"a": "down", "b": "up", "c": "up"}
    problem = Problem.from_model(model, table, actions=actions)
    state = problem.read_row({"a": 5, "b": 5.0, "c": 0})
    space = problem.compiled
    found = liftings(space, {name: (value,) for name, value in state.items()})
    sets = Trial(space, state, found, Limits()).sets
    assert max(each.feature.domain.size for each in found) > 10_000
    assert len(sets.options.listed) < 50
    plan = problem.plan(state, node_limit=2_000)
    assert plan.status == "infeasible"
    assert [str(each) for each in plan.blockers] == [str(Blocker("a", "down"))]
