"""Whether a model accepts anybody in a box of cells: by bounds on halves of it, remembering what was found before.

Asked for many people, most answers follow from earlier ones: a box that holds a point known to be accepted, or that lies in
one known to be refused throughout.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from p2c.plan.compiled.bitsets import numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from p2c.domain.row import State
    from p2c.learn.model.read_model import ReadModel
    from p2c.plan.search.best_first import Limits
    from p2c.rules.theory import DecidingModel

    Boxes = tuple[int, ...]
    Points = np.ndarray[Any, np.dtype[np.int64]]


def as_read(model: DecidingModel | None) -> ReadModel | None:
    """Return a model that was read; None for rules, which need nothing of what reading models needs, and for one that is asked."""
    if model is None:
        return None
    from p2c.learn.model.read_model import ReadModel

    return model if isinstance(model, ReadModel) else None


@dataclass
class Acceptance:
    """What a model accepts, asked box by box; a box is for each feature that the model reads the open cells, as bits."""

    judge: ReadModel
    state: Callable[[tuple[int, ...]], State]
    """Returns a state with given cells, for where the model itself has to be asked."""
    _refused: list[Boxes] = field(default_factory=list)
    _accepted: list[tuple[int, ...]] = field(default_factory=list)
    _points: Points | None = None

    def some(self, boxes: Boxes, limits: Limits) -> bool:
        """Tell whether the model accepts anybody in a box; raise `LimitReached` where time ends."""
        return self.point(boxes, limits) is not None

    def point(self, boxes: Boxes, limits: Limits) -> tuple[int, ...] | None:
        """Return the cells of somebody in a box whom the model accepts; None where there is nobody."""
        known = self._known(boxes)
        if known is not None or any(_inside(boxes, other) for other in self._refused):
            return known
        found = self._search(boxes, limits)
        if found is None:
            self._refused.append(boxes)
        else:
            self._accepted.append(found)
        return found

    def forcing(self, own: tuple[int, ...], every: Boxes, limits: Limits) -> tuple[int, ...] | None:
        """Return the fewest features whose cells force the refusal whatever the others are; None for whom it accepts.

        Every accepted point differs in some features, of which the set must hold one; the smallest set that holds one of
        each is tried next, until no accepted point is left.
        """
        corrections: list[frozenset[int]] = []
        while True:
            held = _smallest_hitting(corrections)
            boxes = tuple(1 << own[n] if n in held else every[n] for n in range(len(own)))
            point = self.point(boxes, limits)
            if point is None:
                return held
            other = frozenset(n for n, cell in enumerate(point) if cell != own[n])
            if not other:
                return None
            corrections.append(other)

    def _known(self, boxes: Boxes) -> tuple[int, ...] | None:
        """Return a point of a box that is known to be accepted, if there is one."""
        if not self._accepted:
            return None
        if self._points is None or len(self._points) < len(self._accepted):
            self._points = np.array(self._accepted, dtype=np.int64)
        inside = np.ones(len(self._points), dtype=bool)
        for place, cells in enumerate(boxes):
            column = self._points[:, place]
            wide = np.zeros(int(max(column.max() + 1, cells.bit_length())), dtype=bool)
            wide[list(numbers(cells))] = True
            inside &= wide[column]
        return self._accepted[int(inside.argmax())] if inside.any() else None

    def _search(self, boxes: Boxes, limits: Limits) -> tuple[int, ...] | None:
        """Return an accepted point of a box, the halves that promise most first; None where there is none."""
        if self.judge.surely_refuses(boxes):
            return None
        waiting = [boxes]
        while waiting:
            limits.check()
            box = waiting.pop()
            halves = _halves(box)
            if not halves:
                single = tuple(each.bit_length() - 1 for each in box)
                if self.judge.accepts_cells(single, partial(self.state, single)):
                    return single
                continue
            gaps = self.judge.gaps(box, [each for pair in halves for each in pair])
            pairs = list(zip(gaps[::2], gaps[1::2], strict=True))
            best = min(range(len(halves)), key=lambda n: (min(pairs[n]), max(pairs[n])))
            ordered = sorted(zip(pairs[best], halves[best], strict=True))
            for gap, (place, cells) in ordered:
                if gap >= 0:
                    waiting.append((*box[:place], cells, *box[place + 1 :]))
        return None


def _halves(box: Sequence[int]) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return for each axis with several open cells the two halves of these."""
    found = []
    for place, cells in enumerate(box):
        if cells & (cells - 1):
            listed = list(numbers(cells))
            low = sum(1 << each for each in listed[: len(listed) // 2])
            found.append(((place, low), (place, cells & ~low)))
    return found


def _inside(boxes: Boxes, other: Boxes) -> bool:
    return all(not mine & ~theirs for mine, theirs in zip(boxes, other, strict=True))


def _smallest_hitting(sets: Sequence[frozenset[int]]) -> tuple[int, ...]:
    """Return the first smallest set of numbers that holds one of each of some sets."""
    some = sorted(frozenset().union(*sets))
    for size in range(len(some) + 1):
        for chosen in combinations(some, size):
            if all(each.intersection(chosen) for each in sets):
                return chosen
    raise AssertionError("all numbers together hold one of each")
