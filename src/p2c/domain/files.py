"""Files of rows in: JSON, JSON lines and CSV, each row as a state, every fault with its file, row and feature."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from p2c.domain.row import State, read_row, read_text_row
from p2c.domain.spec import unreadable
from p2c.errors import Fault, P2CError, RowError, counted, misread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from p2c.domain.feature import Feature


SEPARATORS = (";", "\t", "|")
"""What some tables have in the place of commas."""


def foreign_separator(names: Sequence[str]) -> str:
    """Say what stands between the names of a table's features in the place of commas; nothing where these do."""
    found = [sign for sign in SEPARATORS if len(names) == 1 and sign in names[0]]
    return f"expected commas between the names of the features, found {found[0]!r}" if found else ""


def read_rows(features: Iterable[Feature], path: str | Path) -> list[State]:
    """Return the states that a file holds, one a row; its ending says how to read it."""
    path = Path(path)
    read = READERS.get(path.suffix.lower())
    if read is None:
        known = ", ".join(READERS)
        raise P2CError(f"{path}: expected a file of rows whose name ends in one of {known}")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise P2CError(f"{path}: cannot be read: {unreadable(error)}") from None
    with _placed(str(path)):
        return list(read(tuple(features), text))


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


def _json(features: tuple[Feature, ...], text: str) -> Iterator[State]:
    data = _decoded(text)
    if not isinstance(data, list):
        yield read_row(features, _object(data))
        return
    for number, row in enumerate(data, start=1):
        with _placed(f"row {number}"):
            yield read_row(features, _object(row))


def _json_lines(features: tuple[Feature, ...], text: str) -> Iterator[State]:
    lines = [
        (number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()
    ]
    for row, (number, line) in enumerate(lines, start=1):
        with _placed(f"row {row}, line {number}"):
            yield read_row(features, _object(_decoded(line)))


def _csv(features: tuple[Feature, ...], text: str) -> Iterator[State]:
    lines = csv.reader(io.StringIO(text, newline=""), strict=True)
    header = _header(lines)
    for number, cells in enumerate(_records(lines), start=1):
        with _placed(f"row {number}, line {lines.line_num}"):
            if len(cells) != len(header):
                message = (
                    f"expected {counted(len(header), 'cell')} as in the header, found {len(cells)}"
                )
                raise RowError([Fault("", message)])
            yield read_text_row(features, dict(zip(header, cells, strict=True)))


READERS: dict[str, Callable[[tuple[Feature, ...], str], Iterator[State]]] = {
    ".json": _json,
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".csv": _csv,
}


def _decoded(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise RowError([Fault("", f"not JSON: {misread(error, text)}")]) from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    _refuse_repeats([key for key, _ in pairs])
    return dict(pairs)


def _object(data: Any) -> dict[str, Any]:
    if isinstance(data, dict):
        return data
    message = f"expected an object with a value for each feature, found a {type(data).__name__}"
    raise RowError([Fault("", message)])


def _records(lines: Iterator[list[str]]) -> Iterator[list[str]]:
    """Return the lines of a table that are not empty."""
    while True:
        try:
            cells = next(lines, None)
        except csv.Error as error:
            raise RowError([Fault("", f"not CSV after the row before: {error}")]) from None
        if cells is None:
            return
        if cells:
            yield cells


def _header(lines: Iterator[list[str]]) -> list[str]:
    names = [name.strip() for name in next(_records(lines), [])]
    if not names:
        raise RowError([Fault("", "expected a line with the names of the features, found nothing")])
    wrong = foreign_separator(names)
    if wrong:
        raise RowError([Fault("", wrong)])
    _refuse_repeats(names)
    return names


def _refuse_repeats(names: list[str]) -> None:
    for name, times in Counter(names).items():
        if times > 1:
            raise RowError([Fault("", f"the name '{name}' stands there {times} times")])
