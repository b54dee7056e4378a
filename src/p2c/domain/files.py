"""Files of rows in: JSON, JSON lines and CSV, each row as a state, every fault with its file, row and feature."""

from __future__ import annotations

import json
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from p2c.domain.row import State, read_row, read_text_row
from p2c.domain.sheet import open_sheet, refuse_repeats, split_lines
from p2c.domain.spec import STANDARD_INPUT, read_exactly
from p2c.errors import Fault, P2CError, RowError, misread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from p2c.domain.feature import Feature


def read_rows(features: Iterable[Feature], path: str | Path) -> list[State]:
    """Return the states that a file holds, one a row; its ending says how to read it, and for `-` its beginning."""
    path = Path(path)
    if path == STANDARD_INPUT:
        text = read_exactly(path)
        with _placed("standard input"):
            return list(_reader_of(text)(tuple(features), text))
    read = READERS.get(path.suffix.lower())
    if read is None:
        known = ", ".join(READERS)
        raise P2CError(f"{path}: expected a file of rows whose name ends in one of {known}")
    text = read_exactly(path)
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
        (number, line) for number, line in enumerate(split_lines(text), start=1) if line.strip()
    ]
    for row, (number, line) in enumerate(lines, start=1):
        with _placed(f"row {row}, line {number}"):
            yield read_row(features, _object(_decoded(line)))


def _csv(features: tuple[Feature, ...], text: str) -> Iterator[State]:
    sheet = open_sheet(split_lines(text))
    for row in sheet.rows:
        with _placed(row.place):
            yield read_text_row(features, dict(zip(sheet.names, row.cells, strict=True)))


READERS: dict[str, Callable[[tuple[Feature, ...], str], Iterator[State]]] = {
    ".json": _json,
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".csv": _csv,
}


def _reader_of(text: str) -> Callable[[tuple[Feature, ...], str], Iterator[State]]:
    """Return what reads text that has no name: JSON where it is one, lines of JSON where each begins so, else CSV."""
    if not text.lstrip().startswith(("{", "[")):
        return _csv
    lines = [line for line in split_lines(text) if line.strip()]
    several = len(lines) > 1 and all(
        line.startswith("{") and line.rstrip().endswith("}") for line in lines
    )
    return _json_lines if several else _json


def _decoded(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise RowError([Fault("", f"not JSON: {misread(error, text)}")]) from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    refuse_repeats([key for key, _ in pairs])
    return dict(pairs)


def _object(data: Any) -> dict[str, Any]:
    if isinstance(data, dict):
        return data
    message = f"expected an object with a value for each feature, found a {type(data).__name__}"
    raise RowError([Fault("", message)])
