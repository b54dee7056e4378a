"""The form of a person, made from the problem: for each feature the right input and what may be said about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from p2c.domain.feature import Grid, Points
from p2c.explain.sentences import label_words, number_words, value_words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p2c.domain.feature import Feature
    from p2c.web.pages.address import Case
    from p2c.web.shelf import Entry

STANDING = {
    "free": "can be changed",
    "up": "can only rise",
    "down": "can only fall",
    "fixed": "cannot be changed",
    "effect": "follows from the rest",
}
"""What a feature's action says of it."""
CHANGES = {
    "free": "I can change this",
    "up": "only upwards",
    "down": "only downwards",
    "fixed": "I cannot change this",
    "effect": "follows from the rest",
}


@dataclass(frozen=True, slots=True)
class Choice:
    """One option of a list."""

    value: str
    text: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class Field:
    """A feature as the form shows it."""

    number: int
    name: str
    label: str
    unit: str
    text: str
    is_number: bool
    whole: bool
    least: str
    most: str
    least_words: str
    most_words: str
    choices: tuple[Choice, ...]
    changes: tuple[Choice, ...]
    lower: str
    upper: str
    weight: str
    usual_weight: str
    only: tuple[Choice, ...]
    lifted: tuple[str, ...]
    fault: str

    @property
    def is_touched(self) -> bool:
        """Tell whether the person said something of their own about it."""
        chosen = any(each.chosen for each in (*self.changes[1:], *self.only))
        return bool(chosen or self.lower or self.upper or self.weight or self.lifted)


def fields_of(entry: Entry, case: Case, faults: Mapping[str, str]) -> list[Field]:
    """Return the fields of a problem's form, filled in from a case."""
    features = enumerate(entry.problem.theory.features)
    return [_field(number, each, case, faults.get(each.name, "")) for number, each in features]


def _field(number: int, feature: Feature, case: Case, fault: str) -> Field:
    name = feature.name
    text = case.values.get(name, "")
    is_number = feature.kind.is_number
    names = () if is_number else tuple(map(str, feature.places))
    chosen = case.only.get(name, ())
    return Field(
        number=number,
        name=name,
        label=label_words(feature),
        unit=feature.unit,
        text=text,
        is_number=is_number,
        whole=feature.kind.value == "int",
        least=str(feature.minimum),
        most_words=number_words(feature.maximum) if is_number else "",
        least_words=number_words(feature.minimum) if is_number else "",
        most=str(feature.maximum),
        choices=_choices(feature, names, text),
        changes=_changes(feature, case.actions.get(name, "")),
        lower=case.numbers.get(("min", name), ""),
        upper=case.numbers.get(("max", name), ""),
        weight=case.numbers.get(("w", name), ""),
        usual_weight=str(feature.weight),
        only=tuple(Choice(each, each.replace("_", " "), each in chosen) for each in names),
        lifted=tuple(kind for kind, whose in case.lifted if whose == name),
        fault=fault,
    )


def _choices(feature: Feature, names: tuple[str, ...], text: str) -> tuple[Choice, ...]:
    listed = tuple(
        Choice(each, value_words(feature, value), each == text)
        for each, value in zip(names, feature.places if names else (), strict=True)
    )
    # What is not among the values is kept and shown, so that the fault can be seen and mended.
    odd = (Choice(text, text, chosen=True),) if names and text and text not in names else ()
    return (*listed, *odd)


def _changes(feature: Feature, given: str) -> tuple[Choice, ...]:
    usual = feature.action.value
    offered = ["free", *(("up", "down") if feature.has_order else ()), "fixed"]
    if feature.governed:
        offered.append("effect")
    first = Choice("", CHANGES[usual], chosen=not given)
    return (
        first,
        *(Choice(each, CHANGES[each], each == given) for each in offered if each != usual),
    )


def domain_words(feature: Feature) -> str:
    """Say in a line which values a feature has."""
    match feature.domain:
        case Points(values):
            return ", ".join(value_words(feature, each) for each in values)
        case Grid(start, stop, step):
            unit = f", in steps of {step}" if step != 1 else ""
            return f"{value_words(feature, start)} to {value_words(feature, stop)}{unit}"
