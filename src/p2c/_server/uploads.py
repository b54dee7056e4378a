"""Uploads bounded by their unpacked size, read in a process of limited memory.

A small file can unpack to any size: repeated values in Parquet, a zip inside a skops model. What the file declares about
itself is checked before anything is unpacked. What it does not declare, or declares wrongly, meets the memory limit of
the process that reads it, so that the server itself goes on.
"""

from __future__ import annotations

import csv
import multiprocessing
import sys
import zipfile
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from p2c.errors import MissingExtra, P2CError, joined_lines, one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from multiprocessing.connection import Connection
    from pathlib import Path

    from p2c._server.settings import Limits

SECONDS = 600
"""Seconds that reading an upload may take."""
CELL = 8
"""Bytes that a value of a table takes at least once it is read."""
BLOCK = 1 << 20
"""Bytes that are searched for line ends at once."""


def read_limited(path: Path, work: Callable[..., Any], *arguments: Any, limits: Limits) -> None:
    """Inspect an upload, then run `work(*arguments)` on it with limited memory.

    Raises:
        P2CError: The upload is larger than the limits once unpacked, or `work` refuses it.
    """
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_report, args=(sender, limits, path, work, arguments))
    process.start()
    sender.close()
    try:
        if not receiver.poll(SECONDS):
            raise P2CError(f"{path}: expected to be read within {SECONDS} seconds")
        refused = receiver.recv()
    except EOFError:
        process.join()
        if process.exitcode == 1:
            raise RuntimeError("reading an upload failed; the log says where") from None
        refused = f"{path}: ends the process that reads it; {memory_words(limits)}"
    finally:
        process.kill()
        process.join()
        receiver.close()
    if refused:
        raise P2CError(refused)


def _report(
    sender: Connection,
    limits: Limits,
    path: Path,
    work: Callable[..., Any],
    arguments: tuple[Any, ...],
) -> None:
    """Run the work in its own process; send its error, or an empty line."""
    limit_memory(limits.memory)
    refused = ""
    try:
        refuse_bomb(path, limits)
        work(*arguments)
    except (MemoryError, P2CError) as error:
        is_memory = any(isinstance(each, MemoryError) for each in _behind(error))
        refused = f"{path}: {memory_words(limits)}" if is_memory else joined_lines(error)
    sender.send(refused)


def limit_memory(most: int) -> None:
    """Limit the memory of this process and its children on systems that can."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        # Elsewhere only the address space can be limited, of which libraries reserve more than they use.
        kind = resource.RLIMIT_DATA if sys.platform == "linux" else resource.RLIMIT_AS
        _, hard = resource.getrlimit(kind)
        limit = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (limit, hard))


def memory_words(limits: Limits) -> str:
    """Return the memory limit for a message."""
    return f"expected at most {limits.memory:,} bytes of memory"


def _behind(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and the errors during whose handling it was raised."""
    while error is not None:
        yield error
        error = error.__context__


def refuse_bomb(path: Path, limits: Limits) -> None:
    """Refuse a table or zip that declares a size above the limits.

    A skops model is a zip.
    """
    kind = path.suffix.lower()
    if kind in (".parquet", ".pq"):
        _refuse_parquet(path, limits)
    elif kind == ".csv":
        _refuse_columns(path, _csv_columns(path), limits)
        _refuse_rows(path, _csv_rows(path, limits.rows), limits)
    elif zipfile.is_zipfile(path):
        with suppress(zipfile.BadZipFile), zipfile.ZipFile(path) as archive:
            _refuse_size(path, sum(each.file_size for each in archive.infolist()), limits)


def _refuse_parquet(path: Path, limits: Limits) -> None:
    """Refuse a Parquet file by its footer.

    Equal values in a row are stored once, so the size of the file says little.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise MissingExtra("pyarrow", extra="batch") from error
    try:
        footer = pq.read_metadata(path)
    except (OSError, ValueError, pa.ArrowException) as error:
        raise P2CError(f"{path}: cannot be read as Parquet: {one_line(error)}") from None
    _refuse_columns(path, footer.num_columns, limits)
    _refuse_rows(path, footer.num_rows, limits)
    stored = sum(footer.row_group(each).total_byte_size for each in range(footer.num_row_groups))
    _refuse_size(path, max(stored, CELL * footer.num_rows * footer.num_columns), limits)


def _csv_rows(path: Path, most: int) -> int:
    """Return the number of rows of a CSV file, or of its lines if at most `most`."""
    lines = 1
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            lines += max(block.count(b"\n"), block.count(b"\r"))
    if lines <= most:
        return lines
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        try:
            return sum(1 for row in csv.reader(file) if row) - 1
        except csv.Error:
            return 0  # no table, which its reader says better


def _csv_columns(path: Path) -> int:
    """Count the columns of a CSV file by the separators of its first line."""
    with path.open("rb") as file:
        line = file.readline(BLOCK)
    return 1 + max(map(line.count, (b",", b";", b"\t", b"|")))


def _refuse_columns(path: Path, columns: int, limits: Limits) -> None:
    if columns > limits.columns:
        raise P2CError(f"{path}: expected at most {limits.columns:,} columns, found {columns:,}")


def _refuse_rows(path: Path, rows: int, limits: Limits) -> None:
    if rows > limits.rows:
        raise P2CError(f"{path}: expected at most {limits.rows:,} rows, found {rows:,}")


def _refuse_size(path: Path, size: int, limits: Limits) -> None:
    if size > limits.unpacked:
        raise P2CError(
            f"{path}: expected at most {limits.unpacked:,} bytes once unpacked, found {size:,}"
        )
