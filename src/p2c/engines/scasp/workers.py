"""Who keeps s(CASP) warm: as many workers as there are questions at the same time, each for one at a time.

Whatever goes wrong ends a worker and all that it started; the next question gets a new one. When our own process
ends, in whatever way, the workers' input closes, and that ends them too.
"""

from __future__ import annotations

import atexit
import os
import shutil
import threading
import time
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from p2c.engines.scasp.worker import NoWorker, OutOfTime, start_worker

if TYPE_CHECKING:
    from collections.abc import Sequence

    from p2c.engines.scasp.worker import ScaspWorker

STATE = b"SWI-Prolog saved state"
"""What the head of an executable says that Prolog can start with goals of ours."""
HEAD = 1000
"""Bytes of an executable that may say so."""


@dataclass(eq=False)
class Workers:
    """The workers of one command."""

    command: tuple[str, ...]
    refused: bool = False
    """Whether the command turned out not to become a worker."""
    _idle: list[ScaspWorker] = field(default_factory=list)
    _all: set[ScaspWorker] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def ask(
        self, folder: Path, arguments: Sequence[str], deadline: float | None
    ) -> tuple[int, str, str]:
        """Have a question answered, by a new worker where all are busy."""
        worker = self._borrow(deadline)
        try:
            told = worker.ask(folder, arguments, deadline)
        except BaseException:
            # In the middle of a question: whatever it says next is no answer to another.
            self._end(worker)
            raise
        with self._lock:
            self._idle.append(worker)
        return told

    def _borrow(self, deadline: float | None) -> ScaspWorker:
        if deadline is not None and deadline <= time.monotonic():
            raise OutOfTime
        while True:
            with self._lock:
                worker = self._idle.pop() if self._idle else None
            if worker is None:
                return self._start(deadline)
            if worker.process.poll() is None:
                return worker
            self._end(worker)

    def _start(self, deadline: float | None) -> ScaspWorker:
        if self.refused:
            raise NoWorker
        started: list[ScaspWorker] = []

        def born(worker: ScaspWorker) -> None:
            # From now on, a process that another thread forks must not keep the worker's input open.
            started.append(worker)
            with self._lock:
                self._all.add(worker)

        try:
            return start_worker(self.command, deadline, born=born)
        except BaseException as error:
            self.refused = self.refused or isinstance(error, NoWorker)
            with self._lock:
                self._all.difference_update(started)
            raise

    def _end(self, worker: ScaspWorker) -> None:
        with self._lock:
            self._all.discard(worker)
        worker.end()

    @property
    def processes(self) -> tuple[int, ...]:
        """Return the processes of the workers that there are."""
        with self._lock:
            return tuple(worker.process.pid for worker in self._all)

    def end(self) -> None:
        """End the workers that have no question."""
        with self._lock:
            idle, self._idle = self._idle, []
        for worker in idle:
            self._end(worker)

    def forget(self) -> None:
        """Leave the workers to the process that this one was forked from, and begin anew."""
        for worker in self._all:
            worker.forget()
        self._idle, self._all, self._lock = [], set(), threading.Lock()


def workers_of(command: tuple[str, ...]) -> Workers | None:
    """Return the workers for a command that starts s(CASP), or None where it has to be started each time."""
    prolog = _prolog(command)
    return None if prolog is None else _workers(prolog)


@cache
def _workers(command: tuple[str, ...]) -> Workers:
    workers = Workers(command)
    atexit.register(workers.end)
    os.register_at_fork(after_in_child=workers.forget)
    return workers


def _prolog(command: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return how Prolog starts with what a command runs, ready for a goal of ours."""
    found = shutil.which(command[0])
    if found is None:
        return None
    if command[-1] == "--" and Path(found).name.startswith("swipl"):
        return (found, *command[1:-1])
    swipl = shutil.which("swipl")
    if len(command) == 1 and swipl is not None and _is_state(found):
        return (swipl, "-x", found)
    return None


@cache
def _is_state(path: str) -> bool:
    try:
        with Path(path).open("rb") as file:
            return STATE in file.read(HEAD)
    except OSError:
        return False
