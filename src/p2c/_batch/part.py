"""One part of a batch: read its rows, plan, and write its file atomically.

Each process and each machine writes the same bytes: they follow from the
rows, the problem and the options alone.
"""

from __future__ import annotations

import json
import os
import threading
import time
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import types

from p2c._batch.confirmed import planner_for
from p2c._batch.persons import TEXT, joined, present, tell_apart, to_array, to_texts
from p2c._batch.summary import Counts, Record
from p2c._spec.files import file_digest
from p2c._spec.spec import unreadable
from p2c._whole_file import put, put_text
from p2c.errors import EngineError, P2CError
from p2c.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator
    from pathlib import Path

    from p2c._batch import Options
    from p2c._batch.confirmed import TablePlanner
    from p2c._batch.persons import Columns
    from p2c._batch.source import Part, Piece


SECONDS = 1.0
"""Seconds between two reports of progress."""
ENDING = ".rows"


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Lock a file until the end of the block or of the process.

    Systems without locks (Windows) ignore it.
    """
    try:
        import fcntl
    except ImportError:  # not on Windows
        yield
        return
    # No link is followed: it could lead to a file outside of the folder.
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise P2CError(f"{path.parent.parent}: another batch is writing there") from None
        yield
    finally:
        os.close(handle)


@dataclass
class Pace:
    """Writes down how many rows of a part are done, now and then."""

    path: Path
    rows: float = 0.0
    due: float = 0.0

    def advance(self, rows: float) -> None:
        """Add finished rows."""
        self.rows += rows
        now = time.monotonic()
        if now >= self.due:
            self.due = now + SECONDS
            with suppress(OSError):  # it is only for the eye
                self.path.write_text(str(int(self.rows)))


@contextmanager
def paced(part: Path) -> Iterator[Pace]:
    """Report the progress of a part in a file until the part is done."""
    pace = Pace(part.with_name(f"{part.name}{ENDING}"), due=time.monotonic() + SECONDS)
    try:
        yield pace
    finally:
        with suppress(OSError):
            pace.path.unlink(missing_ok=True)


def rows_under_way(folder: Path) -> int:
    """Return how many rows are done of the parts that are being made in a folder."""
    return sum(_rows(path) for path in folder.glob(f"*{ENDING}"))


def _rows(path: Path) -> int:
    try:
        return int(path.read_text())
    except (OSError, ValueError):  # it is being written, or the part is done
        return 0


@contextmanager
def ticking(tell: Callable[[], None]) -> Iterator[None]:
    """Call a function now and then, from a thread of its own, until the block ends."""
    ended = threading.Event()

    def tick() -> None:
        while not ended.wait(SECONDS):
            tell()

    thread = threading.Thread(target=tick, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


CHUNK, SMALL_CHUNK = 1 << 20, 1 << 18
"""Numbers of rows planned at a time: for similar people, and for others."""
SAMPLE = 1 << 16
"""How many rows tell whether they do."""
WORKSHOP = "_p2c"
"""The folder for unfinished files; readers of tables skip names with `_`."""


@dataclass(frozen=True)
class Work:
    """All that a worker must know besides its part."""

    problem: str
    columns: Columns
    options: Options
    target: Path

    @property
    def has_model(self) -> bool:
        """Tell whether a model decides."""
        return "model" in json.loads(self.problem)


@dataclass(frozen=True, slots=True)
class Failure:
    """A part that failed, and the reason; `fatal` if the other parts fail as well.

    It is `wrong` where its input is, so that trying again would be in vain, and `unanswered` where the engine is, not the input.
    """

    number: int
    message: str
    fatal: bool = False
    wrong: bool = False
    unanswered: bool = False


def run_part(work: Work, part: Part) -> Record | Failure:
    """Make one part of the output and return its record, or why there is none."""
    try:
        return _make(work, part)
    except P2CError as error:
        message = " ".join(str(error).splitlines())
        unanswered = isinstance(error, EngineError)
        return Failure(part.number, message, wrong=not _changed(part), unanswered=unanswered)
    except (OSError, pa.ArrowException) as error:
        reason = unreadable(error) if isinstance(error, OSError) else str(error).splitlines()[0]
        message = f"{work.target / part.name}: cannot be written: {reason}"
        return Failure(part.number, message, fatal=True)


def _changed(part: Part) -> bool:
    """Tell whether a file of the input was changed or removed while it was read."""
    try:
        return any(piece.file.has_changed for piece in part.pieces)
    except P2CError:
        return True


def prepare(work: Work) -> None:
    """Have the problem read and compiled."""
    _planner_of(work)


def _planner_of(work: Work) -> TablePlanner:
    return _planner(work.problem, work.options, work.target / WORKSHOP)


@lru_cache(maxsize=4)
def _planner(problem: str, options: Options, shelf: Path) -> TablePlanner:
    return planner_for(Problem.from_message(json.loads(problem)), options, shelf=shelf)


def _make(work: Work, part: Part) -> Record:
    planner = _planner_of(work)
    schema = pa.unify_schemas([planner.schema, work.columns.kept])
    counts = Counts()
    workshop = work.target / WORKSHOP

    def write(path: Path) -> None:
        # The least and the greatest of texts take as long to find as the rest of writing, and nobody asks for them.
        ranked = [each.name for each in schema if not types.is_dictionary(each.type)]
        options = {"write_statistics": ranked}
        with (
            paced(workshop / part.name) as pace,
            pa.OSFile(str(path), "wb") as sink,
            pq.ParquetWriter(sink, schema, **options) as writer,
        ):
            for table in tables(work.columns, part):
                answers = planner.answer(table, pace.advance)
                counts.add(answers.counts)
                begin = 0
                for some in answers.tables():
                    kept = table.slice(begin, len(some))
                    writer.write_table(_with_kept(some, kept, work.columns.kept))
                    begin += len(some)
        for piece in part.pieces:
            piece.file.refuse_if_changed()

    final = work.target / part.name
    put(final, write, aside=workshop)
    counts.keep_largest()
    pieces = tuple(piece.place for piece in part.pieces)
    record = Record(part.number, os.path.getsize(final), file_digest(final), pieces, counts)
    put_text(record_path(work.target, part), json.dumps(record.to_dict()), aside=workshop)
    return record


def record_path(target: Path, part: Part) -> Path:
    """Return where the record of a part lies until the batch is done."""
    return target / WORKSHOP / f"{part.name}.json"


def _with_kept(answers: pa.Table, table: pa.Table, kept: pa.Schema) -> pa.Table:
    """Return the answers with the columns that are carried through."""
    columns = list(answers.columns)
    for field in kept:
        column = table.column(field.name)
        if types.is_dictionary(field.type):  # its texts may stand there twice; see `answers._array`
            column = column.cast(field.type.value_type)
        columns.append(column.cast(field.type))
    return pa.Table.from_arrays(columns, schema=pa.schema([*answers.schema, *kept]))


def tables(columns: Columns, part: Part) -> Iterator[pa.Table]:
    """Yield the rows of a part; small tables of equal types are joined."""
    waiting: list[pa.Table] = []
    rows, most = 0, _chunk(columns, part)
    for table in _small_tables(columns, part.pieces, most):
        alike = not waiting or table.schema.equals(waiting[0].schema, check_metadata=True)
        if waiting and (rows + len(table) > most or not alike):
            yield joined(waiting)
            waiting, rows = [], 0
        if len(table):
            waiting.append(table)
            rows += len(table)
    if waiting:
        yield joined(waiting)


def _chunk(columns: Columns, part: Part) -> int:
    """Return the number of rows planned at a time.

    It follows from the first rows alone, so that each worker writes the same bytes.
    """
    with closing(_small_tables(columns, part.pieces, SAMPLE)) as some:
        first = next(some, None)
    if first is None:
        return SMALL_CHUNK
    people = tell_apart(first, present(first, columns.features)).first
    return CHUNK if len(people) < len(first) / 4 else SMALL_CHUNK


def _small_tables(
    columns: Columns, pieces: Iterable[Piece], rows: int
) -> Generator[pa.Table, None, None]:
    wanted = tuple(dict.fromkeys((*columns.features, *columns.kept.names)))
    for piece in pieces:
        file = piece.file
        file.refuse_if_changed()
        inside = dict.fromkeys(file.reader.schema(file.path).names)
        keys = {key: value for key, value in file.keys if key not in inside}
        # Where folders name all columns, one of the file's own still tells how many rows there are.
        own = [name for name in wanted if name not in keys] or list(inside)[:1]
        called = {name: columns.name_in(name, inside) for name in own}
        # A file may lack computed features.
        called = {name: column for name, column in called.items() if column in inside}
        coded = [called[name] for name in columns.features if name in called]
        names = list(called.values())
        span = piece.begin, piece.end
        for batch in file.reader.batches(file.path, span, names, coded=coded, rows=rows):
            table = pa.Table.from_batches([batch]).select(names).rename_columns(list(called))
            yield _marked(table, keys, file.reader.is_text)


def _marked(table: pa.Table, keys: dict[str, Any], is_text: bool) -> pa.Table:
    """Return a table with the columns of folder names; columns of text are marked."""
    fields = [field.with_metadata(TEXT if is_text else None) for field in table.schema]
    arrays = list(table.columns)
    for key, value in keys.items():
        known = np.full(len(table), value is not None)
        numbers = to_array(np.zeros(len(table), dtype=np.int32), known)
        arrays.append(pa.DictionaryArray.from_arrays(numbers, to_texts([value or ""])))
        fields.append(pa.field(key, arrays[-1].type, metadata=TEXT))
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))
