"""A new project being made in the browser: its folder, and the one long step that may be under way, which can be ended."""

from __future__ import annotations

import multiprocessing
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal

from p2c.errors import P2CError
from p2c.project.building import Work, built, main, read_work, write_work

if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.process import BaseProcess

BROKEN = "this step ended before its end, by a fault or by the system; the log says where"


class Workshop:
    """The folder of a project, and who works in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._process: BaseProcess | None = None

    @property
    def work(self) -> Work:
        """Return what is going on; what nobody does any more is not going on."""
        found = read_work(self.folder)
        if found.state != "working" or self._is_busy:
            return found
        found = read_work(self.folder)  # it may have ended between the two looks
        if found.state == "working":
            found = found.model_copy(update={"state": "failed", "error": BROKEN})
            write_work(self.folder, found)
        return found

    @property
    def _is_busy(self) -> bool:
        return self._process is not None and self._process.is_alive()

    @property
    def problem(self) -> Path | None:
        """Return the problem that was made, where one was."""
        return built(self.folder)

    def start(self, task: Literal["build", "causes"]) -> None:
        """Begin a long step, in a process of its own."""
        if self.work.state == "working":
            raise P2CError("a step is under way: wait for it, or cancel it")
        if self._process is not None:
            self._process.join()  # it has kept what it found, and is about to end
        write_work(self.folder, Work(task=task, state="working", told=read_work(self.folder).told))
        context = multiprocessing.get_context("spawn")
        self._process = context.Process(target=main, args=(task, self.folder), daemon=True)
        self._process.start()

    def cancel(self) -> None:
        """End the step that is under way; what was there before it stays."""
        if self._process is not None:
            self._process.terminate()
            self._process.join()
            self._process = None
        found = read_work(self.folder)
        if found.state == "working":
            write_work(self.folder, found.model_copy(update={"state": "cancelled"}))

    @contextmanager
    def received(self, content: IO[bytes], name: str) -> Iterator[Path]:
        """Keep what was sent, of its name only the ending, beside the project; it is gone afterwards unless it was taken."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".upload-", dir=self.folder) as folder:
            kind = "".join(each for each in Path(name).suffix if each.isalnum())[:10]
            path = Path(folder) / f"sent.{kind}"
            with path.open("wb") as file:
                shutil.copyfileobj(content, file)
            yield path
