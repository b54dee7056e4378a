"""What direct actions cost: the root of the sum, over features, of weight · length ** power.

A norm says what a length is, a distance or just a change, the power, and whether the largest feature counts instead of
the sum. A new one of that form is a line of `Norm`.
"""

from __future__ import annotations

import math
from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING, TypeVar

from p2c._spec.feature import distance, exact

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import NDArray

    from p2c._spec.feature import Feature, Value

DEAREST = Fraction(10**300)
"""What changes of one feature may cost at most under any norm, so that the costs of many are still numbers."""

Length = TypeVar("Length", int, float, Fraction, "NDArray[np.float64]")
Share = TypeVar("Share", float, Fraction)


class Norm(Enum):
    """How the efforts of a plan come together: by the number of changes, their distances, the squares or the largest."""

    L0 = "l0", 1, False
    L1 = "l1", 1, True
    L2 = "l2", 2, True
    LINF = "linf", 1, True, True

    _value_: str
    power: int
    by_distance: bool
    """Whether a length is a distance; else each change has the length 1."""
    largest: bool
    """Whether the feature that adds most counts alone; such costs are searched for under ceilings."""

    def __new__(
        cls, value: str, power: int = 1, by_distance: bool = True, largest: bool = False
    ) -> Norm:
        """Return the norm whose value is its name alone."""
        norm = object.__new__(cls)
        norm._value_ = value
        norm.power, norm.by_distance, norm.largest = power, by_distance, largest
        return norm

    @property
    def adds_up(self) -> bool:
        """Tell whether a path costs the sum of what its actions cost, also where several are on one feature."""
        return self.power == 1 and not self.largest

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
        """Return what a length adds to the sum, its weight aside, after some way gone on the same feature.

        Where the largest feature counts, that is all that the feature adds so far.
        """
        if self.power == 1:
            return length + gone if self.largest else length
        added: Length = (length + gone) ** self.power - gone**self.power
        return added

    def total(self, shares: Iterable[Share]) -> Share | int:
        """Return what the weighted shares of features come to together."""
        return max(shares, default=0) if self.largest else sum(shares)

    def cost(self, lengths: Iterable[tuple[Share, Share]]) -> float:
        """Return what a path costs, from the weight of each changed feature and how far it goes in all."""
        return self.root(self.total(weight * self.share(length) for weight, length in lengths))

    def root(self, total: float | Fraction) -> float:
        """Return the cost that a sum of weighted shares stands for."""
        return math.sqrt(total) if self.power == 2 else float(total) ** (1 / self.power)


def is_too_dear(feature: Feature, far: Fraction) -> bool:
    """Tell whether changes of a feature that go so far may cost more than the costs of many can add up to, under some norm."""
    most = max(far, Fraction(1)) ** max(norm.power for norm in Norm)
    return exact(feature.weight) * most > DEAREST
