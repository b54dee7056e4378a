"""The values of features in parts from which the future is the same, and where whoever starts in a part may end.

A feature that sets off no effects and breaks no constraint is `calm`: whoever starts in a box of parts can end in any combination of what
its calm features may become. The other features are looked at value by value: where an exception hangs on the own value, the ends of a
region of a number are told from what lies between them, since effects lead to the ends.

The parts of a number hold every value that a row may have, also between the places of its grid and, where rows may lie outside of the
limits, beyond them. A value that no part holds has a part of its own, which no statement about a range includes.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from itertools import groupby, pairwise, product
from operator import or_
from typing import TYPE_CHECKING, Any, NamedTuple

from p2c._audit.people import Acceptance, as_read
from p2c._audit.spans import Range, Span, sample_value
from p2c._plan.compiled.axis import OFF
from p2c._plan.compiled.space import Space
from p2c._rules.theory import ACCEPTED, Call
from p2c._spec.cost import Norm
from p2c._spec.feature import Action, Kind, exact
from p2c._spec.resources import COST

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from fractions import Fraction

    from p2c._plan.compiled.axis import Axis
    from p2c._spec.feature import Feature, Value
    from p2c._spec.row import State


class Part(NamedTuple):
    """Values of a feature with the same future.

    They are value indices of its grid, numbers between them, or a single value.
    """

    first: int
    last: int
    """The first and the last value index of a range, `OFF` without one.

    For a category it is twice the number of its cell.
    """
    alone: Value = None
    """A value off the grid that stands for a part without value indices.

    If this is None as well, the part holds the missing value.
    """
    span: Span | None = None
    """The numbers of the part; None for names and for a value in its own part."""


MISSING = Part(OFF, OFF)
Parts = tuple[tuple[int, frozenset[Part]], ...]


@dataclass(frozen=True, slots=True)
class Limitation:
    """The values of one feature that a region holds.

    They are ranges of a number or names, with a flag for the missing value.
    """

    feature: str
    missing: bool
    spans: tuple[Range, ...] = ()
    names: tuple[Value, ...] = ()

    @property
    def is_only_known(self) -> bool:
        """Tell whether it excludes the missing value and no other."""
        return not self.missing and self.spans == (Range(None, None),)

    def to_dict(self) -> dict[str, Any]:
        """Return the values as JSON."""
        values = (
            {"ranges": [each.to_dict() for each in self.spans]}
            if self.spans
            else {"names": list(self.names)}
        )
        return {**values, "missing": self.missing}


@dataclass(frozen=True)
class Ground:
    """The parts of a problem's values, where people who start in each may end, and which cells of a model that is."""

    space: Space
    values: dict[tuple[str, int], Value] = field(default_factory=dict)
    """A value for each cell of the model that was met, by feature and cell."""
    told: Acceptance | None = None
    """What is known already of the same model."""
    cut: Mapping[int, tuple[Part, ...]] = field(default_factory=dict)
    """The parts of features for which they are known."""
    _cells: dict[tuple[int, Part], int | None] = field(default_factory=dict)
    _starts: dict[int, list[tuple[Any, bool]]] = field(default_factory=dict)

    @cached_property
    def axes(self) -> tuple[int, ...]:
        """Return the features that matter."""
        names = self.space.concerned
        return tuple(i for i, axis in enumerate(self.space.axes) if axis.feature.name in names)

    @cached_property
    def calm(self) -> frozenset[int]:
        """Return the features that matter, and set off no effects and break no constraint."""
        return frozenset(self.axes) - self.space.stirring

    @cached_property
    def opened(self) -> Space:
        """Return the space in which all calm features may be set at will."""
        calm = [self.space.axes[index].feature for index in self.calm]
        features = [replace(each, action=Action.FREE, moves=None, targets=None) for each in calm]
        opened = self.space.with_features(features)
        # Whether there is a way does not hang on what it costs; to count actions is the least work.
        return Space(replace(opened.theory, norm=Norm.L0, objectives=(COST,)))

    @cached_property
    def is_weighed(self) -> bool:
        """Tell whether a model or arithmetic reads the exact number of a feature.

        Values of one part may then lead to different answers.

        A straight line with one margin is no such case if the feature may become anything: between two places it is never more
        than the larger of the two.
        """
        model = self.space.theory.parsed
        if self.space.theory.is_arithmetic:
            return True
        if model is None:
            return False
        return any(
            not (self.is_open(index) and self._is_dominated(index))
            for index in self.axes
            if self._name(index) in model.lined
        ) or any(map(self._is_unread, self.axes))

    def _is_dominated(self, index: int) -> bool:
        model, axis = self.space.theory.parsed, self.space.axes[index]
        assert model is not None
        whole = axis.feature.kind is Kind.INT and axis.feature.step == 1
        return whole or (model.margins == 1 and model.is_straight(self._name(index)))

    def _is_unread(self, index: int) -> bool:
        """Tell whether a model was read for whole numbers but rows may have others."""
        judge, axis = as_read(self.space.theory.model), self.space.axes[index]
        if judge is None or axis.feature.kind is not Kind.FLOAT:
            return False
        place = judge.score.places.get(self._name(index))
        return place is not None and judge.score.axes[place].whole

    def _name(self, index: int) -> str:
        return self.space.axes[index].feature.name

    def part(self, index: int, value: Value) -> Part:
        """Return the part that a value is in."""
        if value is None:
            return MISSING
        axis = self.space.axes[index]
        if axis.feature.kind.is_number:
            return self._part_of_number(index, value)
        place = axis.feature.place(value)
        if place is None:
            return Part(OFF, OFF, value)
        return next(each for each in self.parts[index] if _holds(axis, each, place))

    def _part_of_number(self, index: int, value: Value) -> Part:
        assert isinstance(value, int | float)
        number = exact(value)
        place = bisect_right(self._starts_of(index), (number, False)) - 1
        if place >= 0:
            part = self.parts[index][place]
            if part.span is not None and part.span.holds(number):
                return part
        return Part(OFF, OFF, value)

    def _starts_of(self, index: int) -> list[tuple[Any, bool]]:
        """Return the starts of the parts of a number, each with whether it is excluded."""
        if index not in self._starts:
            spans = (each.span for each in self.parts[index])
            self._starts[index] = [span.start for span in spans if span is not None]
        return self._starts[index]

    @cached_property
    def parts(self) -> dict[int, tuple[Part, ...]]:
        """Return for each feature that matters its parts but the missing value, in order."""
        return {index: self.cut.get(index) or tuple(self._cut(index)) for index in self.axes}

    def _cut(self, index: int) -> Iterator[Part]:
        axis = self.space.axes[index]
        if axis.feature.kind.is_number:
            yield from self._cut_number(index)
        elif axis.feature.moves_from is not None:
            yield from (Part(place, place) for place in range(axis.size))
        else:
            for number, region in enumerate(axis.regions):
                if not isinstance(region, range):
                    yield Part(number, number)
                else:
                    yield from _ends_and_middle(region, whole=index in self._plain)

    @cached_property
    def _plain(self) -> frozenset[int]:
        """Return the features of whose initial value only the truth of tests counts.

        Which value of a region it is plays no part.

        Sound because no effect leads to a value of such a feature, and no exception depends on its initial value: exceptions of
        endogenous features depend on these, and exceptions of constraints on the features that they read. A change within a region changes no test.
        """
        space = self.space
        read = frozenset[int]().union(*(reads for _, reads in space.constraint_bits))
        moved = {i for i, axis in enumerate(space.axes) if axis.feature.moves_from is not None}
        return frozenset(self.axes) - space.governed_axes - read - moved

    def _cut_number(self, index: int) -> Iterator[Part]:
        """Yield the parts of a number: grid regions and the intervals around them.

        In a feature that is plain, what tests cannot tell from a neighbour joins it.
        """
        joined: Part | None = None
        truth: object = None
        plain = index in self._plain
        for part in self._pieces(index):
            here = self._truth(index, part) if plain else None
            grid = part.first != OFF
            if (
                plain
                and joined is not None
                and here == truth
                and not (grid and joined.first != OFF)
            ):
                assert joined.span is not None
                assert part.span is not None
                base = part if grid else joined
                joined = base._replace(span=joined.span.up_to(part.span))
                continue
            if joined is not None:
                yield joined
            joined, truth = part, here
        if joined is not None:
            yield joined

    def _truth(self, index: int, part: Part) -> object:
        """Return all that rules and the model see of a part."""
        axis, model = self.space.axes[index], self.space.theory.parsed
        value = self.value(index, part)
        if part.first == OFF:
            masks = self.space.off_masks(index, value)
        else:
            cell = axis.cell(part.first)
            masks = self.space.body_masks[index][cell], self.space.head_masks[index][cell]
        reads = model is not None and self._name(index) in model.reads
        return masks, model.cell(self._name(index), value) if model is not None and reads else None

    def _pieces(self, index: int) -> Iterator[Part]:
        """Yield regions of the grid and the gaps between them.

        The gaps are cut at tests and at middles between heads.
        """
        axis = self.space.axes[index]
        low, high = self._limits(index)
        marks = sorted(self._marks(index))
        before, closed = low, True
        for region in axis.regions:
            assert isinstance(region, range)
            first, last = axis.position(region[0]), axis.position(region[-1])
            yield from self._between(index, marks, Span(before, first, closed, False))
            if index in self._plain:
                yield Part(region[0], region[-1], span=Span(first, last))
            else:
                yield from self._divided(index, region)
            before, closed = last, False
        yield from self._between(index, marks, Span(before, high, closed, True))

    def _divided(self, index: int, region: range) -> Iterator[Part]:
        """Yield the ends of a region and the interval between them, also off the grid."""
        axis = self.space.axes[index]
        first, last = axis.position(region[0]), axis.position(region[-1])
        yield Part(region[0], region[0], span=Span(first, first))
        if len(region) > 1:
            inside = Span(first, last, False, False)
            if len(region) > 2:
                yield Part(region[1], region[-2], span=inside)
            else:
                yield from self._off(index, inside)
            yield Part(region[-1], region[-1], span=Span(last, last))

    def _between(self, index: int, marks: Sequence[Fraction], gap: Span) -> Iterator[Part]:
        """Yield the parts of a gap between places, cut at marks."""
        if self._name(index) in self._weighed:
            return
        if gap.low is None:
            start = 0
        else:
            start = bisect_left(marks, gap.low) if gap.low_closed else bisect_right(marks, gap.low)
        low, closed = gap.low, gap.low_closed
        for mark in marks[start:]:
            if not gap.holds(mark):
                break
            yield from self._off(index, Span(low, mark, closed, False))
            yield from self._off(index, Span(mark, mark))
            low, closed = mark, False
        yield from self._off(index, Span(low, gap.high, closed, gap.high_closed))

    def _off(self, index: int, span: Span) -> Iterator[Part]:
        """Yield a part without places; none where no value lies in it."""
        value = sample_value(span, self.space.axes[index].feature)
        if value is not None:
            yield Part(OFF, OFF, value, span)

    @cached_property
    def _weighed(self) -> frozenset[str]:
        model = self.space.theory.parsed
        return frozenset() if model is None else model.lined

    def _limits(self, index: int) -> tuple[Fraction | None, Fraction | None]:
        """Return the least and the greatest number of a row; None without such a limit."""
        feature = self.space.axes[index].feature
        if feature.kept or not feature.bounded:
            return None, None
        return exact(feature.minimum), exact(feature.maximum)

    def _marks(self, index: int) -> set[Fraction]:
        """Return the numbers where the future of values off the grid may change."""
        axis = self.space.axes[index]
        marks = {exact(each.constant) for each in axis.tests if not isinstance(each.constant, str)}
        if index not in self.space.governed_axes:
            return marks
        # A value between places that heads hold goes to the nearer one.
        held = [
            list(some)
            for _, some in groupby(
                axis.regions, lambda each: self.space.head_masks[index][axis.cell(each[0])]
            )
        ]
        lows = [axis.position(some[0][0]) for some in held]
        highs = [axis.position(some[-1][-1]) for some in held]
        marks |= {(high + low) / 2 for high, low in product(highs, lows) if high < low}
        return marks | {
            (axis.position(one[-1]) + axis.position(other[0])) / 2
            for one, other in pairwise(axis.regions)
        }

    def covers(self, index: int) -> bool:
        """Tell whether the parts hold every known value that a row may have."""
        axis = self.space.axes[index]
        if not axis.feature.kind.is_number:
            return not axis.feature.kept
        spans = [each.span for each in self.parts[index] if each.span is not None]
        low, high = self._limits(index)
        below = low is None and spans[0].low is not None
        above = high is None and spans[-1].high is not None
        if below or above:
            return False
        ends = Span(None, low, high_closed=False), Span(high, None, low_closed=False)
        return all(self._adjoin(index, *two) for two in pairwise((ends[0], *spans, ends[1])))

    def _adjoin(self, index: int, one: Span, other: Span) -> bool:
        """Tell whether a row may have no value between two intervals."""
        if one.high is None or other.low is None:
            return True
        return sample_value(one.gap_before(other), self.space.axes[index].feature) is None

    def may_lack(self, index: int) -> bool:
        """Tell whether a row may lack the value.

        It may not where a model reads the feature and accepts no missing value.
        """
        model, name = self.space.theory.parsed, self._name(index)
        return model is None or name not in model.reads or model.cell(name, None) >= 0

    def value(self, index: int, part: Part) -> Value:
        """Return a value that stands for a part."""
        axis = self.space.axes[index]
        if part.first == OFF:
            return part.alone
        listed = not axis.ordered and axis.feature.moves_from is None
        return axis.feature.domain.value(axis.regions[part.first][0] if listed else part.first)

    def reach(self, index: int, part: Part) -> frozenset[int]:
        """Return the regions of the opened space in which a calm feature may end that starts in a part."""
        axis, opened = self.space.axes[index], self.opened.axes[index]
        feature = axis.feature
        ends = set(self._ends(axis, feature, part)) if feature.action.is_direct else set()
        if part.first != OFF:
            start = axis.feature.place(self.value(index, part))  # type: ignore[arg-type]
            assert start is not None
            ends.add(start)
        return frozenset(opened.region(place) for place in ends)

    def _ends(self, axis: Axis, feature: Feature, part: Part) -> Iterator[int]:
        """Yield a place of each region that direct actions may lead to from a part."""
        if feature.moves_from is not None and part != MISSING:
            yield from _moved(axis, feature, part.first)
            return
        regions = [each for each in axis.cells if axis.is_target(each[0])]
        for region in regions:
            if part == MISSING or feature.action is Action.FREE:
                yield region[0]
            elif part.first == OFF:
                yield from _beyond(feature, exact(part.alone), region)
            elif feature.action is Action.UP and region[-1] > part.first:
                yield region[-1]
            elif feature.action is Action.DOWN and region[0] < part.last:
                yield region[0]

    @cached_property
    def acceptance(self) -> Acceptance | None:
        """Return what tells of boxes whether the model accepts anybody in them, where nothing but that decides."""
        theory = self.space.theory
        judge = as_read(theory.model)
        plain = theory.goal == (Call(ACCEPTED),) and frozenset(self.axes) == self.calm
        if judge is None or judge.lined or not plain or theory.is_arithmetic:
            return None
        if not set(judge.reads) <= set(theory.feature):
            return None
        return self.told or Acceptance(judge, self._state_of)

    def lifted(self, space: Space) -> Ground:
        """Return the ground of the same problem with other restrictions; what is known of the model is shared."""
        axes = self.space.axes
        same = [i for i in self.axes if space.axes[i].feature == axes[i].feature]
        return Ground(space, self.values, self.acceptance, {i: self.parts[i] for i in same})

    def _state_of(self, cells: tuple[int, ...]) -> State:
        """Return a state with given cells of the model, of values on the grid or met before."""
        theory = self.space.theory
        state: State = {each.name: each.domain.value(0) for each in theory.features}
        assert theory.model is not None
        for name, cell in zip(theory.model.reads, cells, strict=True):
            state[name] = self.values[name, cell]
        return state

    def boxes(self, parts: Mapping[int, Iterable[Part]]) -> tuple[int, ...] | None:
        """Return the model's cells that whoever starts in some parts may end in; None where it was not read for some."""
        found = []
        for index in self.space.model_axes:
            cells = [self.cells_of(index, part) for part in parts[index]]
            if None in cells:
                return None
            found.append(reduce(or_, (each for each in cells if each is not None)))
        return tuple(found)

    def cells_of(self, index: int, part: Part) -> int | None:
        """Return the cells of the model that a calm feature may end in that starts in a part, as bits; None as for `boxes`."""
        known = self._cells.get((index, part), 0)
        if known == 0:
            axis = self.space.axes[index]
            places = self._ends(axis, axis.feature, part) if axis.feature.action.is_direct else ()
            values = [self.value(index, part), *map(axis.feature.domain.value, places)]
            known = self._cells[index, part] = self._bits(axis.feature.name, values)
        return known

    def _bits(self, name: str, values: Iterable[Value]) -> int | None:
        judge, found = self.space.theory.parsed, 0
        assert judge is not None
        for value in values:
            cell = judge.cell(name, value)
            if cell < 0:
                return None
            self.values.setdefault((name, cell), value)
            found |= 1 << cell
        return found

    def said(self, index: int, some: frozenset[Part]) -> Limitation:
        """Return the values that the parts of a feature hold."""
        axis = self.space.axes[index]
        value, name = axis.feature.domain.value, axis.feature.name
        lack = MISSING in some
        alone = [each.alone for each in some if each.span is None and each.alone is not None]
        if axis.feature.is_listed:
            held = [p for p in range(axis.size) if any(_holds(axis, each, p) for each in some)]
            names = (*map(value, held), *sorted(alone, key=str))
            return Limitation(name, lack, names=names)
        spans: list[Span] = []
        for part in self.parts[index]:
            if part not in some or part.span is None:
                continue
            if spans and self._adjoin(index, spans[-1], part.span):
                spans[-1] = spans[-1].up_to(part.span)
            else:
                spans.append(part.span)
        lone = [Range(each, each) for each in alone if not isinstance(each, str)]
        told = [self._open_ended(index, each).in_values_of(axis.feature) for each in spans]
        return Limitation(name, lack, spans=(*told, *sorted(lone)))

    def _open_ended(self, index: int, span: Span) -> Span:
        """Return an interval without the ends beyond which no row may have a value."""
        feature = self.space.axes[index].feature
        low, high = self._limits(index)
        below = Span(low, span.low, high_closed=not span.low_closed)
        above = Span(span.high, high, low_closed=not span.high_closed)
        if low is not None and span.low is not None and sample_value(below, feature) is None:
            span = span._replace(low=None, low_closed=True)
        if high is not None and span.high is not None and sample_value(above, feature) is None:
            span = span._replace(high=None, high_closed=True)
        return span

    def is_open(self, index: int) -> bool:
        """Tell whether a feature may become anything wherever it starts, so that its start does not matter."""
        feature = self.space.axes[index].feature
        free = feature.action is Action.FREE and feature.moves is None and feature.targets is None
        return index in self.calm and free


def _holds(axis: Axis, part: Part, place: int) -> bool:
    if axis.ordered or axis.feature.moves_from is not None:
        return part.first <= place <= part.last
    return axis.region(place) == part.first


def _ends_and_middle(region: range, *, whole: bool) -> Iterator[Part]:
    """Yield a region as one part, or its ends and its middle as separate parts."""
    if whole or len(region) == 1:
        yield Part(region[0], region[-1])
        return
    yield Part(region[0], region[0])
    if len(region) > 2:
        yield Part(region[1], region[-2])
    yield Part(region[-1], region[-1])


def _moved(axis: Axis, feature: Feature, start: int) -> Iterator[int]:
    """Yield the places that moves lead to, one after the other, each the way that the action permits."""
    seen, waiting = {start}, [start]
    while waiting:
        here = waiting.pop()
        ends = (feature.moves_from or {}).get(feature.domain.value(here), ())
        for end in (feature.places[each] for each in ends):
            rises = not axis.ordered or end > here
            falls = not axis.ordered or end < here
            fits = {Action.UP: rises, Action.DOWN: falls}.get(feature.action, True)
            if end not in seen and fits and axis.is_target(end):
                seen.add(end)
                waiting.append(end)
                yield end


def _beyond(feature: Feature, number: object, region: Sequence[int]) -> Iterator[int]:
    """Yield a place of a region that lies on the permitted side of a number off the grid."""
    for place in (region[0], region[-1]):
        there = feature.order(feature.domain.value(place))
        if (feature.action is Action.UP) == (there > number):  # type: ignore[operator]
            yield place
            return
