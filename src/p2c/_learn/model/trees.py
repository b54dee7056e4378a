"""Decision trees of a model that was read: brought from its columns over the cells of the features, walked, and told leaf by leaf."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from p2c._learn.model.arrays import Floats, Ints, Mask
    from p2c._learn.model.parts import Tree


CHUNK = 2_000_000
"""How many pairs of row and tree are walked at a time."""
WORTH_COMPILING = 1_000_000
"""Fewest pairs of row and tree that are walked by compiled code: fewer take less time than loading it."""


@dataclass(frozen=True, eq=False)
class Trees:
    """Decision trees over cells.

    As nodes, to walk: node `n` of axis `axis[n]` sends a row to `left[n]` where `goes_left[test[n] + cell]`; a leaf sends
    it to itself. As leaves: those of tree `t` are `starts[t]` to `starts[t+1]`, and leaf `i` takes the cells
    `masks[a][leaf_masks[i, a]]` of axis `a`, where the first mask of each axis has every cell.
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
    leaf_masks: Ints
    masks: tuple[Mask, ...]

    @classmethod
    def none(cls) -> Trees:
        """Return no trees at all."""
        return plant((), lambda _: np.zeros(0), lambda _: None, np.zeros((1, 1)), ())

    @property
    def count(self) -> int:
        """Return how many trees there are."""
        return len(self.roots)

    def _is_compiled(self, cells: Ints) -> bool:
        return len(cells) * self.count >= WORTH_COMPILING and find_spec("numba") is not None

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
        if self._is_compiled(cells):
            from p2c._learn.model.tree_walks import add_up

            nodes = self.axis, self.test, self.left, self.right
            own = np.ascontiguousarray(cells, dtype=np.int64)
            return np.asarray(add_up(self.roots, nodes, self.goes_left, own, self.value))
        step = max(CHUNK // max(self.count, 1), 1)
        parts = [
            self.value[self.leaves_reached(cells[at : at + step])].sum(axis=1)
            for at in range(0, len(cells), step)
        ]
        return np.concatenate(parts) if parts else np.zeros((0, self.value.shape[1]))


def plant(
    trees: Sequence[Tree],
    columns: Callable[[int], NDArray[Any]],
    axis_of: Callable[[int], int | None],
    mix: Floats,
    sizes: Sequence[int],
) -> Trees:
    """Return trees over cells: `columns` gives a column's value in each cell of its axis, `mix` turns scores into margins."""
    return _Planter(columns, axis_of, mix, sizes).plant(trees)


class _Masks:
    """The distinct masks of the cells of one axis, by number; the first has every cell."""

    def __init__(self, size: int) -> None:
        self.size, self.whole = size, (1 << size) - 1
        self.numbers: dict[int, int] = {}
        self.add(self.whole)

    def add(self, mask: int) -> int:
        return self.numbers.setdefault(mask, len(self.numbers))

    def rows(self) -> Mask:
        """Return the masks as rows of cells."""
        width = (self.size + 7) // 8
        raw = b"".join(mask.to_bytes(width, "little") for mask in self.numbers)
        bytes_ = np.frombuffer(raw, dtype=np.uint8).reshape(len(self.numbers), width)
        bits = np.unpackbits(bytes_, axis=1, bitorder="little")
        return np.asarray(bits[:, : self.size], dtype=bool)


class _Planter:
    """Arrays of nodes and leaves as they grow; lives for one planting."""

    def __init__(
        self,
        columns: Callable[[int], NDArray[Any]],
        axis_of: Callable[[int], int | None],
        mix: Floats,
        sizes: Sequence[int],
    ) -> None:
        self.columns, self.axis_of, self.mix, self.sizes = columns, axis_of, mix, sizes
        self.nothing = np.zeros(mix.shape[1])
        self.masks = [_Masks(size) for size in sizes]
        self.axis: list[int] = []
        self.sent: list[int] = []
        """By node, the mask of the cells that it sends left."""
        self.left: list[int] = []
        self.right: list[int] = []
        self.value: list[Floats] = []
        self.leaf_values: list[Floats] = []
        self.leaf_masks: list[list[int]] = []
        self.depth = 0
        self.tests: dict[tuple[int, float, bool, bool], int] = {}
        """The cells that go left, by column, bound and side of missing values."""

    def plant(self, trees: Sequence[Tree]) -> Trees:
        roots, starts = [], [0]
        for tree in trees:
            roots.append(self._grow(tree, 0, {}, 0))
            starts.append(len(self.leaf_values))
        masks = tuple(each.rows() for each in self.masks)
        begins = np.cumsum([0, *(each.size for each in masks)])
        axis, width = _whole(self.axis), self.mix.shape[1]
        return Trees(
            roots=_whole(roots),
            axis=axis,
            test=begins[axis] + _whole(self.sent) * np.array([*self.sizes, 0])[axis],
            left=_whole(self.left),
            right=_whole(self.right),
            value=np.array(self.value).reshape(-1, width),
            goes_left=np.concatenate([np.zeros(0, dtype=bool), *map(np.ravel, masks)]),
            depth=self.depth,
            starts=_whole(starts),
            leaf_values=np.array(self.leaf_values).reshape(-1, width),
            leaf_masks=_whole(self.leaf_masks).reshape(len(self.leaf_masks), len(self.sizes)),
            masks=masks,
        )

    def _left(self, tree: Tree, node: int, column: int) -> int:
        """Return the cells of a column that a node sends left, as bits."""
        if node in tree.chosen:
            return _bits(tree.goes_left(node, self.columns(column)))
        key = column, tree.bound[node], tree.missing_left[node], tree.zero_is_missing
        if key not in self.tests:
            self.tests[key] = _bits(tree.goes_left(node, self.columns(column)))
        return self.tests[key]

    def _grow(self, tree: Tree, node: int, open_: dict[int, int], depth: int) -> int:
        """Add a node and all below it; a split that no cell takes both ways is left out."""
        column = int(tree.column[node])
        if column < 0:
            return self._leaf(tree, node, open_, depth)
        axis, left = self.axis_of(column), self._left(tree, node, column)
        if axis is None:
            return self._grow(
                tree, int((tree.left if left & 1 else tree.right)[node]), open_, depth
            )
        here = open_.get(axis, self.masks[axis].whole)
        if not here & left:
            return self._grow(tree, int(tree.right[node]), open_, depth)
        if not here & ~left:
            return self._grow(tree, int(tree.left[node]), open_, depth)
        place = self._node(axis, self.masks[axis].add(left), self.nothing)
        self.left[place] = self._grow(
            tree, int(tree.left[node]), {**open_, axis: here & left}, depth + 1
        )
        self.right[place] = self._grow(
            tree, int(tree.right[node]), {**open_, axis: here & ~left}, depth + 1
        )
        return place

    def _node(self, axis: int, sent: int, value: Floats) -> int:
        place = len(self.axis)
        self.axis.append(axis)
        self.sent.append(sent)
        self.left.append(place)
        self.right.append(place)
        self.value.append(value)
        return place

    def _leaf(self, tree: Tree, node: int, open_: dict[int, int], depth: int) -> int:
        value = tree.value[node] @ self.mix
        masks = [0] * len(self.sizes)
        for axis, mask in open_.items():
            masks[axis] = self.masks[axis].add(mask)
        self.leaf_values.append(value)
        self.leaf_masks.append(masks)
        self.depth = max(self.depth, depth)
        return self._node(0, 0, value)


def _bits(mask: Mask) -> int:
    return int.from_bytes(np.packbits(mask, bitorder="little").tobytes(), "little")


def _whole(numbers: Sequence[Any]) -> Ints:
    return np.array(numbers, dtype=np.int64)
