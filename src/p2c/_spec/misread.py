"""Why text is no JSON or TOML: the place, what Python says of it, and the slip that is behind it if it is a common one."""

from __future__ import annotations

import json
import re

from p2c.errors import LARGEST, comma_hint

HUGE = re.compile(r"[0-9][0-9_]{4299,}")
"""What Python refuses to read as a whole number."""

TOML_PLACE = re.compile(r" \(at line (?P<line>[0-9]+), column (?P<column>[0-9]+)\)$")
COMMA = re.compile(r"(?<![\w.])([+-]?[0-9]{1,20}),\s?([0-9]{1,20})(?![\w.])")
WORD = re.compile(r"[^\W\d]\w{0,30}")
TYPOGRAPHIC = "‘’‚‛“”„‟"

VALUE_EXPECTED = (
    "Invalid value",
    "Expecting value",
    "Expecting property name enclosed in double quotes",
)
"""What Python says where something else stands in the place of a value or a name."""


def misread(error: Exception, text: str) -> str:
    r"""Say why JSON or TOML cannot be read, in our own words where Python's are about itself.

    >>> misread(ValueError("Exceeds the limit (4300 digits) …"), "a = 1\nb = " + "9" * 5000)
    'line 2: a number of 5,000 digits; numbers go up to about 1.8e308'
    """
    huge = HUGE.search(text) if str(error).startswith("Exceeds the limit") else None
    if huge is not None:
        line = text.count("\n", 0, huge.start()) + 1
        return f"line {line}: a number of {len(huge[0].replace('_', '')):,} digits; {LARGEST}"
    if isinstance(error, json.JSONDecodeError):
        return _placed(error.msg, error.lineno, error.colno, text)
    place = TOML_PLACE.search(str(error))
    if place is None:
        return str(error)
    return _placed(str(error)[: place.start()], int(place["line"]), int(place["column"]), text)


def _placed(message: str, line: int, column: int, text: str) -> str:
    written = text.split("\n")[line - 1]
    hint = _comma_hint(written, column)
    if not hint and message in VALUE_EXPECTED:
        hint = _word_hint(written, column - 1)
    return f"line {line}, column {column}: {message}{f' ({hint})' if hint else ''}"


def _comma_hint(line: str, column: int) -> str:
    """Return what to write for a number with a comma, at which or right after which a column stands."""
    for found in COMMA.finditer(line):
        if found.start() < column <= found.end() + 1:
            return comma_hint(*found.groups())
    return ""


def _word_hint(line: str, place: int) -> str:
    """Return what to write for a word or a sign that stands in the place of a value or a name."""
    found = line[place : place + 1]
    word = WORD.match(line, place)
    if found and found in TYPOGRAPHIC:
        return 'write text in straight quotes, "…"'
    if found == "'":
        return 'write text in double quotes, "…"'
    if word is not None:
        return f'write text in quotes, "{word[0]}"'
    if found in ("}", "]") and line[:place].rstrip().endswith(","):
        return "nothing follows the comma before it: leave that out"
    return ""
