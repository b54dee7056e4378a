"""Text in a picture: how wide it is, near enough, and where it breaks."""

from __future__ import annotations

import unicodedata
from functools import cache

FONT = (
    "'Source Sans Pro', 'Source Sans 3', system-ui, 'Segoe UI', 'Helvetica Neue', Arial, "
    "'DejaVu Sans', sans-serif"
)
NARROW = frozenset("iljtfrI.,;:'|!()[] -")
ELLIPSIS = "…"


def text_width(text: str, size: float) -> float:
    """Return about how wide text is; the fonts of readers differ, so it is a little more than most need."""
    return sum(map(_letter_width, text)) * size


@cache
def _letter_width(letter: str) -> float:
    if unicodedata.combining(letter):
        return 0.0
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.05
    if letter in NARROW:
        return 0.36
    return 0.74 if letter.isupper() or letter in "mwMW@%" else 0.58


def wrap(text: str, width: float, size: float, *, most: int = 3) -> tuple[str, ...]:
    """Break text into lines that fit a width, at blanks where there are any; what is too long ends in `…`.

    >>> wrap("a rather long label", 60, 12)
    ('a rather', 'long label')
    """
    lines: list[str] = []
    for word in text.split():
        for part in _parts(word, width, size):
            joined = f"{lines[-1]} {part}" if lines else part
            if lines and text_width(joined, size) <= width:
                lines[-1] = joined
            else:
                lines.append(part)
    if len(lines) <= most:
        return tuple(lines) or ("",)
    last = lines[most - 1]
    while last and text_width(last + ELLIPSIS, size) > width:
        last = last[:-1]
    return (*lines[: most - 1], last.rstrip() + ELLIPSIS)


def _parts(word: str, width: float, size: float) -> list[str]:
    """Return a word in pieces that fit, parted after `-` or `/` where there is one."""
    parts: list[str] = []
    start = 0
    used = 0.0
    for place, letter in enumerate(word):
        wide = _letter_width(letter) * size
        if used + wide > width and place > start:
            marks = [m + 1 for m in range(start + (place - start) // 3, place) if word[m] in "-/_"]
            end = marks[-1] if marks else place
            parts.append(word[start:end])
            start, used = end, text_width(word[end:place], size)
        used += wide
    return [*parts, word[start:]]
