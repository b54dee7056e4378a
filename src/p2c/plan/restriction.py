"""What one person adds to a problem: "I cannot change this", own limits, how hard something is, or a restriction lifted.

A restriction never changes what a distance is worth: the divisor and the grid stay those of the problem, however narrow
the limits become. Limits bound what a change may end in, not who asks: a value of today may lie outside them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from p2c.domain.feature import Action, Grid, Points, RestrictionKind, exact, is_finite, unrestricted
from p2c.errors import Fault, ProblemError, suggestion
from p2c.plan.blockers import widened
from p2c.plan.compiled.space import Space

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p2c.domain.feature import Domain, Feature, Number
    from p2c.rules.theory import Theory

LIFTABLE = tuple(each.value for each in RestrictionKind if not each.is_action)
"""The restrictions that are lifted as such; the others are actions and are lifted by another action."""


@dataclass(frozen=True, slots=True)
class Restriction:
    """One person's own keys of a feature; None leaves a key as the problem has it.

    `only` lists the names that a change may end in; `lifted` are restrictions of the problem to do without.
    """

    action: Action | None = None
    least: Number | None = None
    most: Number | None = None
    only: tuple[str | int | float, ...] | None = None
    weight: Number | None = None
    lifted: tuple[str, ...] = ()


KEYS = ("action", "min", "max", "only", "weight", "lift")
"""What a restriction is written with."""


def read_restriction(name: str, given: Restriction | Mapping[str, Any] | str) -> Restriction:
    """Return a restriction from its keys, or from the action alone.

    >>> read_restriction("debt", {"max": 500, "weight": 2})
    Restriction(action=None, least=None, most=500, only=None, weight=2, lifted=())
    """
    if isinstance(given, Restriction):
        return given
    table: Mapping[str, Any] = {"action": given} if isinstance(given, str) else given
    for key in table:
        if key not in KEYS:
            raise ProblemError([Fault(name, f"no key '{key}'; {suggestion(key, KEYS)}")])
    action, actions = table.get("action"), [each.value for each in Action]
    if action is not None and action not in actions:
        raise ProblemError([Fault(name, f"no action '{action}'; {suggestion(action, actions)}")])
    only = table.get("only")
    return Restriction(
        action=None if action is None else Action(action),
        least=table.get("min"),
        most=table.get("max"),
        only=None if only is None else tuple(only),
        weight=table.get("weight"),
        lifted=tuple(table.get("lift") or ()),
    )


def restrict(theory: Theory, restrictions: Mapping[str, Restriction]) -> Theory:
    """Return a theory with a person's restrictions in its features; the rules stay bound as they are."""
    known = theory.feature
    changed: dict[str, Feature] = {}
    faults: list[Fault] = []
    for name, restriction in restrictions.items():
        if name not in known:
            faults.append(Fault(name, f"no such feature; {suggestion(name, known)}"))
            continue
        try:
            changed[name] = _restricted(theory, known[name], restriction)
        except ValueError as error:
            faults.append(Fault(name, str(error)))
    if faults:
        raise ProblemError(faults)
    return replace(theory, features=tuple(changed.get(each.name, each) for each in theory.features))


def _restricted(theory: Theory, feature: Feature, restriction: Restriction) -> Feature:
    _check(feature, restriction)
    found: dict[str, Any] = {}
    if restriction.action is not None:
        found["action"] = restriction.action
    if restriction.weight is not None:
        found["weight"] = restriction.weight
    wide = widened(Space(theory), feature.name) if "limits" in restriction.lifted else None
    if restriction.least is not None or restriction.most is not None or wide is not None:
        found |= _limits(wide or feature, feature, restriction)
    if restriction.only is not None:
        found["moves"] = _moves(feature, restriction.only)
    for kind in map(RestrictionKind, restriction.lifted):
        if kind is not RestrictionKind.LIMITS:
            feature = unrestricted(feature, kind)
    return replace(feature, **found)


def _check(feature: Feature, restriction: Restriction) -> None:
    """Raise a ValueError where a feature cannot be restricted like this."""
    if feature.kept and restriction != Restriction(action=Action.FIXED):
        raise ValueError("a column that only the model reads keeps the row's value")
    for name in restriction.lifted:
        if name not in LIFTABLE:
            raise ValueError(f"'{name}' cannot be lifted; {suggestion(name, LIFTABLE)}")
    if restriction.action is Action.EFFECT and not feature.governed:
        raise ValueError("'effect' needs a causal rule with this feature as its head")
    if restriction.action in (Action.UP, Action.DOWN) and not feature.has_order:
        raise ValueError(f"'{restriction.action.value}' needs an order, which names have not")
    numbers = (restriction.least, restriction.most, restriction.weight)
    if not all(each is None or is_finite(each) for each in numbers):
        raise ValueError("expected a number within the range of a float")
    if restriction.weight is not None and restriction.weight < 0:
        raise ValueError(f"weight: expected a number, 0 or more, found {restriction.weight}")
    limited = restriction.least is not None or restriction.most is not None
    if limited and not feature.kind.is_number:
        raise ValueError("limits need a number; use 'only' to choose among names")


def _limits(wide: Feature, feature: Feature, restriction: Restriction) -> dict[str, Any]:
    """Return the targets from the least to the most admissible one, on the grid that the feature has."""
    domain = wide.domain
    low, high = restriction.least, restriction.most
    first = 0 if low is None else domain.first_place_from(exact(low))
    past = domain.size if high is None else domain.first_place_past(exact(high))
    if first >= past:
        shown = (
            f"{wide.minimum if low is None else low} to {wide.maximum if high is None else high}"
        )
        raise ValueError(f"no admissible value lies within your limits, {shown}")
    divisor = feature.divisor
    return {
        "domain": _part(domain, first, past),
        "minimum": wide.minimum,
        "maximum": wide.maximum,
        "scale": int(divisor) if divisor.denominator == 1 else float(divisor),
    }


def _part(domain: Domain, first: int, past: int) -> Domain:
    match domain:
        case Points(values):
            return Points(values[first:past])
        case Grid(_, _, step):
            last = domain.value(past - 1)
            return Grid(domain.value(first), last, step)


def _moves(
    feature: Feature, only: tuple[str | int | float, ...]
) -> tuple[tuple[str | int | float, tuple[str | int | float, ...]], ...]:
    if feature.kind.is_number:
        raise ValueError("'only' needs names; use limits for a number")
    for value in only:
        if value not in feature.places:
            hint = suggestion(str(value), map(str, feature.places))
            raise ValueError(f"'{value}' is not one of its values; {hint}")
    moves = feature.moves_from
    return tuple(
        (
            start,
            tuple(
                end
                for end in (only if moves is None else moves.get(start, ()))
                if end in only and end != start
            ),
        )
        for start in feature.places
    )
