"""Where nobody has a way: boxes of values such that whoever starts in one has none, each proved, grown as wide as the proof holds.

A box holds for each feature some parts of its values. One search proves the whole box as far as its features are calm, in a space
where each may be set to what any of its starting values may become; the combinations of the others are proved one by one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from p2c._audit.ground import MISSING, Ground, Part
from p2c._plan.compiled.axis import OFF
from p2c._plan.compiled.person import place_person
from p2c._plan.compiled.space import SMALL
from p2c._plan.compiled.transitions import Transitions
from p2c._plan.outcome import Infeasible
from p2c._plan.planner import search_plan
from p2c._plan.search.best_first import LimitReached, Limits
from p2c._spec.spec import Exceptions
from p2c.errors import RowError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from p2c._audit.ground import Limitation, Parts
    from p2c._audit.intervals import Codes
    from p2c._audit.people import People
    from p2c._spec.feature import Value

WIDE = 64
"""How many combinations of values that set off effects a box may hold."""
SECONDS = 2.0
"""How long one box is looked at."""


@dataclass(frozen=True, slots=True)
class Box:
    """For each feature that matters the parts that it may start with; whoever starts so has no way."""

    parts: Parts
    rows: Codes
    """The people in it."""
    where: tuple[Limitation, ...]
    """What it says of each feature that it does not leave open."""

    def to_dict(self) -> dict[str, Any]:
        """Return the limitations of the box and the number of people in it as JSON."""
        where = {each.feature: each.to_dict() for each in self.where}
        return {"where": where, "people": len(self.rows)}

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

    def to_dict(self) -> dict[str, Any]:
        """Return who has no way as JSON."""
        return {
            "classes": [each.to_dict() for each in self.boxes],
            "complete": self.complete,
            "not_found_out": len(self.left),
        }


def confine(people: People, limits: Limits) -> Confinement:
    """Return boxes that hold everybody who has no way, and nobody else; as many as there is time for."""
    ground = Ground(people.space)
    lacking = {index for index in ground.axes if None in people.columns[index].values}
    prover = Prover(ground, frozenset(lacking))
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
            box = prover.grown(people.state(int(row)), limits)
            if box is None:
                left.append(int(row))
                continue
            covered[_inside(box, known, valid)] = True
            found.append(box)
    complete = not left and prover.complete(found, limits)
    boxes = [
        Box(parts, _inside(parts, known, valid), tuple(_said(ground, parts))) for parts in found
    ]
    return Confinement(tuple(_ordered(boxes)), complete, np.array(left, dtype=np.int64))


def _ordered(boxes: Sequence[Box]) -> Iterator[Box]:
    """Yield the boxes that are in no other one, each time the one with most people who are in none before."""
    left = [box for box in boxes if not any(box.is_inside(other) for other in boxes)]
    seen: set[int] = set()
    while left:
        best = max(left, key=lambda box: len(set(box.rows.tolist()) - seen))
        left.remove(best)
        seen |= set(best.rows.tolist())
        yield best


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


def _said(ground: Ground, parts: Parts) -> Iterator[Limitation]:
    """Yield the limitations of a box.

    A feature is left out if the box holds every value that a row may have.
    """
    for index, some in parts:
        known = MISSING in some or not ground.may_lack(index)
        if not (known and some.issuperset(ground.parts[index]) and ground.covers(index)):
            yield ground.said(index, some)


@dataclass(frozen=True)
class Prover:
    """Proves of boxes that whoever starts in one has no way, and makes them as wide as the proof holds."""

    ground: Ground
    lacking: frozenset[int] = frozenset()
    """The features whose value is missing in a row."""
    _proved: dict[tuple[tuple[Value, ...], Parts], bool] = field(default_factory=dict)

    def confines(self, state: Mapping[str, Value], parts: Parts, limits: Limits) -> bool:
        """Tell whether it is proved that nobody who starts in a box has a way.

        Args:
            state: The values of the features that do not matter.
            parts: The box.
            limits: The time that is left.
        """
        if limits.left == 0.0:
            return False
        calm = tuple((index, some) for index, some in parts if index in self.ground.calm)
        if self.ground.acceptance is not None:
            boxes = self.ground.boxes(dict(calm))
            if boxes is not None:
                try:
                    return not self.ground.acceptance.some(boxes, self._hurried(limits))
                except LimitReached:
                    return False
        starts = [self._starts(index, some) for index, some in parts]
        if prod(map(len, starts)) > WIDE:
            return False
        axes = self.ground.space.axes
        names = [axes[index].feature.name for index, _ in parts]
        for chosen in product(*starts):
            proved = self._proved.get((chosen, calm))
            if proved is None:
                start = {**state, **dict(zip(names, chosen, strict=True))}
                proved = self._proved[chosen, calm] = self._search(start, calm, limits)
            if not proved:
                return False
        return True

    def _starts(self, index: int, some: frozenset[Part]) -> list[Value]:
        """Return the values of a feature from which a box is searched.

        For a calm feature, one search holds all starts on the grid, and from a start off it also whatever these lead to.
        """
        parts = sorted(some, key=repr)
        if index in self.ground.calm:
            parts = [each for each in parts if each.first == OFF] or parts[:1]
        return [self.ground.value(index, each) for each in parts]

    def _search(self, state: Mapping[str, Value], calm: Parts, limits: Limits) -> bool:
        within = {
            index: frozenset().union(*(self.ground.reach(index, part) for part in some))
            for index, some in calm
        }
        transitions = Transitions(place_person(self.ground.opened, state), within=within)
        try:
            return isinstance(search_plan(transitions, self._hurried(limits)), Infeasible)
        except RowError:
            return False

    def _hurried(self, limits: Limits) -> Limits:
        """Return the limits of one search."""
        return Limits.within(SECONDS if limits.left is None else min(SECONDS, limits.left))

    def grown(self, state: Mapping[str, Value], limits: Limits) -> Parts | None:
        """Return a box around a state, as wide as the proof holds; None where there is none."""
        names = [axis.feature.name for axis in self.ground.space.axes]
        parts = {
            index: frozenset({self.ground.part(index, state[names[index]])})
            for index in self.ground.axes
        }

        def holds(index: int, some: frozenset[Part]) -> bool:
            return self.confines(state, tuple((parts | {index: some}).items()), limits)

        if not self.confines(state, tuple(parts.items()), limits):
            return None
        # A feature that is widened to everything first is left out of the statement.
        order = sorted(
            self.ground.axes,
            key=lambda index: (index not in self.ground.calm, len(self.ground.parts[index])),
        )
        for index in order:
            every = parts[index] | frozenset(self.ground.parts[index])
            lacks = [every | {MISSING}] * self.ground.may_lack(index)
            for some in (*lacks, every):
                if holds(index, some):
                    parts[index] = some
                    break
        for index in order:
            if not parts[index] >= frozenset(self.ground.parts[index]):
                parts[index] = self._widened(index, parts[index], holds)
                more = parts[index] | {MISSING}
                if index in self.lacking and holds(index, more):
                    parts[index] = more
        return tuple(parts.items())

    def _widened(
        self, index: int, some: frozenset[Part], holds: Callable[[int, frozenset[Part]], bool]
    ) -> frozenset[Part]:
        """Return as many parts of a feature as a box can take: of a number or a rank a range, of names any."""
        every, axis = self.ground.parts[index], self.ground.space.axes[index]
        own = next(iter(some))
        if index not in self.ground.calm or not axis.ordered or axis.feature.moves_from is not None:
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
        looked = [index for index in self.ground.axes if not self._start_is_alike(index)]
        strict = self.ground.space.theory.exceptions is Exceptions.STRICT
        room = prod(len(self.ground.parts[index]) for index in looked) <= SMALL
        if strict or not room or not all(map(self.ground.covers, self.ground.axes)):
            return False
        spare = {
            index: self.ground.parts[index][0] for index in self.ground.axes if index not in looked
        }
        base = {axis.feature.name: axis.feature.domain.value(0) for axis in self.ground.space.axes}
        for chosen in product(*(self.ground.parts[index] for index in looked)):
            start = spare | dict(zip(looked, chosen, strict=True))
            if any(all(start[i] in some for i, some in box) for box in boxes):
                continue
            if limits.left == 0.0:
                return False
            values = {
                self.ground.space.axes[i].feature.name: self.ground.value(i, p)
                for i, p in start.items()
            }
            found = self.grown(base | values, limits)
            if found is not None:
                boxes.append(found)
        return True

    def _start_is_alike(self, index: int) -> bool:
        """Tell whether every known start of a feature leads to the same."""
        placed = all(each.first != OFF for each in self.ground.parts[index])
        return placed and self.ground.is_open(index)
