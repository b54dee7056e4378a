"""From a feature's keys to a `Feature`: the meaning of `values`, `min`, `max`, `step` and the defaults."""

from __future__ import annotations

import math
import re
from dataclasses import fields, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from p2c._spec.computed import Equation
from p2c._spec.cost import DEAREST, is_too_dear
from p2c._spec.expression import (
    COMPARATORS,
    Apply,
    Choice,
    Compare,
    Condition,
    Expression,
    Junction,
    Member,
    Name,
)
from p2c._spec.expression_text import ExpressionError, read_expression
from p2c._spec.feature import FARTHEST, Action, Feature, Grid, Kind, Points, Use, Words, exact
from p2c._spec.spec import Residual
from p2c.errors import Fault, shorten, suggestion

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from p2c._spec.feature import Law, Number
    from p2c._spec.spec import FeatureSpec, WordsSpec


def build_feature(
    name: str,
    spec: FeatureSpec,
    *,
    law: Law,
    governed: bool,
    listed: bool = False,
    bounded: bool = True,
) -> tuple[Feature | None, list[Fault]]:
    """Return the feature that the keys describe, or None and the faults in them.

    Args:
        name: Its name.
        spec: Its keys.
        law: The problem's law of causal rules.
        governed: Whether it is the head of a causal rule.
        listed: Whether a named action changes it.
        bounded: Whether rows lie within the range.
    """
    place = f"features.{name}"
    found = _faults(spec, governed=governed, listed=listed)
    faults = [Fault(f"{place}.{key}", message) for key, message in found]
    if not name:
        faults.append(Fault("features", "a feature has an empty name"))
    if faults:
        return None, faults
    domain = _domain(spec)
    low, high = _span(spec, domain)
    default = Action.FREE
    if governed or spec.equation is not None:
        default = Action.EFFECT
    elif spec.kept:
        default = Action.FIXED
    feature = Feature(
        name=name,
        kind=spec.type,
        domain=domain,
        minimum=low,
        maximum=high,
        action=spec.action or default,
        scale=None if isinstance(spec.scale, str) else spec.scale,
        law=spec.law or law,
        moves=_moves(spec),
        names=tuple(spec.names.items()),
        languages=tuple((language, _words(words)) for language, words in spec.languages.items()),
        governed=governed,
        bounded=bounded,
        states_cost=(
            spec.weight != 1
            if spec.type is Kind.CATEGORY
            else bounded and not isinstance(spec.scale, str)
        ),
        equation=_equation(spec),
        uses=tuple(
            Use(resource, exact(use.fixed), exact(use.per_unit))
            for resource, use in spec.uses.items()
        ),
        **_as_given(spec),
    )
    if range_is_too_dear(feature):
        key = "weight" if feature.scale is None else "scale"
        return None, [Fault(f"{place}.{key}", TOO_DEAR)]
    return feature, []


READ = {"action", "scale", "law", "moves", "names", "languages", "equation", "uses"}
"""The keys of which a feature has something else than was given."""


def _as_given(spec: FeatureSpec) -> dict[str, Any]:
    """Return the keys that a feature has as they are given, such as its weight and words."""
    keys = {each.name for each in fields(Feature)} & set(type(spec).model_fields)
    return {key: getattr(spec, key) for key in keys - READ}


TOO_DEAR = f"a change over the whole range would cost more than {float(DEAREST):g}; expected a scale nearer to its range, or a smaller weight"


def range_is_too_dear(feature: Feature) -> bool:
    """Tell whether changes of a feature within its range may cost more than is told."""
    times = feature.domain.size if feature.moves else 1
    far = (exact(feature.maximum) - exact(feature.minimum)) / feature.divisor
    return is_too_dear(feature, times * max(far, Fraction(1)))


def _words(spec: WordsSpec) -> Words:
    return Words(
        spec.label,
        spec.unit,
        spec.unit_one,
        spec.phrase,
        spec.advice,
        tuple(spec.names.items()),
    )


def _domain(spec: FeatureSpec) -> Grid | Points:
    if spec.values is not None:
        if not spec.type.is_number:
            return Points(tuple(spec.values))
        numbers = [_typed(spec.type, each) for each in spec.values if not isinstance(each, str)]
        return Points(tuple(sorted(numbers)))
    if spec.equation is not None:
        far = FARTHEST[spec.type]
        low = _typed(spec.type, -far if spec.min is None else spec.min)
        high = _typed(spec.type, far if spec.max is None else spec.max)
        usual = 1 if spec.type is Kind.INT else default_step(exact(high) - exact(low))
        return Grid(low, high, _typed(spec.type, spec.step or usual))
    if spec.min is None or spec.max is None:
        zero, one = _typed(spec.type, 0), _typed(spec.type, 1)
        return Grid(zero, zero, one)  # of a kept column nobody needs to know more
    low, high = _typed(spec.type, spec.min), _typed(spec.type, spec.max)
    usual = 1 if spec.type is Kind.INT else default_step(exact(high) - exact(low))
    return Grid(low, high, _typed(spec.type, spec.step or usual))


def _typed(kind: Kind, number: Number) -> Number:
    return int(number) if kind is Kind.INT else float(number)


def _span(spec: FeatureSpec, domain: Grid | Points) -> tuple[Number, Number]:
    """Return the least and the greatest number that a row may have; the greatest may be off the grid."""
    if isinstance(domain, Grid):
        return domain.start, domain.stop
    low, high = domain.values[0], domain.values[-1]
    if isinstance(low, str) or isinstance(high, str) or not spec.type.is_number:
        return 0, 0
    return low, high


SMALLEST_POWER = -323
"""The least power of ten that is a float above zero."""


def default_step(width: Fraction) -> Number:
    """Return the power of ten nearest to a millionth of a range; 1 for a range of zero.

    >>> default_step(Fraction(45))
    0.0001
    """
    if width == 0:
        return 1
    # The logarithms apart, for the range of two floats need not be a float.
    size = math.log10(width.numerator) - math.log10(width.denominator)
    power = max(round(size - 6), SMALLEST_POWER)
    return 10**power if power >= 0 else float(f"1e{power}")


def _moves(
    spec: FeatureSpec,
) -> tuple[tuple[str | int | float, tuple[str | int | float, ...]], ...] | None:
    if spec.moves is None:
        return None
    # The keys of a table are text even where the values are numbers.
    named = {str(value): value for value in spec.values or ()}
    return tuple((named[start], tuple(ends)) for start, ends in spec.moves.items())


def _faults(spec: FeatureSpec, *, governed: bool, listed: bool) -> Iterator[tuple[str, str]]:
    if spec.equation is not None:
        yield from _equation_faults(spec, governed=governed)
    elif spec.residual is not None:
        yield "residual", "only a feature with an 'equation' has a residual"
    if spec.type.is_number:
        yield from _number_faults(spec)
    else:
        yield from _category_faults(spec)
    caused = governed or listed or spec.equation is not None
    if spec.action is Action.EFFECT and not caused:
        yield "action", "'effect' needs a causal rule with this feature as its head; there is none"
    if spec.kept and (governed or spec.action not in (None, Action.FIXED)):
        yield "kept", "it keeps the row's value: no rule and nobody else changes it"
    if spec.action in (Action.UP, Action.DOWN) and spec.type is Kind.CATEGORY:
        yield "action", f"'{spec.action.value}' needs an order: use a number or type 'ordinal'"
    if spec.law is not None and not governed:
        yield "law", "no causal rule has this feature as its head, so no law applies"
    yield from _name_faults(spec)
    yield from _place_faults(spec)


def _name_faults(spec: FeatureSpec) -> Iterator[tuple[str, str]]:
    """Yield the names that belong to no value; any number may have one."""
    if spec.values is None:
        return
    known = [str(value) for value in spec.values]
    places = {"names": spec.names}
    places |= {f"languages.{each}.names": words.names for each, words in spec.languages.items()}
    for place, names in places.items():
        for value in names:
            if value not in known:
                yield place, f"'{value}' is not one of the values; {suggestion(value, known)}"


PLACES = {"phrase": ("{label}", "{value}"), "advice": ("{label}", "{start}", "{end}")}
"""The placeholders that are filled in, in each clause that a feature has of its own."""


def _place_faults(spec: FeatureSpec) -> Iterator[tuple[str, str]]:
    """Yield the braces of clauses that nothing fills: a person would read them as they stand."""
    worded: dict[str, FeatureSpec | WordsSpec] = {"": spec}
    worded |= {f"languages.{language}.": words for language, words in spec.languages.items()}
    for start, words in worded.items():
        for key, places in PLACES.items():
            for found in re.findall(r"\{[^{}]*\}?|\}", getattr(words, key)):
                if found not in places:
                    right = f"{', '.join(places[:-1])} and {places[-1]}"
                    yield f"{start}{key}", f"nothing fills in {shorten(found)}; there are {right}"


def _equation_faults(spec: FeatureSpec, *, governed: bool) -> Iterator[tuple[str, str]]:
    """Yield the wrong keys of a computed feature, and a fault of its text."""
    assert spec.equation is not None
    if not spec.type.is_number:
        yield "equation", f"only a number is computed; {spec.type.value} has listed values"
    if governed:
        yield "equation", "a causal rule has this feature as its head: use the rule or the equation"
    if spec.action not in (None, Action.EFFECT):
        yield "action", "a computed feature is never set: leave this key out"
    unset = {
        "values": "its values follow from its equation; use 'min', 'max' and 'step'",
        "moves": "a computed feature has no moves",
        "weight": "a computed feature costs nothing, so it has no weight",
        "scale": "a computed feature costs nothing, so it has no scale",
        "kept": "a computed feature follows its equation and does not keep the row's value",
    }
    for key, message in unset.items():
        if key in spec.model_fields_set and getattr(spec, key) not in (None, False):
            yield key, message
    try:
        read_expression(spec.equation)
    except ExpressionError as error:
        yield "equation", str(error)


def _equation(spec: FeatureSpec) -> Equation | None:
    """Return the equation of a feature, its names not yet looked up."""
    if spec.equation is None:
        return None
    limits = [None if each is None else exact(each) for each in (spec.min, spec.max, spec.step)]
    low, high, step = limits
    whole = spec.type is Kind.INT
    if whole and step is None:
        step = Fraction(1)
    text = " ".join(spec.equation.split())
    keeps = spec.residual is not Residual.NONE
    return Equation(text, read_expression(spec.equation), keeps, low, high, step, whole)


def bind_equation(
    equation: Equation,
    features: Mapping[str, Feature],
    own: str,
    resources: Collection[str] = (),
) -> Equation:
    """Return an equation with its names looked up among features and resources.

    Raises:
        ValueError: A name or a constant does not fit.
    """
    amounts = {name: Feature(name, Kind.FLOAT, Grid(0, 0, 1)) for name in resources}
    return replace(equation, expression=_bound(equation.expression, {**amounts, **features}, own))


def _bound(expression: Expression, features: Mapping[str, Feature], own: str) -> Expression:
    match expression:
        case Name(name):
            feature = _named_feature(name, features, own)
            if not feature.kind.is_number:
                hint = f"if({name} = '{feature.domain.value(0)}', 1, 0)"
                raise ValueError(f"'{name}' is no number; compare it in a condition, as in {hint}")
            return expression
        case Apply(function, operands):
            return Apply(function, tuple(_bound(each, features, own) for each in operands))
        case Choice(condition, then, otherwise):
            return Choice(
                _bound_condition(condition, features, own),
                _bound(then, features, own),
                _bound(otherwise, features, own),
            )
        case _:
            return expression


def _bound_condition(condition: Condition, features: Mapping[str, Feature], own: str) -> Condition:
    match condition:
        case Junction(word, parts):
            return Junction(word, tuple(_bound_condition(each, features, own) for each in parts))
        case Compare(name):
            return _bound_comparison(condition, _named_feature(name, features, own))
        case Member():
            return condition


def _bound_comparison(condition: Compare, feature: Feature) -> Compare | Member:
    name, comparator, constant = condition.name, condition.comparator, condition.constant
    if feature.kind.is_number:
        if isinstance(constant, str):
            raise ValueError(f"'{name}' is a number, found '{constant}'")
        return condition
    if comparator not in ("=", "!=") and not feature.has_order:
        raise ValueError(f"'{comparator}' needs an order, and '{name}' is a category")
    values = list(feature.places)
    equal = [each for each in values if _is_constant(each, constant)]
    if not equal:
        shown = f"'{constant}'" if isinstance(constant, str) else f"{float(constant):g}"
        hint = suggestion(str(constant), map(str, values))
        raise ValueError(f"{shown} is not a value of '{name}'; {hint}")
    rank, compares = Fraction(values.index(equal[0])), COMPARATORS[comparator]
    passing = (each for place, each in enumerate(values) if compares(Fraction(place), rank))
    return Member(name, frozenset(passing), condition)


def _is_constant(value: str | int | float, constant: Fraction | str) -> bool:
    if isinstance(value, str) or isinstance(constant, str):
        return value == constant
    return exact(value) == constant


def _named_feature(name: str, features: Mapping[str, Feature], own: str) -> Feature:
    if name not in features:
        hint = suggestion(name, features.keys() - {own})
        raise ValueError(f"there is no feature '{shorten(name)}'; {hint}")
    return features[name]


def _number_faults(spec: FeatureSpec) -> Iterator[tuple[str, str]]:
    if spec.moves is not None:
        yield "moves", "only a category or an ordinal has moves; use action 'up' or 'down'"
    limits = {"min": spec.min, "max": spec.max, "step": spec.step}
    if spec.values is not None:
        if any(number is not None for number in limits.values()):
            yield "values", "give either 'values' or 'min', 'max' and 'step'"
        yield from _listed_faults(spec.values)
        for value in spec.values:
            if isinstance(value, str):
                yield "values", f"expected numbers, found {value!r}"
                return
            if spec.type is Kind.INT and value != int(value):
                yield "values", f"expected whole numbers, found {value}"
                return
        return
    for key, number in limits.items():
        if number is None and key != "step" and not spec.kept and spec.equation is None:
            yield key, "a number needs 'min' and 'max', or 'values'"
        elif spec.type is Kind.INT and number is not None and number != int(number):
            yield key, f"expected a whole number, found {number}"
    if spec.min is not None and spec.max is not None and spec.min > spec.max:
        yield "min", f"expected at most max = {spec.max}, found {spec.min}"


def _category_faults(spec: FeatureSpec) -> Iterator[tuple[str, str]]:
    noun = "an ordinal" if spec.type is Kind.ORDINAL else "a category"
    for key, number in (("min", spec.min), ("max", spec.max), ("step", spec.step)):
        if number is not None:
            yield key, f"{noun} has 'values' instead"
    if not isinstance(spec.scale, str):
        yield "scale", f"{noun} has no scale; use 'weight'"
    if spec.values is None:
        yield "values", f"{noun} needs its values"
        return
    yield from _listed_faults(spec.values)
    names = [str(value) for value in spec.values]
    moves = spec.moves or {}
    ends = [value for some in moves.values() for value in some]
    unknown = [str(value) for value in ends if value not in spec.values]
    unknown += [str(value) for value in (*moves, *ends) if str(value) not in names]
    for value in dict.fromkeys(unknown):
        yield "moves", f"'{value}' is not one of the values; {suggestion(value, names)}"


def _listed_faults(values: list[str | int | float]) -> Iterator[tuple[str, str]]:
    if not values:
        yield "values", "expected at least one value"
    seen: set[str | int | float] = set()
    texts: dict[str, str | int | float] = {}
    for value in values:
        if value in seen:
            yield "values", f"the value {value!r} is listed twice"
        elif str(value) in texts:
            # The keys of a table and the cells of a CSV file name a value by its text alone.
            yield "values", f"the values {texts[str(value)]!r} and {value!r} read alike"
        seen.add(value)
        texts[str(value)] = value
