"""Reports as plain text and as Markdown. Pictures become tables or words."""

from __future__ import annotations

import re
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


LINK = re.compile(r"(?i)\b(https?|ftp|www|mailto|javascript|data)([:.])")
"""What Markdown would make a link of by itself."""
ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def markdown(document: Document) -> bytes:
    """Return a report as Markdown."""
    lines = [line for block in document.head for line in (*_marked_lines(block), "")]
    lines.append(f"# {escaped(document.title)}")
    for block in document.blocks:
        lines += ["", *_marked_lines(block)]
    return ("\n".join(lines) + "\n").encode("utf-8", "replace")


def escaped(text: str) -> str:
    r"""Return text that Markdown shows as it is.

    >>> escaped("<b> *5* [x](y)")
    '&lt;b&gt; \\*5\\* \\[x\\](y)'
    """
    plain = "".join(ENTITIES.get(letter, letter) for letter in clean(text).strip())
    plain = re.sub(r"([\\`*_{}\[\]#!|~$^@])", r"\\\1", plain)
    plain = re.sub(r"^([-+=:])|^(\d+)([.)])(?=\s|$)", _defused, plain)
    return LINK.sub("\\1\N{ZERO WIDTH SPACE}\\2", plain)


def _defused(found: re.Match[str]) -> str:
    """Escape what would begin a list or a heading."""
    return f"\\{found[1]}" if found[1] else f"{found[2]}\\{found[3]}"


def _marked_lines(block: Block) -> Iterator[str]:
    match block:
        case Heading(text):
            yield f"## {escaped(text)}"
        case Paragraph(text, strong):
            yield f"**{escaped(text)}**" if strong else escaped(text)
        case Listing(items, ordered):
            for number, item in enumerate(items, start=1):
                mark = f"{number}." if ordered else "-"
                yield f"{mark} {escaped(item.text)}"
                yield from (f"{' ' * len(mark)} - → {escaped(note)}" for note in item.notes)
        case Grid(header, rows):
            yield _row(header)
            yield "|" + " --- |" * len(header)
            yield from map(_row, rows)
        case Code(lines, numbered):
            for number, line in enumerate(lines, start=1):
                yield f"{f'{number}.' if numbered else '-'} {_code(line)}"
        case Outline(rows):
            yield from (f"{'  ' * depth}- {escaped(text)}" for text, depth, _ in rows)
        case Figure(_, _, told, table):
            yield from _marked_lines(Paragraph(told) if table is None else table)
        case Lines(lines):
            yield "  \n".join(map(escaped, lines))
        case Picture(_, _, alt):
            yield escaped(alt)


def _row(cells: tuple[str, ...]) -> str:
    return "| " + " | ".join(map(escaped, cells)) + " |"


def _code(line: str) -> str:
    """Return a line as code, in more back quotes than it has itself."""
    text = clean(line).strip()
    runs = [len(run) for run in re.findall(r"`+", text)]
    fence = "`" * (max(runs, default=0) + 1)
    pad = " " if "`" in text else ""
    return f"{fence}{pad}{text}{pad}{fence}"
