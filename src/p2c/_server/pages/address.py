"""The state of a page as names and values: the person, restrictions, question.

`v:debt=5000` is a value, written as `language` writes numbers, `unknown=debt` one that is not known, `a:debt=fixed` who may change it, `min:`, `max:` and `w:` own limits and weight, `only:` the
names that a change may end in, `lift=limits:debt` a restriction of the problem to do without.

Numbers are read as the page's language writes them: 40.000 is forty thousand in German, and forty in English.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from p2c._explain.phrases import LANGUAGES, phrases_of
from p2c._explain.sentences import filled, number_words
from p2c._plan.restriction import LIFTABLE
from p2c._rules.cells import weighed_features
from p2c._spec.feature import Action, Kind
from p2c._spec.row import read_cell, read_value
from p2c.errors import Fault, RowError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from p2c._explain.phrases import Phrases
    from p2c._rules.theory import Theory
    from p2c._spec.feature import Feature, Value
    from p2c._spec.row import State


OPTIONS = ("norm", "minimize", "effects", "language")
ACTIONS = tuple(each.value for each in Action)
NUMBERS = {"min": "min", "max": "max", "w": "weight"}
NEEDED = "a value is still needed, or that it is not known"

Pair = tuple[str, str]
BLANKS = " \u00a0\u2009\u202f"
"""What sets thousands apart in any language."""
EXAMPLE, WHOLE_EXAMPLE = 1234.5, 1234
"""The numbers that show how a language writes numbers."""


@dataclass(frozen=True)
class Case:
    """The unparsed values of a form, so that unreadable input is kept."""

    values: Mapping[str, str] = field(default_factory=dict)
    actions: Mapping[str, str] = field(default_factory=dict)
    numbers: Mapping[Pair, str] = field(default_factory=dict)
    only: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    lifted: tuple[Pair, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()

    @property
    def is_blank(self) -> bool:
        """Tell whether nobody has been described."""
        return not self.values and not self.unknown

    @property
    def spoken(self) -> str:
        """Return the language of the page, which is also the one that numbers are written in."""
        asked = self.options.get("language", "")
        return asked if asked in LANGUAGES else "en"

    def pairs(self) -> list[Pair]:
        """Return the state as names and values."""
        found = [(f"v:{name}", text) for name, text in self.values.items()]
        found += [("unknown", name) for name in self.unknown]
        found += [(f"a:{name}", text) for name, text in self.actions.items() if text]
        found += [(f"{key}:{name}", text) for (key, name), text in self.numbers.items() if text]
        found += [(f"only:{name}", text) for name, texts in self.only.items() for text in texts]
        found += [("lift", f"{kind}:{name}") for kind, name in self.lifted]
        return found + [(key, text) for key, text in self.options.items() if text]

    def query(self) -> str:
        """Return the state as one text."""
        return urlencode(self.pairs(), errors="replace")

    def lifting(self, feature: str, restriction: str) -> Case:
        """Return the same case without one restriction."""
        if restriction not in LIFTABLE:
            return replace(self, actions={**self.actions, feature: "free"})
        own = {"limits": ("min", "max"), "moves": ("only",)}.get(restriction, ())
        return replace(
            self,
            numbers={
                (key, name): text
                for (key, name), text in self.numbers.items()
                if name != feature or key not in own
            },
            only={k: texts for k, texts in self.only.items() if k != feature or "only" not in own},
            lifted=tuple(dict.fromkeys((*self.lifted, (restriction, feature)))),
        )

    def unrestricted(self) -> Case:
        """Return the case without what the person said they can and cannot do."""
        return replace(self, actions={}, numbers={}, only={}, lifted=())

    def of(self, person: Case) -> Case:
        """Return the case of another person, restricted and asked as this one."""
        return replace(self, values=person.values, unknown=person.unknown)

    def in_language(self, language: str, features: Iterable[Feature]) -> Case:
        """Return the case with its numbers written in another language; what cannot be read stays."""
        own, other = phrases_of(self.spoken), phrases_of(language)

        def turned(text: str) -> str:
            plain = plain_number(text, own)
            return text if plain is None else typed_number(plain, other)

        counted = {each.name for each in features if each.kind.is_number}
        return replace(
            self,
            values={n: turned(text) if n in counted else text for n, text in self.values.items()},
            numbers={key: turned(text) for key, text in self.numbers.items()},
            options={**self.options, "language": "" if language == "en" else language},
        )

    def arguments(self, theory: Theory, read: Reading) -> dict[str, Any]:
        """Return what a solver is asked about the values that were read."""
        found: dict[str, Any] = {key: text for key, text in self.options.items() if text}
        restrictions = self._restrictions(theory.feature)
        faults = {**read.faults, **dict.fromkeys(read.needed, NEEDED)}
        if faults:
            raise RowError([Fault(name, text) for name, text in faults.items()])
        return found | {"row": read.state, "restrictions": restrictions}

    def _restrictions(self, features: Mapping[str, Feature]) -> dict[str, dict[str, Any]]:
        found: dict[str, dict[str, Any]] = {}
        faults: list[Fault] = []
        phrases = phrases_of(self.spoken)
        for name, action in self.actions.items():
            if action:
                found.setdefault(name, {})["action"] = action
        for (key, name), text in self.numbers.items():
            if not text.strip():
                continue
            number = _number(plain_number(text, phrases))
            if number is None or (key == "w" and number < 0):
                faults.append(Fault(f"{name}, {NUMBERS[key]}", number_fault(phrases)))
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
    """Return the case that the pairs of a state or form describe; ignore other keys."""
    values: dict[str, str] = {}
    actions: dict[str, str] = {}
    numbers: dict[Pair, str] = {}
    only: dict[str, tuple[str, ...]] = {}
    lifted: list[Pair] = []
    unknown: list[str] = []
    options: dict[str, str] = {}
    for key, text in pairs:
        kind, colon, name = key.partition(":")
        if key in OPTIONS:
            options[key] = text
        elif key == "lift":
            restriction, _, feature = text.partition(":")
            lifted.append((restriction, feature))
        elif key == "unknown":
            unknown.append(text)
        elif colon and kind == "v":
            values[name] = text
        elif colon and kind == "a":
            actions[name] = text if text in ACTIONS else ""
        elif colon and kind in NUMBERS:
            numbers[kind, name] = text
        elif colon and kind == "only":
            only[name] = (*only.get(name, ()), text)
    # A value that is given is known, whatever else is said of it.
    kept = tuple(name for name in dict.fromkeys(unknown) if not values.get(name, "").strip())
    return Case(values, actions, numbers, only, tuple(dict.fromkeys(lifted)), options, kept)


def case_of_row(row: Mapping[str, Any]) -> Case:
    """Return the case of a person without restrictions of their own, as English writes it."""
    values = {name: "" if value is None else str(value) for name, value in row.items()}
    return Case(values, unknown=tuple(name for name, value in row.items() if value is None))


def _number(plain: str | None) -> int | float | None:
    if plain is None:
        return None
    number = float(plain)
    if not abs(number) < 1e300:
        return None
    return int(number) if number == int(number) else number


def _named(feature: Feature | None, texts: tuple[str, ...]) -> list[Any]:
    """Return the values that texts name; a category may hold numbers."""
    known = {} if feature is None or feature.kind.is_number else feature.places
    by_text = {str(value): value for value in known}
    return [by_text.get(text, text) for text in texts]


@cache
def _pattern(thousands: str, decimal: str) -> re.Pattern[str]:
    mark = f"[{re.escape(thousands)}{BLANKS}]"
    grouped = rf"[0-9]{{1,3}}(?P<mark>{mark})[0-9]{{3}}(?:(?P=mark)[0-9]{{3}})*"
    return re.compile(
        rf"(?P<sign>[+-]?)(?P<whole>{grouped}|[0-9]*)"
        rf"(?:{re.escape(decimal)}(?P<rest>[0-9]*))?(?P<power>[eE][+-]?[0-9]+)?"
    )


def plain_number(text: str, phrases: Phrases) -> str | None:
    """Return a number as programs write it, read as a language writes it; None where it is none.

    >>> from p2c._explain.phrases import ENGLISH, GERMAN
    >>> plain_number("40.000", GERMAN), plain_number("40,000.5", ENGLISH), plain_number("4,00", ENGLISH)
    ('40000', '40000.5', None)
    """
    found = _pattern(phrases.thousands, phrases.decimal).fullmatch(text.strip().replace("−", "-"))
    if found is None or not (found["whole"] or found["rest"]):
        return None
    whole = "".join(letter for letter in found["whole"] if letter.isdigit()) or "0"
    rest = f".{found['rest']}" if found["rest"] else ""
    return f"{found['sign']}{whole}{rest}{found['power'] or ''}"


def typed_number(plain: str, phrases: Phrases) -> str:
    """Return a number of a program as somebody would type it, without marks between thousands."""
    return plain.removesuffix(".0").replace(".", phrases.decimal)


@dataclass(frozen=True, slots=True)
class Reading:
    """The values that could be read, and by feature what is wrong; `needed` are those that nothing was said of."""

    state: State
    faults: Mapping[str, str]
    needed: tuple[str, ...]

    @property
    def known(self) -> State:
        """Return the person's state, in which what was not given is missing; what cannot be read is an error."""
        if self.faults:
            raise RowError([Fault(name, text) for name, text in self.faults.items()])
        return self.state


def read_values(theory: Theory, case: Case) -> Reading:
    """Read the values of a case; a value without a reader is optional.

    Its readers are the rules and the model.
    """
    phrases = phrases_of(case.spoken)
    weighed = weighed_features(theory)
    state: State = {}
    faults: dict[str, str] = {}
    needed: list[str] = []
    for feature in theory.features:
        name = feature.name
        text = case.values.get(name, "")
        state[name] = None
        if text.strip() == "":
            if name not in case.unknown and name in weighed:
                needed.append(name)
            continue
        try:
            state[name] = _value(feature, text, phrases)
        except ValueError as error:
            faults[name] = str(error)
    return Reading(state, faults, tuple(needed))


def _value(feature: Feature, text: str, phrases: Phrases) -> Value:
    words = phrases.pages
    if feature.kept and not feature.kind.is_number:
        return text
    if not feature.kind.is_number:
        found = {str(each): each for each in feature.places}.get(text)
        if found is None:
            raise ValueError(filled(words["not_a_value"], text=text[:40]))
        return found
    whole = feature.kind is Kind.INT
    plain = plain_number(text, phrases)
    # Some write 40.000 for forty thousand where others mean forty: neither is guessed.
    if plain is None or (whole and "." in plain):
        raise ValueError(number_fault(phrases, whole=whole))
    number = read_cell(feature, plain)
    low, high = feature.span
    for key, limit, beyond in (("least", low, number < low), ("most", high, number > high)):
        if beyond and not feature.kept:
            raise ValueError(filled(words[f"expected_{key}"], limit=number_words(limit, phrases)))
    return read_value(feature, number)


def number_fault(phrases: Phrases, *, whole: bool = False) -> str:
    """Say that a number is expected, and how the language writes one."""
    key, example = ("whole", WHOLE_EXAMPLE) if whole else ("number", EXAMPLE)
    return filled(phrases.pages[f"expected_{key}"], example=number_words(example, phrases))
