"""Whether a model accepts anybody in a box of cells: each group of leaves votes for the cells of the best leaf within its reach.

The best leaves together bound what the model gives in the box. Where they agree on a cell of every axis that bound is attained;
where they do not, the cells with most votes are tried, and the box is split where the votes differ most, so that either part loses
much of its bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from p2c._learn.model.leaves import firsts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from p2c._learn.model.arrays import Floats, Ints, Mask
    from p2c._learn.model.leaves import Leaves

Boxes = tuple[int, ...]
"""For each axis the open cells, as bits."""

LOOKED_AT = 4
"""How many axes are looked at for where to split a box."""


class _Best(NamedTuple):
    """The best of some leaves, by group."""

    gap: float
    """How far above the border they come together, for the margin for which that is least."""
    margin: int
    first: Ints
    """Where each group begins."""
    values: Floats


class _Part(NamedTuple):
    """A box with the leaves within its reach."""

    boxes: Boxes
    leaves: Ints
    best: _Best


@dataclass(frozen=True, eq=False)
class Votes:
    """The leaves of a model, and the margins below which it surely refuses."""

    leaves: Leaves
    below: Floats

    @cached_property
    def _border(self) -> Floats:
        return self.leaves.border(self.below)

    @cached_property
    def _kinds(self) -> list[Floats]:
        """Return for each axis the distinct sets of cells that reach a leaf, one a row."""
        return [kinds.astype(np.float64) for kinds, _ in self.leaves.kinds]

    @cached_property
    def _numbered(self) -> tuple[Ints, Ints]:
        """Return where the kinds of each axis begin, numbered through, and the kind of each leaf on each axis."""
        begins = np.cumsum([0, *(len(kinds) for kinds in self._kinds)])
        kinds = [kind_of + begins[place] for place, (_, kind_of) in enumerate(self.leaves.kinds)]
        return begins, np.stack(kinds, axis=1)

    def accepted(
        self, boxes: Boxes, accepts: Callable[[Boxes], bool], tick: Callable[[], None]
    ) -> tuple[int, ...] | None:
        """Return a point of a box that is accepted, None where there is none; `tick` is called for each box looked at."""
        if not len(self.leaves.values):
            cells = tuple((each & -each).bit_length() - 1 for each in boxes)
            return cells if accepts(cells) else None
        within = np.ones(len(self.leaves.values), dtype=bool)
        for place, open_ in enumerate(boxes):
            within &= self.leaves.open(place, open_)
        start = np.flatnonzero(within)
        best = self._best(start)
        waiting = [_Part(boxes, start, best)] if best.gap >= 0 else []
        while waiting:
            tick()
            part = waiting.pop()
            ballot = self._ballot(part)
            if accepts(ballot.point):
                return ballot.point
            waiting += sorted(self._parts(part, ballot), key=lambda each: each.best.gap)
        return None

    def _best(self, leaves: Ints) -> _Best:
        first = firsts(self.leaves.group[leaves])
        best = np.maximum.reduceat(self.leaves.values[leaves], first, axis=0)
        gaps = best.sum(axis=0) - self._border
        margin = int(gaps.argmin())
        return _Best(float(gaps[margin]), margin, first, best[:, margin])

    def _ballot(self, part: _Part) -> _Ballot:
        _, margin, first, best = part.best
        values = self.leaves.values[part.leaves, margin]
        voters = np.diff(first, append=len(values))
        spread = best - np.minimum.reduceat(values, first)
        chosen = np.flatnonzero(values == np.repeat(best, voters))
        begins, kinds = self._numbered
        weights = np.repeat(spread, voters)[chosen]
        by_kind = np.bincount(
            kinds[part.leaves[chosen]].ravel(), np.repeat(weights, kinds.shape[1]), begins[-1]
        )
        return _Ballot(self._kinds, begins, by_kind, float(weights.sum()), part.boxes)

    def _parts(self, part: _Part, ballot: _Ballot) -> Iterator[_Part]:
        """Yield those of the two parts of a box in which somebody may be accepted."""
        split = ballot.split()
        if split is None:
            return
        place, cells = split
        for some in (cells, part.boxes[place] & ~cells):
            kept = part.leaves[self.leaves.open(place, some)[part.leaves]]
            best = self._best(kept)
            if best.gap >= 0:
                yield _Part((*part.boxes[:place], some, *part.boxes[place + 1 :]), kept, best)


class _Ballot:
    """The votes in one box: for each kind of cells, how much is lost outside of it."""

    def __init__(
        self,
        kinds: Sequence[Floats],
        begins: Ints,
        by_kind: NDArray[Any],
        total: float,
        boxes: Boxes,
    ) -> None:
        self._kinds, self._begins, self._by_kind, self._boxes = kinds, begins, by_kind, boxes
        self._open = [
            _as_mask(each, rows.shape[1]) for rows, each in zip(kinds, boxes, strict=True)
        ]
        votes = [
            np.where(open_, self._of(place) @ kinds[place], -1.0)
            for place, open_ in enumerate(self._open)
        ]
        self.point = tuple(int(each.argmax()) for each in votes)
        self._lost = [total - float(each.max()) for each in votes]

    def _of(self, place: int) -> NDArray[Any]:
        return self._by_kind[self._begins[place] : self._begins[place + 1]]

    def split(self) -> tuple[int, int] | None:
        """Return an axis and some of its open cells, such that the votes for these and for the others weigh most; None for a point."""
        wide = [place for place, each in enumerate(self._boxes) if each & (each - 1)]
        if not wide:
            return None
        looked = sorted(wide, key=lambda place: -self._lost[place])[:LOOKED_AT]
        _, place, cells = max((self._cut(place) for place in looked), key=lambda each: each[0])
        return place, cells

    def _cut(self, place: int) -> tuple[float, int, int]:
        """Return the kind of an axis that parts the votes best, with what either part loses at least."""
        weights = self._of(place)
        used = np.flatnonzero(weights)
        rows = self._kinds[place][used] * self._open[place]
        sizes = rows.sum(axis=1)
        shared = rows @ rows.T
        apart, inside = (shared == 0) @ weights[used], (shared == sizes) @ weights[used]
        worth = np.where(sizes < self._open[place].sum(), np.minimum(apart, inside), -1.0)
        best = int(worth.argmax()) if len(used) else -1
        if best < 0 or worth[best] < 0:
            return -1.0, place, 1 << self.point[place]
        return float(worth[best]), place, _as_bits(rows[best] > 0)


def _as_mask(cells: int, size: int) -> Mask:
    raw = np.frombuffer(cells.to_bytes((size + 7) // 8, "little"), dtype=np.uint8)
    return np.unpackbits(raw, count=size, bitorder="little").astype(bool)


def _as_bits(mask: Mask) -> int:
    return int.from_bytes(np.packbits(mask, bitorder="little").tobytes(), "little")
