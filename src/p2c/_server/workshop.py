"""Long work in processes of limited memory: uploads, projects, audits.

A small file can unpack to any size: repeated values in Parquet, a zip inside a skops model. What the file declares about
itself is checked before anything is unpacked. What it does not declare, or declares wrongly, meets the memory limit of
the process that reads it, so that the server itself goes on. What is going on is kept in the folder of the work.

"""

from __future__ import annotations

import csv
import json
import multiprocessing
import shutil
import sys
import tempfile
import threading
import zipfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from p2c._explain.phrases import LANGUAGES
from p2c._server.error_answers import PageError
from p2c._spec.spec import read_text
from p2c._whole_file import put_text
from p2c.errors import MissingExtra, P2CError, joined_lines, one_line
from p2c.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

    from p2c._server.problem_store import Entry
    from p2c._server.settings import Limits
    from p2c._spec.feature import Feature

    Step = Callable[..., None]
    """Is told that work has come a step further and, by name, what is known by then."""
    Task = Callable[[Path, Step], dict[str, Any]]


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


WORK = "work.json"


class Work(BaseModel):
    """The present or last work: `step` names its stage, `told` its result.

    The state is "broken" if the process ended without an answer, by a fault or by the system.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    task: str = "build"
    state: Literal["none", "working", "done", "failed", "broken", "cancelled"] = "none"
    step: int = 0
    error: str = ""
    told: dict[str, Any] = {}


def read_work(folder: Path) -> Work:
    """Return what is going on in a folder."""
    path = folder / WORK
    if not path.exists():
        return Work()
    try:
        return Work.model_validate_json(read_text(path))
    except ValidationError:
        return Work()


def write_work(folder: Path, work: Work) -> None:
    """Keep what is going on, whole or not at all."""
    put_text(folder / WORK, work.model_dump_json(indent=2) + "\n")


class Workshop:
    """A folder, and the process that works in it within limits."""

    def __init__(self, folder: Path, limits: Limits) -> None:
        self.folder = folder
        self.limits = limits
        self._process: BaseProcess | None = None
        self._lock = threading.RLock()  # requests for pages run in threads

    @property
    def work(self) -> Work:
        """Return the present or last work; it is broken if its process ended without an answer."""
        with self._lock:
            busy = self._is_busy
            work = read_work(self.folder)
            if work.state == "working" and not busy:
                work = work.model_copy(update={"state": "broken"})
                write_work(self.folder, work)
            return work

    @property
    def _is_busy(self) -> bool:
        return self._process is not None and self._process.is_alive()

    def start(self, name: str, task: Task, *, keep: bool = False) -> None:
        """Begin a long step, in a process of its own; what was told before is kept where that is wanted."""
        with self._lock:
            self.refuse_if_busy()
            if self._process is not None:
                self._process.join()  # its result is written, and it is about to end
            told = read_work(self.folder).told if keep else {}
            write_work(self.folder, Work(task=name, state="working", told=told))
            context = multiprocessing.get_context("spawn")
            self._process = context.Process(
                target=perform_limited, args=(task, self.folder, self.limits), daemon=True
            )
            self._process.start()

    def refuse_if_busy(self) -> None:
        """Raise where a step is under way."""
        if self.work.state == "working":
            raise PageError("work_busy")

    def cancel(self) -> None:
        """End the step that is under way; what was there before it stays."""
        with self._lock:
            if self._process is not None:
                self._process.terminate()
                self._process.join()
                self._process = None
            work = read_work(self.folder)
            if work.state == "working":
                write_work(self.folder, work.model_copy(update={"state": "cancelled"}))

    @contextmanager
    def received(self, content: IO[bytes], name: str) -> Iterator[Path]:
        """Keep what was sent, of its name only the ending, beside the rest; it is gone afterwards unless it was taken."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".upload-", dir=self.folder) as folder:
            kind = "".join(each for each in Path(name).suffix if each.isalnum())[:10]
            path = Path(folder) / f"sent.{kind}"
            with path.open("wb") as file:
                shutil.copyfileobj(content, file)
            try:
                yield path
            except P2CError as error:
                # The one who sent it knows it by its own name.
                told = str(error).replace(str(path), name[:60])
                raise P2CError(told.replace(path.name, name[:60])) from None


def perform_limited(task: Task, folder: Path, limits: Limits) -> None:
    """Do a long step in this process with limited memory."""
    limit_memory(limits.memory)
    try:
        perform(task, folder)
    except MemoryError:
        failed = {"state": "failed", "error": f"this step: {memory_words(limits)}"}
        write_work(folder, read_work(folder).model_copy(update=failed))


def perform(task: Task, folder: Path) -> None:
    """Do a long step and keep what came of it."""
    work = read_work(folder)

    def step(**told: Any) -> None:
        nonlocal work
        work = work.model_copy(update={"step": work.step + 1, "told": work.told | told})
        write_work(folder, work)

    try:
        told = task(folder, step)
    except P2CError as error:
        message = joined_lines(error)
        write_work(folder, work.model_copy(update={"state": "failed", "error": message}))
    else:
        write_work(folder, work.model_copy(update={"state": "done", "told": work.told | told}))


QUESTION = "question.json"
REPORT = "audit"
"""The folder of what the audit writes, and the stem of its reports."""


class Audits:
    """The folders of the problems' audits, none of which outlives the server."""

    def __init__(self, folder: Path, limits: Limits) -> None:
        self.folder = folder
        self.limits = limits
        self._shops: dict[str, Workshop] = {}

    def of(self, entry: Entry) -> Workshop:
        """Return where a problem is audited; a problem that has changed begins again."""
        name = f"{entry.id}-{entry.digest[:16]}"
        return self._shops.setdefault(name, Workshop(self.folder / name, self.limits))

    def cancel(self) -> None:
        """End all that is under way."""
        for shop in self._shops.values():
            shop.cancel()


def table_in(folder: Path) -> Path | None:
    """Return the table of people that a folder holds."""
    return next(iter(sorted(folder.glob("people.*"))), None)


def take_table(shop: Workshop, problem: Problem, path: Path) -> None:
    """Take a table of people that has all columns of a problem, in the place of what was there; else say what is wrong with it."""
    shop.refuse_if_busy()
    features, aliases = problem.theory.features, problem.columns
    read_limited(path, check_people, path, features, aliases, limits=shop.limits)
    _put(shop, path)


def check_people(path: Path, features: Sequence[Feature], aliases: Mapping[str, str]) -> None:
    """Refuse a table of people without a column for each feature."""
    from p2c._batch import Options
    from p2c._batch.persons import check_columns
    from p2c._batch.source import find_files

    check_columns(find_files(path), features, Options(), taken=(), aliases=aliases)


def _put(shop: Workshop, path: Path) -> None:
    for old in shop.folder.glob("[!.]*"):
        shutil.rmtree(old) if old.is_dir() else old.unlink()
    path.replace(shop.folder / f"people{path.suffix.lower()}")


def take_rows(shop: Workshop, entry: Entry) -> None:
    """Take the people that a problem is served with."""
    shop.refuse_if_busy()
    names = [each.name for each in entry.problem.theory.features]
    shop.folder.mkdir(parents=True, exist_ok=True)
    path = shop.folder / ".rows.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows(entry.rows.values())
    _put(shop, path)


def columns_in(table: Path) -> list[str]:
    """Return the columns that people may be divided by."""
    from p2c._batch.source import find_files

    (file,) = find_files(table)
    return list(file.reader.schema(file.path).names)


def start(shop: Workshop, problem: Problem, by: Sequence[str]) -> None:
    """Begin the audit of the table that is there, or go on with it where the same was asked before."""
    from p2c._audit.intervals import read_divisions

    table = table_in(shop.folder)
    if table is None:
        raise PageError("audit_no_table")
    read_divisions(by)
    shop.refuse_if_busy()
    asked = {"problem": problem.to_message(), "table": table.name, "by": list(by)}
    question = shop.folder / QUESTION
    text = json.dumps(asked, ensure_ascii=False)
    if not question.exists() or question.read_text(encoding="utf-8") != text:
        shutil.rmtree(shop.folder / REPORT, ignore_errors=True)
    question.write_text(text, encoding="utf-8")
    shop.start("audit", perform_audit)


def perform_audit(folder: Path, step: Step) -> dict[str, Any]:
    """Audit the people of a folder and write the report in every format and language; `step` is told how many rows are planned for."""
    from p2c._audit.audit import FORMATS
    from p2c._batch.audited import audit_files
    from p2c._report.html import notebook_html

    asked = json.loads((folder / QUESTION).read_text(encoding="utf-8"))
    problem = Problem.from_message(asked["problem"])
    report = folder / REPORT

    def watch(*, rows: int, total: int, spare: Sequence[str]) -> None:
        step(rows=rows, total=total)

    found = audit_files(problem, folder / asked["table"], report, by=asked["by"], watch=watch)
    for language in LANGUAGES:
        body = notebook_html(found.document(language=language))
        (report / f"{REPORT}-{language}.part").write_text(body, encoding="utf-8")
        for ending in FORMATS:
            content = found.report(format=ending, language=language)
            (report / f"{REPORT}-{language}.{ending}").write_bytes(content)
    return {"by": asked["by"]}
