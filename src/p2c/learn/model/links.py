"""From scores to probabilities, as libraries compute them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from p2c.learn.model.parts import DOUBLE

Floats = NDArray[np.float64]

LOGISTIC_FUZZ = DOUBLE


def logistic(score: Floats) -> Floats:
    """Return the logistic function of scores, without overflow.

    >>> logistic(np.array([0.0, -1000.0])).tolist()
    [0.5, 0.0]
    """
    small = np.exp(-np.abs(score))
    return np.where(score >= 0, 1 / (1 + small), small / (1 + small))
