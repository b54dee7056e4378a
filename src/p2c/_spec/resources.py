"""Resources that plans use up, such as time and money, and named actions.

Amounts are exact fractions. A resource starts at 0 and grows with each direct action.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from p2c._spec.feature import Action, Kind, exact
from p2c.errors import Fault, shown, suggestion

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from fractions import Fraction

    from p2c._spec.feature import Feature, Number, Value
    from p2c._spec.spec import ActionSpec, ProblemSpec

COST, ACTIONS = "cost", "actions"
"""The objectives that every problem has; the others are its resources."""


@dataclass(frozen=True)
class Resource:
    """A quantity that plans use up.

    Attributes:
        limit: The most that a plan may use; None for no limit.
        weight: The cost of one unit.
    """

    name: str
    label: str
    limit: Fraction | None
    weight: Fraction
    labels: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class NamedAction:
    """A direct action with a name, which may change several features at once."""

    name: str
    label: str
    sets: tuple[tuple[str, str | int | float], ...]
    adds: tuple[tuple[str, Fraction], ...]
    when: tuple[Any, ...]
    """The conditions of the state before it."""
    cost: Fraction
    uses: tuple[tuple[str, Fraction], ...]
    repeat: int
    labels: tuple[tuple[str, str], ...] = ()

    @property
    def lists(self) -> tuple[str, ...]:
        """Return the features that it may change."""
        return tuple(name for name, _ in (*self.sets, *self.adds))


def number_of(amount: Fraction) -> Number:
    """Return an amount as plans show it: an int where it is whole."""
    return int(amount) if amount.denominator == 1 else float(amount)


def amounts_of(feature: Feature, start: Value, end: Value) -> dict[str, Fraction]:
    """Return the amounts that a direct change uses."""
    return {each.resource: each.amount(feature, start, end) for each in feature.uses}


def uses_of(feature: Feature, start: Value, end: Value) -> tuple[tuple[str, Number], ...]:
    """Return the amounts above 0 that a direct change uses, as plans show them."""
    amounts = amounts_of(feature, start, end)
    return tuple((name, number_of(amount)) for name, amount in amounts.items() if amount)


def objectives_of(spec: ProblemSpec) -> tuple[str, ...]:
    """Return the objectives in their order, the cost last by default."""
    given = [spec.minimize] if isinstance(spec.minimize, str) else spec.minimize
    return tuple(dict.fromkeys([*given, COST]))


def build_resources(spec: ProblemSpec, faults: list[Fault]) -> tuple[Resource, ...]:
    """Return the resources of a problem, and note wrong keys about them."""
    faults += _resource_faults(spec)
    return tuple(
        Resource(
            name,
            keys.label or name,
            None if keys.limit is None else exact(keys.limit),
            exact(keys.weight),
            tuple((language, each.label) for language, each in keys.languages.items()),
        )
        for name, keys in spec.resources.items()
    )


def _resource_faults(spec: ProblemSpec) -> Iterator[Fault]:
    resources = spec.resources
    for name, keys in resources.items():
        if name in spec.features:
            yield Fault(f"resources.{name}", "a feature has this name; expected another one")
        if name in (COST, ACTIONS) or not name:
            message = "'cost' and 'actions' have a meaning in 'minimize'; expected another name"
            yield Fault(f"resources.{name}", message)
        if keys.weight and not spec.norm.adds_up:
            message = f"a weight needs the norm l0 or l1, found {spec.norm.value}"
            yield Fault(f"resources.{name}.weight", message)
    for name, feature in spec.features.items():
        for resource, use in feature.uses.items():
            place = f"features.{name}.uses.{resource}"
            if resource not in resources:
                yield Fault(place, _unknown("resource", resource, resources))
            if use.per_unit and feature.type is Kind.CATEGORY:
                message = "a category has no differences; expected 'fixed' only"
                yield Fault(f"{place}.per_unit", message)
        if feature.uses and feature.equation is not None:
            yield Fault(f"features.{name}.uses", "a computed feature is never set: leave it out")
    objectives = [spec.minimize] if isinstance(spec.minimize, str) else spec.minimize
    for number, objective in enumerate(objectives):
        if objective not in (COST, ACTIONS, *resources):
            hint = suggestion(objective, [COST, ACTIONS, *resources])
            message = f"expected 'cost', 'actions' or a resource, found {shown(objective)}; {hint}"
            yield Fault("minimize", message)
        elif objective in objectives[:number]:
            yield Fault("minimize", f"{shown(objective)} is listed twice")


def build_action(
    name: str, keys: ActionSpec, when: tuple[Any, ...], features: Mapping[str, Feature]
) -> NamedAction:
    """Return a named action whose keys have no fault."""
    return NamedAction(
        name,
        keys.label or name,
        tuple((each, _as_value(features[each], value)) for each, value in keys.sets.items()),
        tuple((each, exact(number)) for each, number in keys.adds.items()),
        when,
        exact(keys.cost),
        tuple((each, exact(use.fixed)) for each, use in keys.uses.items() if use.fixed),
        keys.repeat,
        tuple((language, each.label) for language, each in keys.languages.items()),
    )


def action_faults(
    name: str, keys: ActionSpec, spec: ProblemSpec, features: Mapping[str, Feature]
) -> Iterator[Fault]:
    """Yield the wrong keys of a named action."""
    place = f"actions.{name}"
    if not name:
        yield Fault("actions", "an action has an empty name")
    for resource, use in keys.uses.items():
        if resource not in spec.resources:
            message = _unknown("resource", resource, spec.resources)
            yield Fault(f"{place}.uses.{resource}", message)
        if use.per_unit:
            message = "a named action uses a 'fixed' amount, whatever it changes"
            yield Fault(f"{place}.uses.{resource}.per_unit", message)
    for key, table in (("sets", keys.sets), ("adds", keys.adds)):
        for each, value in table.items():
            if each not in spec.features:
                yield Fault(f"{place}.{key}.{each}", _unknown("feature", each, spec.features))
            elif each in features:
                message = _refusal(features[each], value, adds=key == "adds")
                if message:
                    yield Fault(f"{place}.{key}.{each}", message)
    for each in keys.sets.keys() & keys.adds.keys():
        yield Fault(f"{place}.adds.{each}", "it stands in 'sets' as well; expected one of the two")
    if not (keys.sets or keys.adds or any(each.fixed for each in keys.uses.values())):
        yield Fault(place, "it changes nothing and uses nothing; give 'sets', 'adds' or 'uses'")


def _refusal(feature: Feature, value: str | int | float, *, adds: bool) -> str:
    """Return why an action cannot set or add a value; empty if it can."""
    if feature.equation is not None:
        return "a computed feature is never set; change what its equation reads"
    if feature.action is Action.FIXED:
        return "the feature is fixed: nothing changes it"
    if adds:
        if not feature.kind.is_number:
            return f"only a number can be added to; {feature.kind.value} has listed values"
        if isinstance(value, str) or not value:
            return f"expected a number other than 0, found {shown(value)}"
        whole = feature.kind is not Kind.INT or value == int(value)
        return "" if whole else f"expected a whole number, found {shown(value)}"
    if isinstance(value, str) == feature.kind.is_number or not feature.contains(value):
        known = (feature.domain.value(each) for each in range(min(feature.domain.size, 100)))
        hint = "" if feature.kind.is_number else f"; {suggestion(str(value), map(str, known))}"
        return f"{shown(value)} is not one of its values{hint}"
    return ""


def _as_value(feature: Feature, value: str | int | float) -> str | int | float:
    place = feature.place(value)
    assert place is not None
    return feature.domain.value(place)


def _unknown(kind: str, name: str, known: Mapping[str, Any]) -> str:
    return f"there is no {kind} '{name}'; {suggestion(name, known)}"
