"""A report as PDF, by fpdf2: pure Python, so that no library of the system is needed, with real text and tags of language.

The pictures are pixels from the same SVG. The font has Latin, Greek and Cyrillic letters; what it lacks is refused by
name rather than lost.
"""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, Any

from p2c._markup import UNSEEN, clean
from p2c._report.canvas import font_file, png
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
from p2c.errors import MissingExtra, P2CError, one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from p2c._report.document import Block, Document

FAMILY = "Source"
STYLES = {"": "Regular", "B": "Semibold", "I": "It"}
SIZE = 10.5
CELL_SIZE = 9
INDENT = 6.0
SUBSTITUTES = {"→": "->", "✓": "+", "✗": "x", UNSEEN: "?"}
"""What stands for signs that a font may lack."""
PADDING = 0.7
"""Millimetres around the text of a cell."""
RANGE = re.compile(r"(?<![\w-])(\d[\d.,]*)-(\d[\d.,]*)(?![\w-])")
BORDER = 0.6
"""Millimetres that the lines of a table and rounding take from a cell."""
MILLIMETRES = 0.2646
"""A unit of a drawing on paper, 96 to the inch."""


def pdf_report(document: Document) -> bytes:
    """Return a report as PDF."""
    writer = _Writer(document.language)
    try:
        writer.begin(document.title, document.head)
        for block in document.blocks:
            writer.place(block)
        return bytes(writer.pdf.output())
    finally:
        writer.close()


class _Writer:
    """Pages that grow downwards."""

    def __init__(self, language: str) -> None:
        try:
            from fpdf import FPDF
        except ModuleNotFoundError as error:
            raise MissingExtra("fpdf2", extra="report") from error

        class Numbered(FPDF):
            def footer(self) -> None:
                """Write the number of the page and how many there are."""
                self.set_y(-12)
                self.set_font(FAMILY, "", 8.5)
                self.cell(0, 5, f"{self.page_no()} / {{nb}}", align="C")

        self.pdf: Any = Numbered(format="A4")
        self.pdf.set_margins(18, 16)
        self.pdf.set_auto_page_break(True, margin=16)
        for style, face in STYLES.items():
            self.pdf.add_font(FAMILY, style, str(font_file(face)))
        fonts: Any = self.pdf.fonts
        self.known = set(fonts[FAMILY.lower()].cmap)
        self.pdf.set_lang(language)

    def begin(self, title: str, head: Iterable[Block] = ()) -> None:
        self.pdf.set_title(self.text(title))
        self.pdf.add_page()
        for block in head:
            self.place(block)
        self.write(title, size=20, style="B", after=3)

    def close(self) -> None:
        """Close the files of the fonts, which fpdf2 leaves open."""
        for font in self.pdf.fonts.values():
            font.close()

    def text(self, text: str) -> str:
        """Return text in letters that the font has; one that it lacks is an error, for nothing may get lost."""
        shown = "".join(
            letter if ord(letter) in self.known else SUBSTITUTES.get(letter, letter)
            for letter in clean(text)
        )
        lacking = next((letter for letter in shown if ord(letter) not in self.known), None)
        if lacking is not None:
            raise P2CError(
                f"format: the font for PDF has no '{lacking}' (U+{ord(lacking):04X}); use .html, .md or .txt"
            )
        return shown

    def place(self, block: Block) -> None:
        match block:
            case Heading(text):
                if self.pdf.will_page_break(22):
                    self.pdf.add_page()
                self.pdf.ln(2.5)
                self.write(text, size=13, style="B")
            case Paragraph(text, strong):
                self.write(text, style="B" if strong else "", size=13 if strong else SIZE)
            case Listing():
                self.listing(block)
            case Grid():
                self.grid(block)
            case Code(lines, numbered):
                for number, line in enumerate(lines, start=1):
                    self.write(line, mark=f"{number}." if numbered else "", size=9.5)
            case Outline(rows):
                for text, depth, _ in rows:
                    self.write(text, indent=min(depth, 12) * 4, size=9, after=0)
            case Figure(svg, _, told):
                self.figure(svg, told)
            case Lines():
                self.lines(block)
            case Picture():
                self.logo(block)

    def listing(self, listing: Listing) -> None:
        for number, item in enumerate(listing.items, start=1):
            self.write(item.text, mark=f"{number}." if listing.ordered else "•")
            for note in item.notes:
                self.write(note, mark="→", indent=INDENT, style="I")

    def lines(self, block: Lines) -> None:
        for line in block.lines:
            self.write(line, after=0, align="R" if block.side == "right" else "L")
        self.pdf.ln(4)

    def write(
        self,
        text: str,
        *,
        size: float = SIZE,
        style: str = "",
        mark: str = "",
        indent: float = 0.0,
        after: float = 1.0,
        align: str = "L",
    ) -> None:
        self.pdf.set_font(FAMILY, style, size)
        height = size * 0.48
        left = self.pdf.l_margin + indent
        self.pdf.set_x(left)
        if mark:
            self.pdf.cell(INDENT, height, self.text(mark))
            left += INDENT
        self.pdf.set_x(left)
        self.pdf.multi_cell(
            self.pdf.w - self.pdf.r_margin - left, height, self.text(text), align=align,
            new_x="LMARGIN", new_y="NEXT",
        )  # fmt: skip
        self.pdf.ln(after)

    def grid(self, grid: Grid) -> None:
        widths = self.widths(grid)
        self.pdf.set_font(FAMILY, "", CELL_SIZE)
        with self.pdf.table(
            line_height=4.6, text_align="LEFT", borders_layout="HORIZONTAL_LINES",
            padding=PADDING, col_widths=widths,
        ) as table:  # fmt: skip
            for cells in (grid.header, *grid.rows):
                row = table.row()
                for cell in cells:
                    # A line may end at a hyphen, and a range of numbers is one word.
                    row.cell(self.text(RANGE.sub(r"\1–\2", cell)))
        self.pdf.ln(1)

    def widths(self, grid: Grid) -> tuple[float, ...]:
        """Return the widths of the columns in millimetres.

        Each column has its least width; the rest follows the length of texts.
        """
        least = self.least_widths(grid)
        shares, rest = _shares(grid), set(range(len(least)))
        sizes = [0.0] * len(least)
        room = self.pdf.epw
        while rest:
            unit = max(room, 0.0) / sum(shares[each] for each in rest)
            narrow = {each for each in rest if shares[each] * unit < least[each]}
            for each in narrow or rest:
                sizes[each] = least[each] if narrow else shares[each] * unit
                room -= sizes[each]
            rest -= narrow or rest
        return tuple(sizes)

    def least_widths(self, grid: Grid) -> list[float]:
        """Return the least widths of the columns, at which no word is broken.

        If the page is too narrow for that, words of cells may break, then those of headers; numbers never do.
        """
        headers = [self.word_width(each.split(), style="B") for each in grid.header]
        columns = list(zip(*grid.rows, strict=True)) or [()] * len(headers)
        numbers = [self.word_width(_numbers(each)) for each in columns]
        words = [self.word_width(" ".join(each).split()) for each in columns]
        either = [max(pair) for pair in zip(headers, numbers, strict=True)]
        every = [max(pair) for pair in zip(either, words, strict=True)]
        return next((each for each in (every, either) if sum(each) <= self.pdf.epw), numbers)

    def word_width(self, words: Iterable[str], *, style: str = "") -> float:
        """Return the width of a cell for the longest word; 0 without words."""
        self.pdf.set_font(FAMILY, style, CELL_SIZE)
        widths = [self.pdf.get_string_width(self.text(each)) for each in words]
        return max(widths, default=-2 * PADDING - BORDER) + 2 * PADDING + BORDER

    def logo(self, picture: Picture) -> None:
        """Place a picture within a third of the width and an eighth of the height."""
        image = picture.content
        if picture.kind == "svg":
            image = png(image.decode("utf-8", "replace"))
        try:
            self.pdf.image(
                io.BytesIO(image), w=self.pdf.epw / 3, h=self.pdf.eph / 8,
                keep_aspect_ratio=True, alt_text=self.text(picture.alt),
            )  # fmt: skip
        except (OSError, ValueError) as error:
            raise P2CError(f"logo: the picture cannot be read: {one_line(error)}") from None
        self.pdf.ln(2)

    def figure(self, svg: str, told: str) -> None:
        image = png(svg)
        # The header of PNG says how large it is; a picture stays on one page.
        wide, high = (
            int.from_bytes(image[at : at + 4], "big") / 2 * MILLIMETRES for at in (16, 20)
        )
        factor = min(1.0, self.pdf.epw / wide, (self.pdf.eph - 2) / high)
        if self.pdf.will_page_break(high * factor + 1):
            self.pdf.add_page()
        self.pdf.ln(1)
        self.pdf.image(io.BytesIO(image), w=wide * factor, alt_text=self.text(told))
        self.pdf.ln(1)


def _numbers(column: Sequence[str]) -> Iterator[str]:
    """Yield the words of a column that are numbers: with a digit, without a letter."""
    for cell in column:
        for word in cell.split(" "):
            if any(map(str.isdigit, word)) and not any(map(str.isalpha, word)):
                yield word


def _shares(grid: Grid) -> tuple[int, ...]:
    """Return the shares of the columns: by their longest text, none too narrow or too wide."""
    columns = zip(grid.header, *grid.rows, strict=True)
    return tuple(min(max(*map(len, column), 6), 40) for column in columns)
