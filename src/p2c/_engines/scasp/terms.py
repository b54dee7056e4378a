"""Names and values as s(CASP) reads them, and back."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from p2c._engines.instance import WORDS
from p2c._spec.feature import exact
from p2c.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from p2c._spec.feature import Value

PLAIN = re.compile(r"[a-z][a-zA-Z0-9_]*")
WIDTH = 100
"""Letters of a line that is not broken."""

UNKNOWN = "nothing(known)"
"""The term of a missing value, different from all values."""

Term = str | Fraction | tuple[Any, ...] | list[Any]
"""An atom, a number, a compound as its functor and its arguments, or a list."""


def atom(text: str) -> str:
    r"""Write an atom with escapes for other letters than plain ASCII.

    >>> atom("debt"), atom("don't"), atom("Zed")
    ('debt', "'don\\'t'", "'Zed'")
    """
    if PLAIN.fullmatch(text) and text not in WORDS:
        return text
    inner = "".join(map(_escaped, text))
    return f"'{inner}'"


def _escaped(letter: str) -> str:
    if letter in "'\\":
        return f"\\{letter}"
    return letter if " " <= letter <= "~" else f"\\x{ord(letter):x}\\"


def number(value: float) -> str:
    """Write a number exactly, as a fraction where it is not whole.

    >>> number(5), number(0.25), number(-1.5)
    ('5', '1/4', '-3/2')
    """
    return str(exact(value))


def value(given: Value) -> str:
    """Write a value of a feature."""
    if given is None:
        return UNKNOWN
    return atom(given) if isinstance(given, str) else number(given)


def variables(names: Iterable[str]) -> dict[str, str]:
    """Return a unique variable for each name: `bank_balance` becomes `Bank_balance`.

    >>> variables(["debt", "Credit Score", "new"])
    {'debt': 'Debt', 'Credit Score': 'Credit_Score', 'new': 'New_'}
    """
    found: dict[str, str] = {}
    taken = {"New", "Price", "Groups"}
    for name in names:
        text = re.sub(r"[^A-Za-z0-9_]", "_", name)
        text = text[:1].upper() + text[1:]
        if not re.match(r"[A-Z]", text):
            text = f"V{text}"
        while text in taken:
            text += "_"
        taken.add(text)
        found[name] = text
    return found


def call(name: str, arguments: Iterable[str]) -> str:
    """Write a call; without arguments it is the name alone."""
    given = ", ".join(arguments)
    return f"{name}({given})" if given else name


def rule(head: str, body: list[str]) -> str:
    """Write a rule, or a fact; one that is long has a line for each literal."""
    if not body:
        return f"{head}."
    line = f"{head} :- {', '.join(body)}."
    if len(line) <= WIDTH:
        return line
    return f"{head} :-\n    " + ",\n    ".join(body) + "."


def read_term(data: Any) -> Term:
    """Return a term from s(CASP)'s JSON."""
    match data:
        case list():
            return [read_term(each) for each in data]
        case {"truth": True, "value": inner}:
            return read_term(inner)
        case {"type": "rational", "numerator": int() as above, "denominator": int() as below}:
            return Fraction(above, below)
        case {"type": "number", "value": int() as whole}:
            return Fraction(whole)
        case {"type": "atom" | "string", "value": str() as text}:
            return text
        case {"type": "compound", "functor": str() as functor, "args": list() as given}:
            return (functor, *map(read_term, given))
    raise EngineError(f"scasp: its answer has a term that is none of ours: {str(data)[:80]}")
