"""Exact floats: neighbours, bisection and rounding to single precision."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from p2c._learn.model.floats import first_held, last_held, single_bound, to_float, to_rank

FINITE = st.floats(-1e300, 1e300)


@given(FINITE)
def test_ranks_lead_back_to_their_floats_and_neighbours_are_one_apart(value: float) -> None:
    at = np.array([value])
    assert to_float(to_rank(at))[0] == value
    assert to_rank(np.nextafter(at, np.inf))[0] - to_rank(at)[0] == 1


@given(st.floats(-1e300, 1e300), st.floats(-1e300, 1e300), st.floats(-1e300, 1e300))
def test_bisection_ends_at_the_very_float(one: float, two: float, three: float) -> None:
    low, cut, high = sorted([one, two, three])
    if cut < high:
        found = last_held(lambda at: at <= cut, np.array([low]), np.array([high]))
        assert found[0] == cut


@given(st.floats(-1e200, 1e200))
def test_the_first_float_that_holds_is_found(cut: float) -> None:
    assert first_held(lambda at: at >= cut) == cut


@given(st.floats(-1e30, 1e30))
def test_a_single_bound_is_the_last_double_that_rounds_to_at_most_it(bound: float) -> None:
    found = single_bound(np.array([bound]))[0]
    assert float(np.float32(found)) <= bound
    assert float(np.float32(np.nextafter(found, np.inf))) > bound
