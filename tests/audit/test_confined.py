"""Where nobody has a way: the boxes hold exactly those whom the slow planner finds none for, in the data and beyond."""

from __future__ import annotations

from itertools import product
from operator import ge, gt, le, lt
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from p2c._audit.confined import Confinement, confine
from p2c._audit.ground import Ground
from p2c._audit.people import People, place_people, read_answers
from p2c._plan.search.best_first import Limits
from p2c._spec.feature import exact
from p2c.problem import Problem
from tests.audit.worlds import unruly
from tests.oracle import best_plan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from p2c._spec.feature import Value
    from tests.audit.worlds import Populated


def people_in(problem: Problem, rows: list[dict[str, Any]]) -> People:
    """Return rows placed and planned for."""
    names = [axis.feature.name for axis in problem.compiled.axes]
    columns = [[row[name] for row in rows] for name in names]
    frame = pd.DataFrame(dict(zip(names, columns, strict=True)), dtype=object)
    return place_people(
        problem.compiled,
        dict(zip(names, columns, strict=True)),
        read_answers(problem.plan_many(frame)),
    )


def confined(people: People) -> Confinement:
    return confine(people, Limits())


def assert_exact(world: Populated) -> int:
    """Compare the boxes with the slow planner on every state; tell how many have no way."""
    people = people_in(world.problem, world.rows)
    found = confined(people)
    stuck = np.array([each.status == "infeasible" for each in world.answers])
    shown = f"{world.document!r}\n{world.rows!r}"
    assert not len(found.left), shown
    held = {row for box in found.boxes for row in box.rows}
    assert held == set(np.flatnonzero(stuck)), shown
    assert found.complete, shown
    ground = Ground(world.problem.compiled)
    features = world.problem.theory.features
    count = 0
    for values in product(*([f.domain.value(p) for p in range(f.domain.size)] for f in features)):
        state = dict(zip((f.name for f in features), values, strict=True))
        answer = best_plan(world.problem.theory, state)
        assert answer is not None
        parts = {index: ground.part(index, values[index]) for index in ground.axes}
        inside = any(all(parts[i] in some for i, some in box.parts) for box in found.boxes)
        assert inside == (answer.status == "infeasible"), f"{state}\n{shown}"
        count += inside
    return count


def test_boxes_hold_exactly_those_who_have_no_way(worlds: Iterator[Populated]) -> None:
    assert sum(assert_exact(world) for world in worlds) > 0


def lies_in(where: dict[str, Any], row: dict[str, Value]) -> bool:
    """Tell whether a region, as its JSON states it, holds a person."""
    return all(is_within(each, row[name]) for name, each in where.items())


def is_within(limitation: dict[str, Any], value: Value) -> bool:
    if value is None:
        return bool(limitation["missing"])
    if "names" in limitation:
        return value in limitation["names"]
    assert not isinstance(value, str)
    return any(
        all(COMPARE[key](exact(value), exact(end)) for key, end in each.items())
        for each in limitation["ranges"]
    )


COMPARE = {"at_least": ge, "above": gt, "at_most": le, "below": lt}


def assert_holds_only_those_without_a_way(problem: Problem, rows: list[dict[str, Any]]) -> int:
    """Compare the stated regions with the slow planner; count the people in one.

    The people are those of the data and others.
    """
    people = people_in(problem, rows[: len(rows) // 2])
    result = confined(people)
    boxes = [box.to_dict() for box in result.boxes]
    count = 0
    for number, row in enumerate(rows):
        answer = best_plan(problem.theory, problem.read_row(row))
        assert answer is not None
        holding = [each for each in boxes if lies_in(each["where"], row)]
        shown = f"{row}\n{holding}\n{problem.to_dict()!r}"
        stuck = answer.status == "infeasible"
        assert stuck or not holding, shown
        if number < len(people.answers):
            assert bool(holding) is stuck, shown
            assert any(number in box.rows for box in result.boxes) is stuck, shown
        elif result.complete and None not in row.values():
            assert bool(holding) is stuck, shown
        count += bool(holding)
    return count


UNRULY = [*range(3), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 40))]


@pytest.mark.parametrize("seed", UNRULY)
def test_regions_hold_nobody_with_a_way_whose_values_are_off_the_grid(seed: int) -> None:
    worlds = unruly(seed, 20, people=40)
    assert sum(assert_holds_only_those_without_a_way(*world) for world in worlds) > 20


def regions(problem: Problem, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the stated regions of the given people."""
    return [each.to_dict() for each in confined(people_in(problem, rows)).boxes]


def test_a_value_off_the_grid_that_is_accepted_is_in_no_region() -> None:
    problem = Problem.from_dict(
        {
            "goal": "n(X,N), N>9",
            "rules": "",
            "features": {"n": {"type": "int", "min": 0, "max": 10, "step": 3}},
        }
    )
    (box,) = regions(problem, [{"n": each} for each in (0, 3, 10)])
    assert box == {"where": {"n": {"ranges": [{"at_most": 9}], "missing": False}}, "people": 2}


def test_people_off_the_grid_share_a_region() -> None:
    problem = Problem.from_dict(
        {
            "goal": "age(X,N), N>29, grade(X,'good')",
            "rules": "grade(X,'good') :- income(X,N), N>=50.",
            "features": {
                "age": {"type": "int", "min": 18, "max": 99, "action": "fixed"},
                "income": {"type": "float", "min": 0, "max": 100, "step": 1},
                "grade": {"type": "category", "values": ["bad", "good"]},
            },
        }
    )
    rows = [{"age": 20, "income": each, "grade": "bad"} for each in (10.5, 20.5, 30.5)]
    boxes = [box for box in regions(problem, rows) if box["people"]]
    where = {"age": {"ranges": [{"at_most": 29}], "missing": False}}
    assert boxes == [{"where": where, "people": 3}]


def test_one_time_limit_holds_for_all_explanations() -> None:
    problem = Problem.from_dict(
        {
            "goal": "age(X,N), N>29",
            "rules": "",
            "features": {"age": {"type": "int", "min": 18, "max": 99, "action": "fixed"}},
        }
    )
    audit = problem.audit(pd.DataFrame({"age": [20, 25]}), explain_time_limit=0.0)
    assert audit.confinement is not None
    assert audit.confinement.to_dict() == {"classes": [], "complete": False, "not_found_out": 2}
    assert audit.obstacles is not None
    assert audit.obstacles.cut_short
    assert "The time for explanations ended" in audit.report(format="md").decode()
    whole = problem.audit(pd.DataFrame({"age": [20, 25]}), explain_time_limit=None)
    assert whole.obstacles is not None
    assert not whole.obstacles.cut_short


def test_a_region_of_a_linear_model_ends_with_the_range_that_was_seen() -> None:
    rng = np.random.default_rng(0)
    loans = pd.DataFrame({"income": rng.integers(0, 60, 300), "debt": rng.integers(0, 60, 300)})
    model = LogisticRegression().fit(loans, loans["income"] - 0.1 * loans["debt"] > 55)
    recourse = Problem.from_model(model, loans.assign(income=loans["income"] // 2), desired=True)
    people = pd.DataFrame({"income": [20, 500], "debt": [50, 50]})
    audit = recourse.audit(people, progress=False)
    assert audit.everybody.statuses == {"already": 1, "infeasible": 1}
    (box,) = audit.to_dict()["confined"]["classes"]
    assert box["people"] == 1
    assert box["where"]["income"]["ranges"] == [{"at_least": 0, "at_most": 29}]
