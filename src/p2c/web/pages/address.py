"""The state of a page, which is in its address: who the person is, what they can and cannot do, and what is asked.

`v:debt=5000` is a value, `a:debt=fixed` who may change it, `min:`, `max:` and `w:` own limits and weight, `only:` the
names that a change may end in, `lift=limits:debt` a restriction of the problem to do without.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from p2c.domain.row import read_text_row
from p2c.errors import Fault, RowError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from p2c.domain.feature import Feature
    from p2c.domain.row import State
    from p2c.web.shelf import Entry

OPTIONS = ("norm", "minimize", "effects", "language")
ACTIONS = ("free", "up", "down", "fixed", "effect")
NUMBERS = {"min": "min", "max": "max", "w": "weight"}

Pair = tuple[str, str]


@dataclass(frozen=True)
class Case:
    """What an address says, as it says it: nothing is lost that cannot be read."""

    values: Mapping[str, str] = field(default_factory=dict)
    actions: Mapping[str, str] = field(default_factory=dict)
    numbers: Mapping[Pair, str] = field(default_factory=dict)
    only: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    lifted: tuple[Pair, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_blank(self) -> bool:
        """Tell whether nobody has been described."""
        return not self.values

    def pairs(self) -> list[Pair]:
        """Return the names and values of the address."""
        found = [(f"v:{name}", text) for name, text in self.values.items()]
        found += [(f"a:{name}", text) for name, text in self.actions.items() if text]
        found += [(f"{key}:{name}", text) for (key, name), text in self.numbers.items() if text]
        found += [(f"only:{name}", text) for name, texts in self.only.items() for text in texts]
        found += [("lift", f"{kind}:{name}") for kind, name in self.lifted]
        return found + [(key, text) for key, text in self.options.items() if text]

    def query(self) -> str:
        """Return the address from the question mark on."""
        return urlencode(self.pairs(), errors="replace")

    def lifting(self, feature: str, restriction: str) -> str:
        """Return the address of the same case without one restriction."""
        if restriction in ("moves", "limits"):
            kept = self._without_limits(feature) if restriction == "limits" else self
            only = {} if restriction == "moves" else {feature: self.only.get(feature, ())}
            others = {name: texts for name, texts in self.only.items() if name != feature}
            changed = Case(
                kept.values,
                kept.actions,
                kept.numbers,
                {**others, **only},
                tuple(dict.fromkeys((*self.lifted, (restriction, feature)))),
                self.options,
            )
        else:
            actions = {**self.actions, feature: "free"}
            changed = Case(self.values, actions, self.numbers, self.only, self.lifted, self.options)
        return changed.query()

    def _without_limits(self, feature: str) -> Case:
        numbers = {
            (key, name): text
            for (key, name), text in self.numbers.items()
            if name != feature or key == "w"
        }
        return Case(self.values, self.actions, numbers, self.only, self.lifted, self.options)

    def row(self, features: Iterable[Feature]) -> State:
        """Return the person's state; an empty field is a value that is not known."""
        return read_text_row(tuple(features), dict(self.values))

    def arguments(self, entry: Entry) -> dict[str, Any]:
        """Return what a solver is asked."""
        features = entry.problem.theory.features
        found: dict[str, Any] = {key: text for key, text in self.options.items() if text}
        restrictions = self._restrictions({each.name: each for each in features})
        return found | {"row": self.row(features), "restrictions": restrictions}

    def _restrictions(self, features: Mapping[str, Feature]) -> dict[str, dict[str, Any]]:
        found: dict[str, dict[str, Any]] = {}
        faults: list[Fault] = []
        for name, action in self.actions.items():
            if action:
                found.setdefault(name, {})["action"] = action
        for (key, name), text in self.numbers.items():
            if not text.strip():
                continue
            number = _number(text)
            if number is None or (key == "w" and number < 0):
                faults.append(
                    Fault(f"{name}, {NUMBERS[key]}", f"expected a number, found {text[:40]!r}")
                )
            else:
                found.setdefault(name, {})[NUMBERS[key]] = number
        for name, texts in self.only.items():
            if texts:
                found.setdefault(name, {})["only"] = _named(features.get(name), texts)
        for kind, name in self.lifted:
            found.setdefault(name, {}).setdefault("lift", []).append(kind)
        if faults:
            raise RowError(faults)
        return found


def read_case(pairs: Iterable[Pair]) -> Case:
    """Return the case that the pairs of an address or a form describe; other keys are left aside."""
    values: dict[str, str] = {}
    actions: dict[str, str] = {}
    numbers: dict[Pair, str] = {}
    only: dict[str, tuple[str, ...]] = {}
    lifted: list[Pair] = []
    options: dict[str, str] = {}
    for key, text in pairs:
        kind, colon, name = key.partition(":")
        if key in OPTIONS:
            options[key] = text
        elif key == "lift":
            restriction, _, feature = text.partition(":")
            lifted.append((restriction, feature))
        elif colon and kind == "v":
            values[name] = text
        elif colon and kind == "a":
            actions[name] = text if text in ACTIONS else ""
        elif colon and kind in NUMBERS:
            numbers[kind, name] = text
        elif colon and kind == "only":
            only[name] = (*only.get(name, ()), text)
    return Case(values, actions, numbers, only, tuple(dict.fromkeys(lifted)), options)


def case_of_row(row: Mapping[str, Any]) -> Case:
    """Return the case of a person without restrictions of their own."""
    return Case({name: "" if value is None else str(value) for name, value in row.items()})


def _number(text: str) -> int | float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    if not abs(number) < 1e300:
        return None
    return int(number) if number == int(number) else number


def _named(feature: Feature | None, texts: tuple[str, ...]) -> list[Any]:
    """Return the values that texts name; a category may hold numbers."""
    known = {} if feature is None or feature.kind.is_number else feature.places
    by_text = {str(value): value for value in known}
    return [by_text.get(text, text) for text in texts]
