"""Routes answer for a whole class of people; each answer is compared with a search for that person alone."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from p2c import datasets
from p2c._learn.model.additive import AdditiveScore, ColumnCells, Table
from p2c._learn.model.read_model import ReadModel
from p2c._plan.compiled.person import place_person
from p2c._plan.compiled.transitions import Transitions
from p2c._plan.planner import find_plan, search_plan
from p2c._plan.search.best_first import Limits
from p2c._plan.tables.class_routes import class_routes
from p2c.problem import Problem
from tests.loan import whole
from tests.plan.judged import never
from tests.strategies import random_problem

if TYPE_CHECKING:
    from p2c._rules.theory import Theory


def widened(document: dict[str, Any]) -> dict[str, Any]:
    """Make the domains of numbers fine, so that many people share a class."""
    for feature in document["features"].values():
        if feature["type"] in ("int", "float") and "values" not in feature:
            feature["min"], feature["max"] = feature["min"] - 7, feature["max"] + 7
            feature["step"] = 1 if feature["type"] == "int" else 0.25
    document["exceptions"] = "abduce"
    return document


def somebody(theory: Theory, rng: random.Random) -> dict[str, Any]:
    return {
        feature.name: None
        if rng.random() < 0.05
        else feature.domain.value(rng.randrange(feature.domain.size))
        for feature in theory.features
    }


@pytest.mark.parametrize("seed", range(60))
def test_everyone_of_a_class_gets_the_plan_that_a_search_of_their_own_finds(seed: int) -> None:
    rng = random.Random(seed)
    document, _ = random_problem(rng)
    space = Problem.from_dict(widened(document)).compiled
    for _ in range(12):
        person = somebody(space.theory, rng)
        alone = search_plan(Transitions(place_person(space, person)), Limits())
        assert find_plan(space, person).to_dict() == alone.to_dict()


def test_a_value_whose_lack_alone_a_model_sees_makes_a_class() -> None:
    axis = ColumnCells("debt", 2, np.array([]), missing=1)
    border = np.array([1.0])
    table = Table((0,), np.array([[0.0], [2.0]]))
    score = AdditiveScore((axis,), np.zeros(1), border, border, (table,))
    document = {"goal": "accepted(X)", "rules": "", "features": {"debt": whole(0, 3)}}
    problem = Problem.from_dict(document, model=ReadModel(score, never))
    people = pd.DataFrame({"debt": [1, None, 2]}, dtype=object)
    assert list(problem.plan_many(people)["status"]) == ["infeasible", "already", "infeasible"]


@pytest.mark.parametrize(
    ("name", "classes", "routes", "most"), [("adult", 175, 222, 3), ("german", 62, 19, 2)]
)
def test_the_tables_of_the_documentation_have_few_classes(
    name: str, classes: int, routes: int, most: int
) -> None:
    problem = Problem.example(name)
    problem.plan_many(datasets.load_frame(name))
    counts = [len(each.routes or ()) for each in class_routes(problem.compiled).entries]
    assert (len(counts), sum(counts), max(counts)) == (classes, routes, most)
