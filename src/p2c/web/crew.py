"""Solvers: processes that each answer one question at a time, so that a hard one blocks nobody else.

A question that passes its time is ended with its process, and a fresh one takes the place: no search, however written,
outlasts its limit. More questions than solvers wait, up to a bound; past it they are refused at once.
"""

from __future__ import annotations

import asyncio
import json
import logging
import multiprocessing
import socket
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from p2c.errors import P2CError
from p2c.web.recent import Recent
from p2c.web.solver import FAILED, PREFIX, REFUSED, framed, solve_until_closed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from multiprocessing.process import BaseProcess

log = logging.getLogger(__name__)
GRACE = 0.5
"""Seconds after which a solver that should have given up by itself is ended."""


class Overloaded(Exception):
    """Report that too many questions wait already."""


class OutOfTime(Exception):
    """Report that a solve passed its time and was ended."""


class SolverFailed(Exception):
    """Report a fault of ours, or a solver that the system ended."""


class Refused(P2CError):
    """Report bad input that a solver found, fault by fault."""

    def __init__(self, message: str, faults: list[dict[str, str]]) -> None:
        self.faults = faults
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked about which problem: `digest` names its `keys`, which a solver is sent once."""

    task: str
    digest: str
    keys: dict[str, Any]
    arguments: dict[str, Any]


@dataclass
class Solver:
    """One process, the line to it, and the problems that it was sent."""

    process: BaseProcess
    line: socket.socket
    known: Recent[None] = field(default_factory=Recent)
    streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, question: Question) -> bytes:
        """Send a question and return the raw reply."""
        message = {
            "task": question.task,
            "digest": question.digest,
            "arguments": question.arguments,
        }
        if question.digest not in self.known:
            message["keys"] = question.keys
        try:
            if self.streams is None:
                self.streams = await asyncio.open_connection(sock=self.line)
            reader, writer = self.streams
            writer.write(framed(json.dumps(message).encode()))
            size = int.from_bytes(await reader.readexactly(PREFIX))
            answer = await reader.readexactly(size)
        except (OSError, EOFError):
            raise SolverFailed("the system ended the process that was solving this") from None
        self.known.put(question.digest, None)
        return answer

    def end(self) -> None:
        """End the process, whatever it does."""
        if self.streams is None:
            self.line.close()
        else:
            self.streams[1].transport.abort()
        self.process.kill()
        self.process.join()
        self.process.close()


class Crew:
    """A bounded number of solvers and a bounded number of questions that wait for one."""

    def __init__(
        self, *, size: int, waiting: int, first: Callable[[], Sequence[Question]] = tuple
    ) -> None:
        self.size = size
        self.first = first
        self.most = size + waiting
        self.taken = 0
        self._context = multiprocessing.get_context("spawn")
        self._idle: asyncio.LifoQueue[Solver] = asyncio.LifoQueue()
        self._all: list[Solver] = []
        self._warm = 0
        self._preparing: set[asyncio.Task[None]] = set()

    @property
    def is_full(self) -> bool:
        """Tell whether one more question would be refused."""
        return self.taken >= self.most

    @property
    def is_ready(self) -> bool:
        """Tell whether as many solvers as there are to be have been ready once."""
        return self._warm >= self.size

    def start(self) -> None:
        """Start the processes."""
        for _ in range(self.size):
            self._hire()

    async def stop(self) -> None:
        """End every process."""
        for task in self._preparing:
            task.cancel()
        await asyncio.gather(*self._preparing, return_exceptions=True)
        for solver in self._all:
            solver.end()
        self._all.clear()

    async def ask(self, question: Question, *, seconds: float) -> bytes:
        """Return the JSON of the answer; what a solver refuses is raised."""
        if self.is_full:
            raise Overloaded
        self.taken += 1
        try:
            async with asyncio.timeout(seconds + GRACE):
                solver = await self._idle.get()
        except TimeoutError:
            self.taken -= 1
            raise Overloaded from None
        except BaseException:
            self.taken -= 1
            raise
        return _read(await self._asked(solver, question, seconds))

    async def _asked(self, solver: Solver, question: Question, seconds: float) -> bytes:
        try:
            async with asyncio.timeout(seconds + GRACE):
                reply = await solver.ask(question)
        except BaseException as error:
            # Timed out, given up by the one who asked, or dead: nobody can wait for this process.
            self._replace(solver)
            if isinstance(error, TimeoutError):
                raise OutOfTime from None
            raise
        else:
            self._idle.put_nowait(solver)
            return reply
        finally:
            self.taken -= 1

    def _hire(self) -> None:
        ours, theirs = socket.socketpair()
        process = self._context.Process(target=solve_until_closed, args=(theirs,), daemon=True)
        process.start()
        theirs.close()
        solver = Solver(process, ours)
        self._all.append(solver)
        task = asyncio.get_running_loop().create_task(self._prepare(solver))
        self._preparing.add(task)
        task.add_done_callback(self._preparing.discard)

    async def _prepare(self, solver: Solver) -> None:
        """Have a new solver read the problems before anyone waits for it."""
        with suppress(SolverFailed):
            for question in self.first():
                await solver.ask(question)
        self._warm += 1
        self._idle.put_nowait(solver)

    def _replace(self, solver: Solver) -> None:
        if solver in self._all:
            self._all.remove(solver)
            solver.end()
            self._hire()


def _read(reply: bytes) -> bytes:
    kind, content = reply[:1], reply[1:]
    if kind == REFUSED:
        data = json.loads(content)
        raise Refused(data["message"], data["faults"])
    if kind == FAILED:
        log.error("a solver failed", extra={"where": json.loads(content)})
        raise SolverFailed("this is a fault of p2c's own; the log says where")
    return content
