"""The gains of all places along a curve, with the extremes of their steps."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from p2c._learn.model.arrays import Floats

BLOCK = 256
"""Number of steps of which the extreme differences are kept together."""


@dataclass(frozen=True, eq=False)
class GainTable:
    """The gain of each place for each margin: `values[place, margin]`."""

    values: Floats

    @cached_property
    def _steps(self) -> Floats:
        return np.diff(self.values, axis=0)

    @cached_property
    def _blocks(self) -> tuple[Floats, Floats]:
        """Return the least and the greatest difference of each block of steps."""
        starts = np.arange(0, len(self._steps), BLOCK)
        low = np.minimum.reduceat(self._steps, starts, axis=0)
        return low, np.maximum.reduceat(self._steps, starts, axis=0)

    def extremes(self, first: int, last: int, margin: int) -> tuple[float, float]:
        """Return the least and the greatest step between two places."""
        inner, outer = -(-first // BLOCK), last // BLOCK
        if outer - inner < 2:
            part = self._steps[first:last, margin]
            return float(part.min()), float(part.max())
        low, high = (each[inner:outer, margin] for each in self._blocks)
        edges = np.concatenate(
            [self._steps[first : inner * BLOCK, margin], self._steps[outer * BLOCK : last, margin]]
        )
        return (
            float(min(low.min(), edges.min(initial=np.inf))),
            float(max(high.max(), edges.max(initial=-np.inf))),
        )
