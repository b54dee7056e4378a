"""The cheapest cells that a read model may accept, one point after the other, by the compiled search over boxes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from p2c._learn.model.affordable import Forest, Spans, afford, opening
from p2c._learn.model.box_kernel import FULL, POINT, Boxes, advance, least_sum
from p2c._learn.model.compiled import NEVER
from p2c._learn.model.leaves import Leaves

if TYPE_CHECKING:
    from collections.abc import Sequence

    from p2c._learn.model.arrays import Floats, Ints


ROOM = 64
"""For how many boxes there is room at first."""
WIDER = 2
"""How many times the least sum that may be enough is looked at first, and how many times more after that."""


def forest_of(leaves: Leaves) -> Forest:
    """Return the leaves of a model as the compiled search reads them."""
    widest = max((cells.shape[1] for cells, _ in leaves.kinds), default=1)
    demands, reached = [0], [np.zeros((0, widest), dtype=bool)]
    numbers = np.full((len(leaves.values), len(leaves.kinds)), -1)
    for place, (cells, kind_of) in enumerate(leaves.kinds):
        told = np.flatnonzero(~cells.all(axis=1))
        renamed = np.full(len(cells), -1)
        renamed[told] = demands[-1] + np.arange(len(told))
        numbers[:, place] = renamed[kind_of]
        demands.append(demands[-1] + len(told))
        reached.append(np.pad(cells[told], ((0, 0), (0, widest - cells.shape[1]))))
    asked = numbers >= 0
    return Forest(
        np.ascontiguousarray(leaves.values.T),
        leaves.group,
        np.append(0, asked.sum(axis=1).cumsum()).astype(np.int64),
        numbers[asked].astype(np.int64),
        np.array(demands),
        np.repeat(np.arange(len(demands) - 1), np.diff(demands)),
        np.concatenate(reached),
    )


def compile_search() -> None:
    """Compile the search with a model of one leaf and an accepted person of one cell."""
    own = np.zeros(1, dtype=np.int64)
    kinds = ((np.ones((1, 1), dtype=bool), own),)
    leaf = Leaves(np.zeros(1), np.zeros((1, 1)), own, kinds, [{}])
    CheapestCells(forest_of(leaf), [own], [own], np.full(1, -np.inf)).advance(1)


class CheapestCells:
    """One person's search among the cells that are open to them in each feature, cheapest first.

    Nobody looks at cells and leaves that cost more than some limit, until nothing is found below it.
    """

    def __init__(
        self, forest: Forest, cells: Sequence[Ints], costs: Sequence[Ints], border: Floats
    ) -> None:
        self._forest, self._border = forest, border
        begin = np.array([0, *map(len, cells)]).cumsum()
        self._spans = Spans(begin, np.concatenate(cells), np.concatenate(costs))
        self._dearest = sum(int(each[-1]) for each in costs)
        self._prices = opening(forest, self._spans)
        self._point = np.empty(len(cells), dtype=np.int64)
        self._split = 0
        least = least_sum(self._prices, forest.values, forest.group, border, 0)
        self._least = None if least >= NEVER else int(least)
        self._boxes: Boxes | None = None

    def _open(self, start: int) -> Boxes:
        """Begin with all points that cost at least so much, and at most a few times as much."""
        features = len(self._point)
        self._limit = WIDER * max(start, 1)
        border = self._border.copy()
        self._way = afford(self._forest, self._spans, self._prices, border, self._limit)
        boxes = _room(ROOM, features)
        table, heap, free, counts = boxes
        table[0] = [0] * features + [*self._way.counts, 0, 0]
        heap[0] = start, 0
        free[:-1] = np.arange(ROOM - 1, 0, -1)
        counts[:] = 1, ROOM - 1, 0
        return boxes

    @property
    def bound(self) -> int | None:
        """Return what every point that is still to come costs at least; None where none comes."""
        if self._boxes is None:
            return self._least
        if self._boxes.counts[0]:
            return int(self._boxes.heap[0, 0])
        return self._limit + 1 if self._limit < self._dearest else None

    @property
    def split(self) -> int:
        """Return how many boxes were split so far."""
        return self._split + (0 if self._boxes is None else int(self._boxes.counts[2]))

    def advance(self, most: int) -> list[int] | None:
        """Return the next point, as a place in the order of costs for each feature; None where so many boxes have told none."""
        start = self.bound
        if start is None:
            return None
        boxes = self._boxes
        if boxes is None or not boxes.counts[0]:
            self._split = self.split
            boxes = self._open(start)
        outcome = advance(self._way, boxes, self._point, most, self._limit)
        while outcome == FULL:
            boxes = _wider(boxes)
            outcome = advance(self._way, boxes, self._point, most, self._limit)
        self._boxes = boxes
        return self._point.tolist() if outcome == POINT else None


def _room(count: int, features: int) -> Boxes:
    return Boxes(
        np.empty((count, 2 * features + 2), dtype=np.int64),
        np.empty((count, 2), dtype=np.int64),
        np.empty(count, dtype=np.int64),
        np.zeros(3, dtype=np.int64),
    )


def _wider(boxes: Boxes) -> Boxes:
    """Return the same boxes with twice the room."""
    count, width = boxes.table.shape
    wider = _room(2 * count, width // 2 - 1)
    for old, new in zip(boxes[:3], wider[:3], strict=True):
        new[:count] = old
    free = int(boxes.counts[1])
    wider.free[free : free + count] = np.arange(2 * count - 1, count - 1, -1)
    wider.counts[:] = boxes.counts
    wider.counts[1] += count
    return wider
