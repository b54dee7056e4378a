"""Relax the restrictions of a person.

A restriction is an action other than `free`, `moves`, or the limits of a number. Costs stay as they are: the divisor of a distance and the step of a grid do not depend on restrictions.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from p2c._plan.outcome import Blocker
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
    from p2c._rules.theory import Theory
    from p2c._spec.feature import Domain, Number, Value

REACH = 1 << 10
"""Reach of a number without its limits, in sizes of its range.

It holds where arithmetic reads the number.
"""
MOST_STEPS = 1 << 60
"""Maximum number of steps that a number goes beyond its limits."""
SPARE = 1 << 10
"""Factor on the distance beyond the limits if the person is not known."""


class Lifting(NamedTuple):
    """A restriction and the feature without it."""

    blocker: Blocker
    feature: Feature


def lifted(feature: Feature, chosen: Iterable[Lifting]) -> Feature:
    """Return a feature without its own restrictions among the chosen ones."""
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


def caps(theory: Theory) -> tuple[Blocker, ...]:
    """Return the restrictions of resources and of the number of actions."""
    limits = (each.name for each in theory.resources if each.limit is not None)
    blockers = [Blocker(name, RestrictionKind.LIMIT.value) for name in limits]
    if theory.max_actions is not None:
        blockers.append(Blocker("", RestrictionKind.MAX_ACTIONS.value))
    return tuple(blockers)


def uncapped(theory: Theory, blockers: Iterable[Blocker]) -> Theory:
    """Return a theory without the caps among restrictions."""
    chosen = set(blockers).intersection(caps(theory))
    free = {each.feature for each in chosen if each.feature}
    return replace(
        theory,
        resources=tuple(
            replace(each, limit=None) if each.name in free else each for each in theory.resources
        ),
        max_actions=None if any(not each.feature for each in chosen) else theory.max_actions,
    )


def liftings(
    space: Space, seen: Mapping[str, Iterable[Value]] | None = None
) -> tuple[Lifting, ...]:
    """Return the restrictions of the features that matter.

    Args:
        space: The compiled problem.
        seen: Values of people by feature; they may lie outside the limits.
    """
    return tuple(_liftings(space, seen or {}))


def _liftings(space: Space, seen: Mapping[str, Iterable[Value]]) -> Iterator[Lifting]:
    far = _far(space, seen)
    for axis in space.axes:
        feature = axis.feature
        if feature.name not in space.concerned or feature.kept or feature.equation is not None:
            continue
        for kind in restrictions(feature):
            yield Lifting(Blocker(feature.name, kind.value), unrestricted(feature, kind))
        wide = _widened(axis, far.get(feature.name), by_steps=space.selects)
        if wide is not None:
            yield Lifting(Blocker(feature.name, RestrictionKind.LIMITS.value), wide)


def widened(space: Space, name: str) -> Feature | None:
    """Return a feature without its limits, for any person.

    Returns:
        None if rules compare it with no constant beyond the limits.
    """
    far = _far(space, {}).get(name)
    axis = space.axes[space.index[name]]
    return _widened(axis, far and far * SPARE, by_steps=space.selects)


def _far(space: Space, seen: Mapping[str, Iterable[Value]]) -> dict[str, float]:
    """Return how far from zero each number that a model weighs decides alone.

    The other numbers may be anywhere that rules ask for.
    """
    model = space.theory.parsed
    reached = {
        name: REACH * _size(space.theory.feature[name])
        for name in frozenset().union(*space.theory.kept_defined)
        if space.theory.feature[name].kind.is_number and space.theory.feature[name].equation is None
    }
    if model is None or not model.lined:
        return reached
    ends: dict[str, list[Value]] = {}
    for axis in space.axes:
        feature = _widened(axis) or axis.feature
        places = range(feature.domain.size)
        some = places if feature.is_listed else (places[0], places[-1])
        own = seen.get(feature.name, ())
        ends[feature.name] = [*map(feature.domain.value, some), *own]
    return reached | model.beyond(ends)


def _size(feature: Feature) -> float:
    """Return how large the numbers of a feature are, or how wide their range is."""
    low, high = float(feature.minimum), float(feature.maximum)
    return max(abs(low), abs(high), high - low)


def _widened(axis: Axis, far: float | None = None, *, by_steps: bool = True) -> Feature | None:
    """Return a number without its limits, or None if they exclude nothing.

    It has values beyond every constant that rules compare it with, and `far` from zero. A list becomes a grid if a model weighs
    it, unless each place would be searched on its own: then it gets a few more values.
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
    """Return a list with further values; floats also between them."""
    assert isinstance(feature.domain, Points)
    added = sorted(set(rest))
    if feature.kind is Kind.FLOAT:
        added += [(low + high) / 2 for low, high in pairwise(added)]
    number = type(feature.minimum)
    return Points(tuple(sorted({*feature.domain.values, *map(number, added)})))


def _step(feature: Feature, constants: Iterable[Number]) -> Number:
    """Return the step of a number without its limits.

    For a listed number it is the last decimal place of the listed and compared values, no finer than that of an unlisted number.
    """
    if isinstance(feature.domain, Grid):
        return feature.domain.step
    if feature.kind is Kind.INT:
        return 1
    known = [*(each for each in feature.domain.values if not isinstance(each, str)), *constants]
    usual = default_step(exact(max(known)) - exact(min(known)) or abs(exact(known[0])))
    return min(1.0, *(max(float(usual), _last_place(each)) for each in known))


def _last_place(number: Number) -> float:
    """Return the unit of the last decimal place of a number.

    >>> _last_place(2.50)
    0.1
    """
    return float(f"1e{Decimal(repr(float(number))).normalize().as_tuple().exponent}")


def _wide_grid(feature: Feature, step: Fraction, rest: Iterable[Fraction]) -> Domain:
    """Return the grid that reaches all values of `rest`.

    A list that does not go by steps gets these values besides its own.
    """
    low, number = exact(feature.minimum), type(feature.minimum)
    listed = feature.domain.values if isinstance(feature.domain, Points) else ()
    if any((feature.order(each) - low) % step for each in listed):
        return _wide_list(feature, rest)
    below = -((low - min(low, *rest)) // -step)
    return Grid(
        number(low - below * step), number(max(exact(feature.maximum), *rest)), number(step)
    )
