"""Parquet in: cut between row groups, read a quarter of a million rows at a time."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from p2c.errors import P2CError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

BATCH = 1 << 18


@dataclass(frozen=True, slots=True)
class ParquetReader:
    """Reads Parquet files."""

    is_text: bool = False

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
        self, path: Path, span: tuple[int, int], columns: Sequence[str], *, coded: Sequence[str]
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows of some row groups."""
        with _opened(path, coded) as file:
            for group in range(*span):
                with _refusals(_place(path, file.metadata, group)):
                    for batch in file.iter_batches(
                        BATCH, row_groups=[group], columns=list(columns), use_threads=False
                    ):
                        batch.validate(full=True)  # damage may look like numbers out of bounds
                        yield batch


def _place(path: Path, footer: pq.FileMetaData, group: int) -> str:
    """Say where the rows of a row group stand."""
    before = sum(footer.row_group(each).num_rows for each in range(group))
    return f"{path}, rows {before + 1} to {before + footer.row_group(group).num_rows}"


@contextmanager
def _opened(path: Path, coded: Sequence[str] = ()) -> Iterator[pq.ParquetFile]:
    with _refusals(str(path)), pq.ParquetFile(path, read_dictionary=list(coded)) as file:
        yield file


@contextmanager
def _refusals(place: str) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError, pa.ArrowException) as error:
        reason = " ".join(str(error).split())
        raise P2CError(f"{place}: cannot be read as Parquet: {reason}") from None
