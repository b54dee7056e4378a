"""Numbers as the page's language writes them: 40.000 is forty thousand in German, and forty in English."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from p2c.explain.phrases import Phrases

BLANKS = " \u00a0\u2009\u202f"
"""What sets thousands apart in any language."""


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
