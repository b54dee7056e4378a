"""The walk of many rows through many trees, compiled by numba."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from p2c._learn.model.compiled import compiled

if TYPE_CHECKING:
    from p2c._learn.model.arrays import Floats, Ints, Mask

    Nodes = tuple[Ints, Ints, Ints, Ints]
    """The axis, the test, the left and the right child of each node."""


@compiled
def add_up(roots: Ints, nodes: Nodes, goes_left: Mask, cells: Ints, value: Floats) -> Floats:
    """Return the sum of the leaves that each row reaches; a leaf is its own child."""
    axis, test, left, right = nodes
    total = np.zeros((cells.shape[0], value.shape[1]))
    for tree in range(roots.shape[0]):
        for row in range(cells.shape[0]):
            node = roots[tree]
            while left[node] != node:
                goes = left if goes_left[test[node] + cells[row, axis[node]]] else right
                node = goes[node]
            for margin in range(value.shape[1]):
                total[row, margin] += value[node, margin]
    return total
