"""Where nobody has a way: the boxes hold exactly those whom the slow planner finds none for, in the data and beyond."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from p2c.audit.confined import Confinement, confine
from p2c.audit.ground import Ground
from p2c.audit.people import People, place_people, read_answers
from p2c.plan.search.best_first import Limits
from tests.oracle import best_plan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from p2c.problem import Problem
    from tests.audit.worlds import Populated


def people_in(problem: Problem, rows: list[dict[str, Any]]) -> People:
    """Return rows placed and planned for."""
    names = [axis.feature.name for axis in problem.compiled.axes]
    columns = [[row[name] for row in rows] for name in names]
    frame = pd.DataFrame(dict(zip(names, columns, strict=True)), dtype=object)
    return place_people(problem.compiled, columns, read_answers(problem.plan_many(frame)))


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
