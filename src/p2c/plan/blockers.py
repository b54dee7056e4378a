"""Why there is no path: a smallest set of the person's restrictions whose lifting would open one.

A restriction is lifted by planning again in a theory without it. Sets are tried in the order of their size, so the
first that opens a path is a smallest; whether any can is settled first, by lifting all of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

from p2c.domain.feature import Action, Feature, Grid, Points, exact
from p2c.plan.outcome import Blocker, Found
from p2c.plan.planner import find_plan
from p2c.plan.space import Space

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from p2c.domain.feature import Value
    from p2c.plan.axis import Axis
    from p2c.rules.theory import Theory

TRIES = 5_000
"""How many sets are tried before a set that cannot be made smaller is taken instead of a smallest one."""


@dataclass(frozen=True)
class Lifting:
    """A restriction and the feature without it."""

    blocker: Blocker
    feature: Feature


def find_blockers(
    space: Space, state: Mapping[str, Value]
) -> tuple[tuple[Blocker, ...], Found | None]:
    """Return a smallest set of restrictions that bar every path, and the path that lifting them opens.

    Nothing is returned where even lifting every restriction opens none: then the rules themselves rule it out.
    """
    liftings = list(_liftings(space))
    opened = _plan_without(space.theory, liftings, state)
    if opened is None:
        return (), None
    tries = 0
    for size in range(1, len(liftings) + 1):
        for chosen in combinations(liftings, size):
            if not _compatible(chosen):
                continue
            tries += 1
            if tries > TRIES:
                return _shrunk(space.theory, liftings, state)
            opened = _plan_without(space.theory, chosen, state)
            if opened is not None:
                return tuple(each.blocker for each in chosen), opened
    return (), None


def _shrunk(
    theory: Theory, liftings: list[Lifting], state: Mapping[str, Value]
) -> tuple[tuple[Blocker, ...], Found | None]:
    """Return a set none of whose members can be left out."""
    kept = list(liftings)
    for each in liftings:
        fewer = [other for other in kept if other is not each]
        if _plan_without(theory, fewer, state) is not None:
            kept = fewer
    return tuple(each.blocker for each in kept), _plan_without(theory, kept, state)


def _compatible(chosen: tuple[Lifting, ...]) -> bool:
    return len({each.blocker for each in chosen}) == len(chosen)


def _plan_without(
    theory: Theory, liftings: list[Lifting] | tuple[Lifting, ...], state: Mapping[str, Value]
) -> Found | None:
    lifted = {feature.name: feature for feature in theory.features}
    for each in liftings:
        name = each.blocker.feature
        lifted[name] = _merged(lifted[name], each)
    free = replace(theory, features=tuple(lifted.values()))
    plan = find_plan(Space(free), state)
    return plan if isinstance(plan, Found) else None


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


def _widened(axis: Axis) -> Feature | None:
    """Return a number without its limits: values beyond every constant that rules compare it with."""
    feature = axis.feature
    if not feature.kind.is_number:
        return None
    constants = [test.constant for test in axis.tests if not isinstance(test.constant, str)]
    low, high = feature.minimum, feature.maximum
    listed = isinstance(feature.domain, Points)
    beyond = [each for each in constants if not exact(low) < exact(each) < exact(high)]
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
