"""Safe text, and elements of HTML and SVG with escaped text.

Labels and values come from the authors of problems and rows. They are never markup, and invisible characters or characters
that change the direction of a line are replaced by a mark.
"""

from __future__ import annotations

import html
import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

UNSEEN = "\N{REPLACEMENT CHARACTER}"
TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c")
"""Characters that change the direction of text."""
VOID = frozenset({"br", "hr", "img", "input", "link", "meta"})


@dataclass(frozen=True, slots=True)
class Markup:
    """Markup that was made here, as opposed to text, which still has to be escaped."""

    text: str

    def __str__(self) -> str:
        return self.text

    def __html__(self) -> str:
        return self.text


def clean(text: str) -> str:
    r"""Return text on one line, with a mark for each control character.

    Lone surrogates are replaced as well. Blanks at which no line may break stay.

    >>> clean("a\tb\x1b[31m") == "a b\ufffd[31m"
    True
    """
    line = re.sub(r"[^\S\u00a0\u202f]+", " ", text)
    return "".join(UNSEEN if _is_unseen(each) else each for each in line)


def visible(text: str) -> str:
    r"""Return text of several lines with a mark for each control character.

    >>> visible("a\tb\n\x1b[31m") == "a\tb\n\ufffd[31m"
    True
    """
    return "".join(UNSEEN if each not in "\n\t" and _is_unseen(each) else each for each in text)


def _is_unseen(letter: str) -> bool:
    if letter in TURNING or unicodedata.category(letter) in ("Cc", "Cs"):
        return True
    return ord(letter) & 0xFFFE == 0xFFFE  # XML has no place for these


def escape(text: str) -> str:
    """Return text for the inside of an element or of a quoted attribute."""
    return html.escape(clean(text), quote=True)


def element(
    name: str, attributes: dict[str, object] | None = None, *children: Markup | str
) -> Markup:
    """Return an element with escaped text and without attributes that are None.

    >>> str(element("p", {"class": "note", "id": None}, "5 < 6 ", element("br")))
    '<p class="note">5 &lt; 6 <br></p>'
    """
    given = (attributes or {}).items()
    head = "".join(f' {key}="{_shown(value)}"' for key, value in given if value is not None)
    if name in VOID:
        return Markup(f"<{name}{head}>")
    return Markup(f"<{name}{head}>{joined(children)}</{name}>")


def joined(children: tuple[Markup | str, ...] | list[Markup | str] | list[Markup]) -> str:
    """Return children one after the other, text escaped."""
    return "".join(each.text if isinstance(each, Markup) else escape(each) for each in children)


def _shown(value: object) -> str:
    """Return an attribute's value; numbers with as many digits as a picture needs."""
    return (
        f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else escape(str(value))
    )


def outline(rows: Iterable[tuple[str, int, bool]], *, open_to: int = 3) -> Markup:
    """Return lines with depths as nested lists that fold without scripts.

    >>> str(outline([("a", 0, True), ("b", 1, False)]))
    '<ul class="outline"><li><details open><summary>a</summary><ul><li>b</li></ul></details></li></ul>'
    """
    parts = ['<ul class="outline">']
    closing: list[str] = []
    for text, depth, folds in rows:
        while len(closing) > depth:
            parts.append(closing.pop())
        if folds:
            state = " open" if depth < open_to else ""
            parts.append(f"<li><details{state}><summary>{escape(text)}</summary><ul>")
        else:
            parts.append(f"<li>{escape(text)}")
        closing.append("</ul></details></li>" if folds else "</li>")
    return Markup("".join([*parts, *reversed(closing), "</ul>"]))
