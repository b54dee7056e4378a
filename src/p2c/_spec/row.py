"""Rows in: a person's values from a mapping, a pandas Series or text, each as its feature's type."""

from __future__ import annotations

import math
import re
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from p2c._spec.computed import origin_of
from p2c._spec.cost import is_too_dear
from p2c._spec.feature import Feature, Kind, Value, exact, is_finite
from p2c.errors import Fault, RowError, shown, suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

State = dict[str, Value]
"""A value for every feature, in the problem's order."""


class PartialState(State):
    """A state whose row omits computed features; they have no residual."""

    omitted: frozenset[str] = frozenset()

    @classmethod
    def of(cls, state: Mapping[str, Value], omitted: Iterable[str]) -> PartialState:
        """Return a state with the names of the computed features that its row omits."""
        found = cls(state)
        found.omitted = frozenset(omitted)
        return found


def omitted_in(state: Mapping[str, Any]) -> frozenset[str]:
    """Return the computed features that the row of a state omits."""
    return state.omitted if isinstance(state, PartialState) else frozenset()


NUMBER = re.compile(r"[+-]?(?:[0-9]+(?P<fraction>\.[0-9]*)?|\.[0-9]+)(?P<power>[eE][+-]?[0-9]+)?")


BEYOND = 10**400
"""What stands for a number in a cell that no float can hold: it is outside every range."""

SEVERAL = 3
"""How many features that are missing from a row are spoken of one by one."""

KEPT_ABSENT = "the model reads this column, which is no feature, and the row lacks it; null stands for unknown"

SEVERAL_ABSENT = "these features are missing from the row; null stands for unknown"


def refuse_absent(needed: Iterable[str], columns: Iterable[str]) -> None:
    """Refuse a table that lacks some of the columns that are needed."""
    known = list(columns)
    absent = [name for name in needed if name not in known]
    if absent:
        raise RowError(
            [Fault(name, f"no such column; {suggestion(name, known)}") for name in absent]
        )


def read_row(features: Iterable[Feature], row: Mapping[str, Any]) -> State:
    """Return the person's state; keys that are no feature are left aside."""
    features = tuple(features)
    if not hasattr(row, "keys"):
        message = f"expected a row of values by feature, found {shown(row)}"
        raise RowError([Fault("", message)])
    before = omitted_in(row)
    keys = row.keys() - before if before else row.keys()
    state: State = {}
    omitted = [each.name for each in features if each.equation and each.name not in keys]
    absent = [
        feature.name
        for feature in features
        if feature.name not in keys and feature.equation is None
    ]
    several = len(absent) > SEVERAL
    faults = [Fault(", ".join(absent), SEVERAL_ABSENT)] if several else []
    for feature in features:
        if feature.name in omitted:
            state[feature.name] = None
            continue
        if feature.name not in keys:
            if not several:
                spare = {key for key in keys if isinstance(key, str)}
                spare -= {each.name for each in features}
                told = KEPT_ABSENT if feature.kept else _missing(feature.name, spare)
                faults.append(Fault(feature.name, told))
            continue
        try:
            state[feature.name] = read_value(feature, row[feature.name])
        except ValueError as error:
            faults.append(Fault(feature.name, str(error)))
    if faults:
        raise RowError(faults)
    return with_computed(features, state, omitted) if omitted else state


def with_computed(
    features: Iterable[Feature], state: Mapping[str, Value], omitted: Iterable[str]
) -> PartialState:
    """Return a state with computed values in the place of omitted ones."""
    names = frozenset(omitted)
    initial = origin_of(features, state, names).initial
    return PartialState.of({name: initial[name] for name in state}, names)


def read_text_row(features: Iterable[Feature], row: Mapping[str, str]) -> State:
    """Return the state of a row of text cells, as CSV has them; an empty cell is a missing value."""
    known = tuple(features)
    return read_row(known, typed_cells(known, row))


def typed_cells(features: Iterable[Feature], row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of text cells as values, where they are of features."""
    by_name = {feature.name: feature for feature in features}
    return {
        key: read_cell(by_name[key], text) if key in by_name else text for key, text in row.items()
    }


def read_value(feature: Feature, raw: Any) -> Value:
    """Return one value as the feature's type; a ValueError says what would be right."""
    if type(raw) is str and feature.is_listed and raw in feature.places:
        return raw
    if type(raw) is int and feature.kind is Kind.INT and feature.minimum <= raw <= feature.maximum:
        return raw
    value = _plain(raw)
    if value is None:
        return None
    if feature.kind.is_number:
        return _number(feature, value)
    if feature.kept and isinstance(value, str):
        return value
    usable = isinstance(value, str | int | float) and not isinstance(value, bool)
    if not usable or value not in feature.places:
        known = [str(each) for each in feature.places]
        word = value[:100] if isinstance(value, str) else shown(value)
        raise ValueError(f"{shown(value)} is not one of its values; {suggestion(word, known)}")
    return feature.domain.value(feature.places[value])


def _missing(name: str, spare: set[str]) -> str:
    near = get_close_matches(name, sorted(spare), n=1)
    hint = f", which has '{near[0]}' instead" if near else "; null stands for unknown"
    return f"this feature is missing from the row{hint}"


def _number(feature: Feature, value: object) -> int | float:
    expected = "expected a whole number" if feature.kind is Kind.INT else "expected a number"
    if feature.kept and isinstance(value, bool):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{expected}, found {shown(value)}")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{expected}, found {value}")
    if feature.kind is Kind.INT and value != int(value):
        raise ValueError(f"{expected}, found {float(value)}")
    if (feature.kept or not feature.bounded) and not is_finite(value):
        raise ValueError(f"{expected} that a float can hold, found {shown(value)}")
    if feature.kept:
        return value
    low, high = feature.span
    if not exact(low) <= exact(value) <= exact(high):
        own = shown(int(value) if feature.kind is Kind.INT else value)
        raise ValueError(f"{own} is outside its range, {low} to {high}")
    if not feature.minimum <= value <= feature.maximum and _is_too_far(feature, value):
        raise ValueError(
            f"{shown(value)} is too far from its range, {feature.minimum} to {feature.maximum}, to tell what a change costs"
        )
    return int(value) if feature.kind is Kind.INT else float(value)


def _is_too_far(feature: Feature, value: int | float) -> bool:
    """Tell whether it may cost more than is told to come from a number to the values of a feature."""
    ends = exact(feature.minimum), exact(feature.maximum)
    far = max(abs(exact(value) - end) for end in ends) / feature.divisor
    return is_too_dear(feature, far)


def _plain(raw: Any) -> Any:
    """Return a Python value for what pandas and numpy hand out; None for every kind of missing."""
    if raw is None or type(raw).__name__ in ("NAType", "NaTType"):
        return None
    if hasattr(raw, "item") and not isinstance(raw, str | int):
        if getattr(raw, "size", 1) != 1:
            raise ValueError(f"expected one value, found {raw.size}")
        raw = raw.item()
    if isinstance(raw, float) and math.isnan(raw):
        return None
    return str(raw) if isinstance(raw, str) else raw


def read_cell(feature: Feature, text: str | None) -> Any:
    """Return what a cell of text stands for, to be read as the feature's value; None where it is empty."""
    if text is None or text in _categories(feature):
        return text
    stripped = text.strip()
    if stripped == "":
        return None
    return stripped if stripped in _categories(feature) else read_number(stripped)


def _categories(feature: Feature) -> Mapping[str | int | float, int]:
    return {} if feature.kind.is_number else feature.places


def read_number(text: str) -> str | int | float:
    """Return the number that a cell denotes, or its text; `nan` is a missing number."""
    match = NUMBER.fullmatch(text)
    if match is None:
        return math.nan if text.lower() == "nan" else text
    whole = match["fraction"] is None and match["power"] is None and "." not in text
    if whole and len(text) < 4_000:
        return int(text)
    number = float(text)
    return number if math.isfinite(number) else int(math.copysign(1, number)) * BEYOND
