"""Readers of input files, one for each format: columns, cuts and rows.

A reader refuses an unreadable file with one line that names it. Texts of columns to be `coded` come as indices into a list
of the distinct ones.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv as arrow_csv

from p2c._spec.files import LONGEST, open_sheet, read_records, refuse_width
from p2c._spec.spec import unreadable
from p2c.errors import P2CError, RowError, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
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


CODED = pa.dictionary(pa.int32(), pa.string())


class ParquetReader:
    """Reads Parquet files, cut between row groups."""

    is_text = False

    def schema(self, path: Path) -> pa.Schema:
        """Return the columns of a file."""
        with _opened(path) as file:
            return file.schema_arrow

    def spans(self, path: Path, rows: int) -> Iterator[tuple[int, int, int]]:
        """Yield a file's row groups, however many rows they have."""
        with _opened(path) as file:
            footer = file.metadata
        for number in range(footer.num_row_groups):
            yield number, number + 1, footer.row_group(number).num_rows

    def batches(
        self,
        path: Path,
        span: tuple[int, int],
        columns: Sequence[str],
        *,
        coded: Sequence[str],
        rows: int,
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows of row groups, at most `rows` at a time."""
        with _opened(path, coded) as file:
            deep = _int96(file)
            old = [
                name for name in columns if any(f"{each}.".startswith(f"{name}.") for each in deep)
            ]
            for group in range(*span):
                place = _place(path, file.metadata, group)
                if old:
                    _refuse_wrapped(path, place, group, old)
                with _refused_parquet(place):
                    for batch in file.iter_batches(
                        rows, row_groups=[group], columns=list(columns), use_threads=False
                    ):
                        batch.validate(full=True)  # damage may look like numbers out of bounds
                        yield batch


def _int96(file: pq.ParquetFile) -> list[str]:
    """Return the paths of 96-bit timestamps, also within lists."""
    columns = [file.schema.column(number) for number in range(len(file.schema))]
    return [each.path for each in columns if each.physical_type == "INT96"]


def _refuse_wrapped(path: Path, place: str, group: int, columns: Sequence[str]) -> None:
    """Refuse timestamps whose nanoseconds since 1970 exceed 64 bits.

    Arrow lets them wrap around in silence.
    """
    with _opened(path) as fine, _opened(path, unit="us") as coarse, _refused_parquet(place):
        tables = [each.read_row_group(group, columns=list(columns)) for each in (fine, coarse)]
    for name in columns:
        told, true = (each.column(name) for each in tables)
        try:
            true.cast(told.type)
        except pa.ArrowInvalid:
            raise P2CError(
                f"{place}: the column {name!r} has a timestamp outside 1677 to 2262, which 64 bits of nanoseconds"
                " cannot hold: store it in microseconds"
            ) from None


def _place(path: Path, footer: pq.FileMetaData, group: int) -> str:
    """Say where the rows of a row group stand."""
    before = sum(footer.row_group(each).num_rows for each in range(group))
    return f"{path}, rows {before + 1} to {before + footer.row_group(group).num_rows}"


@contextmanager
def _opened(
    path: Path, coded: Sequence[str] = (), *, unit: str | None = None
) -> Iterator[pq.ParquetFile]:
    """Open a file; read its timestamps of 96 bits in a unit, by default nanoseconds."""
    how = {"read_dictionary": list(coded), "coerce_int96_timestamp_unit": unit}
    with _refused_parquet(str(path)), pq.ParquetFile(path, **how) as file:
        yield file


@contextmanager
def _refused_parquet(place: str) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError, pa.ArrowException) as error:
        reason = one_line(error)
        raise P2CError(f"{place}: cannot be read as Parquet: {reason}") from None


class CsvReader:
    """Reads CSV files in UTF-8 with a line of names, each cell as text."""

    is_text = True

    def schema(self, path: Path) -> pa.Schema:
        """Return the columns of a file: all text."""
        return pa.schema([(name, pa.string()) for name in _header(path)[0]])

    def spans(self, path: Path, rows: int) -> Iterator[tuple[int, int, int]]:
        """Yield stretches of `rows` rows and the rest; refuse a faulty table."""
        names, begin = _header(path)
        waiting = end = 0
        with _refused_csv(path):
            for block in blocks(path, (begin, path.stat().st_size), width=len(names)):
                for last in range(rows - waiting, len(block.ends) + 1, rows):
                    end = block.begin + int(block.ends[last - 1])
                    yield begin, end, rows
                    begin = end
                waiting = (waiting + len(block.ends)) % rows
                end = block.begin + len(block.text)
        if waiting:
            yield begin, end, waiting

    def batches(
        self,
        path: Path,
        span: tuple[int, int],
        columns: Sequence[str],
        *,
        coded: Sequence[str],
        rows: int,
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows between two bytes, however many a block of the file has."""
        names = _header(path)[0]
        convert = arrow_csv.ConvertOptions(
            column_types={name: CODED if name in coded else pa.string() for name in names},
            include_columns=list(columns),
            strings_can_be_null=False,
        )
        parse = arrow_csv.ParseOptions(newlines_in_values=True)
        with _refused_csv(path):
            for block in blocks(path, span, width=len(names)):
                if not len(block.ends):
                    continue
                read = arrow_csv.ReadOptions(
                    use_threads=False, block_size=len(block.text) + 1, column_names=names
                )
                table = arrow_csv.read_csv(pa.py_buffer(block.text), read, parse, convert)
                assert len(table) == len(block.ends), "rows are what they were when they were cut"
                yield from table.combine_chunks().to_batches()


def _header(path: Path) -> tuple[list[str], int]:
    """Return the names in the first row, and the byte after it."""
    read = 0

    def lines() -> Iterator[str]:
        nonlocal read
        with path.open(encoding="utf-8", newline="") as file:
            for line in file:
                read += len(line.encode())
                yield line.removeprefix("\ufeff") if read == len(line.encode()) else line

    with _refused_csv(path):
        return open_sheet(lines()).names, read


@contextmanager
def _refused_csv(path: Path) -> Iterator[None]:
    try:
        yield
    except RowError as error:
        raise P2CError(f"{path}: {error}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise P2CError(f"{path}: cannot be read as CSV: {unreadable(error)}") from None


Reader = ParquetReader | CsvReader
READERS: dict[str, Reader] = {
    ".parquet": ParquetReader(),
    ".pq": ParquetReader(),
    ".csv": CsvReader(),
}
