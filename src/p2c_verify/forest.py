"""Scores of a parsed model over sets of states, in exact arithmetic.

A model is a sum of parts, lines and curves for each margin; a state is accepted where every margin reaches its threshold.
Each part (a tree or a table) is a list of leaves, of which exactly one matches a state. Parts are gathered in chunks; for
each margin the leaves of a part are sorted by value, the greatest first, and numbered as bits of one integer. The leaves
that a set of states may reach are the conjunction, over the axes, of one bit mask each; the greatest value of a part is its
lowest bit, the least its highest.

The model itself rounds. A state is accepted for sure where every margin reaches its threshold by more than the model's
rounding, refused for sure where one margin misses it by more. Between the two the model's recorded answer decides. A curve
is a monotone transform of a number, known by recorded points.

Sound because each margin's range is the sum of the ranges of its parts, lines and curves, so it contains the exact sum of
every state in the set, and the slack is at least the model's rounding on each of them. Values without a cell, and curves
without a recorded point at an end of a span, leave the score open. A part whose leaves overlap or leave a gap is refused
when it is read.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from itertools import accumulate, chain, pairwise
from operator import and_, or_, xor
from typing import Any, NamedTuple

from p2c_verify.problem import Problem, common_denominator
from p2c_verify.values import MAYBE, MISSING, NO, YES, Feature, Sets, Span, Spans
from p2c_verify.values import exact, is_single, require

Key = tuple[object, ...]
"""A state as the model sees it: a cell per axis, or a value if undecided."""
Leaf = tuple[list[int], dict[int, Spans]]
"""The values of a leaf by margin, in units, and its cells as ranges by axis."""
Number = int | Fraction
LEAVES = 1_000
"""Leaves of a chunk, after which the next part begins another one."""


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
        return bisect_left(self.uppers, float(Fraction(value, self.feature.scale)))

    def cells(self, spans: Spans) -> Spans:
        """Return the cells of a value set as ranges, none where a value may have none."""
        result, points = set[Span](), self.feature.points
        steps = points[:2] if isinstance(points, range) else points
        for low, high in spans:
            first, last = self.cell(low), self.cell(high)
            uneven = self.whole and low < high and math.gcd(*steps) % self.feature.scale
            if first is None or last is None or uneven:
                return ()
            result.add((first, last))
        return tuple(sorted(result))


class Chunk:
    """Parts of a model for one margin, their leaves as bits."""

    def __init__(self, parts: Iterable[Sequence[Leaf]], margin: int) -> None:
        self.values: list[int] = []
        self.segments: list[tuple[int, int]] = []
        self.leaves: list[Leaf] = []
        tests: dict[int, list[tuple[int, Spans]]] = {}
        for part in parts:
            self.segments.append((len(self.leaves), (1 << len(part)) - 1))
            self.leaves += sorted(part, key=lambda leaf: -leaf[0][margin])
        for number, (values, cells) in enumerate(self.leaves):
            self.values.append(values[margin])
            for axis, ranges in cells.items():
                tests.setdefault(axis, []).append((1 << number, ranges))
        self._tables = {axis: self._table(each) for axis, each in tests.items()}
        self._gone: dict[tuple[int, Spans], int] = {}

    @staticmethod
    def _table(tests: Iterable[tuple[int, Spans]]) -> tuple[list[int], list[int]]:
        """Return the cells at which excluded leaves change, and the leaves between."""
        changes: dict[int, int] = {}
        for bit, ranges in tests:
            for edge in (edge for low, high in ranges for edge in (low, high + 1)):
                changes[edge] = changes.get(edge, 0) ^ bit
        edges = sorted(changes)
        tested = reduce(or_, (bit for bit, _ in tests))
        return edges, [*accumulate((changes[edge] for edge in edges), xor, initial=tested)]

    def _excluded(self, axis: int, ranges: Spans) -> int:
        """Return the leaves that no cell of these ranges reaches, as bits."""
        edges, gone = self._tables[axis]
        between = (
            gone[bisect_right(edges, low) : bisect_right(edges, high) + 1] for low, high in ranges
        )
        return reduce(and_, (each for part in between for each in part))

    def check(self) -> None:
        """Refuse parts of which a state may match several leaves."""
        for offset, full in self.segments:
            for number in range(offset, offset + full.bit_length()):
                cells = self.leaves[number][1].items()
                gone = reduce(or_, (self._excluded(*each) for each in cells), 0)
                require(
                    (~gone & full << offset) == 1 << number, "leaves of a part of the model overlap"
                )

    def range(self, cells: Sequence[Spans]) -> tuple[int, int]:
        """Return the least and greatest sum over a product of cells."""
        low = high = gone = 0
        for axis in self._tables:
            key = (axis, cells[axis])
            if key not in self._gone:
                self._gone[key] = self._excluded(*key)
            gone |= self._gone[key]
        for offset, full in self.segments:
            leaves = (~gone >> offset) & full
            high += self.values[offset + (leaves & -leaves).bit_length() - 1]
            low += self.values[offset + leaves.bit_length() - 1]
        return low, high


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
        self.bias, self.accepted_from, self.refused_below = (
            self._scaled(data[k]) for k in keys[:3]
        )
        self.lines = [
            (each["axis"], None if each["slope"] is None else self._scaled(each["slope"]))
            for each in data["lines"]
        ]
        self.rounding = Fraction(data["rounding"])
        self.magnitude = Fraction(data["magnitude"]) * self.unit
        require(self.rounding >= 0 and self.magnitude >= 0, "the model's rounding is negative")
        self._cells: dict[tuple[int, Spans], Spans] = {}
        groups, size = list[list[list[Leaf]]](), LEAVES
        for part in data["parts"]:
            leaves = [self._leaf(*leaf) for leaf in part]
            self._check_volume(leaves)
            if size >= LEAVES:
                groups.append([])
                size = 0
            groups[-1].append(leaves)
            size += len(leaves)
        self.chunks = [[Chunk(parts, margin) for parts in groups] for margin in self.margins]
        for chunk in self.chunks[0]:
            chunk.check()
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

    def _scaled(self, numbers: Any) -> list[int]:
        require(len(numbers) == len(self.margins), "the model lacks a value for a margin")
        return [exact(each, self.unit) for each in numbers]

    def _leaf(self, values: Any, tests: Any) -> Leaf:
        cells = {axis: tuple((low, high) for low, high in ranges) for axis, ranges in tests}
        require(len(cells) == len(tests), "a leaf of the model is malformed")
        for axis, ranges in cells.items():
            whole = all(type(end) is int for end in (axis, *chain(*ranges)))
            ordered = all(low <= high for low, high in ranges)
            apart = all(one[1] < other[0] for one, other in pairwise(ranges))
            fits = whole and ordered and apart and axis >= 0 <= ranges[0][0]
            require(
                fits and ranges[-1][1] < self.axes[axis].size, "a leaf of the model is malformed"
            )
        return self._scaled(values), cells

    def _check_volume(self, leaves: Sequence[Leaf]) -> None:
        """Refuse a part that holds another number of cells than it should."""
        axes = {axis: self.axes[axis].size for _, cells in leaves for axis in cells}
        held = (
            {axis: sum(high - low + 1 for low, high in ranges) for axis, ranges in cells.items()}
            for _, cells in leaves
        )
        volume = sum(math.prod((axes | each).values()) for each in held)
        require(
            volume == math.prod(axes.values()),
            "leaves of a part of the model overlap or leave a gap",
        )

    def _check_points(self) -> None:
        """Refuse recorded points of a curve that turns."""
        for number in range(len(self.lines)):
            points = sorted(
                (value, each)
                for (line, value), each in self.records.points.items()
                if line == number
            )
            for margin in self.margins:
                column = [each[margin] for _, each in points]
                is_monotone = column in (sorted(column), sorted(column, reverse=True))
                require(is_monotone, "the recorded points of a curve are not monotone")

    def cells(self, sets: Sets) -> list[Spans]:
        """Return the cells of each axis as ranges, none where a value may have none."""
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
        (axis, slopes), ends = self.lines[number], set[int]()
        feature = self.axes[axis].feature
        ends.update(*sets[feature.index])
        if slopes is not None:
            known = [end for end in ends if end != MISSING]
            weights = [[Fraction(slope * end, feature.scale) for slope in slopes] for end in known]
        else:
            keys = [(number, end) for end in ends if end != MISSING]
            if any(key not in self.records.points for key in keys):
                return []
            self.seen.update(keys)
            weights = [
                [Fraction(size) * self.unit for size in self.records.points[key]] for key in keys
            ]
        return [*weights, *([[Fraction(0)] * len(self.margins)] if MISSING in ends else [])]

    def ranges(self, sets: Sets) -> tuple[list[tuple[Number, Number]], Number]:
        """Return the least and greatest sum of each margin over states, in units.

        The maximum rounding error of the model's own sum comes with them. No range is returned where a value may have no
        cell or a curve no point.
        """
        cells = self.cells(sets)
        weights = [self.weights(number, sets) for number in range(len(self.lines))]
        if () in cells or [] in weights:
            return [], 0
        ranges: list[tuple[Number, Number]] = []
        for margin in self.margins:
            parts: list[tuple[Number, Number]] = [own.range(cells) for own in self.chunks[margin]]
            columns = ([each[margin] for each in own] for own in weights)
            parts += [(min(column), max(column)) for column in columns]
            low, high = zip((self.bias[margin],) * 2, *parts, strict=True)
            ranges.append((sum(low), sum(high)))
        sizes = [max(map(abs, chain(*own))) for own in weights]
        return ranges, self.rounding * (self.magnitude + sum(sizes))

    def accepted(self, sets: Sets) -> int:
        """Return the truth of `accepted(X)` over a set of states."""
        ranges, slack = self.ranges(sets)
        if any(high < self.refused_below[m] - slack for m, (_, high) in enumerate(ranges)):
            return NO
        sure = all(low >= self.accepted_from[m] + slack for m, (low, _) in enumerate(ranges))
        return YES if ranges and sure else self.recorded(sets, self.cells(sets))

    def key(self, sets: Sets, cells: Sequence[Spans]) -> Key | None:
        """Return a single state as the model sees it, None where there are several."""
        key: list[object] = []
        for place, (axis, ranges) in enumerate(zip(self.axes, cells, strict=True)):
            spans = sets[axis.feature.index]
            if is_single(ranges) and place not in self.lined:
                key.append(ranges[0][0])
            elif is_single(spans):
                key.append(f"={axis.feature.write(spans[0][0])}")
            else:
                return None
        return tuple(key)

    def recorded(self, sets: Sets, cells: Sequence[Spans]) -> int:
        """Return the recorded answer about a single state; MAYBE without one."""
        key = self.key(sets, cells)
        if key is None or key not in self.records.answers:
            return MAYBE
        self.used.add(key)
        return YES if self.records.answers[key] else NO
