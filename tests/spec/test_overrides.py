"""Limits that no search can keep are one line."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from p2c._spec.overrides import check_seconds
from p2c.errors import P2CError


@pytest.mark.parametrize(
    "limit",
    [
        10**400,
        pytest.param(10**5000, id="unwritable"),
        math.inf,
        -math.inf,
        math.nan,
        -1,
        1e300,
        "x",
        True,
        [1],
        np.array([1, 2]),
    ],
)
def test_an_absurd_time_limit_is_one_short_line(limit: Any) -> None:
    with pytest.raises(P2CError, match=r"^time_limit: expected seconds, [^\n]*$") as refused:
        check_seconds("time_limit", limit)
    assert len(str(refused.value)) < 120


@pytest.mark.parametrize("limit", [None, 0, 0.5, 10**9])
def test_a_sensible_time_limit_passes(limit: Any) -> None:
    check_seconds("time_limit", limit)
