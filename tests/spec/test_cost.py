"""What direct actions cost under each norm."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

from p2c import Problem
from p2c._spec.cost import Norm
from tests.loan import LOAN

DEBT = Problem.from_dict(LOAN).theory.feature["debt"]


@pytest.mark.parametrize(
    ("norm", "length", "cost"),
    [(Norm.L0, 1, 2), (Norm.L1, Fraction(1, 2), 1.5), (Norm.L2, Fraction(1, 2), math.sqrt(1.25))],
)
def test_lengths_are_added_up_to_a_cost(norm: Norm, length: Any, cost: float) -> None:
    far = norm.length(DEBT, 0, 500_000)
    assert far == length
    other = norm.length(DEBT, 0, 1_000_000)
    assert norm.root(norm.share(far) + norm.share(other)) == cost


@pytest.mark.parametrize("norm", list(Norm))
def test_ways_on_one_feature_add_up_to_the_way_as_a_whole(norm: Norm) -> None:
    assert norm.total((norm.share(3.0), norm.share(4.0, gone=3.0))) == norm.share(7.0)


@pytest.mark.parametrize("norm", list(Norm))
def test_a_norm_is_known_by_its_name(norm: Norm) -> None:
    assert Norm(norm.value) is norm
    assert Problem.from_dict({**LOAN, "norm": norm.value}).to_dict().get("norm", "l1") == norm.value
