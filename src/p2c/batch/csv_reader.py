"""CSV in: cut between rows by the rules of `p2c.domain.sheet`, every cell as text until its feature says what it is."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
from pyarrow import csv as arrow_csv

from p2c.batch.csv_cuts import blocks
from p2c.domain.sheet import open_sheet
from p2c.domain.spec import unreadable
from p2c.errors import P2CError, RowError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

CODED = pa.dictionary(pa.int32(), pa.string())


@dataclass(frozen=True, slots=True)
class CsvReader:
    """Reads CSV files with a line of names, in UTF-8."""

    is_text: bool = True

    def schema(self, path: Path) -> pa.Schema:
        """Return the columns of a file: all text."""
        return pa.schema([(name, pa.string()) for name in _header(path)[0]])

    def spans(self, path: Path, rows: int) -> Iterator[tuple[int, int, int]]:
        """Yield stretches of so many rows, the last of the rest; refuse what is no such table before anything is planned."""
        names, begin = _header(path)
        waiting = end = 0
        with _refusals(path):
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
        self, path: Path, span: tuple[int, int], columns: Sequence[str], *, coded: Sequence[str]
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows between two bytes."""
        names = _header(path)[0]
        convert = arrow_csv.ConvertOptions(
            column_types={name: CODED if name in coded else pa.string() for name in names},
            include_columns=list(columns),
            strings_can_be_null=False,
        )
        parse = arrow_csv.ParseOptions(newlines_in_values=True)
        with _refusals(path):
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

    with _refusals(path):
        return open_sheet(lines()).names, read


@contextmanager
def _refusals(path: Path) -> Iterator[None]:
    try:
        yield
    except RowError as error:
        raise P2CError(f"{path}: {error}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise P2CError(f"{path}: cannot be read as CSV: {unreadable(error)}") from None
