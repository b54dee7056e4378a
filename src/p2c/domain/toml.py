"""A problem as TOML text: the inverse of reading one, without the comments.

The standard library reads TOML and does not write it. A problem needs few of its forms: text, numbers, truth values,
lists of those, and tables.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
ESCAPED = re.compile(r'[\x00-\x1f\x7f"\\]')
SHORT = {"\b": r"\b", "\t": r"\t", "\n": r"\n", "\f": r"\f", "\r": r"\r", '"': r"\"", "\\": r"\\"}
WIDTH = 100


def problem_to_toml(problem: Mapping[str, Any]) -> str:
    r"""Write a dict of the contract's shape as a TOML file; keys that are None are left out.

    >>> print(problem_to_toml({"goal": "ok(X)", "features": {"age": {"type": "int", "max": 99}}}), end="")
    goal = "ok(X)"
    <BLANKLINE>
    [features.age]
    type = "int"
    max = 99
    """
    return "\n".join(_table(problem, ())).lstrip("\n") + "\n"


def _table(table: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    """Write the plain keys of a table first, then the tables inside it."""
    plain = {key: value for key, value in table.items() if not _is_table(value)}
    inner = {key: value for key, value in table.items() if _is_table(value)}
    if path and (plain or not inner):
        yield ""
        yield f"[{'.'.join(map(_key, path))}]"
    for key, value in plain.items():
        if value is not None:
            yield f"{_key(str(key))} = {_value(value)}"
    for key, value in inner.items():
        yield from _table(value, (*path, str(key)))


def _is_table(value: object) -> bool:
    return hasattr(value, "items")


def _key(name: str) -> str:
    return name if BARE_KEY.fullmatch(name) else _quoted(name)


def _value(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float() if math.isfinite(value):
            return repr(value)
        case str():
            return _text(value)
        case list() | tuple():
            return _list(value)
        case _:
            raise TypeError(f"a problem holds text, numbers, lists and tables, found {value!r}")


def _text(text: str) -> str:
    """Write text of one line in quotes, longer text as it is between triple quotes where it may stand so."""
    if "\n" not in text:
        return _quoted(text)
    literal = "'''" not in text and not text.endswith("'") and not UNPRINTABLE.search(text)
    if literal:
        return f"'''\n{text}'''"
    return _quoted(text)


def _quoted(text: str) -> str:
    escaped = ESCAPED.sub(lambda match: SHORT.get(match[0], f"\\u{ord(match[0]):04x}"), text)
    return f'"{escaped}"'


def _list(values: Sequence[Any]) -> str:
    parts = [_value(each) for each in values]
    line = f"[{', '.join(parts)}]"
    if len(line) <= WIDTH:
        return line
    return "\n".join(["[", *(f"    {part}," for part in parts), "]"])
