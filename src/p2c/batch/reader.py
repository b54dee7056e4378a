"""How files are read: what columns one has, where it may be cut, and the rows between two cuts. One reader a format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from p2c.batch.csv_reader import CsvReader
from p2c.batch.parquet_reader import ParquetReader

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import pyarrow as pa


class Reader(Protocol):
    """What reads one format; what a reader cannot read, it refuses with one line that names the file."""

    @property
    def is_text(self) -> bool:
        """Tell whether cells are text, and numbers have to be read out of them."""
        ...

    def schema(self, path: Path) -> pa.Schema:
        """Return the columns of a file."""
        ...

    def spans(self, path: Path, rows: int) -> Iterator[tuple[int, int, int]]:
        """Yield the stretches that a file is cut into: begin, end, and how many rows, so many as far as it can be."""
        ...

    def batches(
        self, path: Path, span: tuple[int, int], columns: Sequence[str], *, coded: Sequence[str]
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a stretch, texts of the `coded` columns as numbers into a list of the different ones."""
        ...


READERS: dict[str, Reader] = {
    ".parquet": ParquetReader(),
    ".pq": ParquetReader(),
    ".csv": CsvReader(),
}
