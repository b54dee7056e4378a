"""Pieces of HTML for notebooks and pages: every word escaped, no script, no style sheet, nothing from outside."""

from __future__ import annotations

from typing import TYPE_CHECKING

from p2c.markup import Markup, element

if TYPE_CHECKING:
    from p2c.explain.letter import Letter, Section


def plan_html(letter: Letter, picture: str) -> str:
    """Return a plan as a piece of a notebook."""
    scroll = element("div", {"style": "overflow-x:auto"}, Markup(picture))
    return str(element("div", {"lang": letter.language}, scroll, letter_html(letter)))


def letter_html(letter: Letter) -> Markup:
    """Return a letter as HTML: the verdict and a part for each section."""
    verdict = element("p", {"class": "verdict"}, element("strong", None, letter.verdict))
    return element(
        "div",
        {"class": "letter", "lang": letter.language},
        verdict,
        *(section_html(each) for each in letter.sections),
    )


def section_html(section: Section) -> Markup:
    """Return one section as HTML."""
    items = [
        element("li", None, element("span", None, item.text), *_notes(item.notes))
        for item in section.items
    ]
    return element(
        "section",
        {"class": section.kind},
        element("h2", None, section.heading),
        *([element("p", None, section.lead)] if section.lead else []),
        *([element("ol" if section.ordered else "ul", None, *items)] if items else []),
    )


def _notes(notes: tuple[str, ...]) -> list[Markup]:
    if not notes:
        return []
    return [element("ul", {"class": "follows"}, *(element("li", None, note) for note in notes))]
