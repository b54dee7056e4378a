"""What one person adds to a problem: "I cannot change this", own limits, how hard something is, or a restriction lifted.

A restriction never changes what a distance is worth: the divisor and the grid stay those of the problem, however narrow
the limits become.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from p2c.domain.feature import Grid, Points, exact
from p2c.errors import Fault, ProblemError, suggestion
from p2c.plan.blockers import widened

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p2c.domain.feature import Action, Feature, Number
    from p2c.plan.space import Space

LIFTABLE = ("moves", "limits")
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


def restricted_keys(
    space: Space, keys: Mapping[str, Any], restrictions: Mapping[str, Restriction]
) -> dict[str, Any]:
    """Return the keys of a problem with a person's restrictions in them, for `Problem.from_dict` to read."""
    known = space.theory.feature
    tables = {name: dict(table) for name, table in keys["features"].items()}
    faults: list[Fault] = []
    for name, restriction in restrictions.items():
        if name not in known:
            faults.append(Fault(name, f"no such feature; {suggestion(name, known)}"))
            continue
        try:
            tables[name] |= _keys(space, known[name], restriction)
        except ValueError as error:
            faults.append(Fault(name, str(error)))
    if faults:
        raise ProblemError(faults)
    tables = {
        name: {key: value for key, value in table.items() if value is not None}
        for name, table in tables.items()
    }
    return {key: value for key, value in keys.items() if key != "rules_file"} | {"features": tables}


def _keys(space: Space, feature: Feature, restriction: Restriction) -> dict[str, Any]:
    """Return the keys of a feature that a restriction replaces; None takes one away."""
    found: dict[str, Any] = {}
    for name in restriction.lifted:
        if name not in LIFTABLE:
            raise ValueError(f"'{name}' cannot be lifted; {suggestion(name, LIFTABLE)}")
    if restriction.action is not None:
        found["action"] = restriction.action.value
    if restriction.weight is not None:
        found["weight"] = restriction.weight
    wide = widened(space, feature.name) if "limits" in restriction.lifted else None
    if restriction.least is not None or restriction.most is not None or wide is not None:
        if not feature.kind.is_number:
            raise ValueError("limits need a number; use 'only' to choose among names")
        found |= _limits(wide or feature, feature, restriction)
    if restriction.only is not None:
        found["moves"] = _moves(feature, restriction.only)
    elif "moves" in restriction.lifted:
        found["moves"] = None
    return found


def _limits(wide: Feature, feature: Feature, restriction: Restriction) -> dict[str, Any]:
    """Return the values from the least to the most admissible one, on the grid that the feature has."""
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
    scale = int(divisor) if divisor.denominator == 1 else float(divisor)
    match domain:
        case Points(values):
            return {"values": list(values[first:past]), "scale": scale}
        case Grid(_, stop, step):
            # A row may lie off the grid, up to the end of the range.
            end = stop if past == domain.size else domain.value(past - 1)
            return {"min": domain.value(first), "max": end, "step": step, "scale": scale}


def _moves(feature: Feature, only: tuple[str | int | float, ...]) -> dict[str, list[Any]]:
    if feature.kind.is_number:
        raise ValueError("'only' needs names; use limits for a number")
    for value in only:
        if value not in feature.places:
            hint = suggestion(str(value), map(str, feature.places))
            raise ValueError(f"'{value}' is not one of its values; {hint}")
    moves = feature.moves_from
    return {
        str(start): [
            end
            for end in (only if moves is None else moves.get(start, ()))
            if end in only and end != start
        ]
        for start in feature.places
    }
