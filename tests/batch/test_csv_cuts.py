"""A CSV file cut anywhere: the rows of its pieces are those that Python's own reader finds in the whole."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from p2c._batch import readers
from p2c._batch.readers import CsvReader
from p2c._spec.files import LONGEST
from p2c.errors import P2CError

if TYPE_CHECKING:
    from pathlib import Path

PIECES = [",", '"', '""', '"",', ',"', '"\n', "\n", "\r", "\r\n", "a", "5", " ", "ü", "\0", "☃,"]
ENDINGS = st.sampled_from(["\n", "\r", "\r\n"])
CELLS = [
    "",
    "a",
    "ü",
    '5" pipe',
    ' "x"',
    'a"',
    '"x"',
    '""',
    '"a""b"',
    '""""',
    '"two\nlines"',
    '"\r"',
    '"a,\r\n"',
]
row = st.tuples(st.sampled_from(CELLS), st.sampled_from(CELLS), ENDINGS)
lines = st.lists(row.map(lambda row: f"{row[0]},{row[1]}{row[2]}"), max_size=12).map("".join)
nasty = st.one_of(st.lists(st.sampled_from(PIECES), max_size=40).map("".join), lines)
cell = st.text(st.sampled_from('ab",\n\r ü'), max_size=5)
tidy = st.tuples(st.lists(st.tuples(cell, cell), max_size=12), ENDINGS)


def python_rows(text: str) -> list[list[str]] | None:
    """Return the rows below a header of two names, or nothing where something is wrong."""
    if "\0" in text:
        return None
    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row]
    except csv.Error:
        return None
    return rows[1:] if all(len(row) == 2 for row in rows) else None


def our_rows(path: Path, text: str, *, part: int) -> list[list[str]] | None:
    path.write_bytes(text.encode())
    reader = CsvReader()
    try:
        spans = list(reader.spans(path, part))
    except P2CError:
        return None
    found = []
    for begin, end, count in spans:
        piece = [
            list(row.values())
            for batch in reader.batches(path, (begin, end), ["x", "y"], coded=["x"], rows=4)
            for row in batch.to_pylist()
        ]
        assert len(piece) == count
        found += piece
    assert [count for _, _, count in spans[:-1]] == [part] * (len(spans) - 1)
    return found


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("csv") / "a.csv"


@given(nasty, st.integers(1, 40), st.integers(1, 4))
@settings(max_examples=1500, deadline=None)
def test_the_rows_of_the_pieces_are_those_of_the_whole(
    place: Path, body: str, block: int, part: int
) -> None:
    text = f"x,y\n{body}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(readers, "BLOCK", block)
        assert our_rows(place, text, part=part) == python_rows(text)


@given(tidy, st.integers(1, 40), st.integers(1, 4))
@settings(max_examples=500, deadline=None)
def test_what_a_writer_writes_comes_back(
    place: Path,
    table: tuple[list[tuple[str, str]], str],
    block: int,
    part: int,
) -> None:
    rows, ending = table
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator=ending, quoting=csv.QUOTE_ALL)
    writer.writerows([("x", "y"), *rows])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(readers, "BLOCK", block)
        assert our_rows(place, file.getvalue(), part=part) == [list(row) for row in rows]


@pytest.mark.parametrize("block", [1000, 8 << 20])
def test_a_quote_left_open_is_said_with_its_line_however_much_follows(
    place: Path, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    monkeypatch.setattr(readers, "BLOCK", block)
    lines = ["x,y", *["1,2"] * 100_000]
    lines[10] = '1,"2'
    place.write_text("\n".join(lines))
    with pytest.raises(P2CError, match=r"line 11: a cell of more than 131,072 letters; is a quote"):
        list(CsvReader().spans(place, 10))
    lines[99_990:] = ['"1,2'] * 5
    lines[10] = "1,2"
    place.write_text("\n".join(lines))
    with pytest.raises(P2CError, match=r"line 99991: expected a comma or the line's end after"):
        list(CsvReader().spans(place, 10))


def test_long_cells_are_rows_too(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readers, "BLOCK", 1000)
    long = "ü\n" * (LONGEST // 2)
    text = "x,y\n" + f'"{long}",2\n' * 3
    assert our_rows(place, text, part=1) == python_rows(text)
