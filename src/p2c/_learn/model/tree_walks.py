"""The walk of many rows through many trees, compiled by numba."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from p2c._learn.model.compiled import compiled

if TYPE_CHECKING:
    from p2c._learn.model.arrays import Ints, Mask

    Nodes = tuple[Ints, Ints, Ints, Ints]
    """The axis, the test, the left and the right child of each node."""


@compiled
def walk(roots: Ints, nodes: Nodes, goes_left: Mask, cells: Ints) -> Ints:
    """Return the leaf that each row reaches in each tree; a leaf is its own child."""
    axis, test, left, right = nodes
    reached = np.empty((cells.shape[0], roots.shape[0]), dtype=np.int64)
    for tree in range(roots.shape[0]):
        for row in range(cells.shape[0]):
            node = roots[tree]
            while left[node] != node:
                goes = left if goes_left[test[node] + cells[row, axis[node]]] else right
                node = goes[node]
            reached[row, tree] = node
    return reached
