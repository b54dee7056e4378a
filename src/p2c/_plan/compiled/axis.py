"""One feature as the planner sees it: places on an axis, cut into cells that no rule can tell apart.

A value is known by its place in the domain, counted from zero. A person's own value may lie off the grid or be
missing; it then has the place `OFF`, of which there is at most one a feature, since only the start can be so.

Rules see a value only through the constants that they compare it with, so the places between two such constants form a
cell (the paper's placeholders, taken to the end and without loss). A number that has causal rules is cut
further, at the middles of the gaps between the ranges of its heads: on which side of a middle it stands
decides where its rules then carry it: these finer sets are the regions.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain, pairwise
from typing import TYPE_CHECKING

from p2c._spec.feature import Kind, exact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from fractions import Fraction

    from p2c._rules.theory import Test
    from p2c._spec.feature import Feature, Value

OFF = -1


@dataclass(frozen=True)
class Axis:
    """A feature's places and their cells; `tests` are all that rules compare it with, `heads` those of heads."""

    feature: Feature
    tests: tuple[Test, ...]
    heads: tuple[Test, ...]
    marks: tuple[int, ...] = ()
    """What a model takes each listed value for; it cuts numbers by tests of its own."""

    @cached_property
    def size(self) -> int:
        """Return the number of places."""
        return self.feature.domain.size

    @cached_property
    def ordered(self) -> bool:
        """Tell whether places have an order that distances and comparisons follow."""
        return self.feature.kind is not Kind.CATEGORY

    @cached_property
    def cuts(self) -> tuple[int, ...]:
        """Return the first place of every cell but the first, on an ordered axis."""
        found = set(_cuts(self, self.tests))
        found |= {
            place
            for place in range(1, len(self.marks))
            if self.marks[place] != self.marks[place - 1]
        }
        return tuple(sorted(found | self._target_cuts))

    @cached_property
    def _target_cuts(self) -> set[int]:
        """Return the cuts between values in which a change may end and others."""
        targets = self.feature.targets
        if targets is None:
            return set()
        if self.feature.is_listed:
            return {
                place
                for place in range(1, self.size)
                if self.is_target(place) != self.is_target(place - 1)
            }
        first, last = targets.value(0), targets.value(targets.size - 1)
        return {cut for cut in (self.bounds(first)[0], self.bounds(last)[1]) if 0 < cut < self.size}

    def is_target(self, place: int) -> bool:
        """Tell whether a change may end in a place; all places of a cell agree."""
        if self.feature.targets is None:
            return True
        return self.feature.is_target(self.feature.domain.value(place))

    @cached_property
    def cells(self) -> tuple[tuple[int, ...] | range, ...]:
        """Return the places of each cell."""
        if self.ordered:
            return _ranges(self.cuts, self.size)
        return _groups(self)

    @property
    def is_seen(self) -> bool:
        """Tell whether some rule or model looks at the feature."""
        return bool(self.tests or self.marks)

    @cached_property
    def _cell_of_category(self) -> tuple[int, ...]:
        cell_of = {place: cell for cell, places in enumerate(self.cells) for place in places}
        return tuple(cell_of[place] for place in range(self.size))

    def cell(self, place: int) -> int:
        """Return the cell of a place on the grid."""
        return bisect_right(self.cuts, place) if self.ordered else self._cell_of_category[place]

    @cached_property
    def regions(self) -> tuple[tuple[int, ...] | range, ...]:
        """Return the sets of places from which the future is the same: cells, cut at middles where it matters."""
        if not (self.ordered and self.feature.governed):
            return self.cells
        return _ranges(tuple(sorted({*self.cuts, *_middles(self)})), self.size)

    @cached_property
    def region(self) -> Callable[[int], int]:
        """Return what tells the region of a place on the grid; with moves, every value is its own."""
        if self.feature.moves_from is not None:
            return int
        if not self.ordered:
            return self._cell_of_category.__getitem__
        return partial(bisect_right, [region[0] for region in self.regions[1:]])

    def passes(self, test: Test, place: int) -> bool:
        """Tell whether the value at a place on the grid passes a test, negation included."""
        after, past = self.bounds(test.constant)
        side = -1 if place < after else 0 if place < past else 1
        return test.comparator.passes(side) is not test.negated

    def masks(
        self, bodies: Iterable[tuple[int, Sequence[Test]]], places: Iterable[int]
    ) -> tuple[int, ...]:
        """Return for each of the ascending places the bits whose tests all pass there.

        The places are swept once and a bit is toggled where its tests begin or cease to pass, so the work grows with the number
        of tests plus that of the places.
        """
        toggles: dict[int, int] = {}
        for bit, tests in bodies:
            spans = [(0, self.size)]
            for test in tests:
                spans = _common(spans, self._spans(test))
            for place in chain.from_iterable(spans):
                toggles[place] = toggles.get(place, 0) ^ bit
        passing, mask, waiting = [], 0, sorted(toggles, reverse=True)
        for place in places:
            while waiting and waiting[-1] <= place:
                mask ^= toggles[waiting.pop()]
            passing.append(mask)
        return tuple(passing)

    def _spans(self, test: Test) -> list[tuple[int, int]]:
        """Return the ranges of places, as first and end, on which a test passes."""
        edges = (0, *self.bounds(test.constant), self.size)
        sides = zip(pairwise(edges), (-1, 0, 1), strict=True)
        return [
            span
            for span, side in sides
            if span[0] < span[1] and test.comparator.passes(side) is not test.negated
        ]

    @cached_property
    def _known_bounds(self) -> dict[str | int | float, tuple[int, int]]:
        return {}

    def bounds(self, constant: str | int | float) -> tuple[int, int]:
        """Return the first place at or above a constant, and the first one above it."""
        bounds = self._known_bounds.get(constant)
        if bounds is None:
            bounds = self._known_bounds[constant] = self._find_bounds(constant)
        return bounds

    def _find_bounds(self, constant: str | int | float) -> tuple[int, int]:
        if not self.feature.kind.is_number:
            place = self.feature.places[constant]
            return place, place + 1
        assert not isinstance(constant, str)
        number = exact(constant)
        domain = self.feature.domain
        return domain.first_place_from(number), domain.first_place_past(number)

    def off_passes(self, test: Test, value: Value) -> bool:
        """Tell whether a value that has no place passes a test: every comparison with a missing one fails."""
        if value is None:
            return test.negated
        if not self.feature.kind.is_number:
            place = self.feature.places.get(value)
            if place is None:
                return test.comparator.passes(1) is not test.negated
            return self.passes(test, place)
        assert not isinstance(value, str)
        assert not isinstance(test.constant, str)
        own, constant = exact(value), exact(test.constant)
        side = 0 if own == constant else -1 if own < constant else 1
        return test.comparator.passes(side) is not test.negated

    def position(self, place: int) -> Fraction:
        """Return where a place stands, in the feature's own measure."""
        return self.feature.order(self.feature.domain.value(place))

    def first_place_past(self, position: Fraction) -> int:
        """Return the first place that stands above a position."""
        return bisect_right(range(self.size), position, key=self.position)


def _cuts(axis: Axis, tests: Iterable[Test]) -> tuple[int, ...]:
    found: set[int] = set()
    for test in tests:
        after, past = axis.bounds(test.constant)
        below, at, above = map(test.comparator.passes, (-1, 0, 1))
        found |= {after} if below is not at else set()
        found |= {past} if at is not above else set()
    return tuple(sorted(place for place in found if 0 < place < axis.size))


def _common(
    some: Sequence[tuple[int, int]], others: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Return the intersection of two lists of ranges."""
    pairs = ((max(a, c), min(b, d)) for a, b in some for c, d in others)
    return [(low, high) for low, high in pairs if low < high]


def _ranges(cuts: Sequence[int], size: int) -> tuple[range, ...]:
    edges = (0, *cuts, size)
    return tuple(range(low, high) for low, high in pairwise(edges))


def _groups(axis: Axis) -> tuple[tuple[int, ...], ...]:
    """Return the categories that no rule tells apart, in the order of their first member."""
    groups: dict[tuple[int, bool, int], list[int]] = {}
    bodies = [(1 << number, (test,)) for number, test in enumerate(axis.tests)]
    for place, seen in enumerate(axis.masks(bodies, range(axis.size))):
        mark = axis.marks[place] if axis.marks else 0
        groups.setdefault((mark, axis.is_target(place), seen), []).append(place)
    return tuple(tuple(group) for group in groups.values())


def _middles(axis: Axis) -> set[int]:
    """Return the cuts before and after the middle of every gap between two ranges that heads tell apart."""
    ranges = _ranges(_cuts(axis, axis.heads), axis.size)
    if axis.feature.step is not None:
        return _middles_of_grid(ranges, axis.size)
    found: set[int] = set()
    for index, low in enumerate(ranges):
        for high in ranges[index + 2 :]:
            middle = (axis.position(low[-1]) + axis.position(high[0])) / 2
            past = axis.first_place_past(middle)
            found |= {past, past - 1} if axis.position(past - 1) == middle else {past}
    return {place for place in found if 0 < place < axis.size}


def _middles_of_grid(ranges: Sequence[range], size: int) -> set[int]:
    """Return the cuts of `_middles` for evenly spaced places, in whole numbers."""
    sums: set[int] = set()
    for index, low in enumerate(ranges):
        sums |= {low[-1] + high[0] for high in ranges[index + 2 :]}
    found = {each // 2 + 1 for each in sums} | {each // 2 for each in sums if each % 2 == 0}
    return {place for place in found if 0 < place < size}
