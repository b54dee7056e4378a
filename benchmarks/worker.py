"""One method on one world in a process of its own, asked row by row, with a limit of time for each row."""

from __future__ import annotations

import importlib.util
import multiprocessing
import os
import pickle
import sys
import time
import traceback
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sklearn.ensemble  # noqa: F401 - so that the server that workers are forked from has it loaded

from benchmarks.clock import processor_time
from benchmarks.judge import judge
from benchmarks.peers import PEERS

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess
    from pathlib import Path

    from benchmarks.peers.protocol import Finder, Peer
    from benchmarks.world import World

PRELOADED = ("unified_planning.shortcuts", "pysmt.shortcuts", "scipy.optimize")
"""Modules that most methods need and that take long to load; the server has them once, and lacks them where they are missing."""

READY_SECONDS = 180.0
"""How long a method may take to be made ready for a world."""


def missing(method: str) -> str | None:
    """Say why a method cannot run here, or None where it can."""
    peer = PEERS[method]
    if peer.python > sys.version_info[:2]:
        wanted, here = (".".join(map(str, v)) for v in (peer.python, sys.version_info[:2]))
        return f"needs Python {wanted} or later, this is {here}"
    absent = [name for name in peer.needs if importlib.util.find_spec(name) is None]
    return f"not installed: {', '.join(absent)}" if absent else None


def answer_row(here: World, peer: Peer, finder: Finder, number: int) -> dict[str, Any]:
    """Return what a method says about one row, judged, with the time that the answer and the path took."""
    person = here.people[number]
    begin = time.perf_counter()
    answer, spent = processor_time(lambda: finder(dict(person)))
    seconds = time.perf_counter() - begin
    begin = time.perf_counter()
    facts = judge(here, peer, person, answer)
    return {
        **facts,
        "seconds": seconds,
        "processor": spent,
        "path_seconds": time.perf_counter() - begin,
    }


def serve(connection: Connection, file: Path, method: str) -> None:
    """Answer rows of a world by number until the other side closes."""
    warnings.simplefilter("ignore")
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    peer = PEERS[method]
    try:
        here = pickle.loads(file.read_bytes())
        finder = peer.prepare(here)
    except Exception as error:
        connection.send({"status": "error", "note": _told(error)})
        return
    connection.send({"status": "ready"})
    while True:
        try:
            number = connection.recv()
        except EOFError:
            return
        try:
            connection.send(answer_row(here, peer, finder, number))
        except Exception as error:
            connection.send({"status": "error", "note": _told(error)})


def _told(error: Exception) -> str:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{os.path.basename(frame.filename)}:{frame.lineno}"
    return f"{type(error).__name__}: {error} ({place})"[:400]


@dataclass
class Worker:
    """A process that answers rows; it is ended and started again where a row takes too long or kills it."""

    file: Path
    method: str
    limit: float
    process: BaseProcess | None = None
    connection: Connection | None = None

    def ask(self, number: int) -> dict[str, Any]:
        """Return the result of a row: what was found, or an error, or that time ran out."""
        if self.process is None:
            told = self._start()
            if told["status"] != "ready":
                self.close()
                return told
        assert self.connection is not None
        self.connection.send(number)
        return self._hear(self.limit, "timeout")

    def _start(self) -> dict[str, Any]:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload([__name__, *PRELOADED])
        self.connection, other = context.Pipe()
        self.process = context.Process(
            target=serve, args=(other, self.file, self.method), daemon=True
        )
        self.process.start()
        other.close()
        return self._hear(READY_SECONDS, "timeout while it was made ready")

    def _hear(self, limit: float, late: str) -> dict[str, Any]:
        assert self.connection is not None
        assert self.process is not None
        try:
            if self.connection.poll(limit):
                told: dict[str, Any] = self.connection.recv()
                return told
        except (EOFError, ConnectionError):
            self.process.join()
            code = self.process.exitcode
            self.close()
            return {"status": "error", "note": f"the process ended with code {code}"}
        self.close()
        return {"status": "timeout", "note": f"{late}: {limit:g} s"}

    def close(self) -> None:
        """End the process, by force where it does not end by itself."""
        if self.connection is not None:
            self.connection.close()
        if self.process is not None:
            self.process.join(1.0)
            self.process.kill()
            self.process.join()
        self.process = self.connection = None
