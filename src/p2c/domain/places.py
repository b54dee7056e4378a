r"""Where a text stands in a TOML file, so that what is wrong in it is found by the file's own lines and columns.

The standard library's reader of TOML keeps no places. A text whose lines stand in the file one for one is found again;
one that is put together by escapes, `\n` or a line's end that is folded away, is not.
"""

from __future__ import annotations

import re

QUOTES = ('"""', "'''", '"', "'")


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
