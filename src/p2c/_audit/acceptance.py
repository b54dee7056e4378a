"""Whether a model accepts anybody in a box of cells, remembering what was found before.

Asked for many people, most answers follow from earlier ones: a box that holds a point known to be accepted, or that lies in
one known to be refused throughout. Of a box that such ones hold in part, only the rest is looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from p2c._learn.model.read_model import ReadModel
    from p2c._plan.search.best_first import Limits
    from p2c._rules.theory import Classifier
    from p2c._spec.row import State

    Boxes = tuple[int, ...]
    Codes = np.ndarray[Any, np.dtype[np.int64]]
    Words = np.ndarray[Any, np.dtype[np.uint64]]

WORD = 64


def as_read(model: Classifier | None) -> ReadModel | None:
    """Return a model that was read; None for rules, which need nothing of what reading models needs, and for one that is asked."""
    if model is None:
        return None
    from p2c._learn.model.read_model import ReadModel

    return model if isinstance(model, ReadModel) else None


@dataclass
class Known:
    """Boxes that were found out, a bit for each cell, so that a new one is held against all of them at once."""

    axis_of: Codes
    """The axis of each word of bits."""
    count: int = 0

    def __post_init__(self) -> None:
        self._rows: Words = np.zeros((0, len(self.axis_of)), dtype=np.uint64)

    @property
    def rows(self) -> Words:
        """Return the boxes in the order in which they were added."""
        return self._rows[: self.count]

    def add(self, box: Words) -> None:
        """Keep a box in the place of those that it holds."""
        kept = self.rows[((self.rows & ~box) != 0).any(axis=1)]
        if self.count == len(self._rows):
            self._rows = np.zeros((2 * self.count + 16, len(box)), dtype=np.uint64)
        self._rows[: len(kept)] = kept
        self._rows[len(kept)] = box
        self.count = len(kept) + 1

    def some_inside(self, box: Words) -> bool:
        """Tell whether one of them lies in a box."""
        return bool(((self.rows & ~box) == 0).all(axis=1).any())

    def rest(self, box: Words) -> Words | None:
        """Return a box with all of another one that is in none of the known ones; None where all of it is in them."""
        starts = np.flatnonzero(np.diff(self.axis_of, prepend=-1))
        while self.count:
            axes = np.logical_or.reduceat((box & ~self.rows) != 0, starts, axis=1)
            beyond = axes.sum(axis=1)
            if not beyond.min():
                return None
            # One that holds the box but for a single axis takes away what it has there.
            nearly = np.flatnonzero(beyond == 1)
            there = np.where(axes[nearly][:, self.axis_of], self.rows[nearly], np.uint64(0))
            narrower = box & ~np.bitwise_or.reduce(there, axis=0)
            if (narrower == box).all():
                break
            box = narrower
        return box


@dataclass
class Acceptance:
    """What a model accepts, asked box by box; a box is for each feature that the model reads the open cells, as bits."""

    judge: ReadModel
    state: Callable[[tuple[int, ...]], State]
    """Returns a state with given cells, for where the model itself has to be asked."""

    @cached_property
    def _words(self) -> list[int]:
        """Return how many words of bits each axis takes."""
        return [-(-axis.size // WORD) for axis in self.judge.score.axes]

    @cached_property
    def _refused(self) -> Known:
        return Known(np.repeat(np.arange(len(self._words)), self._words))

    @cached_property
    def _accepted(self) -> Known:
        return Known(self._refused.axis_of)

    def _packed(self, boxes: Boxes) -> Words:
        pairs = zip(boxes, self._words, strict=True)
        return np.frombuffer(b"".join(c.to_bytes(8 * n, "little") for c, n in pairs), dtype="<u8")

    def _unpacked(self, box: Words) -> Boxes:
        text, ends = box.astype("<u8").tobytes(), list(accumulate(self._words, initial=0))
        return tuple(int.from_bytes(text[8 * a : 8 * b], "little") for a, b in pairwise(ends))

    def some(self, boxes: Boxes, limits: Limits) -> bool:
        """Tell whether the model accepts anybody in a box; raise `LimitReached` where time ends."""
        whole = self._packed(boxes)
        if self._accepted.some_inside(whole):
            return True
        rest = self._refused.rest(whole)
        if rest is None:
            return False
        found = self._search(self._unpacked(rest), limits)
        if found is None:
            self._refused.add(whole)
        else:
            self._accepted.add(self._packed(tuple(1 << each for each in found)))
        return found is not None

    def _search(self, boxes: Boxes, limits: Limits) -> tuple[int, ...] | None:
        def accepts(cells: tuple[int, ...]) -> bool:
            return self.judge.accepts_cells(cells, partial(self.state, cells))

        return self.judge.votes.accepted(boxes, accepts, limits.check)
