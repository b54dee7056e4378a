"""Pictures as PNG, and the person's page as one: the letter and the drawing of the plan.

Drawn by resvg, in a font that comes along, so that a machine without fonts draws the same.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from p2c.errors import MissingExtra, P2CError
from p2c.markup import Markup, clean
from p2c.report.canvas import LINE, Canvas, wrap
from p2c.report.document import Figure, Heading, Listing, Paragraph

if TYPE_CHECKING:
    from p2c.report.document import Block, Document

FACES = ("Regular", "It", "Semibold", "Bold", "BoldIt")
ZOOM = 2.0
"""Pixels for each unit of the drawing, enough for paper and for fine screens."""
WIDTH = 900.0
MARGIN = 48.0
SIZE = 16.0
FIRST = re.compile(r"<svg ")
ENDLESS = 10_000


def png(svg: str, *, zoom: float = ZOOM) -> bytes:
    """Return a drawing as the bytes of a PNG file; letters that our font lacks come from the system's."""
    try:
        from resvg_py import svg_to_bytes
    except ModuleNotFoundError as error:
        raise MissingExtra("resvg-py", extra="report") from error
    files = [str(font_file(face)) for face in FACES]
    return bytes(
        svg_to_bytes(
            svg_string=svg,
            zoom=zoom,
            font_files=files,
            font_family="Source Sans Pro",
            sans_serif_family="Source Sans Pro",
        )
    )


def font_file(face: str) -> Path:
    """Return where a face of the font lies."""
    try:
        import font_source_sans_pro
    except ModuleNotFoundError as error:
        raise MissingExtra("font-source-sans-pro", extra="report") from error
    return Path(font_source_sans_pro.font_directory) / f"SourceSansPro-{face}.ttf"


def png_report(document: Document) -> bytes:
    """Return a report as PNG; only the person's page fits on a picture."""
    return png(page_svg(document), zoom=1.5)


def page_svg(document: Document) -> str:
    """Return a report as one drawing."""
    page = _Page()
    page.write(document.title, size=28, weight=700, after=10)
    for block in document.blocks:
        page.place(block)
    told = " ".join(each.text for each in document.blocks if isinstance(each, Paragraph))
    return page.canvas.drawing(
        (page.width, page.y + MARGIN),
        page.shapes,
        title=document.title,
        told=told,
        language=document.language,
    )


class _Page:
    """A drawing that grows downwards."""

    def __init__(self) -> None:
        self.canvas = Canvas("light")
        self.shapes: list[Markup] = []
        self.width = WIDTH
        self.y = MARGIN

    def place(self, block: Block) -> None:
        match block:
            case Heading(text):
                self.y += 14
                self.write(text, size=19, weight=600, after=4)
            case Paragraph(text, strong):
                self.write(text, weight=600 if strong else None, size=19 if strong else SIZE)
            case Listing(items, ordered):
                for number, item in enumerate(items, start=1):
                    self.write(item.text, mark=f"{number}." if ordered else "•")
                    for note in item.notes:
                        self.write(note, mark="→", indent=26, italic=True)
            case Figure(svg):
                self.y += 10
                self.embed(svg)
            case _:
                raise P2CError(
                    "format: the expert's report does not fit on a picture; use .html, .md or .pdf"
                )

    def write(
        self,
        text: str,
        *,
        size: float = SIZE,
        weight: int | None = None,
        italic: bool = False,
        mark: str = "",
        indent: float = 0.0,
        after: float = 6.0,
    ) -> None:
        left = MARGIN + indent
        inset = 26.0 if mark else 0.0
        lines = wrap(clean(text), WIDTH - MARGIN - left - inset, size, most=ENDLESS)
        height = len(lines) * size * LINE
        if mark:
            place = (left, self.y + size * LINE / 2)
            self.shapes.append(self.canvas.words([mark], place, size=size, anchor="start"))
        self.shapes.append(
            self.canvas.words(
                lines,
                (left + inset, self.y + height / 2),
                size=size,
                anchor="start",
                weight=weight,
                italic=italic,
            )
        )
        self.y += height + after

    def embed(self, svg: str) -> None:
        """Put a drawing into this one, made smaller where it is too wide."""
        found = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)
        assert found, "our drawings say how large they are"
        width, height = float(found[1]), float(found[2])
        factor = min(1.0, (WIDTH - 2 * MARGIN) / width)
        place = f'x="{MARGIN:g}" y="{self.y:g}" '
        sized = re.sub(
            r' width="[\d.]+" height="[\d.]+" font',
            f' width="{width * factor:g}" height="{height * factor:g}" font',
            svg,
            count=1,
        )
        self.shapes.append(Markup(FIRST.sub(f"<svg {place}", sized, count=1)))
        self.y += height * factor + 10
