"""Files of rows in: JSON, JSON lines and CSV, each row as a state, every fault with its file, row and feature.

Every door reads a user's CSV by these rules. A table is UTF-8 text, with or without a mark in front. Commas stand between cells. A line
ends with LF, CR or both. A cell whose very first letter is a quote goes on to the next single quote, past commas, line ends and
doubled quotes, which stand for one; after it comes a comma or the line's end. Any other quote is a letter. Empty lines are no
rows. The first row names the columns, each once; all others have as many cells. There is no NUL, and no cell of more than
`LONGEST` letters: such a one is a quote left open. What a cell stands for is said by `p2c._spec.row.read_cell`: a blank one is
a missing value.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from p2c._spec.misread import misread
from p2c._spec.row import State, read_row, typed_cells
from p2c._spec.spec import STANDARD_INPUT, read_exactly, unreadable
from p2c.errors import Fault, P2CError, RowError, counted, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from p2c._spec.feature import Feature

    ReadState = Callable[..., State]
    """Reads a row as a state, its values as they are or, with `cells`, as text."""

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


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file's bytes."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise P2CError(f"{path}: cannot be read: {unreadable(error)}") from None


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
            raise RowError([Fault("", f"the name '{name[:60]}' stands there {times} times")])


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


def read_rows(
    features: Iterable[Feature],
    path: str | Path,
    *,
    by_feature: Callable[[Mapping[str, Any]], Mapping[str, Any]] = lambda row: row,
) -> list[State]:
    """Return the states that a file holds, one a row; its ending says how to read it, and for `-` its beginning.

    `by_feature` turns a row as the file has it into one that goes by features.
    """
    typed = tuple(features)

    def state(row: Mapping[str, Any], *, cells: bool = False) -> State:
        named = by_feature(row)
        return read_row(typed, typed_cells(typed, named) if cells else named)

    path = Path(path)
    if path == STANDARD_INPUT:
        text = read_exactly(path)
        with _placed("standard input"):
            return list(_reader_of(text)(state, text))
    read = READERS.get(path.suffix.lower())
    if read is None:
        known = ", ".join(READERS)
        raise P2CError(f"{path}: expected a file of rows whose name ends in one of {known}")
    text = read_exactly(path)
    with _placed(str(path)):
        return list(read(state, text))


@contextmanager
def _placed(place: str) -> Iterator[None]:
    """Put a place before that of every fault."""
    try:
        yield
    except RowError as error:
        faults = [
            Fault(", ".join(filter(None, (place, each.place))), each.message)
            for each in error.faults
        ]
        raise RowError(faults) from None


def _json(state: ReadState, text: str) -> Iterator[State]:
    data = _decoded(text)
    if not isinstance(data, list):
        yield state(_object(data))
        return
    for number, row in enumerate(data, start=1):
        with _placed(f"row {number}"):
            yield state(_object(row))


def _json_lines(state: ReadState, text: str) -> Iterator[State]:
    lines = [
        (number, line) for number, line in enumerate(split_lines(text), start=1) if line.strip()
    ]
    for row, (number, line) in enumerate(lines, start=1):
        with _placed(f"row {row}, line {number}"):
            yield state(_object(_decoded(line)))


def _csv(state: ReadState, text: str) -> Iterator[State]:
    sheet = open_sheet(split_lines(text))
    for row in sheet.rows:
        with _placed(row.place):
            yield state(dict(zip(sheet.names, row.cells, strict=True)), cells=True)


READERS: dict[str, Callable[[ReadState, str], Iterator[State]]] = {
    ".json": _json,
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".csv": _csv,
}


def _reader_of(text: str) -> Callable[[ReadState, str], Iterator[State]]:
    """Return what reads text that has no name: JSON where it is one, lines of JSON where each begins so, else CSV."""
    if not text.lstrip().startswith(("{", "[")):
        return _csv
    lines = [line for line in split_lines(text) if line.strip()]
    several = len(lines) > 1 and all(
        line.startswith("{") and line.rstrip().endswith("}") for line in lines
    )
    return _json_lines if several else _json


def _decoded(text: str) -> Any:
    if not text.strip():
        raise RowError([Fault("", "it is empty; expected a JSON object with each feature's value")])
    try:
        return json.loads(text, object_pairs_hook=unique_keys)
    except (ValueError, RecursionError) as error:
        raise RowError([Fault("", f"not JSON: {misread(error, text)}")]) from None


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON; raise if a key occurs more than once.

    Which of the values counts would be a guess.
    """
    refuse_repeats([key for key, _ in pairs])
    return dict(pairs)


def _object(data: Any) -> dict[str, Any]:
    if isinstance(data, dict):
        return data
    message = f"expected an object with a value for each feature, found {shown(data)}"
    raise RowError([Fault("", message)])
