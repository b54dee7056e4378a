"""The cells of a feature agree with testing every rule at every place."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest

from p2c._plan.compiled.causal_moves import causal_moves
from p2c.problem import Problem
from tests.strategies import seeded_problems

if TYPE_CHECKING:
    from p2c._plan.compiled.axis import Axis
    from p2c._plan.compiled.space import Space


def spaces(seed: int) -> list[Space]:
    return [problem.compiled for problem in problems(seed)]


def problems(seed: int) -> list[Problem]:
    worlds = seeded_problems(seed, 60)
    return [Problem.from_dict(document | {"exceptions": "abduce"}) for document, _ in worlds]


@pytest.mark.parametrize("seed", range(2))
def test_masks_of_cells_are_those_of_each_test_at_each_place(seed: int) -> None:
    for space in spaces(seed + 900):
        for index, axis in enumerate(space.axes):
            cells = [cell for cell, places in enumerate(axis.cells) for _ in places]
            places = [place for cell in axis.cells for place in cell]
            assert sorted(places) == list(range(axis.size))
            for cell, place in zip(cells, places, strict=True):
                passes = partial(axis.passes, place=place)
                assert space.body_masks[index][cell] == space._body_mask(axis, passes)
                assert space.head_masks[index][cell] == space._head_mask(axis, passes)


@pytest.mark.parametrize("seed", range(2))
def test_middles_in_whole_numbers_are_those_of_exact_positions(seed: int) -> None:
    for space in spaces(seed + 910):
        for axis in space.axes:
            if axis.ordered and axis.feature.governed:
                assert set(axis.cuts) | middles(axis) == {each[0] for each in axis.regions[1:]}


def middles(axis: Axis) -> set[int]:
    """Return the cuts at middles between heads' ranges, place by place."""
    heads = [tuple(axis.passes(test, place) for test in axis.heads) for place in range(axis.size)]
    firsts = [0, *(place for place in range(1, axis.size) if cut_by_heads(axis, place))]
    assert heads or not firsts[1:]
    ranges = [range(low, high) for low, high in zip(firsts, [*firsts[1:], axis.size], strict=True)]
    cuts = set()
    for index, low in enumerate(ranges):
        for high in ranges[index + 2 :]:
            middle = (axis.position(low[-1]) + axis.position(high[0])) / 2
            past = next(place for place in range(axis.size) if axis.position(place) > middle)
            cuts |= {past, past - 1} if axis.position(past - 1) == middle else {past}
    return {place for place in cuts if 0 < place < axis.size}


def cut_by_heads(axis: Axis, place: int) -> bool:
    return any(axis.passes(test, place) is not axis.passes(test, place - 1) for test in axis.heads)


@pytest.mark.parametrize("seed", range(2))
def test_rules_carry_a_feature_to_the_regions_in_their_heads(seed: int) -> None:
    for space in spaces(seed + 920):
        for moves in causal_moves(space):
            for bit, landing in moves.by_rule:
                if landing.anywhere:
                    headed = [bool(head & bit) for head in moves.heads]
                    assert landing.anywhere == sum(1 << n for n, each in enumerate(headed) if each)
