"""The parts of a read model as leaves, so that a box of cells is bounded in a few strokes.

A tree is a group of leaves of which every row reaches one; so is a table, with a leaf for each of its entries. Within a box
each group gives at most the greatest of the leaves that some row of the box reaches, and the groups add up.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from p2c.learn.model.additive import AdditiveScore, Table
    from p2c.learn.model.arrays import Floats, Ints, Mask


TINY = 1e-9
"""What share of the sizes of all values a bound is let off, for the order in which they are added."""
KEPT = 50_000
"""How many sets of cells are remembered with the leaves that they reach."""


@dataclass(frozen=True, eq=False)
class Leaves:
    """The leaves of a model: `values[leaf, margin]`, in groups that begin at `starts`, and which cells reach each of them."""

    bias: Floats
    values: Floats
    starts: NDArray[np.int64]
    reached: tuple[Mask, ...]
    """For each axis, by cell and leaf."""
    _known: list[dict[int, Mask]] = field(default_factory=list)

    @classmethod
    def of(cls, score: AdditiveScore) -> Leaves:
        """Return the leaves of a model without lines or curves."""
        trees = score.trees
        values, starts = [trees.leaf_values], [trees.starts[:-1]]
        reached = [[_of_trees(score, place)] for place in range(len(score.axes))]
        count = len(trees.leaf_values)
        for table in score.tables:
            flat = table.values.reshape(-1, table.values.shape[-1])
            values.append(flat)
            starts.append(np.array([count]))
            count += len(flat)
            for place, rows in enumerate(reached):
                rows.append(_entries(table, place, score.axes[place].size))
        joined = np.concatenate(
            [each for each in values if len(each)] or [np.zeros((0, score.margins))]
        )
        return cls(
            score.bias,
            joined,
            np.concatenate(starts).astype(np.int64),
            tuple(np.concatenate(rows, axis=1) for rows in reached),
            [{} for _ in score.axes],
        )

    @cached_property
    def size(self) -> float:
        """Return the sum over the groups of the greatest size of a value."""
        if not len(self.values):
            return 0.0
        return float(np.maximum.reduceat(np.abs(self.values).max(axis=1), self.starts).sum())

    @cached_property
    def group(self) -> Ints:
        """Return the group of each leaf."""
        sizes = np.diff(self.starts, append=len(self.values))
        return np.repeat(np.arange(len(sizes)), sizes)

    def border(self, below: Floats) -> Floats:
        """Return what the leaves must come to for margins not to be below, a little less to be sure."""
        return np.asarray(below - self.bias - TINY * self.size)

    @cached_property
    def kinds(self) -> tuple[tuple[Mask, NDArray[np.int64]], ...]:
        """Return for each axis the distinct sets of cells that reach a leaf, and which of them each leaf has."""
        found = []
        for reached in self.reached:
            packed = np.packbits(reached, axis=0).T
            _, first, kind_of = np.unique(packed, axis=0, return_index=True, return_inverse=True)
            found.append((np.ascontiguousarray(reached[:, first].T), kind_of.reshape(-1)))
        return tuple(found)

    def open(self, place: int, cells: int) -> Mask:
        """Return the leaves that some of the cells of an axis reach; the cells are bits."""
        known = self._known[place]
        found = known.get(cells)
        if found is None:
            if len(known) > KEPT:
                known.clear()
            rows = [cell for cell in range(self.reached[place].shape[0]) if cells >> cell & 1]
            found = known[cells] = np.asarray(self.reached[place][rows].any(axis=0), dtype=bool)
        return found

    def most(self, boxes: Sequence[int]) -> Floats:
        """Return the greatest that each margin can be within a box, given as the open cells of each axis."""
        if not len(self.values):
            return self.bias
        return self._most(self._open(boxes))

    def _open(self, boxes: Sequence[int]) -> Mask:
        found = self.open(0, boxes[0])
        for place in range(1, len(boxes)):
            found = found & self.open(place, boxes[place])
        return found

    def _most(self, open_leaves: Mask) -> Floats:
        kept = np.where(open_leaves[:, None], self.values, -np.inf)
        total: Floats = np.maximum.reduceat(kept, self.starts, axis=0).sum(axis=0)
        return self.bias + total

    def most_with(self, boxes: Sequence[int], narrowed: Sequence[tuple[int, int]]) -> Floats:
        """Return the greatest that each margin can be in several boxes that each differ from one in a single axis, given with its cells."""
        rest = _others([self.open(place, cells) for place, cells in enumerate(boxes)])
        kept = np.stack([rest[place] & self.open(place, cells) for place, cells in narrowed])
        values = np.where(kept[:, :, None], self.values[None], -np.inf)
        total: Floats = np.maximum.reduceat(values, self.starts, axis=1).sum(axis=1)
        return self.bias + total

    def score(self, cells: Sequence[int]) -> Floats:
        """Return the margins of one row of cells."""
        if not len(self.values):
            return self.bias
        return self._most(self._open([1 << cell for cell in cells]))


def firsts(group: Ints) -> Ints:
    """Return where each of some groups, which stand one after the other, begins."""
    changed = np.empty(len(group), dtype=bool)
    changed[:1] = True
    np.not_equal(group[1:], group[:-1], out=changed[1:])
    return np.flatnonzero(changed)


def _others(masks: list[Mask]) -> list[Mask]:
    """Return for each of some masks the and of all others."""
    before, after = [np.ones_like(masks[0])], [np.ones_like(masks[0])]
    for mask in masks[:-1]:
        before.append(before[-1] & mask)
    for mask in masks[:0:-1]:
        after.append(after[-1] & mask)
    return [one & other for one, other in zip(before, after[::-1], strict=True)]


def _of_trees(score: AdditiveScore, place: int) -> Mask:
    """Return which cells of an axis reach which leaves of the trees, by cell and leaf."""
    size, trees = score.axes[place].size, score.trees
    if not trees.count:
        return np.zeros((size, 0), dtype=bool)
    return np.ascontiguousarray(trees.masks[place][trees.leaf_masks[:, place]].T)


def _entries(table: Table, place: int, size: int) -> Mask:
    """Return which cells of an axis reach which entries of a table."""
    shape = table.values.shape[:-1]
    if place not in table.axes:
        return np.ones((size, int(np.prod(shape))), dtype=bool)
    numbers = np.indices(shape)[table.axes.index(place)].reshape(-1)
    return np.asarray(np.arange(size)[:, None] == numbers[None, :])
