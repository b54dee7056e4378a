"""The cheapest points that a model may accept, against every point of small models, and where nothing may be written."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from itertools import product
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier

from p2c import Problem
from p2c._learn.model import compiled
from p2c._learn.model.additive import AdditiveScore, ColumnCells, Table
from p2c._learn.model.affordable import afford, opening
from p2c._learn.model.box_kernel import advance, least_sum
from p2c._learn.model.read_model import ReadModel
from tests.learn.model.test_priced_leaves import SIZES, random_score
from tests.plan.judged import never

if TYPE_CHECKING:
    from pathlib import Path

    from p2c._learn.model.cheapest_cells import CheapestCells


def points(search: CheapestCells, most: int) -> list[tuple[int, ...]]:
    """Return all points, so many boxes at a time; none costs less than was said before."""
    found = []
    while search.bound is not None:
        before = search.bound
        point = search.advance(most)
        assert search.bound is None or search.bound >= before
        if point is not None:
            found.append(tuple(point))
    return found


@pytest.mark.parametrize("seed", range(200))
def test_the_points_that_are_accepted_are_told_in_the_order_of_their_costs(seed: int) -> None:
    rng = random.Random(seed)
    score = random_score(rng, rng.choice((1, 1, 2)))
    open_ = [rng.sample(range(size), rng.randint(1, size)) for size in SIZES]
    dear = rng.choice((9, 1 << 40))
    costs = [[0, *sorted(rng.randint(0, dear) for _ in each[1:])] for each in open_]
    search = ReadModel(score, never).cheapest(
        [np.array(each) for each in open_], [np.array(each) for each in costs]
    )

    def cost(point: tuple[int, ...]) -> int:
        return sum(each[place] for each, place in zip(costs, point, strict=True))

    accepted = [
        point
        for point in product(*(range(len(each)) for each in open_))
        if _accepts(score, [each[place] for each, place in zip(open_, point, strict=True)])
    ]
    found = points(search, rng.choice((1, 3, 1_000)))
    assert [cost(point) for point in found] == sorted(cost(point) for point in found)
    assert len(set(found)) == len(found)
    assert set(found) <= set(accepted)
    # A feature need not move where that changes nothing.
    assert all(any(_is_part(one, point) for one in found) for point in accepted)


def _accepts(score: Any, cells: list[int]) -> bool:
    return bool((score.score(np.array([cells]))[0] >= score.refused_below).all())


def _is_part(one: tuple[int, ...], point: tuple[int, ...]) -> bool:
    return all(place in (0, other) for place, other in zip(one, point, strict=True))


def test_there_is_room_for_as_many_boxes_as_it_takes() -> None:
    rng = np.random.default_rng(0)
    axes = tuple(ColumnCells(f"f{n}", 12, np.arange(11.0)) for n in range(4))
    tables = tuple(
        Table((one, other), rng.integers(-9, 9, (12, 12, 1)).astype(float))
        for one in range(4)
        for other in range(one + 1, 4)
    )
    border = np.array([38.0])
    score = AdditiveScore(axes, np.zeros(1), border, border, tables)
    cells = np.arange(12)
    search = ReadModel(score, never).cheapest([cells] * 4, [cells] * 4)
    first = next(point for point in iter(lambda: search.advance(1_000), 0) if point is not None)
    every = np.array(list(product(range(12), repeat=4)))
    accepted = every[score.score(every)[:, 0] >= 38.0]
    assert sum(first) == accepted.sum(axis=1).min()


def test_what_cannot_be_kept_for_the_next_process_is_compiled_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def unwritable(*, cache: bool = False, **options: Any) -> Any:
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return numba.njit(**options)

    monkeypatch.setattr(compiled, "njit", unwritable)

    def twice(number: int) -> int:
        return 2 * number

    assert compiled.compiled(twice)(21) == 42


FIRST = """
import pandas as pd
from sklearn.ensemble import GradientBoostingClassifier
from p2c import Problem

table = pd.DataFrame({f"f{n}": [(row * (n + 3) + row // 7) % 50 for row in range(400)] for n in range(6)})
model = GradientBoostingClassifier(n_estimators=20).fit(table, table.f0 + table.f1 > table.f2 + 40)
plan = Problem.from_model(model, table).plan(dict.fromkeys(table, 20), time_limit=1)
print(plan.status, plan.optimal)
"""


def test_compiling_takes_nothing_of_the_time_of_the_first_person(tmp_path: Path) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", FIRST]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.stdout == "found True\n", done.stderr
    assert any(tmp_path.rglob("*.nbc"))


def test_the_search_is_compiled_for_what_it_is_asked() -> None:
    read = ReadModel(random_score(random.Random(0), 1), never)
    assert read.is_compiled
    every = [np.arange(size) for size in SIZES]
    points(read.cheapest(every, every), 5)
    functions: list[Any] = [opening, least_sum, afford, advance]
    assert [len(each.signatures) for each in functions] == [1, 1, 1, 1]


@pytest.mark.parametrize("border", [-1.0, 1.0])
def test_a_model_without_parts_is_searched_as_well(border: float) -> None:
    axes = tuple(ColumnCells(f"f{n}", 3, np.arange(2.0)) for n in range(2))
    limit = np.array([border])
    read = ReadModel(AdditiveScore(axes, np.zeros(1), limit, limit), never)
    assert read.is_compiled
    found = points(read.cheapest([np.arange(3)] * 2, [np.arange(3)] * 2), 5)
    assert found == ([(0, 0)] if border < 0 else [])


def test_without_numba_the_same_plan_is_found_by_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    table = pd.DataFrame({"income": range(20, 80), "savings": [i % 7 for i in range(60)]})
    model = GradientBoostingClassifier(n_estimators=5, random_state=0)
    model.fit(table, table.income + 5 * table.savings > 60)
    person = {"income": 30, "savings": 1}
    expected = Problem.from_model(model, table).plan(person)
    monkeypatch.setitem(sys.modules, "numba", None)
    recourse = Problem.from_model(model, table)
    plan = recourse.plan(person)
    assert recourse is not None
    assert not recourse.compiled.has_compiled_model
    assert (plan.status, plan.optimal, plan.to_dict()) == ("found", True, expected.to_dict())
