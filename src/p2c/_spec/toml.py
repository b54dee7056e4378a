r"""A problem as TOML text, without the comments; and where in a TOML file a text stands, to name faults by line and column.

The standard library reads TOML, does not write it, and keeps no places. A problem needs few of its forms: text, numbers,
truth values, lists of those, and tables. A text whose lines stand in the file one for one is found again; one that is put
together by escapes, `\n` or a line's end that is folded away, is not.
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
QUOTES = ('"""', "'''", '"', "'")


def problem_to_toml(
    problem: Mapping[str, Any], remarks: Mapping[tuple[str, ...], str] | None = None
) -> str:
    r"""Write a dict of the contract's shape as a TOML file; keys that are None are left out.

    `remarks` become comments before a table, by its path; those of `()` stand at the top.

    >>> print(problem_to_toml({"goal": "ok(X)", "features": {"age": {"type": "int", "max": 99}}}), end="")
    goal = "ok(X)"
    <BLANKLINE>
    [features.age]
    type = "int"
    max = 99
    """
    told = remarks or {}
    return "\n".join([*_comments(told, ()), *_table(problem, (), told)]).lstrip("\n") + "\n"


def _table(
    table: Mapping[str, Any], path: tuple[str, ...], remarks: Mapping[tuple[str, ...], str]
) -> Iterator[str]:
    """Write the plain keys of a table first, then the tables inside it."""
    plain = {key: value for key, value in table.items() if not _is_table(value)}
    inner = {key: value for key, value in table.items() if _is_table(value)}
    if path and (plain or not inner):
        yield ""
        yield from _comments(remarks, path)
        yield f"[{'.'.join(map(_key, path))}]"
    for key, value in plain.items():
        if value is not None:
            yield f"{_key(str(key))} = {_value(value)}"
    for key, value in inner.items():
        yield from _table(value, (*path, str(key)), remarks)


def _comments(remarks: Mapping[tuple[str, ...], str], path: tuple[str, ...]) -> list[str]:
    lines = remarks.get(path, "").splitlines()
    return [f"# {UNPRINTABLE.sub('?', line)}".rstrip() for line in lines]


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


def placed_text(file: str, key: str, text: str) -> str:
    r"""Return a text of a file's first table, moved to the line and column at which it stands there; as it is, if not found.

    >>> placed_text('name = "a"\ngoal = "ok(X)"', "goal", "ok(X)")
    '\n        ok(X)'
    """
    table = re.search(r"^[ \t]*\[", file, re.MULTILINE)
    assigned = re.compile(rf"^[ \t]*{key}[ \t]*=[ \t]*({'|'.join(QUOTES)})(\n?)", re.MULTILINE)
    for found in assigned.finditer(file, 0, table.start() if table else len(file)):
        folded = found[2] if len(found[1]) == 3 else ""
        start = found.end(1) + len(folded)
        if _stands_at(file, start, text):
            line = file.count("\n", 0, start)
            return "\n" * line + " " * (start - file.rfind("\n", 0, start) - 1) + text
    return text


def _stands_at(file: str, start: int, text: str) -> bool:
    """Tell whether the lines of a text stand one for one in a file from a place on; a doubled backslash counts as one."""
    lines = text.split("\n")
    written = file[start:].split("\n")[: len(lines)]
    plain = [each.replace("\\\\", "\\") for each in written]
    whole = zip(lines[:-1], written[:-1], plain[:-1], strict=False)
    if len(written) < len(lines) or any(line not in either for line, *either in whole):
        return False
    return written[-1].startswith(lines[-1]) or plain[-1].startswith(lines[-1])


def placed_key(file: str, place: str) -> str:
    r"""Return the line and column at which a key stands in a file, or the table or key that it is missing from; else nothing.

    >>> placed_key('name = "a"\n[features.age]\nmin = 9', "features.age.min")
    'line 3, column 1'
    """
    path = place.split(".")
    for parts in (path, path[:-1]):
        start = _start_of(file, parts) if parts else None
        if start is not None:
            line = file.count("\n", 0, start) + 1
            return f"line {line}, column {start - file.rfind(chr(10), 0, start)}"
    return ""


def _start_of(file: str, path: Sequence[str]) -> int | None:
    """Return where a key is given a value, or a table begins."""
    *outer, last = path
    table = _table_at(file, outer)
    if table is not None:
        key = re.compile(rf"^[ \t]*({_either(last)})[ \t]*=", re.MULTILINE)
        found = key.search(file, table.end(), _end_of_table(file, table.end()))
        if found:
            return found.start(1)
    header = _table_at(file, path)
    return header.start(1) if header else None


def _table_at(file: str, path: Sequence[str]) -> re.Match[str] | None:
    """Return the head of a table; the start of the file for the first, which has none."""
    if not path:
        return re.match(r"()", file)
    names = r"[ \t]*\.[ \t]*".join(map(_either, path))
    return re.search(rf"^[ \t]*(\[)[ \t]*{names}[ \t]*\]", file, re.MULTILINE)


def _end_of_table(file: str, start: int) -> int:
    following = re.compile(r"^[ \t]*\[", re.MULTILINE).search(file, start)
    return following.start() if following else len(file)


def _either(name: str) -> str:
    """Return what a name matches as a key, bare or in quotes."""
    return "|".join(["(?:" + re.escape(name), f'"{re.escape(name)}"', f"'{re.escape(name)}')"])
