"""Scores of a parsed model over sets of states, in exact arithmetic.

A model is a sum of parts, lines and curves for each margin; a state is accepted where every margin reaches its threshold.
Each part is a decision tree, whose forks divide the cells of an axis, so every state reaches one leaf.

The model itself rounds. A state is accepted for sure where every margin reaches its threshold by more than the model's
rounding, refused for sure where one margin misses it by more. Between the two the model's recorded answer decides. A curve
is a monotone transform of a number, known by recorded points.

Sound because each margin's range is the sum of the ranges of its parts, lines and curves, so it contains the exact sum of
every state in the set, and the slack is at least the model's rounding on each of them. Values without a cell, and curves
without a recorded point at an end of a span, leave the score open.
"""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from itertools import chain
from operator import or_
from typing import Any, NamedTuple

from p2c_verify.problem import Problem, common_denominator
from p2c_verify.values import MAYBE, MISSING, NO, YES, Feature, Sets, Spans
from p2c_verify.values import exact, is_single, require

Key = tuple[object, ...]
"""A state as the model sees it: a cell per axis, or a value if undecided."""
Number = int | Fraction
Margins = tuple[int, ...]
"""A sum for each margin, in units."""


LARGEST = Fraction(sys.float_info.max)


def bits(ranges: Iterable[tuple[int, int]]) -> int:
    """Return ranges of cells as the bits of one integer."""
    return reduce(or_, ((2 << high) - (1 << low) for low, high in ranges), 0)


class Records(NamedTuple):
    """Recorded answers of the model, and points of its curves by line and value."""

    answers: dict[Key, bool]
    points: dict[tuple[int, int], list[Fraction]]


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
        number = max(min(Fraction(value, self.feature.scale), LARGEST), -LARGEST)
        return bisect_left(self.uppers, float(number))

    def cells(self, spans: Spans) -> int:
        """Return the cells of a value set as bits, 0 where a value may have none."""
        ranges = []
        for low, high in spans:
            first, last = self.cell(low), self.cell(high)
            uneven = self.whole and low < high and not self.feature.is_whole
            if first is None or last is None or uneven:
                return 0
            ranges.append((first, last))
        return bits(ranges)


class Fork(NamedTuple):
    """A fork of a tree at the cells of an axis: two branches, with the cells of each.

    The cells are bits, and those that forks above send elsewhere are left out.
    """

    axis: int
    branches: list[tuple[int, Fork | Margins]]


class Part:
    """A tree of a model, the axes of its forks, and the ranges that are known."""

    def __init__(self, tree: Fork | Margins, axes: Iterable[int]) -> None:
        self.tree, self.axes = tree, tuple(axes)
        self._known: dict[tuple[int, ...], tuple[Margins, Margins]] = {}

    def range(self, cells: Sequence[int]) -> tuple[Margins, Margins]:
        """Return the least and greatest value of each margin over a product of cells."""
        key = tuple([cells[axis] for axis in self.axes])
        if key not in self._known:
            self._known[key] = self._range(self.tree, cells)
        return self._known[key]

    def _range(self, tree: Fork | Margins, cells: Sequence[int]) -> tuple[Margins, Margins]:
        if not isinstance(tree, Fork):
            return tree, tree
        own = cells[tree.axis]
        ranges = [self._range(branch, cells) for some, branch in tree.branches if own & some]
        if len(ranges) == 1:
            return ranges[0]
        (low, high), (other_low, other_high) = ranges
        return tuple(map(min, low, other_low)), tuple(map(max, high, other_high))


class Forest:
    """A parsed model, compiled for bounds over value sets."""

    def __init__(self, data: Mapping[str, Any], problem: Problem, records: Records) -> None:
        self.records, self.used, self.seen = records, set[Key](), set[tuple[int, int]]()
        """The records of the model, and the answers and points that were relied on."""
        self.axes = [self._axis(problem.named[each["feature"]], each) for each in data["axes"]]
        self.lined = {each["axis"] for each in data["lines"]}
        labels = [self.axes[axis].feature.labels for axis in self.lined]
        require(not any(labels), "the model weighs a feature that is no number")
        keys = ("bias", "accepted_from", "refused_below", "lines", "parts")
        self.unit = problem.scale * common_denominator([data[key] for key in keys])
        self.margins = range(len(data["bias"]))
        ends = (self._scaled(data[key]) for key in keys[:3])
        self.bias, self.accepted_from, self.refused_below = ends
        slopes = (each["slope"] for each in data["lines"])
        slopes = (None if each is None else self._scaled(each) for each in slopes)
        self.lines = list(zip((each["axis"] for each in data["lines"]), slopes, strict=True))
        self.rounding = Fraction(data["rounding"])
        self.magnitude = Fraction(data["magnitude"]) * self.unit
        require(self.rounding >= 0 and self.magnitude >= 0, "the model's rounding is negative")
        self._cells: dict[tuple[int, Spans], int] = {}
        self.parts = list(map(self._part, data["parts"]))
        self._check_points()

    @staticmethod
    def _axis(feature: Feature, data: Mapping[str, Any]) -> Axis:
        axis = Axis(feature, *(data[key] for key in Axis._fields[1:]))
        uppers = None if feature.labels else [float(each) for each in data["uppers"]]
        require(uppers == (uppers and sorted(uppers)), "the cells of a model do not ascend")
        cells = [*axis.places.values(), *([] if axis.missing is None else [axis.missing])]
        cells.append(len(uppers or ()))
        inside = all(type(each) is int and 0 <= each < axis.size for each in cells)
        require(inside, "a cell of the model lies outside its axis")
        return axis._replace(uppers=uppers)

    def _scaled(self, numbers: Any) -> Margins:
        require(len(numbers) == len(self.margins), "the model lacks a value for a margin")
        return tuple([exact(each, self.unit) for each in numbers])

    def _part(self, data: Any) -> Part:
        axes = set[int]()
        return Part(self._tree(data, {}, axes), axes)

    def _tree(self, data: Any, open_: Mapping[int, int], axes: set[int]) -> Fork | Margins:
        """Return a tree from its JSON, and add its axes to its part's."""
        match data:
            case [int() as axis, list() as ranges, *branches] if len(branches) == 2:
                require(0 <= axis < len(self.axes), "a fork of the model is malformed")
                axes.add(axis)
                here = open_.get(axis, (1 << self.axes[axis].size) - 1)
                cells = here & bits(ranges), here & ~bits(ranges)
                pairs = zip(cells, branches, strict=True)
                trees = [self._tree(each, {**open_, axis: own}, axes) for own, each in pairs]
                return Fork(axis, [*zip(cells, trees, strict=True)])
        return self._scaled(data)

    def _check_points(self) -> None:
        """Refuse recorded points of a curve that turns."""
        for number in range(len(self.lines)):
            points = sorted(each for each in self.records.points.items() if each[0][0] == number)
            for margin in self.margins:
                column = [each[margin] for _, each in points]
                is_monotone = column in (sorted(column), sorted(column, reverse=True))
                require(is_monotone, "the recorded points of a curve are not monotone")

    def cells(self, sets: Sets) -> list[int]:
        """Return the cells of each axis as bits, 0 where a value may have none."""
        cells = []
        for place, axis in enumerate(self.axes):
            key = (place, sets[axis.feature.index])
            if key not in self._cells:
                self._cells[key] = axis.cells(key[1])
            cells.append(self._cells[key])
        return cells

    def weights(self, number: int, sets: Sets) -> list[list[Fraction]]:
        """Return the summands of a line at the ends of its values, by margin, in units.

        A missing value adds 0. Nothing is returned where a curve has no recorded point.
        """
        axis, slopes = self.lines[number]
        feature = self.axes[axis].feature
        ends = {end for span in sets[feature.index] for end in span}
        numbers = sorted(ends - {MISSING})
        if slopes is not None:
            weights = [
                [Fraction(slope * end, feature.scale) for slope in slopes] for end in numbers
            ]
        elif any((number, end) not in self.records.points for end in numbers):
            return []
        else:
            points = [self.records.points[number, end] for end in numbers]
            self.seen.update((number, end) for end in numbers)
            weights = [[Fraction(size) * self.unit for size in each] for each in points]
        return [*weights, *([[Fraction(0)] * len(self.margins)] if MISSING in ends else [])]

    def ranges(self, sets: Sets) -> tuple[list[tuple[Number, Number]], Number]:
        """Return the least and greatest sum of each margin over states, in units.

        The maximum rounding error of the model's own sum comes with them. No range is returned where a value may have no
        cell or a curve no point.
        """
        cells = self.cells(sets)
        weights = [self.weights(number, sets) for number in range(len(self.lines))]
        if 0 in cells or [] in weights:
            return [], 0
        parts = [each.range(cells) for each in self.parts]
        columns = [[*zip(*own, strict=True)] for own in weights]
        lows: list[Sequence[Number]] = [self.bias, *(low for low, _ in parts)]
        highs: list[Sequence[Number]] = [self.bias, *(high for _, high in parts)]
        lows += ([*map(min, own)] for own in columns)
        highs += ([*map(max, own)] for own in columns)
        sums = ([sum(each) for each in zip(*own, strict=True)] for own in (lows, highs))
        sizes = [max(map(abs, chain(*own))) for own in weights]
        return [*zip(*sums, strict=True)], self.rounding * (self.magnitude + sum(sizes))

    def accepted(self, sets: Sets) -> int:
        """Return the truth of `accepted(X)` over a set of states."""
        ranges, slack = self.ranges(sets)
        if any(high < self.refused_below[m] - slack for m, (_, high) in enumerate(ranges)):
            return NO
        sure = all(low >= self.accepted_from[m] + slack for m, (low, _) in enumerate(ranges))
        return YES if ranges and sure else self.recorded(sets, self.cells(sets))

    def key(self, sets: Sets, cells: Sequence[int]) -> Key | None:
        """Return a single state as the model sees it, None where there are several."""
        key: list[object] = []
        for place, (axis, own) in enumerate(zip(self.axes, cells, strict=True)):
            spans = sets[axis.feature.index]
            if own.bit_count() == 1 and place not in self.lined:
                key.append(own.bit_length() - 1)
            elif is_single(spans):
                key.append(f"={axis.feature.write(spans[0][0])}")
            else:
                return None
        return tuple(key)

    def recorded(self, sets: Sets, cells: Sequence[int]) -> int:
        """Return the recorded answer about a single state; MAYBE without one."""
        key = self.key(sets, cells)
        if key is None or key not in self.records.answers:
            return MAYBE
        self.used.add(key)
        return YES if self.records.answers[key] else NO
