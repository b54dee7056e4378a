"""Why a model refuses: a smallest set of the person's values that forces it, whatever the others are within their domains.

To change a feature that is not in such a set never helps alone. Features are let go one after the other, as long as the
others still force the refusal: what is left forces it, and no part of it does. Every way to a yes that was met meanwhile
names others of which the set must hold one, so that the smallest set that holds one of each is tried next, until none is
smaller (the duality of reasons and corrections; implicit hitting sets). Causes, constraints and who may change what do not
count here: it is the model alone that is asked about.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple

from p2c._plan.boxes import planner as boxes
from p2c._plan.compiled.bitsets import bits as bits_of
from p2c._plan.compiled.bitsets import mask_of, numbers
from p2c._plan.compiled.person import place_person
from p2c._plan.compiled.space import Space
from p2c._plan.compiled.transitions import Transitions
from p2c._plan.outcome import GaveUp, Infeasible
from p2c._plan.planner import search_plan
from p2c._plan.search.best_first import LimitReached, Limits
from p2c._rules.theory import ACCEPTED, Call, Test
from p2c._spec.cost import Norm
from p2c._spec.feature import Action, Grid, Kind
from p2c._spec.resources import COST

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from p2c._learn.model.read_model import ReadModel
    from p2c._rules.theory import Theory
    from p2c._spec.feature import Feature, Value

Names = frozenset[str]
Gains = tuple[float, ...]

STEPS = 1 << 16
"""Number of values from zero up that a computed feature without limits may have."""


class Forcing(NamedTuple):
    """Features whose values force a refusal, none of which can be spared; `smallest` where it is proved that no fewer do."""

    names: tuple[str, ...]
    smallest: bool


def forcing(
    theory: Theory,
    state: Mapping[str, Value],
    limits: Limits | None = None,
    *,
    always: Sequence[str] = (),
    never: Sequence[str] = (),
) -> Forcing | None:
    """Return a smallest set of features whose values force the refusal; None where there is none, or no time.

    Those that are `always` held force it as well, and are not in the set; nor are those that it may `never` hold. Where
    the time is enough for a set without a part that forces the refusal, and not to show that no other is smaller, it is that set.
    """
    limits = limits or Limits()
    try:
        changes = _changes(theory, state)
        found = _least_set(changes, _held(theory, always), frozenset(never), limits)
    except LimitReached:
        return None
    if found is None:
        return None
    held, smallest = found
    return Forcing(tuple(each.name for each in theory.features if each.name in held), smallest)


def forced_without(
    theory: Theory, state: Mapping[str, Value], held: Sequence[str], limits: Limits | None = None
) -> Mapping[str, Value] | None:
    """Return an accepted state with some values held, with the fewest others changed; None where there is none, or no time."""
    try:
        return _ByPlans(theory, state).beside(_held(theory, held), limits or Limits())
    except LimitReached:
        return None


def _held(theory: Theory, names: Sequence[str]) -> Names:
    """Return the features that are held, and those that keep the row's value whatever happens."""
    return frozenset(names) | {each.name for each in theory.features if each.kept}


def _changes(theory: Theory, state: Mapping[str, Value]) -> _Changes:
    """Return the quickest way to tell how somebody comes to a yes."""
    judge = theory.model
    if judge is None or theory.goal != (Call(ACCEPTED),):
        return _ByPlans(theory, state)
    from p2c._learn.model.read_model import (
        ReadModel,
    )  # rules need nothing of what reading models needs

    if isinstance(judge, ReadModel):
        alone = judge.is_separate and (judge.lined or judge.margins == 1)
        if alone or not judge.lined:
            told = (_BySums if alone else _ByCells)(Space(theory), judge, state)
            if told.is_read:
                return told
    return _ByPlans(theory, state)


def _least_set(
    changes: _Changes, always: Names, never: Names, limits: Limits
) -> tuple[Names, bool] | None:
    """Return the fewest features that force the refusal; where the limits end too early, some of which none can be spared, and that it is so."""
    some = [name for name in changes.names if name not in always | never]
    held, corrections = frozenset(some), list[Names]()

    def forces(tried: Names) -> bool:
        end = changes.beside(tried | always, limits)
        if end is not None:
            other = frozenset(name for name in changes.names if end[name] != changes.state[name])
            corrections.append(other - never)
        return end is None

    if not forces(held):
        return None
    for name in some:
        tried = held - {name}
        if all(tried & each for each in corrections) and forces(tried):
            held = tried
    if changes.in_order:
        return held, True
    try:
        while True:
            fewer = _hitting(corrections, len(held) - 1, limits)
            if fewer is None or forces(fewer):
                return held if fewer is None else fewer, True
    except LimitReached:
        return held, False


def _hitting(sets: Sequence[Names], most: int, limits: Limits) -> Names | None:
    """Return a smallest set that holds one of each of some sets; None where it takes more than so many."""
    names = sorted(frozenset().union(*sets))
    bits = sorted({mask_of(map(names.index, each)) for each in sets}, key=int.bit_count)
    for size in range(most + 1):
        found = _of_size(bits, size, 0, limits)
        if found is not None:
            return frozenset(names[number] for number in numbers(found))
    return None


def _of_size(sets: list[int], size: int, barred: int, limits: Limits) -> int | None:
    """Return so many numbers, as bits, that hold one of each of some sets and none that is barred; None where none do."""
    if not sets:
        return 0
    limits.check()
    met = apart = 0
    for each in sets:
        if not each & met:
            met, apart = met | each, apart + 1
    if apart > size:
        return None
    fewest = min((each & ~barred for each in sets), key=int.bit_count)
    for bit in bits_of(fewest):
        rest = [each for each in sets if not each & bit]
        found = _of_size(rest, size - 1, barred, limits)
        if found is not None:
            return found | bit
        barred |= bit
    return None


@dataclass(frozen=True)
class _ByPlans:
    """Ways to a yes by the search for plans, whatever decides."""

    theory: Theory
    state: Mapping[str, Value]
    in_order = False
    """Whether no set is smaller than what is left when the features are let go in the order of `names`."""

    @cached_property
    def names(self) -> list[str]:
        """Return the features that count, those first that seem to count least."""
        return [feature.name for feature in self.theory.features]

    @cached_property
    def _space(self) -> Space:
        """Return a space in which everybody may change everything, and nothing follows from anything."""
        features = [
            replace(each, action=Action.FREE, moves=None, governed=False, weight=1)
            for each in map(self._freed, self.theory.features)
        ]
        alone = replace(self.theory, features=tuple(features), causes=(), constraints=())
        return Space(replace(alone, norm=Norm.L0, objectives=(COST,)))

    def _freed(self, feature: Feature) -> Feature:
        """Return a computed feature as a free number.

        Its limits are at least twice the constants that rules compare it with.
        """
        equation, own = feature.equation, self.state[feature.name]
        if equation is None:
            return feature
        bodies = [*self.theory.goal, *(each for c in self.theory.clauses for each in c.body)]
        tests = [e for e in bodies if isinstance(e, Test) and e.feature == feature.name]
        sizes = [abs(e) for e in (own, *(t.constant for t in tests)) if isinstance(e, int | float)]
        far = 2 * math.ceil(max(sizes, default=1)) + 1
        low = -far if equation.low is None else feature.minimum
        high = far if equation.high is None else feature.maximum
        step = 1 if feature.kind is Kind.INT else far / STEPS
        grid = Grid(low, high, step)
        return replace(feature, equation=None, domain=grid, minimum=low, maximum=high)

    def beside(self, held: Names, limits: Limits) -> Mapping[str, Value] | None:
        """Return an accepted state in which some features are as they are; None where there is none."""
        known = self._space.theory.feature
        fixed = [replace(known[name], action=Action.FIXED) for name in held]
        space = self._space.with_features(fixed)
        if space.theory.is_arithmetic:
            plan = boxes.find_plan(space.theory, self.state, limits)
        else:
            plan = search_plan(Transitions(place_person(space, self.state)), limits)
        if isinstance(plan, GaveUp):
            raise LimitReached(0, None)
        return None if isinstance(plan, Infeasible) else plan.end


@dataclass(frozen=True)
class _ByCells:
    """Ways to a yes of a model that sees cells only."""

    space: Space
    judge: ReadModel
    state: Mapping[str, Value]
    in_order = False

    @cached_property
    def own(self) -> tuple[int, ...]:
        return tuple(self.judge.cell(name, self.state[name]) for name in self.judge.reads)

    @cached_property
    def _values(self) -> list[dict[int, Value]]:
        """Return for each feature that the model reads a value of each cell, the person's own first."""
        found = []
        for index, cell in zip(self.space.model_axes, self.own, strict=True):
            axis = self.space.axes[index]
            name, value = axis.feature.name, axis.feature.domain.value
            own = {cell: self.state[name]}
            told = {self.judge.cell(name, value(each[0])): value(each[0]) for each in axis.cells}
            found.append({**told, **own})
        return found

    @cached_property
    def is_read(self) -> bool:
        """Tell whether the model was read for every value."""
        return all(-1 not in each for each in self._values)

    @cached_property
    def _every(self) -> tuple[int, ...]:
        return tuple(map(mask_of, self._values))

    @cached_property
    def names(self) -> list[str]:
        """Return the features by how much nearer a yes each of them alone can bring the person."""
        boxes = [1 << cell for cell in self.own]
        gaps = self.judge.gaps(boxes, list(enumerate(self._every))) if boxes else []
        return [name for _, name in sorted(zip(gaps, self.judge.reads, strict=True))]

    def _accepts(self, cells: tuple[int, ...]) -> bool:
        return self.judge.accepts_cells(cells, partial(self._state_of, cells))

    def _state_of(self, cells: tuple[int, ...]) -> Mapping[str, Value]:
        values = (known[cell] for known, cell in zip(self._values, cells, strict=True))
        return {**self.state, **dict(zip(self.judge.reads, values, strict=True))}

    def beside(self, held: Names, limits: Limits) -> Mapping[str, Value] | None:
        reads = self.judge.reads
        boxes = tuple(
            1 << cell if name in held else every
            for name, cell, every in zip(reads, self.own, self._every, strict=True)
        )

        def tick() -> None:
            limits.check()
            limits.expanded += 1

        point = self.judge.votes.accepted(boxes, self._accepts, tick)
        if point is None:
            return None
        for place, cell in enumerate(self.own):
            back = (*point[:place], cell, *point[place + 1 :])
            if point[place] != cell and self._accepts(back):
                point = back
        return self._state_of(point)


@dataclass(frozen=True)
class _BySums:
    """Ways to a yes of a model to which every feature adds by itself."""

    space: Space
    judge: ReadModel
    state: Mapping[str, Value]

    @property
    def in_order(self) -> bool:
        """Tell whether the features that can add most force the refusal if as many of any do."""
        return self.judge.margins == 1

    @cached_property
    def _values(self) -> dict[str, tuple[Value, ...]]:
        """Return for each feature that the model reads the person's own value and the ends of each cell."""
        found = {}
        for index in self.space.model_axes:
            axis = self.space.axes[index]
            name, value = axis.feature.name, axis.feature.domain.value
            ends = [value(place) for cell in axis.cells for place in {cell[0], cell[-1]}]
            found[name] = tuple(dict.fromkeys((self.state[name], *ends)))
        return found

    @cached_property
    def _gains(self) -> dict[str, dict[Value, Gains]]:
        """Return what the values add that the model was read for."""
        told = {
            name: [(v, self.judge.gain(name, v)) for v in self._values[name]]
            for name in self._values
        }
        return {
            name: {value: gain for value, gain in pairs if gain is not None}
            for name, pairs in told.items()
        }

    @cached_property
    def is_read(self) -> bool:
        """Tell whether the model was read for every value."""
        return all(len(self._gains[name]) == len(each) for name, each in self._values.items())

    def _best(self, name: str, margin: int) -> Value:
        told = self._gains[name]
        return max(told, key=lambda value: told[value][margin])

    def _swing(self, name: str) -> float:
        told = self._gains[name]
        return told[self._best(name, 0)][0] - told[self.state[name]][0]

    @cached_property
    def names(self) -> list[str]:
        return sorted(self._gains, key=self._swing)

    @cached_property
    def _needed(self) -> Gains:
        lined = (self._gains[name].values() for name in self.judge.lined)
        size = sum(max(abs(gain) for told in each for gain in told) for each in lined)
        return self.judge.needed(None, size)

    @cached_property
    def _otherwise(self) -> _ByPlans:
        return _ByPlans(self.space.theory, self.state)

    def beside(self, held: Names, limits: Limits) -> Mapping[str, Value] | None:
        limits.check()
        points = [
            {n: self.state[n] if n in held else self._best(n, margin) for n in self._gains}
            for margin in range(self.judge.margins)
        ]
        gaps = [
            sum(self._gains[name][value][margin] for name, value in point.items()) - needed
            for margin, (point, needed) in enumerate(zip(points, self._needed, strict=True))
        ]
        if min(gaps) < 0:
            return None
        point = points[gaps.index(min(gaps))]
        end = {**self.state, **point}
        return end if self.judge.accepts(end) else self._otherwise.beside(held, limits)


_Changes = _ByPlans | _ByCells | _BySums
"""How somebody comes to a yes."""
