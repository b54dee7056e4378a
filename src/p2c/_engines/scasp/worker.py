"""A warm s(CASP): a Prolog process that forks itself for each question.

s(CASP) vouches for one query in a process. A fork is a process in which nothing was asked before, and it is there at
once. `worker.pl` is the other side of the talk. There are as many workers as questions at the same time, each for one at a time.

Whatever goes wrong ends a worker and all that it started; the next question gets a new one. When our own process ends, in
whatever way, the workers' input closes, and that ends them too.
"""

from __future__ import annotations

import atexit
import os
import re
import selectors
import shutil
import signal
import subprocess
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from p2c._engines.scasp.rules import atom
from p2c.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


LONGEST = 3600.0
"""Seconds after which a process is ended although the caller set no limit."""
STARTING = 60.0
"""Seconds that a worker may take to be ready."""
GRACE = 1.0
"""Seconds for a worker to end and to collect its children before it is killed."""
MURMUR = 1000
"""Maximum length of a line of an answer."""
STATE = b"SWI-Prolog saved state"
"""Bytes in the head of an executable that Prolog can start with goals."""
HEAD = 1000
"""Bytes of an executable that may say so."""


class OutOfTime(Exception):
    """Tells that the deadline passed before there was an answer."""


def run(command: Sequence[str], deadline: float | None) -> tuple[int, str, str]:
    """Run a command with a time limit; its whole process group is ended."""
    left = LONGEST if deadline is None else min(deadline - time.monotonic(), LONGEST)
    if left <= 0:
        raise OutOfTime
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            encoding="utf-8",
            errors="replace",
        )
    except OSError as error:
        raise EngineError(f"scasp: '{command[0]}' cannot be started: {error.strerror}") from None
    try:
        out, complaint = process.communicate(timeout=left)
    except subprocess.TimeoutExpired:
        raise time_is_up(deadline) from None
    finally:
        end_group(process)
    return process.returncode, out, complaint


def time_is_up(deadline: float | None) -> OutOfTime | EngineError:
    """Return the error of a time limit: the caller's own limit, or a fault."""
    if deadline is None:
        return EngineError(f"scasp: no answer within {LONGEST:.0f} seconds")
    return OutOfTime()


def end_group(process: subprocess.Popen[str] | subprocess.Popen[bytes]) -> None:
    """Kill and collect the rest of a process group."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            stream.close()
    process.wait()


class NoWorker(Exception):
    """Tells that a command does not become a worker."""


@dataclass(eq=False)
class ScaspWorker:
    """A process that answers one question at a time."""

    process: subprocess.Popen[bytes]

    def ask(
        self, folder: Path, arguments: Sequence[str], deadline: float | None
    ) -> tuple[int, str, str]:
        """Return the exit code, the output and the errors of a question."""
        out, complaint = folder / "out", folder / "complaint"
        named = ", ".join(map(atom, arguments))
        self._say(f"ask({atom(str(out))}, {atom(str(complaint))}, [{named}])\n")
        code = _code(self.hear(deadline))
        return code, _text(out), _text(complaint)

    def _say(self, line: str) -> None:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(line.encode("ascii"))
        except BrokenPipeError:
            raise self._lost() from None

    def hear(self, deadline: float | None) -> str:
        """Return the next line that the worker says."""
        assert self.process.stdout is not None
        last = time.monotonic() + LONGEST
        if deadline is not None:
            last = min(last, deadline)
        heard = b""
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            while not heard.endswith(b"\n") and len(heard) < MURMUR:
                left = last - time.monotonic()
                if left <= 0 or not selector.select(left):
                    raise time_is_up(deadline)
                piece = os.read(self.process.stdout.fileno(), MURMUR)
                if not piece:
                    raise self._lost()
                heard += piece
        return heard.decode(errors="replace").strip()

    def _lost(self) -> EngineError:
        """Return the error of a worker that is gone before it answered."""
        try:
            code = self.process.wait(GRACE)
        except subprocess.TimeoutExpired:
            return EngineError("scasp: the warm worker fell silent in the middle of a question")
        how = f"by {signal.Signals(-code).name}" if code < 0 else f"with code {code}"
        return EngineError(f"scasp: the warm worker ended {how} in the middle of a question")

    def end(self, *, grace: float = GRACE) -> None:
        """End the worker and all that it started."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.close()
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(grace)
        finally:
            end_group(self.process)

    def forget(self) -> None:
        """Leave the worker to the process that this one was forked from."""
        self.process.returncode = 0
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            stream.close()


def start_worker(
    command: Sequence[str], deadline: float | None, *, born: Callable[[ScaspWorker], None]
) -> ScaspWorker:
    """Start a worker, say so, and wait until it is ready."""
    last = time.monotonic() + STARTING
    with resources.as_file(resources.files(__package__) / "worker.pl") as path:
        goal = f"consult({atom(str(path))}), serve"
        try:
            process = subprocess.Popen(
                (*command, "-g", goal, "--"),
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError:
            raise NoWorker from None
        worker = ScaspWorker(process)
        born(worker)
        ready = False
        try:
            ready = worker.hear(last if deadline is None else min(last, deadline)) == "ready"
        except EngineError:
            raise NoWorker from None
        except OutOfTime:
            if deadline is not None and deadline < last:
                raise
            raise NoWorker from None
        finally:
            if not ready:
                worker.end(grace=0)
    if not ready:
        raise NoWorker
    return worker


def _code(said: str) -> int:
    """Return the exit code, as subprocess counts it, from Prolog's message."""
    match = re.fullmatch(r"(exited|signaled)\((\d+)\)", said)
    if match is None:
        raise EngineError(f"scasp: expected how a question ended, found '{said[:80]}'")
    code = int(match[2])
    return code if match[1] == "exited" else -code


def _text(path: Path) -> str:
    """Return the content of an output file; empty if it was never opened."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return ""


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
        """Forget the workers of the parent process after a fork."""
        for worker in self._all:
            worker.forget()
        self._idle, self._all, self._lock = [], set(), threading.Lock()


def workers_of(command: tuple[str, ...]) -> Workers | None:
    """Return the workers of a command, or None if it starts for each question."""
    prolog = _prolog(command)
    return None if prolog is None else _workers(prolog)


@cache
def _workers(command: tuple[str, ...]) -> Workers:
    workers = Workers(command)
    atexit.register(workers.end)
    os.register_at_fork(after_in_child=workers.forget)
    return workers


def _prolog(command: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return the start of Prolog with the command's program, ready for a goal."""
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
