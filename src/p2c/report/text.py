"""A letter as plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from p2c.explain.letter import Letter, Section


def letter_text(letter: Letter) -> str:
    """Return a letter as lines of text, numbered where the order matters."""
    parts = [letter.verdict, *("\n".join(_lines(section)) for section in letter.sections)]
    return "\n\n".join(parts)


def _lines(section: Section) -> Iterator[str]:
    yield section.heading
    if section.lead:
        yield section.lead
    for number, item in enumerate(section.items, start=1):
        mark = f"{number}." if section.ordered else "-"
        yield f"{mark} {item.text}"
        for note in item.notes:
            yield f"{' ' * len(mark)} → {note}"
