"""Where nobody has a way: boxes of values such that whoever starts in one has none, each proved, grown as wide as the proof holds.

A box holds for each feature some parts of its values. A feature that sets off no effects and breaks no constraint is `calm`:
whoever starts in a box can end in any combination of what its calm features may become, so that one search proves the
whole box, in a space where each calm feature may be set to what any of its starting values may become. The other features are looked at
value by value: where an exception hangs on the own value, the ends of a region of a number are told from what lies between them, since
effects lead to the ends.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from itertools import product
from math import prod
from operator import or_
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from p2c.audit.acceptance import Acceptance, as_read
from p2c.domain.cost import Norm
from p2c.domain.feature import Action, exact
from p2c.domain.spec import Exceptions, Minimize
from p2c.errors import RowError
from p2c.plan.compiled.axis import OFF
from p2c.plan.compiled.person import place_person
from p2c.plan.compiled.space import SMALL, Space
from p2c.plan.compiled.transitions import Transitions
from p2c.plan.outcome import Infeasible
from p2c.plan.planner import search_plan
from p2c.plan.search.best_first import LimitReached, Limits
from p2c.rules.theory import ACCEPTED, Call

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from p2c.audit.groups import Codes, Rows
    from p2c.audit.people import People
    from p2c.domain.feature import Feature, Value
    from p2c.domain.row import State
    from p2c.plan.compiled.axis import Axis

WIDE = 64
"""How many combinations of values that set off effects a box may hold."""
SECONDS = 2.0
"""How long one box is looked at."""


class Part(NamedTuple):
    """Values of a feature from which the future is the same: places of its grid, or one value that has no place."""

    first: int
    last: int
    """The first and the last place of a range; of a category, twice the number of its cell."""
    alone: Value = None
    """A value off the grid; with both places `OFF` and none, the missing one."""


MISSING = Part(OFF, OFF)


@dataclass(frozen=True, slots=True)
class Box:
    """For each feature that matters the parts that it may start with; whoever starts so has no way."""

    parts: tuple[tuple[int, frozenset[Part]], ...]
    rows: Codes
    """The people in it."""

    def holds(self, parts: Mapping[int, Part]) -> bool:
        """Tell whether a start is in the box."""
        return all(parts[index] in some for index, some in self.parts)

    def is_inside(self, other: Box) -> bool:
        """Tell whether all of the box is in another one."""
        pairs = zip(self.parts, other.parts, strict=True)
        return self.parts != other.parts and all(mine <= theirs for (_, mine), (_, theirs) in pairs)


@dataclass(frozen=True, slots=True)
class Confinement:
    """The boxes, those with most people first, and whether they are all there are, also beyond the people in the data."""

    boxes: tuple[Box, ...]
    complete: bool
    left: Codes
    """The people without a way for whom there was no time."""
    lacking: frozenset[int]
    """The features of which some people lack the value."""


def confine(people: People, limits: Limits) -> Confinement:
    """Return boxes that hold everybody who has no way, and nobody else; as many as there is time for."""
    ground = Ground(people.space)
    stuck = np.flatnonzero(people.answers.having("infeasible"))
    known = _parts_of_rows(ground, people)
    valid = np.flatnonzero(~people.answers.having("invalid"))
    found: list[Parts] = []
    left = []
    covered = np.zeros(len(people.answers), dtype=bool)
    for rows in sorted(people.classes(stuck), key=len, reverse=True):
        for row in rows:
            if covered[row]:
                continue
            if limits.left == 0.0 or ground.is_weighed:
                left.append(int(row))
                continue
            box = ground.grown(people.state(int(row)), limits)
            if box is None:
                left.append(int(row))
                continue
            covered[_inside(box, known, valid)] = True
            found.append(box)
    complete = False
    if not left:
        complete = ground.complete(found, limits)
    boxes = [Box(parts, _inside(parts, known, valid)) for parts in found]
    lacking = frozenset(i for i in ground.axes if None in people.columns[i].values)
    gone = np.array(left, dtype=np.int64)
    return Confinement(tuple(_ordered(boxes)), complete, gone, lacking)


def _ordered(boxes: Sequence[Box]) -> Iterator[Box]:
    """Yield the boxes that are in no other one, each time the one with most people who are in none before."""
    left = [box for box in boxes if not any(box.is_inside(other) for other in boxes)]
    seen: set[int] = set()
    while left:
        best = max(left, key=lambda box: len(set(box.rows.tolist()) - seen))
        left.remove(best)
        seen |= set(best.rows.tolist())
        yield best


Parts = tuple[tuple[int, frozenset[Part]], ...]


def _parts_of_rows(ground: Ground, people: People) -> dict[int, tuple[Codes, dict[Part, int]]]:
    """Return for each feature that matters the number of the part of each row, and the numbers."""
    found = {}
    for index in ground.axes:
        column, numbers = people.columns[index], dict[Part, int]()
        codes = [numbers.setdefault(ground.part(index, v), len(numbers)) for v in column.values]
        found[index] = np.array(codes, dtype=np.int64)[column.which], numbers
    return found


def _inside(parts: Parts, known: Mapping[int, tuple[Codes, dict[Part, int]]], rows: Codes) -> Codes:
    for index, some in parts:
        codes, numbers = known[index]
        wanted = [number for part, number in numbers.items() if part in some]
        rows = rows[np.isin(codes[rows], wanted)]
    return rows


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


def conditions(ground: Ground, confinement: Confinement, box: Box) -> Iterator[Limitation]:
    """Yield what a box says of each feature that it does not leave open."""
    for index, some in box.parts:
        known = MISSING in some or index not in confinement.lacking
        if not (known and some.issuperset(ground.parts[index])):
            yield ground.said(index, some)


@dataclass(frozen=True)
class Ground:
    """What is needed to prove that a box confines whoever starts in it."""

    space: Space
    values: dict[tuple[str, int], Value] = field(default_factory=dict)
    """A value for each cell of the model that was met, by feature and cell."""
    told: Acceptance | None = None
    """What is known already of the same model."""
    _proved: dict[tuple[tuple[Value, ...], Parts], bool] = field(default_factory=dict)
    _cells: dict[tuple[int, Part], int | None] = field(default_factory=dict)

    @cached_property
    def axes(self) -> tuple[int, ...]:
        """Return the features that matter."""
        names = self.space.concerned
        return tuple(i for i, axis in enumerate(self.space.axes) if axis.feature.name in names)

    @cached_property
    def calm(self) -> frozenset[int]:
        """Return those of them that set off no effects and break no constraint."""
        return frozenset(self.axes) - self.space.stirring

    @cached_property
    def opened(self) -> Space:
        """Return the space in which all calm features may be set at will."""
        calm = [self.space.axes[index].feature for index in self.calm]
        features = [replace(each, action=Action.FREE, moves=None) for each in calm]
        opened = self.space.with_features(features)
        # Whether there is a way does not hang on what it costs; to count actions is the least work.
        return Space(replace(opened.theory, norm=Norm.L0, minimize=Minimize.COST))

    @cached_property
    def is_weighed(self) -> bool:
        """Tell whether a model weighs the very number of a feature that may not become anything, so that cells say too little."""
        model = self.space.theory.model
        lined = frozenset() if model is None else model.lined
        names = [(index, self.space.axes[index].feature.name) for index in self.axes]
        return any(name in lined and not self._is_open(index) for index, name in names)

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
        regions = axis.cells
        for region in regions:
            if part == MISSING or feature.action is Action.FREE:
                yield region[0]
            elif part.first == OFF:
                yield from _beyond(feature, exact(part.alone), region)
            elif feature.action is Action.UP and region[-1] > part.first:
                yield region[-1]
            elif feature.action is Action.DOWN and region[0] < part.last:
                yield region[0]

    def confines(self, state: Mapping[str, Value], parts: Parts, limits: Limits) -> bool:
        """Tell whether it is proved that nobody who starts in a box has a way; the calm values of a state lie in it."""
        stirring = [(index, some) for index, some in parts if index not in self.calm]
        calm = tuple((index, some) for index, some in parts if index in self.calm)
        if prod(len(some) for _, some in stirring) > WIDE:
            return False
        for chosen in product(*(sorted(some, key=repr) for _, some in stirring)):
            start = dict(state)
            for (index, _), part in zip(stirring, chosen, strict=True):
                start[self.space.axes[index].feature.name] = self.value(index, part)
            if not self._proves(start, calm, limits):
                return False
        return True

    def _proves(self, state: Mapping[str, Value], calm: Parts, limits: Limits) -> bool:
        key = tuple(state.values()), calm
        known = self._proved.get(key)
        if known is None:
            known = self._proved[key] = self._search(state, calm, limits)
        return known

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

    @cached_property
    def everything(self) -> tuple[int, ...]:
        """Return all cells of the model that values on the grid have, by feature that it reads, as bits."""
        axes = [self.space.axes[index] for index in self.space.judged_axes]
        found = []
        for axis in axes:
            values = [axis.feature.domain.value(cell[0]) for cell in axis.cells]
            found.append(self._bits(axis.feature.name, values) or 0)
        return tuple(found)

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

    def boxes(
        self, parts: Mapping[int, Iterable[Part]], axes: Iterable[int] | None = None
    ) -> tuple[int, ...] | None:
        """Return the model's cells that whoever starts in some parts may end in; None where it was not read for some."""
        found = []
        for index in self.space.judged_axes if axes is None else axes:
            cells = [self._cells_of(index, part) for part in parts[index]]
            if None in cells:
                return None
            found.append(reduce(or_, (each for each in cells if each is not None)))
        return tuple(found)

    def _cells_of(self, index: int, part: Part) -> int | None:
        """Return the cells of the model that a calm feature may end in that starts in a part, as bits."""
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

    def _search(self, state: Mapping[str, Value], calm: Parts, limits: Limits) -> bool:
        if self.acceptance is not None:
            boxes = self.boxes(dict(calm))
            if boxes is not None:
                try:
                    return not self.acceptance.some(boxes, self._hurried(limits))
                except LimitReached:
                    return False
        within = {
            index: frozenset().union(*(self.reach(index, part) for part in some))
            for index, some in calm
        }
        transitions = Transitions(place_person(self.opened, state), within=within)
        try:
            return isinstance(search_plan(transitions, self._hurried(limits)), Infeasible)
        except RowError:
            return False

    def _hurried(self, limits: Limits) -> Limits:
        """Return the limits of one search."""
        return Limits.within(SECONDS if limits.left is None else min(SECONDS, limits.left))

    def grown(self, state: Mapping[str, Value], limits: Limits) -> Parts | None:
        """Return a box around a state, as wide as the proof holds; None where there is none."""
        names = [axis.feature.name for axis in self.space.axes]
        parts = {index: frozenset({self.part(index, state[names[index]])}) for index in self.axes}

        def holds(index: int, some: frozenset[Part]) -> bool:
            tried = tuple((parts | {index: some}).items())
            return self.confines(state, tried, limits)

        if not self.confines(state, tuple(parts.items()), limits):
            return None
        # What is widened to everything first is what need not be spoken of.
        order = sorted(
            self.axes, key=lambda index: (index not in self.calm, len(self.parts[index]))
        )
        for index in order:
            every = parts[index] | frozenset(self.parts[index])
            if holds(index, every):
                parts[index] = every
        for index in order:
            if not parts[index] >= frozenset(self.parts[index]):
                parts[index] = self._widened(index, parts[index], holds)
        return tuple(parts.items())

    def _widened(
        self, index: int, some: frozenset[Part], holds: Callable[[int, frozenset[Part]], bool]
    ) -> frozenset[Part]:
        """Return as many parts of a feature as a box can take: of a number or a rank a range, of names any."""
        every, axis = self.parts[index], self.space.axes[index]
        own = next(iter(some))
        if index not in self.calm or not axis.ordered or axis.feature.moves_from is not None:
            for part in every:
                if part not in some and holds(index, some | {part}):
                    some |= {part}
            return some
        middle = every.index(own) if own in every else None
        if middle is None:
            return some
        for way in (every[middle + 1 :], every[:middle][::-1]):
            low, high = 0, len(way)
            while low < high:
                most = (low + high + 1) // 2
                if holds(index, some | frozenset(way[:most])):
                    low = most
                else:
                    high = most - 1
            some |= frozenset(way[:low])
        return some

    def complete(self, boxes: list[Parts], limits: Limits) -> bool:
        """Add the boxes in which nobody of the data starts; tell whether there was time and room for all."""
        looked = [index for index in self.axes if not self._is_open(index)]
        strict = self.space.theory.exceptions is Exceptions.STRICT
        if strict or prod(len(self.parts[index]) for index in looked) > SMALL:
            return False
        spare = {index: self.parts[index][0] for index in self.axes if index not in looked}
        base = {axis.feature.name: axis.feature.domain.value(0) for axis in self.space.axes}
        for chosen in product(*(self.parts[index] for index in looked)):
            start = spare | dict(zip(looked, chosen, strict=True))
            if any(all(start[i] in some for i, some in box) for box in boxes):
                continue
            if limits.left == 0.0:
                return False
            values = {self.space.axes[i].feature.name: self.value(i, p) for i, p in start.items()}
            found = self.grown(base | values, limits)
            if found is not None:
                boxes.append(found)
        return True

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

    def _is_open(self, index: int) -> bool:
        """Tell whether a feature may become anything wherever it starts, so that its start does not matter."""
        feature = self.space.axes[index].feature
        return index in self.calm and feature.action is Action.FREE and feature.moves is None


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
            if end not in seen and fits:
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


def rows_in(boxes: Sequence[Box], size: int) -> Rows:
    """Tell which rows some boxes hold."""
    found = np.zeros(size, dtype=bool)
    for box in boxes:
        found[box.rows] = True
    return found
