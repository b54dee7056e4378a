"""The parts of a read model as leaves, so that a box of cells is bounded in a few strokes.

A tree is a group of leaves of which every row reaches one; so is a table, with a leaf for each of its entries. Within a box
each group gives at most the greatest of the leaves that some row of the box reaches, and the groups add up.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from p2c._learn.model.additive import AdditiveScore
    from p2c._learn.model.arrays import Floats, Ints, Mask


TINY = 1e-9
"""What share of the sizes of all values a bound is let off, for the order in which they are added."""
KEPT = 50_000
"""How many sets of cells are remembered with the leaves that they reach."""


@dataclass(frozen=True, eq=False)
class Leaves:
    """The leaves of a model: `values[leaf, margin]`, in groups that begin at `starts`, and which cells reach each of them."""

    bias: Floats
    values: Floats
    starts: Ints
    kinds: tuple[tuple[Mask, Ints], ...]
    """For each axis the distinct sets of cells that reach a leaf, and which of them each leaf has."""
    _known: list[dict[int, Mask]]

    @classmethod
    def of(cls, score: AdditiveScore) -> Leaves:
        """Return the leaves of a model without lines or curves."""
        own = score.trees.leaf_values
        entries = [each.values.reshape(-1, score.margins) for each in score.tables]
        begins = len(own) + np.cumsum([0, *map(len, entries)])[:-1]
        return cls(
            score.bias,
            np.concatenate([own.reshape(-1, score.margins), *entries]),
            np.concatenate([score.trees.starts[:-1], begins]).astype(np.int64),
            tuple(_kinds(score, place) for place in range(len(score.axes))),
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

    def open(self, place: int, cells: int) -> Mask:
        """Return the leaves that some of the cells of an axis reach; the cells are bits."""
        known = self._known[place]
        found = known.get(cells)
        if found is None:
            if len(known) > KEPT:
                known.clear()
            kinds, kind_of = self.kinds[place]
            columns = [cell for cell in range(kinds.shape[1]) if cells >> cell & 1]
            found = known[cells] = np.asarray(kinds[:, columns].any(axis=1))[kind_of]
        return found

    def most(self, boxes: Sequence[int]) -> Floats:
        """Return the greatest that each margin can be within a box, given as the open cells of each axis."""
        if not len(self.values):
            return self.bias
        return self._most(self._open(boxes))

    def least(self, boxes: Sequence[int]) -> Floats:
        """Return the least that each margin can be within a box."""
        if not len(self.values):
            return self.bias
        kept = np.where(self._open(boxes)[:, None], self.values, np.inf)
        total: Floats = np.minimum.reduceat(kept, self.starts, axis=0).sum(axis=0)
        return self.bias + total

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


def _kinds(score: AdditiveScore, place: int) -> tuple[Mask, Ints]:
    """Return the distinct sets of cells of an axis that reach leaves, and which of them each leaf has."""
    size, trees, tables = score.axes[place].size, score.trees, score.tables
    listed = any(place in table.axes for table in tables)
    joined = np.concatenate(
        [
            np.ones((1, size), dtype=bool),
            *(trees.masks[place : place + 1] if trees.count else ()),
            np.eye(size if listed else 0, size, dtype=bool),
        ]
    )
    kind_of = [trees.leaf_masks[:, place] + 1] if trees.count else []
    for table in tables:
        cells = np.indices(table.values.shape[:-1]).reshape(len(table.axes), -1)
        entry = len(joined) - size + cells[table.axes.index(place)] if place in table.axes else None
        kind_of.append(np.zeros(cells.shape[1], np.int64) if entry is None else entry)
    used, own = np.unique(np.concatenate([np.zeros(0, np.int64), *kind_of]), return_inverse=True)
    packed = np.packbits(joined[used], axis=1)
    _, first, again = np.unique(packed, axis=0, return_index=True, return_inverse=True)
    return np.ascontiguousarray(joined[used[first]]), again.reshape(-1)[own]
