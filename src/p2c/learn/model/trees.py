"""Trees over cells, packed into arrays: walked for rows, their leaves compared with boxes for bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Sequence

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]
Mask = NDArray[np.bool_]

CHUNK = 2_000_000
"""How many pairs of row and tree are walked at a time."""


@dataclass(frozen=True, eq=False)
class Trees:
    """Decision trees over cells.

    As nodes, to walk: node `n` of axis `axis[n]` sends a row to `left[n]` where `goes_left[test[n] + cell]`; a leaf sends
    it to itself. As leaves, to bound: the leaves of tree `t` are `starts[t]` to `starts[t+1]`, and leaf `i` takes the
    cells `masks[a][leaf_masks[i, a]]` of axis `a`, where the first mask of each axis has every cell. Masks are bits,
    packed into words of 64, cell 0 in the lowest bit of the first.
    """

    roots: Ints
    axis: Ints
    test: Ints
    left: Ints
    right: Ints
    value: Floats
    goes_left: Mask
    depth: int
    starts: Ints
    leaf_values: Floats
    leaf_masks: NDArray[np.int32]
    masks: tuple[Words, ...]

    @classmethod
    def none(cls) -> Trees:
        """Return no trees at all."""
        ints, floats = np.zeros(0, dtype=np.int64), np.zeros((0, 1))
        empty = np.zeros((0, 0), dtype=np.int32)
        nothing = np.zeros(0, dtype=bool)
        return cls(
            ints,
            ints,
            ints,
            ints,
            ints,
            floats,
            nothing,
            0,
            np.zeros(1, np.int64),
            floats,
            empty,
            (),
        )

    @property
    def count(self) -> int:
        """Return how many trees there are."""
        return len(self.roots)

    def leaves_reached(self, cells: Ints) -> Ints:
        """Return for each row and tree the node that the row ends in."""
        rows = np.arange(len(cells))[:, None]
        node = np.repeat(self.roots[None, :], len(cells), axis=0)
        for _ in range(self.depth):
            left = self.goes_left[self.test[node] + cells[rows, self.axis[node]]]
            node = np.where(left, self.left[node], self.right[node])
        return node

    def score(self, cells: Ints) -> Floats:
        """Return the sum over the trees for each row and margin."""
        if not self.count:
            return np.zeros((len(cells), 1))
        step = max(CHUNK // self.count, 1)
        parts = [
            self.value[self.leaves_reached(cells[at : at + step])].sum(axis=1)
            for at in range(0, len(cells), step)
        ]
        return np.concatenate(parts) if parts else np.zeros((0, self.value.shape[1]))

    def reachable(self, boxes: Sequence[Mask]) -> Mask:
        """Return for each box and leaf whether a row of the box can end in the leaf."""
        found = np.ones((len(boxes[0]), len(self.leaf_values)), dtype=bool)
        for place, masks in enumerate(self.masks):
            if len(masks) > 1:
                words = pack(boxes[place])
                met = np.asarray((words[:, None, :] & masks[None, :, :]).any(axis=2))
                found &= met[:, self.leaf_masks[:, place]]
        return found

    def bounds(self, boxes: Sequence[Mask]) -> tuple[Floats, Floats]:
        """Return for each box and margin the sum over the trees of the least and of the greatest leaf still reachable."""
        if not self.count:
            nothing = np.zeros((len(boxes[0]), 1))
            return nothing, nothing
        found = self.reachable(boxes)[:, :, None]
        low = np.where(found, self.leaf_values, np.inf)
        high = np.where(found, self.leaf_values, -np.inf)
        starts = self.starts[:-1]
        return (
            np.minimum.reduceat(low, starts, axis=1).sum(axis=1),
            np.maximum.reduceat(high, starts, axis=1).sum(axis=1),
        )


def pack(mask: Mask) -> Words:
    """Return masks of cells as words of 64 bits, the first cell in the lowest bit.

    >>> pack(np.array([[True, False, True]])).tolist()
    [[5]]
    """
    width = -(-mask.shape[1] // 64) * 64
    wide = np.zeros((len(mask), width), dtype=bool)
    wide[:, : mask.shape[1]] = mask
    return np.packbits(wide, axis=1, bitorder="little").view("<u8").astype(np.uint64, copy=False)
