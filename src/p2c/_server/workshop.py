"""Long work that the browser asks for, in a folder and in a process of its own that can be ended.

What is going on is kept in the folder, so that whoever looks sees it.
"""

from __future__ import annotations

import multiprocessing
import shutil
import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from p2c._server.page_error import PageError
from p2c._server.uploads import limit_memory, memory_words
from p2c._spec.spec import read_text
from p2c._whole_file import put_text
from p2c.errors import P2CError, joined_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from multiprocessing.process import BaseProcess

    from p2c._server.settings import Limits

    Step = Callable[..., None]
    """Is told that work has come a step further and, by name, what is known by then."""
    Task = Callable[[Path, Step], dict[str, Any]]

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
