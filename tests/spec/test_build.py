"""From a feature's keys to its domain: grids, lists, steps and types."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from p2c._spec.build import build_feature, default_step
from p2c._spec.feature import Action, Feature, Law
from p2c._spec.spec import FeatureSpec


def feature(*, governed: bool = False, **keys: Any) -> Feature:
    spec = FeatureSpec.model_validate(keys)
    built, faults = build_feature("f", spec, law=Law.IFF, governed=governed)
    assert not faults
    assert built is not None
    return built


def values(built: Feature) -> list[Any]:
    return [built.domain.value(place) for place in range(built.domain.size)]


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"type": "int", "min": 1, "max": 4}, [1, 2, 3, 4]),
        ({"type": "int", "min": 1.0, "max": 6.0, "step": 2.0}, [1, 3, 5]),
        ({"type": "int", "values": [5, 1.0, 3]}, [1, 3, 5]),
        ({"type": "float", "min": 0, "max": 0.3, "step": 0.1}, [0.0, 0.1, 0.2, 0.3]),
        ({"type": "float", "values": [2, 0.5]}, [0.5, 2.0]),
        ({"type": "category", "values": ["b", "a", 1]}, ["b", "a", 1]),
        ({"type": "ordinal", "values": ["low", "high"]}, ["low", "high"]),
        ({"type": "int", "min": 3, "max": 3}, [3]),
    ],
)
def test_the_domain_holds_what_the_keys_say_in_the_type_they_say(
    keys: dict[str, Any], expected: list[Any]
) -> None:
    found = values(feature(**keys))
    assert found == expected
    assert [type(each) for each in found] == [type(each) for each in expected]


def test_the_range_of_an_int_is_of_ints_even_when_written_with_decimals() -> None:
    built = feature(type="int", min=1.0, max=6.0, step=4)
    assert [repr(each) for each in (built.minimum, built.maximum)] == ["1", "6"]


def test_the_greatest_number_of_a_row_may_lie_off_the_grid() -> None:
    built = feature(type="int", min=1, max=6, step=4)
    assert values(built) == [1, 5]
    assert built.maximum == 6


@pytest.mark.parametrize(("governed", "action"), [(True, Action.EFFECT), (False, Action.FREE)])
def test_the_action_is_effect_just_where_rules_govern(governed: bool, action: Action) -> None:
    assert feature(type="int", min=0, max=1, governed=governed).action is action


@given(
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(allow_nan=False, allow_infinity=False),
)
def test_every_range_of_floats_has_a_grid(one: float, other: float) -> None:
    built = feature(type="float", min=min(one, other), max=max(one, other))
    last = built.domain.value(built.domain.size - 1)
    assert not isinstance(last, str)
    assert built.domain.value(0) == built.minimum
    assert built.minimum <= last <= built.maximum


@pytest.mark.parametrize(
    ("width", "step"),
    [
        (Fraction(0), 1),
        (Fraction(45), 1e-4),
        (Fraction(10**9), 1000),
        (Fraction(1, 10**400), 1e-323),
    ],
)
def test_the_usual_step_is_about_a_millionth_of_the_range(width: Fraction, step: float) -> None:
    assert default_step(width) == step


def test_a_long_list_of_values_is_checked_quickly() -> None:
    assert feature(type="int", values=list(range(200_000))).domain.size == 200_000
