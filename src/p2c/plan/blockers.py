"""Why there is no path: a smallest set of the person's restrictions whose lifting would open one.

A restriction is lifted by planning again in a theory without it. Where restrictions are few, sets of them are tried by
size, so that the first to open a path is a smallest. Where they are many, lifting more is taken never to close a path:
what a largest set that opens none leaves out is then something that every helpful set takes from, and the smallest set
that takes from all that is known is tried next, until one opens a path (the implicit hitting sets of Moreno-Centeno and
Karp, 2013). A lifted effect can also carry a feature away from where it is wanted, so among many restrictions the set is
one that opens a path and, but for such turns, a smallest. In a large problem, where only sets of actions can be chosen
first, to be free to set what follows by itself is thought of last, since that is searched state by state. All this ends in
time: what is known by then is what is said.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from p2c.domain.feature import Action, Feature, Grid, Points, exact
from p2c.plan.dynamics import Dynamics
from p2c.plan.outcome import Blocker, Found, GaveUp
from p2c.plan.person import place_person
from p2c.plan.planner import search_plan
from p2c.plan.search import Limits
from p2c.plan.space import Space

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from p2c.domain.feature import Value
    from p2c.plan.axis import Axis
    from p2c.rules.theory import Theory

SECONDS = 5.0
"""How long blockers are looked for where the caller sets no limit."""

FEW = 7
"""Up to how many restrictions all sets of them are tried."""

NODES = 400
"""How many states are looked at for each of many sets, in problems that are too large for that, unless the caller gives time."""


class Explanation(NamedTuple):
    """What bars every path, and the path that lifting it opens; `known` unless there was no time to find out."""

    blockers: tuple[Blocker, ...] = ()
    opened: Found | None = None
    known: bool = True


class OutOfTimeError(Exception):
    """The deadline has come before a question was answered."""


@dataclass(frozen=True)
class Lifting:
    """A restriction and the feature without it."""

    blocker: Blocker
    feature: Feature


def find_blockers(
    space: Space, state: Mapping[str, Value], *, time_limit: float | None = None
) -> Explanation:
    """Return a smallest set of restrictions that bar every path, and the path that lifting them opens.

    The set is empty where lifting opens none: then the rules themselves rule it out.
    """
    deadline = time.monotonic() + (SECONDS if time_limit is None else time_limit)
    trial = Trial(space.theory, state, tuple(_liftings(space)), deadline)
    every = frozenset(range(len(trial.liftings)))
    try:
        if len(every) <= FEW:
            chosen = _by_size(trial, every)
        elif space.is_small:
            chosen = _by_hitting(trial, every)
        else:
            chosen = _in_large(replace(trial, nodes=NODES if time_limit is None else None), every)
    except OutOfTimeError:
        return Explanation(known=False)
    if chosen is None:
        return Explanation()
    blockers = tuple(trial.liftings[each].blocker for each in sorted(chosen))
    return Explanation(blockers, trial.opened(chosen))


@dataclass(frozen=True)
class Trial:
    """The paths that lifting some restrictions, given by number, opens to one person before a deadline."""

    theory: Theory
    state: Mapping[str, Value]
    liftings: tuple[Lifting, ...]
    deadline: float
    nodes: int | None = None
    _known: dict[frozenset[int], Found | None] = field(default_factory=dict)

    def opened(self, chosen: frozenset[int]) -> Found | None:
        """Return the best path without these restrictions, if there is one."""
        if chosen not in self._known:
            self._known[chosen] = self._plan(chosen)
        return self._known[chosen]

    def _plan(self, chosen: frozenset[int]) -> Found | None:
        lifted = {feature.name: feature for feature in self.theory.features}
        for number in chosen:
            lifting = self.liftings[number]
            name = lifting.blocker.feature
            lifted[name] = _merged(lifted[name], lifting)
        space = Space(replace(self.theory, features=tuple(lifted.values())))
        dynamics = Dynamics(place_person(space, self.state))
        choose_first = space.selects
        limits = Limits(None if choose_first else self.nodes, self.deadline)
        plan = search_plan(dynamics, limits, choose_first=choose_first)
        if isinstance(plan, GaveUp):
            raise OutOfTimeError
        return plan if isinstance(plan, Found) else None


def _by_size(trial: Trial, every: frozenset[int]) -> frozenset[int] | None:
    """Return the first set that opens a path, the smaller ones first."""
    for size in range(1, len(every) + 1):
        for chosen in combinations(sorted(every), size):
            if trial.opened(frozenset(chosen)) is not None:
                return frozenset(chosen)
    return None


def _in_large(trial: Trial, every: frozenset[int]) -> frozenset[int] | None:
    """Return the same as below, first without the effects that a person might be free to set."""
    plain = frozenset(
        each for each in every if trial.liftings[each].blocker.restriction != Action.EFFECT.value
    )
    return (_by_hitting(trial, plain) if plain else None) or _by_hitting(trial, every)


def _by_hitting(trial: Trial, every: frozenset[int]) -> frozenset[int] | None:
    """Return a smallest set that opens a path, or in haste one of which nothing more could be left out in time."""
    if trial.opened(every) is None:
        return None
    needed: list[frozenset[int]] = []
    try:
        while True:
            chosen = _hitting(needed, every, deadline=trial.deadline)
            if trial.opened(chosen) is not None:
                return chosen
            needed.append(every - _grown(trial, chosen, every))
    except OutOfTimeError:
        extra = replace(trial, deadline=time.monotonic() + SECONDS / 5)
        return _shrunk(extra, every)


def _grown(trial: Trial, chosen: frozenset[int], every: frozenset[int]) -> frozenset[int]:
    """Return a set that opens no path and to which nothing can be added, from a smaller one."""
    waiting = [sorted(every - chosen)]
    while waiting:
        part = waiting.pop()
        if trial.opened(chosen.union(part)) is None:
            chosen = chosen.union(part)
        else:
            waiting += _halves(part)
    return chosen


def _shrunk(trial: Trial, kept: frozenset[int]) -> frozenset[int]:
    """Return a set that opens a path and of which, time permitting, nothing can be left out."""
    waiting = [sorted(kept)]
    while waiting:
        part = waiting.pop()
        try:
            opened = trial.opened(kept.difference(part)) is not None
        except OutOfTimeError:
            break
        if opened:
            kept = kept.difference(part)
        else:
            waiting += _halves(part)
    return kept


def _halves(part: list[int]) -> list[list[int]]:
    middle = len(part) // 2
    return [part[middle:], part[:middle]] if middle else []


def _hitting(
    needed: list[frozenset[int]], every: frozenset[int], *, deadline: float
) -> frozenset[int]:
    """Return the first smallest set that takes from each of the needed ones."""
    for size in range(len(every) + 1):
        for chosen in combinations(sorted(frozenset().union(*needed)), size):
            if not any(each.isdisjoint(chosen) for each in needed):
                return frozenset(chosen)
            if time.monotonic() >= deadline:
                raise OutOfTimeError
    raise AssertionError("all restrictions together take from each")


def _merged(feature: Feature, lifting: Lifting) -> Feature:
    match lifting.blocker.restriction:
        case "moves":
            return replace(feature, moves=None)
        case "limits":
            wide = lifting.feature
            return replace(
                feature,
                domain=wide.domain,
                minimum=wide.minimum,
                maximum=wide.maximum,
                scale=wide.scale,
            )
        case _:
            return replace(feature, action=Action.FREE)


def _liftings(space: Space) -> Iterator[Lifting]:
    for axis in space.axes:
        feature = axis.feature
        if axis.feature.name not in space.concerned:
            continue
        if feature.action is not Action.FREE:
            blocker = Blocker(feature.name, feature.action.value)
            yield Lifting(blocker, replace(feature, action=Action.FREE))
        if feature.moves is not None:
            yield Lifting(Blocker(feature.name, "moves"), replace(feature, moves=None))
        wide = _widened(axis)
        if wide is not None:
            yield Lifting(Blocker(feature.name, "limits"), wide)


def widened(space: Space, name: str) -> Feature | None:
    """Return a feature as lifting its limits leaves it; None where rules compare it with nothing beyond them."""
    return next((_widened(axis) for axis in space.axes if axis.feature.name == name), None)


def _widened(axis: Axis) -> Feature | None:
    """Return a number without its limits: values beyond every constant that rules compare it with."""
    feature = axis.feature
    if not feature.kind.is_number:
        return None
    constants = [test.constant for test in axis.tests if not isinstance(test.constant, str)]
    low, high = feature.minimum, feature.maximum
    listed = isinstance(feature.domain, Points)
    first, last = axis.position(0), axis.position(axis.size - 1)
    beyond = [each for each in constants if not first < exact(each) < last]
    if not (beyond or (listed and constants)):
        return None
    step = feature.domain.step if isinstance(feature.domain, Grid) else 1
    rest = [each for constant in constants for each in (constant - step, constant, constant + step)]
    lowest, highest = min(low, *rest), max(high, *rest)
    if isinstance(feature.domain, Grid):
        below = -((exact(low) - exact(lowest)) // -exact(step))
        start = type(low)(exact(low) - below * exact(step))
        domain: Grid | Points = Grid(start, type(high)(highest), step)
    else:
        number = type(low)
        domain = Points(tuple(sorted({*feature.domain.values, *map(number, rest)})))
    return replace(
        feature,
        domain=domain,
        minimum=type(low)(lowest),
        maximum=type(high)(highest),
        scale=float(feature.divisor),
    )
