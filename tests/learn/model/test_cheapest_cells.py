"""The cheapest points that a model may accept, against every point of small models, and where nothing may be written."""

from __future__ import annotations

import random
from itertools import product
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
import pytest

from p2c.learn.model import compiled
from p2c.learn.model.additive import AdditiveScore, ColumnCells, Table
from p2c.learn.model.read_model import ReadModel
from tests.learn.model.test_priced_leaves import SIZES, random_score
from tests.plan.judged import never

if TYPE_CHECKING:
    from p2c.learn.model.cheapest_cells import CheapestCells


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
