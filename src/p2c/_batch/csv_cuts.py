"""The ends of the rows of a CSV file, found block by block.

Rows are those of `p2c._spec.files`.

A block in which every quote opens a cell, closes one or is doubled is cut by counting: rows end at line ends with an even
number of quotes before them. Any other block, and a faulty one, is read row by row with Python's own reader.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from p2c._spec.files import LONGEST, read_records, refuse_width
from p2c.errors import RowError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    Places = np.ndarray[Any, np.dtype[np.int64]]
    Letters = np.ndarray[Any, np.dtype[np.uint8]]

BLOCK = 8 << 20
"""How many bytes are looked at together, as long as no row is larger."""
COMMA, QUOTE, LF, CR = b',"\n\r'


class Block(NamedTuple):
    """Whole rows: the offset of the first byte, the bytes, and the end of each row."""

    begin: int
    text: bytes
    ends: Places


def blocks(path: Path, span: tuple[int, int], *, width: int) -> Iterator[Block]:
    """Yield the rows between two bytes of a file.

    Raises:
        RowError: A row has another number of cells, or is no CSV.
    """
    begin, end = span
    rows, rest = 0, b""
    with path.open("rb") as file:
        file.seek(begin)
        while begin + len(rest) < end:
            # A row larger than a block is looked at again with twice as much, so that all takes but twice as long.
            rest += file.read(min(max(BLOCK, len(rest)), end - begin - len(rest)))
            final = begin + len(rest) >= end
            try:
                ends = _ends(rest, width, final=final)
            except RowError:
                list(_read_ends(rest, width, row=rows, line=_lines_before(path, begin)))
                raise
            whole = len(rest) if final else int(ends[-1]) if len(ends) else 0
            if whole:
                yield Block(begin, rest[:whole], ends)
            rows, begin, rest = rows + len(ends), begin + whole, rest[whole:]


def _ends(text: bytes, width: int, *, final: bool) -> Places:
    """Return where the rows end that are there as a whole."""
    ends = _plain_ends(text, width, final=final)
    if ends is None:
        return np.array(list(_read_ends(text, width, final=final)), dtype=np.int64)
    text[: len(text) if final else ends.max(initial=0)].decode()
    return ends


def _plain_ends(text: bytes, width: int, *, final: bool) -> Places | None:
    """Return the ends of whole rows by counting quotes; None if that is not enough."""
    letters = np.frombuffer(text, dtype=np.uint8)
    quotes = np.flatnonzero(letters == QUOTE)
    if b"\0" in text or not _in_order(letters, quotes, final=final):
        return None
    breaks = _outside(np.flatnonzero((letters == LF) | (letters == CR)), quotes)
    halves = letters[breaks] == CR
    halves[halves] = letters[np.minimum(breaks[halves] + 1, len(letters) - 1)] == LF
    if not final and len(breaks) and breaks[-1] == len(letters) - 1 and letters[-1] == CR:
        halves[-1] = True  # the other half of the line's end may be yet to come
    contents = breaks[~np.insert(halves[:-1], 0, False)] if len(breaks) else breaks
    ends = breaks[~halves] + 1
    if len(contents) > len(ends):  # the line's end that is not yet whole
        contents = contents[: len(ends)]
    if final and (not len(ends) or ends[-1] < len(letters)):
        ends, contents = np.append(ends, len(letters)), np.append(contents, len(letters))
    starts = np.insert(ends[:-1], 0, 0) if len(ends) else ends
    filled = contents > starts
    commas = np.searchsorted(_outside(np.flatnonzero(letters == COMMA), quotes), ends)
    even = np.diff(commas, prepend=0)[filled] == width - 1
    longest = max(np.diff(ends, prepend=0).max(initial=0), len(letters) - ends.max(initial=0))
    return None if longest > LONGEST or not even.all() else ends[filled]


def _in_order(letters: Letters, quotes: Places, *, final: bool) -> bool:
    """Tell whether each quote opens a cell, closes one, or is doubled inside."""
    if final and len(quotes) % 2:
        return False
    around = np.array([COMMA, QUOTE, LF, CR], dtype=np.uint8)
    before = quotes[::2][quotes[::2] > 0] - 1
    after = quotes[1::2][quotes[1::2] < len(letters) - 1] + 1
    return bool(np.isin(letters[before], around).all() and np.isin(letters[after], around).all())


def _outside(places: Places, quotes: Places) -> Places:
    return places[np.searchsorted(quotes, places) % 2 == 0] if len(quotes) else places


def _read_ends(
    text: bytes, width: int, *, final: bool = True, row: int = 0, line: int = 0
) -> Iterator[int]:
    """Yield where each row ends, read row by row as Python's reader does."""
    lines = text.splitlines(keepends=True)
    if not final and lines and not lines[-1].endswith(b"\n"):
        lines.pop()  # more of it, or of its end, is yet to come
    read = 0

    def decoded() -> Iterator[str]:
        nonlocal read
        for each in lines:
            read += len(each)
            yield each.decode()

    for record in read_records(decoded(), row=row, line=line, final=final):
        refuse_width(record, width)
        yield read


def _lines_before(path: Path, end: int) -> int:
    """Return how many lines end before a byte of a file."""
    with path.open("rb") as file:
        return len(file.read(end).splitlines())
