"""CSV as every door reads it: one set of rules for what a cell, a row and a table are.

A table is UTF-8 text, with or without a mark in front. Commas stand between cells. A line ends with LF, CR or both. A cell
whose very first letter is a quote goes on to the next single quote, past commas, line ends and doubled quotes, which stand
for one; after it comes a comma or the line's end. Any other quote is a letter. Empty lines are no rows. The first row
names the columns, each once; all others have as many cells. There is no NUL, and no cell of more than `LONGEST` letters:
such a one is a quote left open. What a cell stands for is said by `p2c.domain.row.read_cell`: a blank one is a missing
value.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from p2c.domain.spec import read_exactly
from p2c.errors import Fault, P2CError, RowError, counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

LONGEST = 131_072
"""How many letters a cell has at most: what Python's own reader takes unless it is told otherwise."""

SEPARATORS = (";", "\t", "|")
"""What some tables have in the place of commas."""

OPEN = "unexpected end"
"""How Python's reader begins to say that the text ends inside quotes."""

REASONS = {
    OPEN: "a quote is opened here and never closed",
    "',' expected": "expected a comma or the line's end after a closing quote; inside a cell in quotes, a quote is written twice",
    "field larger": f"a cell of more than {LONGEST:,} letters; is a quote left open here?",
}
"""What is wrong with a CSV text, by how Python's reader begins its message."""


class Row(NamedTuple):
    """A row that is not empty: its number, the line it begins in, and its cells."""

    number: int
    line: int
    cells: list[str]

    @property
    def place(self) -> str:
        """Say where the row stands."""
        return f"row {self.number}, line {self.line}"


class Sheet(NamedTuple):
    """A table: the names of its columns, and its rows as they are read, each as wide as the names."""

    names: list[str]
    rows: Iterator[Row]


def open_sheet(lines: Iterable[str]) -> Sheet:
    """Return the table that lines of text hold; what breaks the rules is raised with its line once it is reached."""
    rows = read_records(lines, row=-1)
    first = next(rows, None)
    names = [name.strip() for name in first.cells] if first else []
    if not names:
        raise RowError([Fault("", "expected a line with the names of the columns, found nothing")])
    wrong = _foreign_separator(names)
    if wrong:
        raise RowError([Fault("", wrong)])
    refuse_repeats(names)
    return Sheet(names, _even(rows, len(names)))


def read_sheet(path: Path) -> Sheet:
    """Return the table that a file holds, its rows all read."""
    text = read_exactly(path)
    try:
        sheet = open_sheet(split_lines(text))
        return Sheet(sheet.names, iter(list(sheet.rows)))
    except RowError as error:
        raise P2CError(f"{path}: {error}") from None


def split_lines(text: str) -> Iterable[str]:
    """Return the lines of a text, each with its line end."""
    return io.StringIO(text, newline="")


def read_records(
    lines: Iterable[str], *, row: int = 0, line: int = 0, final: bool = True
) -> Iterator[Row]:
    """Yield the rows that are not empty, however wide; so many rows and lines came before.

    Where the lines are not the final ones, a row that ends in the midst of a cell is left out.
    """
    reader = csv.reader(_without_nul(lines, line), strict=True)
    while True:
        begin = line + reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            if not final and str(error).startswith(OPEN):
                return
            raise RowError([Fault(f"line {begin}", _reason(str(error)))]) from None
        if cells is None:
            return
        if cells:
            row += 1
            yield Row(row, begin, cells)


def _reason(said: str) -> str:
    known = [reason for start, reason in REASONS.items() if said.startswith(start)]
    return known[0] if known else "not CSV"


def refuse_width(row: Row, width: int) -> None:
    """Raise if a row has other than so many cells."""
    if len(row.cells) != width:
        message = f"expected {counted(width, 'cell')} as in the header, found {len(row.cells)}"
        raise RowError([Fault(row.place, message)])


def refuse_repeats(names: Sequence[str]) -> None:
    """Raise if a name stands there twice."""
    for name, times in Counter(names).items():
        if times > 1:
            raise RowError([Fault("", f"the name '{name}' stands there {times} times")])


def _even(rows: Iterator[Row], width: int) -> Iterator[Row]:
    for row in rows:
        refuse_width(row, width)
        yield row


def _without_nul(lines: Iterable[str], before: int) -> Iterator[str]:
    for number, text in enumerate(lines, start=before + 1):
        if "\0" in text:
            message = "a NUL, which no text has; is the file UTF-16, or damaged?"
            raise RowError([Fault(f"line {number}", message)])
        yield text


def _foreign_separator(names: Sequence[str]) -> str:
    """Say what stands between the names of a table's columns in the place of commas; nothing where these do."""
    found = [sign for sign in SEPARATORS if len(names) == 1 and sign in names[0]]
    return f"expected commas between the names of the columns, found {found[0]!r}" if found else ""
