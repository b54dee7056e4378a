"""The values of features in parts from which the future is the same, and where whoever starts in a part may end.

A feature that sets off no effects and breaks no constraint is `calm`: whoever starts in a box of parts can end in any combination of what
its calm features may become. The other features are looked at value by value: where an exception hangs on the own value, the ends of a
region of a number are told from what lies between them, since effects lead to the ends.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from operator import or_
from typing import TYPE_CHECKING, Any, NamedTuple

from p2c.audit.acceptance import Acceptance, as_read
from p2c.domain.cost import Norm
from p2c.domain.feature import Action, exact
from p2c.domain.spec import Minimize
from p2c.plan.compiled.axis import OFF
from p2c.plan.compiled.space import Space
from p2c.rules.theory import ACCEPTED, Call

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from p2c.domain.feature import Feature, Value
    from p2c.domain.row import State
    from p2c.plan.compiled.axis import Axis


class Part(NamedTuple):
    """Values of a feature from which the future is the same: places of its grid, or one value that has no place."""

    first: int
    last: int
    """The first and the last place of a range; of a category, twice the number of its cell."""
    alone: Value = None
    """A value off the grid; with both places `OFF` and none, the missing one."""


MISSING = Part(OFF, OFF)
Parts = tuple[tuple[int, frozenset[Part]], ...]


@dataclass(frozen=True, slots=True)
class Limitation:
    """What a box says of one feature: ranges of a number, open where an end is None, or names; and whether it may be missing."""

    feature: str
    missing: bool
    spans: tuple[tuple[Value, Value], ...] = ()
    names: tuple[Value, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return what is said as JSON."""
        told = (
            {"names": list(self.names)}
            if self.names
            else {"ranges": [list(each) for each in self.spans]}
        )
        return {**told, "missing": self.missing}


@dataclass(frozen=True)
class Ground:
    """The parts of a problem's values, where people who start in each may end, and which cells of a model that is."""

    space: Space
    values: dict[tuple[str, int], Value] = field(default_factory=dict)
    """A value for each cell of the model that was met, by feature and cell."""
    told: Acceptance | None = None
    """What is known already of the same model."""
    _cells: dict[tuple[int, Part], int | None] = field(default_factory=dict)

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
        return Space(replace(opened.theory, norm=Norm.L0, minimize=Minimize.COST))

    @cached_property
    def is_weighed(self) -> bool:
        """Tell whether a model weighs the very number of a feature that may not become anything, so that cells say too little."""
        model = self.space.theory.model
        lined = frozenset() if model is None else model.lined
        names = [(index, self.space.axes[index].feature.name) for index in self.axes]
        return any(name in lined and not self.is_open(index) for index, name in names)

    def part(self, index: int, value: Value) -> Part:
        """Return the part that a value is in."""
        if value is None:
            return MISSING
        axis = self.space.axes[index]
        place = axis.feature.place(value)
        if place is None:
            assert not isinstance(value, str)
            above = axis.feature.domain.first_place_from(exact(value))
            between = 0 < above < axis.size and axis.region(above - 1) == axis.region(above)
            if not (between and index in self.calm):
                return Part(OFF, OFF, value)
            place = above
        return next(each for each in self.parts[index] if _holds(axis, each, place))

    @cached_property
    def parts(self) -> dict[int, tuple[Part, ...]]:
        """Return for each feature that matters the parts of its grid, in order."""
        return {index: tuple(self._cut(index)) for index in self.axes}

    def _cut(self, index: int) -> Iterator[Part]:
        axis = self.space.axes[index]
        if axis.feature.moves_from is not None:
            yield from (Part(place, place) for place in range(axis.size))
            return
        for number, region in enumerate(axis.regions):
            if not isinstance(region, range):
                yield Part(number, number)
            elif index in self.calm or len(region) == 1:
                yield Part(region[0], region[-1])
            else:
                yield Part(region[0], region[0])
                if len(region) > 2:
                    yield Part(region[1], region[-2])
                yield Part(region[-1], region[-1])

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
        if judge is None or judge.lined or not plain:
            return None
        if not set(judge.reads) <= set(theory.feature):
            return None
        return self.told or Acceptance(judge, self._state_of)

    def lifted(self, space: Space) -> Ground:
        """Return the ground of the same problem with other restrictions; what is known of the model is shared."""
        return Ground(space, self.values, self.acceptance)

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
        judge, found = self.space.theory.model, 0
        assert judge is not None
        for value in values:
            cell = judge.cell(name, value)
            if cell < 0:
                return None
            self.values.setdefault((name, cell), value)
            found |= 1 << cell
        return found

    def said(self, index: int, some: frozenset[Part]) -> Limitation:
        """Return what some parts of a feature are in values."""
        axis, every = self.space.axes[index], self.parts[index]
        value, name = axis.feature.domain.value, axis.feature.name
        lack = MISSING in some
        if axis.feature.is_listed:
            held = [p for p in range(axis.size) if any(_holds(axis, each, p) for each in some)]
            return Limitation(name, lack, names=tuple(map(value, held)))
        spans: list[tuple[Value, Value]] = [
            (each.alone, each.alone) for each in some if each.alone is not None
        ]
        inside = [number for number, part in enumerate(every) if part in some]
        for first in (n for n in inside if n - 1 not in inside):
            last = next(n for n in range(first, len(every)) if n + 1 not in inside)
            low = value(every[first].first) if first else None
            high = value(every[last].last) if last < len(every) - 1 else None
            spans.append((low, high))
        return Limitation(name, lack, spans=tuple(spans))

    def is_open(self, index: int) -> bool:
        """Tell whether a feature may become anything wherever it starts, so that its start does not matter."""
        feature = self.space.axes[index].feature
        free = feature.action is Action.FREE and feature.moves is None and feature.targets is None
        return index in self.calm and free


def _holds(axis: Axis, part: Part, place: int) -> bool:
    if axis.ordered or axis.feature.moves_from is not None:
        return part.first <= place <= part.last
    return axis.region(place) == part.first


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
