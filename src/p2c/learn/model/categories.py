"""Tests of nodes that choose among categories, given by their values or by numbers that stand for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

Mask = NDArray[np.bool_]


def coded_test(
    members: Collection[int],
    codes: Mapping[str, int] | None,
    *,
    inside: bool,
    missing: bool,
    truncated: bool = False,
) -> Callable[[Any], Mask]:
    """Return the test of a node that sends its members left where `inside`, else right, and missing values as told.

    `codes` gives the number that stands for each category; without them the values are such numbers themselves. A value
    without a number counts as missing, and so does one below zero, but where it is `truncated` to zero first.

    >>> coded_test([1], {"a": 0, "b": 1}, inside=True, missing=False)(["a", "b", None]).tolist()
    [False, True, False]
    """
    chosen = set(members)

    def test(values: Any) -> Mask:
        return np.array(
            [
                missing if code is None else (code in chosen) == inside
                for code in map(code_of, values)
            ],
            dtype=bool,
        )

    def code_of(value: Any) -> int | None:
        if value is None or pd.isna(value):
            return None
        if codes is not None:
            # Among other numbers, a whole one that is a category comes as 5.0.
            whole = isinstance(value, float) and value.is_integer()
            return codes.get(str(value), codes.get(str(int(value))) if whole else None)
        return None if (int(value) if truncated else value) < 0 else int(value)

    return test


def listed_test(left: Mapping[Any, bool]) -> Callable[[Any], Mask]:
    """Return a test by a list of values; None stands for a missing one."""

    def test(values: Any) -> Mask:
        return np.array([left[None if pd.isna(value) else value] for value in values], dtype=bool)

    return test
