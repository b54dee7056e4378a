"""A report as plain text, numbered where the order matters. Pictures become tables or words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from p2c._markup import clean
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
    from collections.abc import Iterator

    from p2c._report.document import Block, Document


def text_report(document: Document) -> bytes:
    """Return a report as a file of text, under its title."""
    above = "".join(f"{line}\n" for block in document.head for line in (*_lines(block), ""))
    title = f"{above}{clean(document.title)}"
    return f"{title}\n\n{plain_text(document)}\n".encode("utf-8", "replace")


def plain_text(document: Document) -> str:
    """Return the parts of a report as lines, an empty one before each heading, table and picture."""
    lines: list[str] = []
    for block in document.blocks:
        lines += (
            ["", *_lines(block)]
            if isinstance(block, Heading | Grid | Figure | Lines)
            else _lines(block)
        )
    return "\n".join(lines)


def _lines(block: Block) -> Iterator[str]:
    match block:
        case Heading(text) | Paragraph(text):
            yield clean(text)
        case Listing(items, ordered):
            for number, item in enumerate(items, start=1):
                mark = f"{number}." if ordered else "-"
                yield f"{mark} {clean(item.text)}"
                yield from (f"{' ' * len(mark)} → {clean(note)}" for note in item.notes)
        case Grid(header, rows):
            yield from _table((header, *rows))
        case Code(lines, numbered):
            for number, line in enumerate(lines, start=1):
                yield f"{number}. {clean(line)}" if numbered else clean(line)
        case Outline(rows):
            yield from (f"{'  ' * depth}{clean(text)}" for text, depth, _ in rows)
        case Figure(_, _, told, table):
            yield from _lines(Paragraph(told) if table is None else table)
        case Lines(lines):
            yield from map(clean, lines)
        case Picture(_, _, alt):
            yield clean(alt)


def _table(rows: tuple[tuple[str, ...], ...]) -> Iterator[str]:
    """Yield the rows of a table, each column as wide as its longest cell."""
    cells = [[clean(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        yield "  ".join(map(str.ljust, row, widths)).rstrip()
