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

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from p2c.learn.model.leaves import Leaves

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Prices = NDArray[np.int64]
"""What each leaf costs at least, in whole numbers; `NEVER` or more where nothing leads there."""

NEVER = 1 << 48
TINY = 1e-9
"""What share of the sizes of all values a bound is let off, for the order in which they are added."""


class PricedLeaves:
    """Those leaves of a model that one person can reach at all."""

    def __init__(self, leaves: Leaves, below: Floats, boxes: Sequence[int] | None) -> None:
        self._leaves = leaves
        kept = np.ones(len(leaves.values), dtype=bool)
        for place, cells in enumerate(boxes or ()):
            kept &= leaves.open(place, cells)
        self._kept = np.flatnonzero(kept)
        groups = np.searchsorted(leaves.starts, self._kept, side="right") - 1
        self._first = _firsts(groups)
        self._group = np.repeat(
            np.arange(len(self._first)), np.diff(self._first, append=len(groups))
        )
        self._values = np.ascontiguousarray(leaves.values[self._kept].T)
        self._tiny = TINY * leaves.size
        self._border = below - leaves.bias - self._tiny

    def nothing(self) -> Prices:
        """Return the prices where everything is free."""
        return np.zeros(len(self._kept), dtype=np.int64)

    def of(self, place: int, costs: Mapping[int, int]) -> Prices:
        """Return what the cells of one feature make each leaf cost; a cell without a cost is not open."""
        kinds, kind_of = self._leaves.kinds[place]
        by_cell = np.full(kinds.shape[1], NEVER)
        by_cell[list(costs)] = list(costs.values())
        least = np.where(kinds, by_cell, NEVER).min(axis=1)
        return np.asarray(least[self._kind_of(place, kind_of)])

    @cached_property
    def _kinds_kept(self) -> dict[int, Ints]:
        return {}

    def _kind_of(self, place: int, kind_of: Ints) -> Ints:
        known = self._kinds_kept.get(place)
        if known is None:
            known = self._kinds_kept[place] = kind_of[self._kept]
        return known

    def least(self, prices: Prices, start: int) -> int | None:
        """Return the least sum from a start on for which the model may say yes; None where no sum is enough."""
        if not len(self._kept):
            return start if (self._border <= 0).all() else None
        start = max(start, int(np.minimum.reduceat(prices, self._first).max()))
        if start >= NEVER:
            return None
        return self._enough(prices, start, self._values, self._group, self._first)

    def _enough(
        self, prices: Prices, start: int, values: Floats, group: Ints, first: Ints
    ) -> int | None:
        """Return the least price from a start on up to which leaves, given with their groups, reach the border."""
        open_ = prices <= start
        found = start
        for each, border in zip(values, self._border, strict=True):
            here = np.maximum.reduceat(np.where(open_, each, -np.inf), first)
            missing = float(border - here.sum())
            if missing > 0:
                enough = self._rising(prices, each, group, here, missing)
                if enough is None:
                    return None
                found = max(found, enough)
        return found

    def _rising(
        self, prices: Prices, values: Floats, group: Ints, here: Floats, missing: float
    ) -> int | None:
        """Return the least price at which leaves that give more than those of their group so far make up for a gap."""
        later = np.flatnonzero((values > here[group]) & (prices < NEVER))
        later = later[np.argsort(prices[later], kind="stable")]
        order = np.argsort(group[later], kind="stable")
        chosen = later[order]
        groups = group[chosen]
        gain = values[chosen] - here[groups]
        # The groups stand one above the other, so that the greatest gain so far starts anew with each.
        lift = groups * (2.0 * float(gain.max(initial=1.0)))
        most = np.maximum.accumulate(gain + lift) - lift
        more = np.empty_like(most)
        step = most.copy()
        step[1:] -= np.where(groups[1:] != groups[:-1], 0.0, most[:-1])
        more[order] = step
        place = int(np.searchsorted(np.cumsum(more), missing - self._tiny))
        return None if place == len(later) else int(prices[later[place]])

    def share(self, within: Ints, own: Prices) -> int:
        """Return how much one feature takes at least, by its own part in the prices, where only some leaves are open."""
        group = self._group[within]
        first = _firsts(group)
        part = own[within]
        start = int(np.minimum.reduceat(part, first).max())
        found = self._enough(part, start, self._values[:, within], group, first)
        return start if found is None else found

    def gaps(self, within: Ints, cases: NDArray[np.bool_]) -> list[float]:
        """Return how near the border some leaves come in each case, which says for each of them whether it is open."""
        first = _firsts(self._group[within])
        told = np.full(len(cases), np.inf)
        for values, border in zip(self._values, self._border, strict=True):
            best = np.where(cases, values[within], -np.inf)
            told = np.minimum(told, np.maximum.reduceat(best, first, axis=1).sum(axis=1) - border)
        return [float(each) for each in told]


def _firsts(group: Ints) -> Ints:
    """Return where each of some groups, which stand one after the other, begins."""
    changed = np.empty(len(group), dtype=bool)
    changed[:1] = True
    np.not_equal(group[1:], group[:-1], out=changed[1:])
    return np.flatnonzero(changed)
