"""Text of equations, with factors that people would write."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from p2c._rules.render import render_term
from p2c._rules.syntax import Constant

if TYPE_CHECKING:
    from collections.abc import Iterator

PLAIN_FACTORS = (1, 2, 3, 4, 5, 7, 10, 12, 24, 25, 30, 50, 52, 60, 100, 365, 1_000, 10_000, 1e6)
"""Factors, and divisors, of conversions: percent, months, thousands."""
ROUGHLY = 0.02
"""Relative distance from a measured factor within which plain factors are tried."""
DIGITS = 6


def number_text(value: float) -> str:
    """Return a number as equations write it.

    >>> number_text(12.0), number_text(0.0000025)
    ('12', '0.0000025')
    """
    if float(value).is_integer() and abs(value) < 1e15:
        return str(int(value))
    text = f"{value:.17g}" if float(f"{value:.12g}") != value else f"{value:.12g}"
    if "e" in text:
        text = f"{value:.20f}".rstrip("0")
    return text


def factors_near(measured: float) -> Iterator[float]:
    """Yield plain factors near a measured one, then its own six digits."""
    if not math.isfinite(measured) or measured == 0:
        return
    sign, size = math.copysign(1, measured), abs(measured)
    for base in (1.0, math.log(10), math.log(2)):
        for plain in PLAIN_FACTORS:
            for factor in (plain / base, 1 / plain / base):
                if abs(factor - size) <= ROUGHLY * size:
                    yield sign * factor
    yield float(f"{measured:.{DIGITS}g}")


def scaled(factor: float, text: str) -> str:
    """Return a factor times a text that is a name, a call, a product or a ratio.

    >>> scaled(1 / 12, "months"), scaled(100, "debt / income"), scaled(1, "debt / income")
    ('months / 12', '100 * debt / income', 'debt / income')
    """
    size = abs(factor)
    sign = "-" if factor < 0 else ""
    if size == 1:
        return f"{sign}{text}"
    for base, name in ((math.log(10), "log(10)"), (math.log(2), "log(2)")):
        if math.isclose(size * base, 1, rel_tol=1e-9):
            return f"{sign}{text} / {name}"
    inverse = round(1 / size)
    if size < 1 and math.isclose(1 / size, inverse, rel_tol=1e-9):
        return f"{sign}{text} / {inverse}"
    return f"{sign}{number_text(size)} * {text}"


def shifted(text: str, shift: float) -> str:
    """Return a text plus a number.

    >>> shifted("12 * a", -3), shifted("a", 0)
    ('12 * a - 3', 'a')
    """
    if shift == 0:
        return text
    return f"{text} {'+' if shift > 0 else '-'} {number_text(abs(shift))}"


def quoted(word: str) -> str:
    """Return a word as rules and conditions of equations write it."""
    return render_term(Constant(word))
