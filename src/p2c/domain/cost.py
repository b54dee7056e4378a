"""What direct actions cost (contract §2, Cost): the root of the sum, over features, of weight · length ** power.

A norm says what a length is, a distance or just a change, and the power. A new one of that form is a line of `Norm`.
"""

from __future__ import annotations

import math
from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING, TypeVar

from p2c.domain.feature import distance, exact

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from p2c.domain.feature import Feature, Value

Length = TypeVar("Length", int, float, Fraction, "NDArray[np.float64]")


class Norm(Enum):
    """How the efforts of a plan add up: by the number of changes, by their distances, or by the squares of those."""

    L0 = "l0", 1, False
    L1 = "l1", 1, True
    L2 = "l2", 2, True

    _value_: str
    power: int
    by_distance: bool
    """Whether a length is a distance; else each change has the length 1."""

    def __new__(cls, value: str, power: int = 1, by_distance: bool = True) -> Norm:
        """Return the norm whose value is its name alone."""
        norm = object.__new__(cls)
        norm._value_ = value
        norm.power, norm.by_distance = power, by_distance
        return norm

    @property
    def adds_up(self) -> bool:
        """Tell whether a path costs the sum of what its actions cost, also where several are on one feature."""
        return self.power == 1

    @property
    def tells_way(self) -> bool:
        """Tell whether the cost is the sum of weighted distances, so that equal costs go equally far."""
        return self.adds_up and self.by_distance

    def length(self, feature: Feature, start: Value, end: Value) -> Fraction:
        """Return the length of a change."""
        return distance(feature, start, end) if self.by_distance else Fraction(1)

    def action_cost(self, feature: Feature, start: Value, end: Value) -> Fraction:
        """Return the cost of one direct action, as plans show it."""
        return exact(feature.weight) * self.length(feature, start, end)

    def share(self, length: Length, gone: Length | int = 0) -> Length:
        """Return what a length adds to the sum, its weight aside, after some way gone on the same feature."""
        if self.power == 1:
            return length
        return length * (length + 2 * gone)

    def root(self, total: float | Fraction) -> float:
        """Return the cost that a sum of weighted shares stands for."""
        return float(total) if self.power == 1 else math.sqrt(total)
