"""Trees over a model's columns brought over the cells of the features, as nodes to walk and as leaves to bound."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from p2c.learn.model.trees import Trees, pack

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from p2c.learn.model.parts import Tree

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


class _Tests:
    """The distinct tests on the cells of an axis, and where each stands in the flat array of them all."""

    def __init__(self, widest: int) -> None:
        # Leaves point at the start, whatever cell they are asked about.
        self.flat: list[Mask] = [np.zeros(widest, dtype=bool)]
        self.size = widest
        self.known: dict[tuple[int, bytes], int] = {}

    def add(self, axis: int, left: Mask) -> int:
        key = (axis, left.tobytes())
        if key not in self.known:
            self.known[key] = self.size
            self.flat.append(left)
            self.size += len(left)
        return self.known[key]


class _Masks:
    """The distinct masks of each axis; the first has every cell."""

    def __init__(self, sizes: Sequence[int]) -> None:
        self.rows: list[list[Mask]] = [[np.ones(size, dtype=bool)] for size in sizes]
        self.known: list[dict[bytes, int]] = [{each[0].tobytes(): 0} for each in self.rows]

    def add(self, axis: int, mask: Mask) -> int:
        key = mask.tobytes()
        if key not in self.known[axis]:
            self.known[axis][key] = len(self.rows[axis])
            self.rows[axis].append(mask)
        return self.known[axis][key]


def plant(
    trees: Sequence[Tree],
    columns: Callable[[int], NDArray[Any]],
    axis_of: Callable[[int], int | None],
    mix: Floats,
    sizes: Sequence[int],
) -> Trees:
    """Return trees over cells: `columns` gives a column's value in each cell of its axis, `mix` turns scores into margins."""
    if not trees:
        return Trees.none()
    return _Planter(columns, axis_of, mix, sizes).plant(trees)


class _Planter:
    """Arrays of nodes and leaves as they grow; lives for one planting."""

    def __init__(
        self,
        columns: Callable[[int], NDArray[Any]],
        axis_of: Callable[[int], int | None],
        mix: Floats,
        sizes: Sequence[int],
    ) -> None:
        self.columns, self.axis_of, self.mix = columns, axis_of, mix
        self.tests, self.masks = _Tests(max(sizes, default=1)), _Masks(sizes)
        self.axis: list[int] = []
        self.test: list[int] = []
        self.left: list[int] = []
        self.right: list[int] = []
        self.value: list[Floats] = []
        self.leaf_values: list[Floats] = []
        self.leaf_masks: list[list[int]] = []
        self.starts = [0]
        self.depth = 0
        self.width = len(sizes)

    def plant(self, trees: Sequence[Tree]) -> Trees:
        roots = []
        for tree in trees:
            roots.append(self._grow(tree, 0, {}, 0))
            self.starts.append(len(self.leaf_values))
        return Trees(
            roots=np.array(roots, dtype=np.int64),
            axis=np.array(self.axis, dtype=np.int64),
            test=np.array(self.test, dtype=np.int64),
            left=np.array(self.left, dtype=np.int64),
            right=np.array(self.right, dtype=np.int64),
            value=np.array(self.value),
            goes_left=np.concatenate(self.tests.flat),
            depth=self.depth,
            starts=np.array(self.starts, dtype=np.int64),
            leaf_values=np.array(self.leaf_values),
            leaf_masks=np.array(self.leaf_masks, dtype=np.int32),
            masks=tuple(pack(np.array(rows)) for rows in self.masks.rows),
        )

    def _grow(self, tree: Tree, node: int, open_: dict[int, Mask], depth: int) -> int:
        """Add a node and what is below it; a split that no cell takes both ways is left out."""
        column = int(tree.column[node])
        if column < 0:
            return self._leaf(tree, node, open_, depth)
        axis, left = self.axis_of(column), tree.goes_left(node, self.columns(column))
        if axis is None:
            return self._grow(tree, int((tree.left if left[0] else tree.right)[node]), open_, depth)
        here = open_.get(axis, self.masks.rows[axis][0])
        if not (here & left).any():
            return self._grow(tree, int(tree.right[node]), open_, depth)
        if not (here & ~left).any():
            return self._grow(tree, int(tree.left[node]), open_, depth)
        place = self._node(axis, self.tests.add(axis, left), np.zeros(self.mix.shape[1]))
        self.left[place] = self._grow(
            tree, int(tree.left[node]), {**open_, axis: here & left}, depth + 1
        )
        self.right[place] = self._grow(
            tree, int(tree.right[node]), {**open_, axis: here & ~left}, depth + 1
        )
        return place

    def _node(self, axis: int, test: int, value: Floats) -> int:
        place = len(self.axis)
        self.axis.append(axis)
        self.test.append(test)
        self.left.append(place)
        self.right.append(place)
        self.value.append(value)
        return place

    def _leaf(self, tree: Tree, node: int, open_: dict[int, Mask], depth: int) -> int:
        value = tree.value[node] @ self.mix
        masks = [0] * self.width
        for axis, mask in open_.items():
            masks[axis] = self.masks.add(axis, mask)
        self.leaf_values.append(value)
        self.leaf_masks.append(masks)
        self.depth = max(self.depth, depth)
        return self._node(0, 0, value)
