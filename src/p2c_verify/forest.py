"""Scores of a parsed model over sets of states, in exact arithmetic.

Each part (a tree or a table) is a list of leaves. For each margin the leaves of a part are sorted by value, the greatest
first, and numbered as bits of one integer. The leaves that a set of states may reach are the conjunction, over the axes,
of one bit mask each; the greatest value of a part is its lowest bit, the least value its highest.

The model itself rounds. A state is accepted for sure where every margin reaches its threshold by more than the model's
rounding, refused for sure where one margin misses it by more. Between the two the model's recorded answer decides.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

from p2c_verify.problem import Feature, Model, Spans, ValueSet

NO, YES = 1, 2
Key = tuple[object, ...]
"""A state as the model sees it: the cell of each axis, or the value where the cell does not settle it."""


class Forest:
    """A parsed model, compiled for bounds over value sets."""

    def __init__(
        self, model: Model, features: Sequence[Feature], answers: Mapping[Key, bool]
    ) -> None:
        self.model, self.features, self.answers = model, features, answers
        self.used: set[Key] = set()
        """Recorded answers that the verification relied on."""
        self.lined = frozenset(axis for axis, _ in model.lines)
        self.grain = math.lcm(1, *(features[model.axes[a].feature].scale for a in self.lined))
        numbers = [*model.bias, *(v for part in model.parts for leaf in part for v in leaf[0])]
        numbers += [slope for _, slopes in model.lines for slope in slopes]
        self.unit = math.lcm(1, *(each.denominator for each in numbers)) * self.grain
        self.layouts = [self._layout(margin) for margin in range(len(model.bias))]
        self._masks: dict[tuple[int, Spans, bool], int] = {}
        self._allowed: list[dict[int, int]] = [{} for _ in self.layouts for _ in model.axes]
        self._slack = model.rounding * model.magnitude

    def _layout(self, margin: int) -> tuple[list[tuple[int, int]], list[int], list[list[int]]]:
        """Return the segments of the parts, the leaf values, and for each axis the leaves by cell."""
        segments, values = [], []
        everywhere = [0] * len(self.model.axes)
        cells = [[0] * axis.size for axis in self.model.axes]
        for part in self.model.parts:
            ordered = sorted(part, key=lambda leaf: leaf[0][margin], reverse=True)
            segments.append((len(values), (1 << len(ordered)) - 1))
            for leaf_values, tests in ordered:
                bit = 1 << len(values)
                values.append(int(leaf_values[margin] * self.unit))
                tested = set()
                for axis, ranges in tests:
                    tested.add(axis)
                    for low, high in ranges:
                        for cell in range(low, high + 1):
                            cells[axis][cell] |= bit
                for axis in range(len(everywhere)):
                    if axis not in tested:
                        everywhere[axis] |= bit
        table = [[own | every for own in row] for row, every in zip(cells, everywhere, strict=True)]
        return segments, values, table

    def cells(self, axis: int, values: ValueSet) -> int:
        """Return the cells of a value set as bits, 0 where a value may have none."""
        key = (axis, *values)
        known = self._masks.get(key)
        if known is None:
            known = self._masks[key] = self._find_cells(axis, values)
        return known

    def _find_cells(self, axis: int, values: ValueSet) -> int:
        own = self.model.axes[axis]
        feature = self.features[own.feature]
        found = 0
        if values.missing:
            if own.missing is None:
                return 0
            found |= 1 << own.missing
        for low, high in values.spans:
            if own.uppers is None:
                places = {own.places.get(value, -1) for value in range(low, high + 1)}
                if -1 in places:
                    return 0
                found |= sum(1 << place for place in places)
                continue
            first, last = own.cell(feature, low), own.cell(feature, high)
            if first < 0 or last < 0 or (own.whole and not self._is_whole(feature, low, high)):
                return 0
            found |= (1 << (last + 1)) - (1 << first)
        return found

    @staticmethod
    def _is_whole(feature: Feature, low: int, high: int) -> bool:
        return feature.scale == 1 or (
            low % feature.scale == 0 == high % feature.scale
            and (low == high or (feature.points is None and feature.step % feature.scale == 0))
        )

    def _alive(self, margin: int, cells: Sequence[int]) -> int:
        """Return the leaves that a product of cells may reach."""
        table = self.layouts[margin][2]
        alive = -1
        for axis, mask in enumerate(cells):
            allowed = self._allowed[margin * len(cells) + axis]
            found = allowed.get(mask)
            if found is None:
                found, rest = 0, mask
                while rest:
                    found |= table[axis][(rest & -rest).bit_length() - 1]
                    rest &= rest - 1
                allowed[mask] = found
            alive &= found
        return alive

    def range(self, margin: int, sets: Sequence[ValueSet], cells: Sequence[int]) -> tuple[int, int]:
        """Return the least and greatest sum of a margin over a set of states, in units."""
        segments, values, _ = self.layouts[margin]
        alive = self._alive(margin, cells)
        low = high = int(self.model.bias[margin] * self.unit)
        for offset, full in segments:
            leaves = (alive >> offset) & full
            high += values[offset + (leaves & -leaves).bit_length() - 1]
            low += values[offset + leaves.bit_length() - 1]
        for axis, slopes in self.model.lines:
            ends = self._ends(axis, sets, slopes[margin])
            low, high = low + min(ends), high + max(ends)
        return low, high

    def _ends(self, axis: int, sets: Sequence[ValueSet], slope: Fraction) -> list[int]:
        """Return the extreme contributions of a weighed feature; a missing value adds 0 here."""
        feature = self.features[self.model.axes[axis].feature]
        spans, missing = sets[feature.index]
        ends = [value for span in spans for value in span]
        if feature.listed:
            ends = [int(feature.labels[rank]) for rank in ends]
        found = [int(slope * self.unit) * end // feature.scale for end in ends]
        return [*found, 0] if missing else found

    def slack(self, sets: Sequence[ValueSet]) -> Fraction:
        """Return the most by which the model's own sum may differ from the exact one."""
        size = Fraction(0)
        for axis, slopes in self.model.lines:
            size += max(
                (abs(end) for slope in slopes for end in self._ends(axis, sets, slope)), default=0
            )
        return self._slack + self.model.rounding * size / self.unit

    def accepted(self, sets: Sequence[ValueSet]) -> int:
        """Return the truth of `accepted(X)` over a set of states."""
        cells = [self.cells(axis, sets[own.feature]) for axis, own in enumerate(self.model.axes)]
        if 0 in cells:
            return self._recorded(sets, cells)
        slack = self.slack(sets) * self.unit
        truth = YES
        for margin, (accepted, refused) in enumerate(
            zip(self.model.accepted_from, self.model.refused_below, strict=True)
        ):
            low, high = self.range(margin, sets, cells)
            if high < refused * self.unit - slack:
                return NO
            if low < accepted * self.unit + slack:
                truth = YES | NO
        return truth if truth == YES else self._recorded(sets, cells)

    def key(self, sets: Sequence[ValueSet], cells: Sequence[int] | None = None) -> Key | None:
        """Return a single state as the model sees it, None where there are several."""
        if cells is None:
            cells = [
                self.cells(axis, sets[own.feature]) for axis, own in enumerate(self.model.axes)
            ]
        key: list[object] = []
        for axis, mask in enumerate(cells):
            if mask and mask & (mask - 1) == 0 and axis not in self.lined:
                key.append(mask.bit_length() - 1)
                continue
            spans, missing = sets[self.model.axes[axis].feature]
            if missing and not spans:
                key.append("missing")
            elif len(spans) == 1 and not missing and spans[0][0] == spans[0][1]:
                value = self.features[self.model.axes[axis].feature].write(spans[0][0])
                key.append(f"={value}")
            else:
                return None
        return tuple(key)

    def _recorded(self, sets: Sequence[ValueSet], cells: Sequence[int]) -> int:
        key = self.key(sets, cells)
        if key is None or key not in self.answers:
            return YES | NO
        self.used.add(key)
        return YES if self.answers[key] else NO
