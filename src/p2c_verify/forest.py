"""Scores of a parsed model over sets of states, in exact arithmetic.

A model is a sum of parts and lines for each margin; a state is accepted where every margin reaches its threshold. Each part
(a tree or a table) is a list of leaves, of which exactly one matches a state. For each margin the leaves of a part are
sorted by value, the greatest first, and numbered as bits of one integer. The leaves that a set of states may reach are the
conjunction, over the axes, of one bit mask each; the greatest value of a part is its lowest bit, the least its highest.

The model itself rounds. A state is accepted for sure where every margin reaches its threshold by more than the model's
rounding, refused for sure where one margin misses it by more. Between the two the model's recorded answer decides.

Sound because each margin's range is the sum of the ranges of its parts and lines, so it contains the exact sum of every
state in the set, and the slack is at least the model's rounding on each of them. Values without a cell leave the score
open. A part whose leaves overlap or leave a gap is refused when it is read.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from itertools import accumulate
from operator import and_
from typing import Any, NamedTuple

from p2c_verify.problem import Problem, common_denominator
from p2c_verify.values import MAYBE, MISSING, NO, YES, Feature, Sets, Spans
from p2c_verify.values import exact, is_single, require

Key = tuple[object, ...]
"""A state as the model sees it: a cell per axis, or a value if undecided."""
Leaf = tuple[list[int], dict[int, int]]
"""The values of a leaf by margin, in units, and its tested cells as bits by axis."""


class Axis(NamedTuple):
    """The cells that a parsed model cuts a feature into."""

    feature: Feature
    size: int
    uppers: list[float] | None
    places: Mapping[str, int]
    missing: int | None
    whole: bool

    def cell(self, value: int) -> int | None:
        """Return the cell of a value, None where the parsed form has none."""
        if value == MISSING:
            return self.missing
        if self.uppers is None:
            return self.places.get(str(self.feature.labels[value]))
        if self.whole and value % self.feature.scale:
            return None
        return bisect_left(self.uppers, float(Fraction(value, self.feature.scale)))

    def cells(self, spans: Spans) -> int:
        """Return the cells of a value set as bits, 0 where a value may have none."""
        result, points = 0, self.feature.points
        steps = points[:2] if isinstance(points, range) else points
        for low, high in spans:
            first, last = self.cell(low), self.cell(high)
            uneven = self.whole and low < high and math.gcd(*steps) % self.feature.scale
            if first is None or last is None or uneven:
                return 0
            result |= (1 << (last + 1)) - (1 << first)
        return result


class Forest:
    """A parsed model, compiled for bounds over value sets."""

    def __init__(
        self, data: Mapping[str, Any], problem: Problem, answers: Mapping[Key, bool]
    ) -> None:
        self.answers, self.used = answers, set[Key]()
        """Recorded answers, and the answers on which the verification relied."""
        self.axes = [self._axis(problem.named[each["feature"]], each) for each in data["axes"]]
        self.lined = {each["axis"] for each in data["lines"]}
        labels = [self.axes[axis].feature.labels for axis in self.lined]
        require(not any(labels), "the model weighs a feature that is no number")
        keys = ("bias", "accepted_from", "refused_below", "lines", "parts")
        self.unit = problem.scale * common_denominator([data[key] for key in keys])
        self.margins = range(len(data["bias"]))
        self.bias, self.accepted_from, self.refused_below = (
            self._scaled(data[k]) for k in keys[:3]
        )
        self.lines = [(each["axis"], self._scaled(each["slope"])) for each in data["lines"]]
        self.parts = [[self._leaf(*leaf) for leaf in part] for part in data["parts"]]
        self.rounding = Fraction(data["rounding"])
        self.magnitude = Fraction(data["magnitude"]) * self.unit
        require(self.rounding >= 0 and self.magnitude >= 0, "the model's rounding is negative")
        self._cells: dict[tuple[int, Spans], int] = {}
        self._gone: dict[tuple[int, int, int], int] = {}
        self._layouts = [self._layout(margin) for margin in self.margins]
        self._values = [[leaf[0][m] for leaf in self._layouts[m][0]] for m in self.margins]
        starts = accumulate(map(len, self.parts), initial=0)
        self._segments = [
            (s, (1 << len(part)) - 1) for s, part in zip(starts, self.parts, strict=False)
        ]
        self._check_parts()

    @staticmethod
    def _axis(feature: Feature, data: Mapping[str, Any]) -> Axis:
        axis = Axis(feature, *(data[key] for key in Axis._fields[1:]))
        uppers = None if feature.labels else [float(each) for each in data["uppers"]]
        require(uppers == (uppers and sorted(uppers)), "the cells of a model do not ascend")
        return axis._replace(uppers=uppers)

    def _scaled(self, numbers: Any) -> list[int]:
        require(len(numbers) == len(self.margins), "the model lacks a value for a margin")
        return [exact(each, self.unit) for each in numbers]

    def _leaf(self, values: Any, tests: Any) -> Leaf:
        masks = {int(axis): 0 for axis, _ in tests}
        for axis, ranges in tests:
            for low, high in ranges:
                masks[axis] |= (1 << (high + 1)) - (1 << low)
            inside = axis >= 0 and 0 < masks[axis] < 1 << self.axes[axis].size
            require(inside and len(masks) == len(tests), "a leaf of the model is malformed")
        return self._scaled(values), masks

    def _layout(self, margin: int) -> tuple[list[Leaf], list[list[int]]]:
        """Return the leaves in the order of their bits, and the leaves by excluding cell.

        All parts of the model count; cells are by axis.
        """
        leaves: list[Leaf] = []
        gone = [[0] * axis.size for axis in self.axes]
        for part in self.parts:
            leaves += sorted(part, key=lambda leaf: -leaf[0][margin])
        for number, (_, masks) in enumerate(leaves):
            for axis, mask in masks.items():
                for cell in _bits(~mask & ((1 << self.axes[axis].size) - 1)):
                    gone[axis][cell] |= 1 << number
        return leaves, gone

    def _ruled_out(self, margin: int, cells: Iterable[tuple[int, int]]) -> int:
        """Return the leaves that no state of a product of cells reaches, as bits."""
        leaves = 0
        for axis, mask in cells:
            key = (margin, axis, mask)
            if key not in self._gone:
                table = self._layouts[margin][1][axis]
                self._gone[key] = reduce(and_, (table[cell] for cell in _bits(mask)))
            leaves |= self._gone[key]
        return leaves

    def _check_parts(self) -> None:
        """Refuse parts of which a state may match no leaf, or several."""
        for (offset, full), part in zip(self._segments, self.parts, strict=True):
            volume = Fraction(0)
            for number, (_, masks) in enumerate(self._layouts[0][0][offset : offset + len(part)]):
                alive = (~self._ruled_out(0, masks.items()) >> offset) & full
                require(alive == 1 << number, "leaves of a part of the model overlap")
                sizes = (self.axes[axis].size for axis in masks)
                cells = math.prod(mask.bit_count() for mask in masks.values())
                volume += Fraction(cells, math.prod(sizes))
            require(volume == 1, "the leaves of a part of the model leave a gap")

    def cells(self, sets: Sets) -> list[int]:
        """Return the cells of each axis as bits, 0 where a value may have none."""
        masks = []
        for place, axis in enumerate(self.axes):
            key = (place, sets[axis.feature.index])
            if key not in self._cells:
                self._cells[key] = axis.cells(key[1])
            masks.append(self._cells[key])
        return masks

    def range(self, margin: int, sets: Sets, cells: Sequence[int]) -> tuple[int, int]:
        """Return the least and greatest sum of a margin over a set of states, in units."""
        values = self._values[margin]
        alive, low, high = (
            ~self._ruled_out(margin, enumerate(cells)),
            self.bias[margin],
            self.bias[margin],
        )
        for offset, full in self._segments:
            leaves = (alive >> offset) & full
            high += values[offset + (leaves & -leaves).bit_length() - 1]
            low += values[offset + leaves.bit_length() - 1]
        for axis, slopes in self.lines:
            ends = self._ends(axis, sets, slopes[margin])
            low, high = low + min(ends), high + max(ends)
        return low, high

    def _ends(self, axis: int, sets: Sets, slope: int) -> list[int]:
        """Return the extreme contributions of a weighed feature; a missing value adds 0."""
        feature = self.axes[axis].feature
        ends = [value for span in sets[feature.index] for value in span]
        return [0 if end == MISSING else slope * end // feature.scale for end in ends]

    def slack(self, sets: Sets) -> Fraction:
        """Return the maximum rounding error of the model's own sum, in units."""
        size = self.magnitude
        for axis, slopes in self.lines:
            size += max(abs(end) for slope in slopes for end in self._ends(axis, sets, slope))
        return self.rounding * size

    def accepted(self, sets: Sets) -> int:
        """Return the truth of `accepted(X)` over a set of states."""
        cells, slack, truth = self.cells(sets), self.slack(sets), YES
        if 0 in cells:
            return self.recorded(sets, cells)
        for margin in self.margins:
            low, high = self.range(margin, sets, cells)
            if high < self.refused_below[margin] - slack:
                return NO
            if low < self.accepted_from[margin] + slack:
                truth = MAYBE
        return truth if truth == YES else self.recorded(sets, cells)

    def key(self, sets: Sets, cells: Sequence[int]) -> Key | None:
        """Return a single state as the model sees it, None where there are several."""
        key: list[object] = []
        for place, (axis, mask) in enumerate(zip(self.axes, cells, strict=True)):
            spans = sets[axis.feature.index]
            if mask.bit_count() == 1 and place not in self.lined:
                key.append(mask.bit_length() - 1)
            elif is_single(spans):
                key.append(f"={axis.feature.write(spans[0][0])}")
            else:
                return None
        return tuple(key)

    def recorded(self, sets: Sets, cells: Sequence[int]) -> int:
        """Return the recorded answer about a single state; MAYBE without one."""
        key = self.key(sets, cells)
        if key is None or key not in self.answers:
            return MAYBE
        self.used.add(key)
        return YES if self.answers[key] else NO


def _bits(mask: int) -> Iterator[int]:
    while mask:
        yield (mask & -mask).bit_length() - 1
        mask &= mask - 1
