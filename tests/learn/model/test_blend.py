"""A blend of scores accepts, refuses and bounds as its total does."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from p2c._learn.model.blend import Blend, scales_of
from p2c._learn.model.parts import logistic


def blend_of(places: list[float], steps: bool, level: float = 0.5) -> Blend:
    """Return a mean of logistic functions or of steps, each at a place of its own."""

    def term(at: float):  # type: ignore[no-untyped-def]
        def value(margin, way):  # type: ignore[no-untyped-def]
            told = (margin > at) if steps else logistic(3 * (margin - at))
            return np.asarray(told / len(places), dtype=np.float64)

        return value

    terms = tuple(term(each) for each in places)
    ends = np.array([[-2.0, 2.0]] * len(places))
    return Blend(terms, level, level, ends, scales_of(terms, ends))


@pytest.mark.parametrize("steps", [False, True])
def test_what_is_accepted_reaches_every_floor_and_bound(steps: bool) -> None:
    blend = blend_of([-0.5, 0.1, 0.4], steps)
    floors = blend.floors
    for own in product(np.linspace(-2, 2, 21), repeat=3):
        scores = np.array(own)
        margins = np.array([blend.scales @ scores, *scores])
        total = sum(float(each(scores[[k]], 0)[0]) for k, each in enumerate(blend.terms))
        decided = blend.decide(margins, 0.0)
        assert decided is None or decided is (total >= 0.5)
        if total >= 0.5:
            assert (margins >= floors - 1e-9).all()
            assert blend.gap(margins, 0.0) >= 0
        elif total < 0.49:
            assert decided is False
            assert blend.gap(margins, 0.0) < 0


def test_floors_rise_where_less_is_in_reach() -> None:
    blend = blend_of([-0.5, 0.1, 0.4], steps=False)
    ends = np.array([[-0.4, 0.3], [-0.3, 0.3], [0.0, 0.6]])
    floors = blend.floors_within(ends)
    assert floors[0] > blend.floors[0] + 0.05
    for own in product(*(np.linspace(low, high, 15) for low, high in ends)):
        scores = np.array(own)
        margins = np.array([blend.scales @ scores, *scores])
        if blend.decide(margins, 0.0):
            assert (margins >= floors - 1e-9).all()


def test_scores_that_lie_together_are_bounded_by_one_border() -> None:
    blend = blend_of([0.0, 0.05, -0.05], steps=False)
    near = blend.floors_within(blend.ends, np.array([[-0.1, 0.1]] * 3))
    assert -0.02 < near[0] < 0.02
    for mean in np.linspace(-1, 1, 81):
        scores = mean + np.zeros(3)
        total = sum(float(each(scores[[k]], 0)[0]) for k, each in enumerate(blend.terms))
        if total >= 0.5:
            assert blend.scales @ scores >= near[0] - 1e-9
