"""What one person adds to a problem: "I cannot change this", own limits, how hard something is, or a restriction lifted.

A restriction never changes what a distance is worth: the divisor and the grid stay those of the problem, however narrow
the limits become. Limits and `only` bound what a change may end in, not who asks: a value of today may lie outside them.
They only take plans away: an effect goes where the problem has it go, and where that lies outside, the path is no plan.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from pydantic import ValidationError

from p2c._plan.lifting import widened
from p2c._spec.build import TOO_DEAR, range_is_too_dear
from p2c._spec.feature import Action, Grid, Points, exact
from p2c._spec.keys import SpecNumber, SpecValue, Weight  # noqa: TC001 - pydantic needs them
from p2c._spec.spec import Table, fault_of, shown_kind
from p2c.errors import Fault, ProblemError, suggestion

if TYPE_CHECKING:
    from p2c._plan.compiled.space import Space
    from p2c._rules.theory import Theory
    from p2c._spec.feature import Domain, Feature

Liftable = Literal["moves", "limits"]
LIFTABLE = get_args(Liftable)
"""The restrictions that are lifted as such; the others are actions and are lifted by another action."""


NARROWER = {
    Action.FREE: (Action.UP, Action.DOWN, Action.EFFECT, Action.FIXED),
    Action.UP: (Action.EFFECT, Action.FIXED),
    Action.DOWN: (Action.EFFECT, Action.FIXED),
    Action.EFFECT: (Action.FIXED,),
}
"""The actions that allow less than another one."""


class Restriction(Table):
    """What a person adds to a feature: who may change it, own limits, how hard it is, or a restriction lifted.

    A key that is not given stays as the problem has it; `only` lists the names that a change may end in.
    """

    action: Action | None = None
    min: SpecNumber | None = None
    max: SpecNumber | None = None
    only: tuple[SpecValue, ...] | None = None
    weight: Weight | None = None
    lift: tuple[Liftable, ...] | None = None


def read_restrictions(given: Mapping[Any, Any]) -> dict[Any, Restriction]:
    """Return what a person adds to each feature, from its keys or from the action alone.

    >>> read_restrictions({"debt": {"max": 500}, "age": "fixed"})["debt"].max
    500
    """
    table: object = given
    if not isinstance(table, Mapping):
        expected = "expected a table such as {'debt': {'max': 500}, 'age': 'fixed'}"
        raise ProblemError([Fault("restrictions", f"{expected}, found {shown_kind(table)}")])
    return {name: _read(name, each) for name, each in table.items()}


def _read(name: object, given: object) -> Restriction:
    if isinstance(given, Restriction):
        return given
    table = {"action": given} if isinstance(given, str | Action) else given
    if not isinstance(table, Mapping):
        message = f"expected an action or a table of keys such as 'max', found {shown_kind(table)}"
        raise ProblemError([Fault(str(name), message)])
    try:
        return Restriction.model_validate({str(key): each for key, each in table.items()})
    except ValidationError as error:
        faults = [fault_of(each, Restriction.model_fields) for each in error.errors()]
        raise ProblemError(
            [Fault(f"{name}.{each.place}", each.message) for each in faults]
        ) from None


def restrict(space: Space, restrictions: Mapping[str, Restriction]) -> Theory:
    """Return a compiled theory with a person's restrictions; the rules stay bound."""
    theory = space.theory
    known = theory.feature
    changed: dict[str, Feature] = {}
    faults: list[Fault] = []
    for name, restriction in restrictions.items():
        if name not in known:
            hint = suggestion(str(name), known)
            faults.append(Fault(str(name), f"no such feature; {hint}"))
            continue
        try:
            changed[name] = _restricted(space, known[name], restriction)
        except ValueError as error:
            faults.append(Fault(name, str(error)))
    if faults:
        raise ProblemError(faults)
    return replace(theory, features=tuple(changed.get(each.name, each) for each in theory.features))


def _restricted(space: Space, feature: Feature, restriction: Restriction) -> Feature:
    _check(feature, restriction)
    found: dict[str, Any] = {}
    if restriction.action is not None:
        found["action"] = restriction.action
        if feature.governed and restriction.action in NARROWER.get(feature.action, ()):
            found["effect_action"] = feature.action
    if restriction.weight is not None:
        found["weight"] = restriction.weight
    lifted = restriction.lift or ()
    wide = widened(space, feature.name) if "limits" in lifted else None
    if restriction.min is not None or restriction.max is not None or wide is not None:
        found |= _limits(wide or feature, feature, restriction)
    if restriction.only is not None:
        found["targets"] = _named_targets(feature, restriction.only)
    if "moves" in lifted:
        found["moves"] = None
    changed = replace(feature, **found)
    if range_is_too_dear(changed):
        raise ValueError(TOO_DEAR)
    return changed


def _check(feature: Feature, restriction: Restriction) -> None:
    """Raise a ValueError where a feature cannot be restricted like this."""
    if feature.kept and restriction != Restriction(action=Action.FIXED):
        raise ValueError("a column that only the model reads keeps the row's value")
    if feature.equation is not None:
        raise ValueError("a computed feature follows its equation: restrict the features it reads")
    if restriction.action is Action.EFFECT and not feature.governed:
        raise ValueError("'effect' needs a causal rule with this feature as its head")
    if restriction.action in (Action.UP, Action.DOWN) and not feature.has_order:
        raise ValueError(f"'{restriction.action.value}' needs an order, which names have not")
    limited = restriction.min is not None or restriction.max is not None
    if limited and not feature.kind.is_number:
        raise ValueError("limits need a number; use 'only' to choose among names")


def _limits(wide: Feature, feature: Feature, restriction: Restriction) -> dict[str, Any]:
    """Return the targets from the least to the most admissible one, on the grid that the feature has."""
    domain = wide.domain
    low, high = restriction.min, restriction.max
    first = 0 if low is None else domain.first_place_from(exact(low))
    past = domain.size if high is None else domain.first_place_past(exact(high))
    if first >= past:
        if low is not None and high is not None and low > high:
            raise ValueError(f"the ends of your limits are swapped: {low} is above {high}")
        shown = (
            f"{wide.minimum if low is None else low} to {wide.maximum if high is None else high}"
        )
        raise ValueError(f"no admissible value lies within your limits, {shown}")
    divisor, part = feature.divisor, _part(domain, first, past)
    # Without the other values an effect would go to the nearest of those left, and open what was closed.
    whole = feature.governed and part != domain
    return {
        "domain": domain if whole else part,
        "targets": part if whole else None,
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


def _named_targets(feature: Feature, only: tuple[str | int | float, ...]) -> Points:
    """Return the names that a change may end in, in the order of the domain."""
    if feature.kind.is_number:
        raise ValueError("'only' needs names; use limits for a number")
    for value in only:
        if value not in feature.places:
            hint = suggestion(str(value), map(str, feature.places))
            raise ValueError(f"'{value}' is not one of its values; {hint}")
    return Points(tuple(value for value in feature.places if value in only))
