"""Why there is no path: a smallest set of the person's restrictions whose lifting would open one.

To lift a restriction changes what effects do as well (they take the nearest value among more), so lifts are chosen before
a path begins, and a set of them is tried by planning in the problem without them. Which sets are worth trying is what a look
ahead tells: where no path can open whichever of some restrictions are lifted, every helpful set holds another one. The
smallest sets that hold one of each such rest are tried (implicit hitting sets, Moreno-Centeno and Karp, 2013), all of a size
before a larger one, so that the set is a smallest, and of those the one that opens the cheapest path.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from p2c._plan.compiled.bitsets import grown, mask_of, numbers
from p2c._plan.compiled.person import place_person
from p2c._plan.compiled.transitions import Transitions
from p2c._plan.outcome import Blocker, CausalAction, DirectAction, Found, GaveUp
from p2c._plan.planner import search_plan
from p2c._plan.search.arrivals import may_arrive
from p2c._plan.search.best_first import LimitReached, Limits
from p2c._plan.search.devices import ALL
from p2c._spec.build import default_step
from p2c._spec.feature import (
    Feature,
    Grid,
    Kind,
    Points,
    RestrictionKind,
    exact,
    restrictions,
    unrestricted,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from fractions import Fraction

    from p2c._plan.compiled.axis import Axis
    from p2c._plan.compiled.space import Space
    from p2c._plan.outcome import Plan
    from p2c._plan.search.devices import Devices
    from p2c._spec.feature import Domain, Number, Value


class Explanation(NamedTuple):
    """What bars every path, and the path that lifting it opens; `known` unless there was no time to find out."""

    blockers: tuple[Blocker, ...] = ()
    opened: Found | None = None
    known: bool = True


class Lifting(NamedTuple):
    """A restriction and the feature without it."""

    blocker: Blocker
    feature: Feature


def find_blockers(
    space: Space,
    state: Mapping[str, Value],
    limits: Limits | None = None,
    *,
    devices: Devices = ALL,
) -> Explanation:
    """Return a smallest set of restrictions that bar every path, and the path that lifting them opens.

    The set is empty where lifting opens none: then the rules themselves rule it out. A path that only breaks an exception
    for its own sake is no advice and is not told.
    """
    seen = {name: (value,) for name, value in state.items()}
    trial = Trial(space, state, liftings(space, seen), limits or Limits(), devices)
    try:
        chosen = trial.smallest()
        if chosen is None:
            return Explanation()
        blockers = tuple(trial.liftings[each].blocker for each in chosen)
        return Explanation(blockers, trial.advice(chosen))
    except LimitReached:
        return Explanation(known=False)


Lifts = tuple[int, ...]

SOME_NODES = 100
"""How many nodes each of several sets is given at first."""
MOST_STEPS = 1 << 60
"""How many steps a number goes at most without its limits: machines count no more places."""
SPARE = 1 << 10
"""How many times as far a number goes where it is not known who asks, and what is unusual about them."""


@dataclass(frozen=True)
class Trial:
    """What lifting some restrictions, given by number, opens to one person."""

    space: Space
    state: Mapping[str, Value]
    liftings: tuple[Lifting, ...]
    limits: Limits
    devices: Devices = ALL
    reasons: list[frozenset[int]] = field(default_factory=list)
    """Of each of these sets, every set of restrictions whose lifting helps holds one."""
    _opened: dict[Lifts, Found] = field(default_factory=dict)

    @cached_property
    def adding(self) -> frozenset[int]:
        """Return the restrictions whose lifting only adds direct actions, so that it closes no path."""
        return frozenset(
            number
            for number, (blocker, feature) in enumerate(self.liftings)
            if (
                blocker.restriction == RestrictionKind.EFFECT.value
                and self.space.theory.feature[blocker.feature].effect_action is None
            )
            or not (feature.governed or self.space.theory.feature[blocker.feature].moves)
        )

    @cached_property
    def every(self) -> frozenset[int]:
        """Return all restrictions."""
        return frozenset(range(len(self.liftings)))

    def smallest(self) -> Lifts | None:
        """Return a smallest set that opens a path: of several the one with the cheapest path, then the first."""
        if not self.may_open(self.every):
            return None
        for size in range(1, len(self.every) + 1):
            opened = self._cheapest(list(self._candidates(size)))
            if opened is not None:
                return opened
        return None

    def _cheapest(self, waiting: list[Lifts]) -> Lifts | None:
        """Return, of some sets, the one that opens the cheapest path, then the first.

        Each is searched a little at first, then more. One that is left has a bound, which no path that it opens costs less
        than, and is searched on unless a path is known that costs less than that: so none that ties with the cheapest is left.
        """
        nodes = None if len(waiting) == 1 else SOME_NODES
        found: dict[Lifts, float] = {}
        least = math.inf
        while waiting:
            unsure = []
            for chosen in waiting:
                plan = self._search(chosen, nodes)
                if isinstance(plan, Found):
                    self._opened[chosen], found[chosen] = plan, plan.cost
                    least = min(least, plan.cost)
                elif isinstance(plan, GaveUp):
                    unsure.append((chosen, plan.bound))
            waiting = [chosen for chosen, bound in unsure if bound <= least]
            nodes = nodes and nodes * 4
        return min(found, key=lambda each: (found[each], each), default=None)

    def _candidates(self, size: int) -> Iterator[Lifts]:
        """Yield the sets of a size that may open a path, each once."""
        waiting: list[tuple[frozenset[int], frozenset[int]]] = [(frozenset(), self.every)]
        while waiting:
            chosen, left = waiting.pop()
            missed = [each for each in self.reasons if not each & chosen]
            if missed and len(chosen) == size:
                continue
            if not missed and len(chosen) == size:
                if self.may_open(chosen):
                    yield tuple(sorted(chosen))
                else:
                    rest = mask_of(self.every - chosen)
                    hopeless = grown(mask_of(chosen), rest, self._bars)
                    self.reasons.append(self.every.difference(numbers(hopeless)))
                continue
            among = min((each & left for each in missed), key=len, default=left)
            for number in sorted(among):
                waiting.append((chosen | {number}, left - {number}))
                left -= {number}

    def _bars(self, lifted: int) -> bool:
        """Tell whether a look ahead sees no path even where restrictions, as bits, may be lifted."""
        return not self.may_open(frozenset(numbers(lifted)))

    def may_open(self, chosen: frozenset[int]) -> bool:
        """Tell whether a look ahead sees a path when any of some restrictions may be lifted, or may stay."""
        self.limits.check()
        loose = frozenset(self.liftings[each].feature.name for each in chosen)
        space = self.lifted_space(chosen, loose)
        return may_arrive(Transitions(place_person(space, self.state)), self.limits)

    def advice(self, chosen: Lifts) -> Found | None:
        """Return the best path without restrictions that open one, on which nothing is set only to be carried off at once."""
        found = self._opened[chosen]
        if not _in_vain(found):
            return found
        plan = self._search(chosen, None, lasting=True)
        return plan if isinstance(plan, Found) else None

    def _search(self, chosen: Lifts, nodes: int | None, *, lasting: bool = False) -> Plan:
        """Return the plan without some restrictions; it may give up where so many nodes are not enough."""
        person = place_person(self.lifted_space(frozenset(chosen)), self.state)
        transitions = Transitions(person, lasting=lasting, barring=self._barring(chosen))
        within = self.limits.sharing(nodes)
        plan = search_plan(transitions, within, self.devices)
        self.limits.expanded = within.expanded
        if isinstance(plan, GaveUp):
            self.limits.check()
            if not within.is_spent:
                raise LimitReached(0, None)
        return plan

    def _barring(self, chosen: Lifts) -> tuple[Feature, ...]:
        """Return features as they are with one of some restrictions left, where lifting that one only adds direct actions.

        No smaller set opens a path, so each path takes a direct action that such a feature does not permit.
        """
        return tuple(
            self._lifted(self.liftings[each].blocker.feature, frozenset(chosen) - {each})
            for each in chosen
            if each in self.adding
        )

    def lifted_space(self, chosen: frozenset[int], loose: frozenset[str] = frozenset()) -> Space:
        """Return the space without some restrictions."""
        names = {self.liftings[number].blocker.feature for number in chosen}
        return self.space.with_features([self._lifted(name, chosen) for name in names], loose)

    def _lifted(self, name: str, chosen: frozenset[int]) -> Feature:
        """Return a feature without some restrictions."""
        feature = self.space.theory.feature[name]
        return lifted(feature, [self.liftings[number] for number in sorted(chosen)])


def _in_vain(plan: Found) -> bool:
    """Tell whether what breaks its law at the start is set only to be carried off by itself in the same step."""
    excepted = {each.get("feature") for each in plan.question.exceptions}
    for step in plan.steps:
        seen: set[str] = set()
        for action in step.actions:
            if isinstance(action, DirectAction):
                seen.add(action.feature)
            elif isinstance(action, CausalAction) and action.feature in seen & excepted:
                return True
    return False


def lifted(feature: Feature, chosen: Iterable[Lifting]) -> Feature:
    """Return a feature without those of some restrictions that are its own."""
    for each in chosen:
        if each.blocker.feature == feature.name:
            feature = _merged(feature, each)
    return feature


def _merged(feature: Feature, lifting: Lifting) -> Feature:
    kind, wide = RestrictionKind(lifting.blocker.restriction), lifting.feature
    if kind is not RestrictionKind.LIMITS:
        return unrestricted(feature, kind)
    return replace(
        feature,
        domain=wide.domain,
        minimum=wide.minimum,
        maximum=wide.maximum,
        scale=wide.scale,
        targets=None,
    )


def liftings(
    space: Space, seen: Mapping[str, Iterable[Value]] | None = None
) -> tuple[Lifting, ...]:
    """Return the restrictions of the features that matter, and the features without them.

    What was `seen` of people, by feature, may lie outside the limits.
    """
    return tuple(_liftings(space, seen or {}))


def _liftings(space: Space, seen: Mapping[str, Iterable[Value]]) -> Iterator[Lifting]:
    far = _far(space, seen)
    for axis in space.axes:
        feature = axis.feature
        if feature.name not in space.concerned or feature.kept:
            continue
        for kind in restrictions(feature):
            yield Lifting(Blocker(feature.name, kind.value), unrestricted(feature, kind))
        wide = _widened(axis, far.get(feature.name), by_steps=space.selects)
        if wide is not None:
            yield Lifting(Blocker(feature.name, RestrictionKind.LIMITS.value), wide)


def widened(space: Space, name: str) -> Feature | None:
    """Return a feature as lifting its limits leaves it for anybody; None where rules compare it with nothing beyond them."""
    far = _far(space, {}).get(name)
    axis = space.axes[space.index[name]]
    return _widened(axis, far and far * SPARE, by_steps=space.selects)


def _far(space: Space, seen: Mapping[str, Iterable[Value]]) -> dict[str, float]:
    """Return how far from zero each number that a model weighs decides alone, wherever rules want the others to be."""
    model = space.theory.parsed
    if model is None or not model.lined:
        return {}
    ends: dict[str, list[Value]] = {}
    for axis in space.axes:
        feature = _widened(axis) or axis.feature
        places = range(feature.domain.size)
        some = places if feature.is_listed else (places[0], places[-1])
        own = seen.get(feature.name, ())
        ends[feature.name] = [*map(feature.domain.value, some), *own]
    return model.beyond(ends)


def _widened(axis: Axis, far: float | None = None, *, by_steps: bool = True) -> Feature | None:
    """Return a number without its limits: values beyond every constant that rules compare it with, and as `far` as is asked.

    A list becomes a grid where a model weighs it, unless each place would be followed by itself: then it gets a few values more.
    """
    feature = axis.feature
    if not feature.kind.is_number:
        return None
    constants = [test.constant for test in axis.tests if not isinstance(test.constant, str)]
    listed = isinstance(feature.domain, Points)
    as_list = listed and (far is None or not by_steps)
    step = exact(1 if as_list else _step(feature, constants))
    # In fractions: as floats, 0.7 and a step of 0.1 miss 0.8.
    borders = list(map(exact, constants))
    if far is not None:
        farthest = min(exact(far), MOST_STEPS * step)
        borders += [-farthest, farthest]
    first, last = axis.position(0), axis.position(axis.size - 1)
    if not (any(not first < each < last for each in borders) or (listed and borders)):
        return None if feature.targets is None else replace(feature, targets=None)
    rest = [each + shift for each in borders for shift in (-step, 0, step)]
    number = type(feature.minimum)
    domain = _wide_list(feature, rest) if as_list else _wide_grid(feature, step, rest)
    return replace(
        feature,
        domain=domain,
        minimum=min(feature.minimum, number(domain.value(0))),
        maximum=max(feature.maximum, number(domain.value(domain.size - 1))),
        scale=float(feature.divisor),
        targets=None,
    )


def _wide_list(feature: Feature, rest: Iterable[Fraction]) -> Points:
    """Return the values of a list with some added and, of floats, one between each two of these."""
    assert isinstance(feature.domain, Points)
    added = sorted(set(rest))
    if feature.kind is Kind.FLOAT:
        added += [(low + high) / 2 for low, high in pairwise(added)]
    number = type(feature.minimum)
    return Points(tuple(sorted({*feature.domain.values, *map(number, added)})))


def _step(feature: Feature, constants: Iterable[Number]) -> Number:
    """Return the step of a number without its limits; of a listed one, the last decimal place of what is listed and compared.

    It is no finer than where nothing is listed, for a model may cut anywhere.
    """
    if isinstance(feature.domain, Grid):
        return feature.domain.step
    if feature.kind is Kind.INT:
        return 1
    known = [*(each for each in feature.domain.values if not isinstance(each, str)), *constants]
    usual = default_step(exact(max(known)) - exact(min(known)) or abs(exact(known[0])))
    return min(1.0, *(max(float(usual), _last_place(each)) for each in known))


def _last_place(number: Number) -> float:
    """Return what one is worth in the last decimal place of a number.

    >>> _last_place(2.50)
    0.1
    """
    return float(f"1e{Decimal(repr(float(number))).normalize().as_tuple().exponent}")


def _wide_grid(feature: Feature, step: Fraction, rest: Iterable[Fraction]) -> Domain:
    """Return every value at such steps as far as some others; where a list does not go by steps, these besides it."""
    low, number = exact(feature.minimum), type(feature.minimum)
    listed = feature.domain.values if isinstance(feature.domain, Points) else ()
    if any((feature.order(each) - low) % step for each in listed):
        return _wide_list(feature, rest)
    below = -((low - min(low, *rest)) // -step)
    return Grid(
        number(low - below * step), number(max(exact(feature.maximum), *rest)), number(step)
    )
