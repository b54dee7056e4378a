"""What a yes costs at least, against every state of small models."""

from __future__ import annotations

import random
from itertools import product

import numpy as np
import pytest

from p2c._learn.model.additive import AdditiveScore, ColumnCells, Table
from p2c._learn.model.leaves import Leaves
from p2c._learn.model.priced_leaves import PricedLeaves

SIZES = (3, 4, 2)


def random_score(rng: random.Random, margins: int) -> AdditiveScore:
    axes = tuple(ColumnCells(f"f{n}", size, np.arange(size - 1.0)) for n, size in enumerate(SIZES))
    tables = []
    for _ in range(4):
        chosen = tuple(sorted(rng.sample(range(3), rng.randint(1, 2))))
        shape = (*(SIZES[place] for place in chosen), margins)
        drawn = [float(rng.randint(-4, 4)) for _ in range(int(np.prod(shape)))]
        tables.append(Table(chosen, np.array(drawn).reshape(shape)))
    cut = np.full(margins, float(rng.randint(0, 5)))
    return AdditiveScore(axes, np.zeros(margins), cut, cut, tuple(tables))


@pytest.mark.parametrize("seed", range(200))
def test_no_accepted_state_costs_less_than_the_bound(seed: int) -> None:
    rng = random.Random(seed)
    score = random_score(rng, rng.choice((1, 1, 2)))
    costs = [
        {cell: rng.randint(0, 9) for cell in range(size) if rng.random() < 0.8} or {0: 1}
        for size in SIZES
    ]
    boxes = [sum(1 << cell for cell in each) for each in costs]
    priced = PricedLeaves(Leaves.of(score), score.refused_below, boxes)
    parts = [priced.of(place, each) for place, each in enumerate(costs)]
    prices = np.sum(parts, axis=0)
    accepted = [
        sum(each[cell] for each, cell in zip(costs, cells, strict=True))
        for cells in product(*costs)
        if (score.score(np.array([cells]))[0] >= score.refused_below).all()
    ]
    bound = priced.least(prices, 0)
    if accepted:
        assert bound is not None
        assert bound <= min(accepted)
        within = np.flatnonzero(prices <= min(accepted))
        assert priced.gaps(within, np.ones((1, len(within)), dtype=bool))[0] >= 0
        for part in parts:
            assert priced.share(within, part) <= min(accepted)


def test_the_bound_of_a_single_table_is_the_cheapest_entry_that_is_enough() -> None:
    axis = ColumnCells("f", 4, np.arange(3.0))
    cut = np.array([2.0])
    table = Table((0,), np.array([[0.0], [1.0], [2.0], [3.0]]))
    score = AdditiveScore((axis,), np.zeros(1), cut, cut, (table,))
    priced = PricedLeaves(Leaves.of(score), cut, [0b1111])
    assert priced.least(priced.of(0, {0: 0, 1: 3, 2: 8, 3: 5}), 0) == 5
    assert priced.least(priced.of(0, {0: 0, 1: 3}), 0) is None
