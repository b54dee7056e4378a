"""CSV in: cut between records, with every cell as text until its feature says what it is."""

from __future__ import annotations

import csv
import io
from codecs import getincrementaldecoder
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyarrow import csv as arrow_csv

from p2c.errors import P2CError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    Ends = np.ndarray[Any, np.dtype[np.signedinteger[Any]]]

BLOCK = 8 << 20
"""How many bytes lie about between two places where a file may be cut."""
CODED = pa.dictionary(pa.int32(), pa.string())


@dataclass(frozen=True, slots=True)
class CsvReader:
    """Reads CSV files with a line of names, in UTF-8."""

    is_text: bool = True

    def schema(self, path: Path) -> pa.Schema:
        """Return the columns of a file: all text."""
        return pa.schema([(name, pa.string()) for name in _header(path)[0]])

    def spans(self, path: Path) -> Iterator[tuple[int, int, int]]:
        """Yield stretches of whole records, by their bytes; refuse what is not UTF-8 before anything is planned."""
        begin = position = _header(path)[1]
        rows, inside = 0, False
        decoder = getincrementaldecoder("utf-8")()
        for block in _blocks(path, begin):
            with _refusals(path):
                decoder.decode(block)
            ends, inside = _record_ends(block, inside=inside)
            rows += len(ends)
            if len(ends):
                end = position + int(ends[-1]) + 1
                yield begin, end, rows
                begin, rows = end, 0
            position += len(block)
        with _refusals(path):
            decoder.decode(b"", final=True)
        if position > begin:
            yield begin, position, 1

    def batches(
        self, path: Path, span: tuple[int, int], columns: Sequence[str], *, coded: Sequence[str]
    ) -> Iterator[pa.RecordBatch]:
        """Yield the records between two bytes."""
        names = _header(path)[0]
        if span[0] == span[1]:
            return
        with _refusals(path), pa.memory_map(str(path)) as file:
            file.seek(span[0])
            buffer = file.read_buffer(span[1] - span[0])
            if not (np.frombuffer(buffer, dtype=np.uint8) > ord(" ")).any():
                return
            yield from arrow_csv.open_csv(
                pa.BufferReader(buffer),
                arrow_csv.ReadOptions(use_threads=False, block_size=BLOCK, column_names=names),
                arrow_csv.ParseOptions(newlines_in_values=True),
                arrow_csv.ConvertOptions(
                    column_types={name: CODED if name in coded else pa.string() for name in names},
                    include_columns=list(columns),
                    strings_can_be_null=False,
                ),
            )


def _blocks(path: Path, begin: int) -> Iterator[bytes]:
    with _refusals(path), path.open("rb") as file:
        file.seek(begin)
        while block := file.read(BLOCK):
            yield block


def _record_ends(block: bytes, *, inside: bool) -> tuple[Ends, bool]:
    """Return where records end: at line ends outside quotes; and whether the block ends inside quotes."""
    letters = np.frombuffer(block, dtype=np.uint8)
    ends = np.flatnonzero(letters == ord("\n"))
    quotes = np.flatnonzero(letters == ord('"'))
    if len(quotes) or inside:
        before = np.searchsorted(quotes, ends) + inside
        ends = ends[before % 2 == 0]
    return ends, bool((len(quotes) + inside) % 2)


def _header(path: Path) -> tuple[list[str], int]:
    """Return the names in the first record that is not empty, and the byte after it."""
    position, text = 0, ""
    with _refusals(path), path.open("rb") as file:
        while line := file.readline():
            position += len(line)
            text += line.decode("utf-8-sig" if not text else "utf-8")
            if text.count('"') % 2 == 0 and text.strip():
                break
    names = [name.strip() for name in next(csv.reader(io.StringIO(text.strip("\r\n"), "")), [])]
    if not names:
        raise P2CError(f"{path}: expected a line with the names of the columns, found nothing")
    for name, times in Counter(names).items():
        if times > 1:
            raise P2CError(f"{path}: the column '{name}' stands there {times} times")
    return names, position


@contextmanager
def _refusals(path: Path) -> Iterator[None]:
    try:
        yield
    except UnicodeDecodeError:
        raise P2CError(f"{path}: cannot be read as CSV: it is not UTF-8 text") from None
    except (OSError, pa.ArrowException) as error:
        reason = (str(error).splitlines() or ["the system gives no reason"])[0]
        raise P2CError(f"{path}: cannot be read as CSV: {reason}") from None
