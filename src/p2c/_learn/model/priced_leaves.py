"""What a yes costs at least: every leaf of a read model with the least price of a state that reaches it.

Whoever may spend so much reaches the leaves that cost no more, and each group of leaves gives at most the greatest value of
those. The least sum at which the groups together come to the border is a bound on what any accepted state of a box costs;
prices of single features add up to the price of a leaf, so a box that changes in one feature is priced again in two strokes.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from p2c._learn.model.box_kernel import least_sum
from p2c._learn.model.compiled import NEVER
from p2c._learn.model.leaves import firsts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from p2c._learn.model.arrays import Floats, Ints, Mask
    from p2c._learn.model.leaves import Leaves

Prices = NDArray[np.int64]
"""What each leaf costs at least, in whole numbers; `NEVER` or more where nothing leads there."""


class PricedLeaves:
    """Those leaves of a model that one person can reach at all."""

    def __init__(self, leaves: Leaves, below: Floats, boxes: Sequence[int] | None) -> None:
        self._leaves = leaves
        kept = np.ones(len(leaves.values), dtype=bool)
        for place, cells in enumerate(boxes or ()):
            kept &= leaves.open(place, cells)
        self._kept = np.flatnonzero(kept)
        groups = leaves.group[self._kept]
        first = firsts(groups)
        self._group = np.repeat(np.arange(len(first)), np.diff(first, append=len(groups)))
        self._values = np.ascontiguousarray(leaves.values[self._kept].T)
        self._border = leaves.border(below)

    def nothing(self) -> Prices:
        """Return the prices where everything is free."""
        return np.zeros(len(self._kept), dtype=np.int64)

    def of(self, place: int, costs: Mapping[int, int]) -> Prices:
        """Return what the cells of one feature make each leaf cost; a cell without a cost is not open."""
        kinds, kind_of = self._kinds[place]
        by_cell = np.full(kinds.shape[1], NEVER)
        by_cell[list(costs)] = list(costs.values())
        least = np.where(kinds, by_cell, NEVER).min(axis=1)
        return np.asarray(least[kind_of])

    @cached_property
    def _kinds(self) -> list[tuple[Mask, Ints]]:
        return [(kinds, kind_of[self._kept]) for kinds, kind_of in self._leaves.kinds]

    def least(self, prices: Prices, start: int) -> int | None:
        """Return the least sum from a start on for which the model may say yes; None where no sum is enough."""
        found = least_sum(prices, self._values, self._group, self._border, start)
        return None if found >= NEVER else found

    def share(self, within: Ints, own: Prices) -> int:
        """Return how much one feature takes at least, by its own part in the prices, where only some leaves are open."""
        part = np.full(len(own), NEVER)
        part[within] = own[within]
        return self.least(part, 0) or 0

    def gaps(self, within: Ints, cases: Mask) -> list[float]:
        """Return how near the border some leaves come in each case, which says for each of them whether it is open."""
        first = firsts(self._group[within])
        told = np.full(len(cases), np.inf)
        for values, border in zip(self._values, self._border, strict=True):
            best = np.where(cases, values[within], -np.inf)
            told = np.minimum(told, np.maximum.reduceat(best, first, axis=1).sum(axis=1) - border)
        return [float(each) for each in told]
