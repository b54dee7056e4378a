"""From a feature's keys to a `Feature`: the meaning of `values`, `min`, `max`, `step` and the defaults."""

from __future__ import annotations

import math
import re
from dataclasses import fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from p2c._spec.cost import DEAREST, is_too_dear
from p2c._spec.feature import Action, Feature, Grid, Kind, Points, Words, exact
from p2c.errors import Fault, shorten, suggestion

if TYPE_CHECKING:
    from collections.abc import Iterator

    from p2c._spec.feature import Law, Number
    from p2c._spec.spec import FeatureSpec, WordsSpec


def build_feature(
    name: str, spec: FeatureSpec, *, law: Law, governed: bool, bounded: bool = True
) -> tuple[Feature | None, list[Fault]]:
    """Return the feature that the keys describe, or None and what is wrong with them."""
    place = f"features.{name}"
    faults = [Fault(f"{place}.{key}", message) for key, message in _faults(spec, governed=governed)]
    if not name:
        faults.append(Fault("features", "a feature has an empty name"))
    if faults:
        return None, faults
    domain = _domain(spec)
    low, high = _span(spec, domain)
    default = Action.EFFECT if governed else Action.FIXED if spec.kept else Action.FREE
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
        states_cost=spec.weight != 1 or (bounded and not isinstance(spec.scale, str)),
        **_as_given(spec),
    )
    if range_is_too_dear(feature):
        key = "weight" if feature.scale is None else "scale"
        return None, [Fault(f"{place}.{key}", TOO_DEAR)]
    return feature, []


READ = {"action", "scale", "law", "moves", "names", "languages"}
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


def _faults(spec: FeatureSpec, *, governed: bool) -> Iterator[tuple[str, str]]:
    if spec.type.is_number:
        yield from _number_faults(spec)
    else:
        yield from _category_faults(spec)
    if spec.action is Action.EFFECT and not governed:
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
        if number is None and key != "step" and not spec.kept:
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
