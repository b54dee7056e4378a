"""A report as HTML: one file with no script and nothing from outside, or a piece of a notebook; every word escaped."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from p2c._markup import Markup, element, outline
from p2c._report.canvas import dark_style
from p2c._report.document import (
    Code,
    Figure,
    Grid,
    Heading,
    Lines,
    Listing,
    Outline,
    Paragraph,
    Picture,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from p2c._explain.teller import Item
    from p2c._report.document import Block, Document

IMAGES = {"svg": "svg+xml"}
"""The kinds of pictures whose media type has another name."""
DEEP = 100
"""Trees are open to any level in a report, for paper cannot be clicked."""


def html_page(document: Document) -> bytes:
    """Return a report as a file of its own, with a policy in its head that allows its style sheet and nothing else."""
    style = _style()
    head = element(
        "head",
        None,
        element("meta", {"charset": "utf-8"}),
        element(
            "meta", {"http-equiv": "Content-Security-Policy", "content": _policy(style, document)}
        ),
        element("meta", {"name": "viewport", "content": "width=device-width, initial-scale=1"}),
        element("meta", {"name": "referrer", "content": "no-referrer"}),
        element("meta", {"name": "color-scheme", "content": "light dark"}),
        element("title", None, document.title),
        element("style", None, Markup(style)),
    )
    above = map(_block, document.head)
    main = element("main", None, *above, element("h1", None, document.title), *_blocks(document))
    page = element("html", {"lang": document.language}, head, element("body", None, main))
    return f"<!doctype html>\n{page}\n".encode("utf-8", "replace")


def notebook_html(document: Document, picture: str = "") -> str:
    """Return a report as a piece of a notebook, below its picture where it has one."""
    scroll = element("div", {"style": "overflow-x:auto"}, Markup(picture))
    above = [scroll] if picture else []
    return str(element("div", {"lang": document.language}, *above, *_blocks(document)))


def _blocks(document: Document) -> list[Markup]:
    return [Markup(f"\n{_block(each)}") for each in document.blocks]


def _block(block: Block) -> Markup:
    match block:
        case Heading(text):
            return element("h2", None, text)
        case Paragraph(text, strong):
            if strong:
                return element("p", {"class": "verdict"}, element("strong", None, text))
            return element("p", None, text)
        case Listing(items, ordered):
            return _list(map(_item, items), ordered=ordered)
        case Grid(header, rows):
            return _table(header, rows)
        case Code(lines, numbered):
            shown = (element("li", None, element("code", None, line)) for line in lines)
            return _list(shown, ordered=numbered, kind="code")
        case Outline(rows):
            return outline(rows, open_to=DEEP)
        case Figure(svg, title):
            return element("figure", _scrolled(title), Markup(svg))
        case Lines(lines, side):
            shown = (element("span", None, line) for line in lines)
            return element("p", {"class": f"lines {side}"}, *shown)
        case Picture(content, kind, alt):
            # As an image and not as markup: no script of a drawing runs.
            source = (
                f"data:image/{IMAGES.get(kind, kind)};base64,{base64.b64encode(content).decode()}"
            )
            return element("img", {"class": "logo", "alt": alt, "src": source})


def _list(items: Iterable[Markup], *, ordered: bool, kind: str | None = None) -> Markup:
    return element("ol" if ordered else "ul", {"class": kind}, *items)


def _item(item: Item) -> Markup:
    notes = [element("li", None, note) for note in item.notes]
    below = [_list(notes, ordered=False, kind="follows")] if notes else []
    return element("li", None, item.text, *below)


def _table(header: tuple[str, ...], rows: tuple[tuple[str, ...], ...]) -> Markup:
    titles = [element("th", {"scope": "col"}, cell) for cell in header]
    body = [element("tr", None, *(element("td", None, cell) for cell in row)) for row in rows]
    table = element(
        "table",
        None,
        element("thead", None, element("tr", None, *titles)),
        element("tbody", None, *body),
    )
    return element("div", {**_scrolled(", ".join(header)), "role": "group"}, table)


def _scrolled(label: str) -> dict[str, object]:
    """Return the attributes of what may be wider than the page; a keyboard can reach and scroll it."""
    return {"class": "scroll", "tabindex": "0", "aria-label": label}


def _policy(style: str, document: Document) -> str:
    """Return a policy that allows the style sheet of the page, by its hash.

    A page with a logo may show images that it contains itself; all else is refused.
    """
    mark = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    images = "img-src data:; " if any(isinstance(each, Picture) for each in document.head) else ""
    return f"default-src 'none'; {images}style-src 'sha256-{mark}'; base-uri 'none'; form-action 'none'"


@cache
def _style() -> str:
    folder = resources.files("p2c._report").joinpath("templates")
    plain = folder.joinpath("page.css").read_text(encoding="utf-8")
    return f"{plain}{dark_style('screen and (prefers-color-scheme:dark)')}"
