"""A person's values out of a form: what was read, what is wrong with the rest, and what is still needed for an answer.

Numbers are read as the page's language writes them: 40.000 is forty thousand in German, and forty in English.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from p2c.domain.feature import Kind
from p2c.domain.row import read_cell, read_value
from p2c.errors import Fault, RowError
from p2c.explain.phrases import phrases_of
from p2c.explain.sentences import filled, number_words
from p2c.rules.cells import weighed_features

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p2c.domain.feature import Feature, Value
    from p2c.domain.row import State
    from p2c.explain.phrases import Phrases
    from p2c.rules.theory import Theory
    from p2c.web.pages.address import Case

BLANKS = " \u00a0\u2009\u202f"
"""What sets thousands apart in any language."""
EXAMPLE, WHOLE_EXAMPLE = 1234.5, 1234
"""The numbers that show how a language writes numbers."""


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

    >>> from p2c.explain.phrases import ENGLISH, GERMAN
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
    """Read the values of a case. One that no rule looks at need not be given."""
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
    for key, limit, beyond in (
        ("least", feature.minimum, number < feature.minimum),
        ("most", feature.maximum, number > feature.maximum),
    ):
        if beyond:
            raise ValueError(filled(words[f"expected_{key}"], limit=number_words(limit, phrases)))
    return read_value(feature, number)


def number_fault(phrases: Phrases, *, whole: bool = False) -> str:
    """Say that a number is expected, and how the language writes one."""
    key, example = ("whole", WHOLE_EXAMPLE) if whole else ("number", EXAMPLE)
    return filled(phrases.pages[f"expected_{key}"], example=number_words(example, phrases))
