"""Weights of rows, in steps so coarse that their sums are exact and so fine that nobody notices."""

from __future__ import annotations

from math import ceil, log2
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from p2c.learn.foldse.grid import Weights

PRECISION = 40
"""The sum of all weights is at most two to this power steps, far below where sums of floats begin to round."""


def read_weights(given: Any, count: int) -> Weights | None:
    """Return a weight for each row, a multiple of one power of two; None where all rows count alike.

    With exact sums the order of the rows cannot change a score, and a row of weight 3 is the same as three rows.
    """
    if given is None:
        return None
    weights = np.asarray(given, dtype=np.float64)
    if weights.shape != (count,):
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(count,)}!")
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError("sample_weight: a weight is a finite number that is not negative")
    total = float(weights.sum())
    if not total:
        raise ValueError("sample_weight: all weights are zero, so there is nothing to learn from")
    step = 2.0 ** (ceil(log2(total)) - PRECISION)
    return np.asarray(np.round(weights / step) * step)
