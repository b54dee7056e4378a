"""Solvers: processes that each answer one question at a time, so that a hard one blocks nobody else.

A question that passes its time is ended with its process, and a fresh one takes the place: no search, however written,
outlasts its limit. A process that the system ends is replaced, and its question is asked once more. More questions than
solvers wait, up to a bound; past it they are refused.

Slow questions cannot keep the quick ones waiting: beside the solvers there is a spare one. Once all the others have been
busy with one question each for longer than a quick one takes, it answers those that wait, each within a small budget; one
that needs more is put back and waits for one of the others.
"""

from __future__ import annotations

import asyncio
import json
import logging
import multiprocessing
import signal
import socket
import sys
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from multiprocessing.util import Finalize
from typing import TYPE_CHECKING, Any

from p2c._server.solver import (
    ANSWERED,
    ARE_YOU_THERE,
    FAILED,
    KEPT,
    PREFIX,
    PUT_BACK,
    REFUSED,
    UNOPENED,
    LruMemory,
    framed,
    solve_until_closed,
)
from p2c._server.tasks import name_of
from p2c.errors import P2CError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator, Sequence
    from multiprocessing.process import BaseProcess


QUICK = 0.1
"""Seconds within which a quick question is answered."""


log = logging.getLogger(__name__)
WATCHED = sys.platform != "win32"
"""Whether the end of a process shows at once, as a file that can be read; else it shows with the next question."""
TURNED_AWAY_A_SECOND = 250
"""How many questions a second are turned away at most: those who ask again at once must not keep the rest from being answered."""
HELD = 5.0
"""Seconds that a question past the bound is held at most."""
GRACE = 0.5
"""Seconds after which a solver that should have given up on its own is ended."""
STARTING = 30.0
"""Seconds that a question waits for the first start of the solvers."""
OPENING = 300.0
"""Seconds in which a solver has to have opened a changed problem with its model."""
PAUSE, LONGEST_PAUSE = 0.5, 30.0
"""Seconds before a solver is started anew that ended before it was ready: at first, doubled each time, and at most."""


def pause(held: int) -> float:
    """Return how many seconds the last of so many that are held waits to be turned away.

    >>> pause(1), pause(500), pause(10**6)
    (0.004, 2.0, 5.0)
    """
    return min(held / TURNED_AWAY_A_SECOND, HELD)


class Overloaded(Exception):
    """Report that too many questions wait already."""


class OutOfTime(Exception):
    """Report that a solve passed its time and was ended."""


class SolverFailed(Exception):
    """Report a fault of ours, or a solver that the system ended."""


class SolverLost(SolverFailed):
    """Report that a solver ended before it answered."""


class SolverAbsent(SolverLost):
    """Report that a solver had ended before it was asked."""


class Refused(P2CError):
    """Report bad input that a solver found, fault by fault."""

    def __init__(self, message: str, faults: list[dict[str, str]]) -> None:
        self.faults = faults
        super().__init__(message)


@dataclass(frozen=True)
class Question:
    """What is asked about which problem: `digest` names its `keys`, which a solver is sent once."""

    task: str
    digest: str
    keys: dict[str, Any]
    arguments: dict[str, Any]

    @cached_property
    def case(self) -> str:
        """Return the name of the one whom it is about, who is best asked about where something is known of them."""
        return name_of(self.digest, self.arguments)


@dataclass(eq=False)
class Solver:
    """One process, the line to it, the problems that it was sent and who was asked about; `since` is when its question began."""

    process: BaseProcess
    line: socket.socket
    spare: bool = False
    since: float = 0.0
    known: LruMemory[None] = field(default_factory=LruMemory)
    cases: LruMemory[None] = field(default_factory=lambda: LruMemory(KEPT))
    streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(
        self, question: Question, *, budget: float | None = None, is_doubted: bool = False
    ) -> bytes:
        """Send a question and return the raw reply; a solver that may have ended is asked first whether it is there."""
        try:
            if is_doubted:
                await self._replied(ARE_YOU_THERE)
        except (OSError, EOFError):
            raise SolverAbsent("the system has ended this process") from None
        message: dict[str, Any] = {
            "task": question.task,
            "digest": question.digest,
            "case": question.case,
            "arguments": question.arguments,
        }
        if budget is not None:
            message["budget"] = budget
        if question.digest not in self.known:
            message["keys"] = question.keys
        if question.case:
            self.cases.put(question.case, None)
        try:
            answer = await self._replied(json.dumps(message).encode())
        except (OSError, EOFError):
            raise SolverLost("the system ended the process that was solving this") from None
        if answer == PUT_BACK:
            self.cases = LruMemory(KEPT)
        elif answer[:1] in (ANSWERED, REFUSED):
            self.known.put(question.digest, None)
        return answer

    async def _replied(self, message: bytes) -> bytes:
        if self.streams is None:
            self.streams = await asyncio.open_connection(sock=self.line)
        reader, writer = self.streams
        writer.write(framed(message))
        size = int.from_bytes(await reader.readexactly(PREFIX))
        return await reader.readexactly(size)

    def end(self) -> None:
        """End the process, whatever it does."""
        if self.streams is None:
            self.line.close()
        else:
            self.streams[1].transport.abort()
        self.process.kill()
        self.process.join()
        self.process.close()


@dataclass(frozen=True, eq=False)
class Place:
    """One who waits."""

    slow: bool
    turn: asyncio.Future[Solver]


class WaitingLine:
    """The solvers that are free, those that are not, and who waits for one."""

    def __init__(self) -> None:
        self._free: list[Solver] = []
        self._busy: list[Solver] = []
        self._spare: list[Solver] = []
        self._waiting: list[Place] = []
        self._timer: asyncio.TimerHandle | None = None
        self._returned = asyncio.Event()

    async def take(self, *, slow: bool = False, known: Solver | None = None) -> Solver:
        """Wait for a worker; a slow question is one that a spare worker has put back.

        One that is `known` to have the answer at hand is preferred, and given a moment to come free.
        """
        if known is not None:
            await self._come_free(known)
        if self._free:
            at = self._free.index(known) if known in self._free else -1
            return self._taken(self._free.pop(at), slow=slow)
        place: Place = Place(slow, asyncio.get_running_loop().create_future())
        self._waiting.append(place)
        self._open_spare()
        try:
            return await place.turn
        except BaseException:
            if place in self._waiting:
                self._waiting.remove(place)
            elif place.turn.done() and not place.turn.cancelled():
                self.give_back(place.turn.result())
            raise

    def take_spare(self) -> Solver | None:
        """Return the spare worker if it stands by; it is then busy."""
        return self._taken(self._spare.pop(), slow=False) if self._spare else None

    def give_back(self, worker: Solver) -> None:
        """Free a worker, unless it was dropped meanwhile."""
        if worker in self._busy:
            self._busy.remove(worker)
            self.add(worker)
            self._returned.set()
            self._returned.clear()

    async def _come_free(self, worker: Solver) -> None:
        """Wait while a worker is busy, not longer than a quick question takes, and not where all the others are too."""
        with suppress(TimeoutError):
            async with asyncio.timeout(QUICK):
                while worker in self._busy and self._free:
                    await self._returned.wait()

    def drop(self, worker: Solver) -> None:
        """Forget a worker."""
        for each in (self._free, self._busy, self._spare):
            if worker in each:
                each.remove(worker)

    def close(self) -> None:
        """Look at nothing any more."""
        if self._timer is not None:
            self._timer.cancel()

    def add(self, worker: Solver) -> None:
        """Take a worker on that is free."""
        if worker.spare:
            self._spare.append(worker)
            self._open_spare()
        elif place := self._first():
            self._give(worker, place)
        else:
            self._free.append(worker)

    def _first(self, *, fresh: bool = False) -> Place | None:
        """Return who waits longest, of those whom no spare worker has put back where that is asked.

        One whose time is over may not have left yet.
        """
        waiting = (
            each for each in self._waiting if not (each.turn.done() or (fresh and each.slow))
        )
        return next(waiting, None)

    def _give(self, worker: Solver, place: Place) -> None:
        self._waiting.remove(place)
        place.turn.set_result(self._taken(worker, slow=place.slow))

    def _taken(self, worker: Solver, *, slow: bool) -> Solver:
        # One that is known to be slow counts as having been busy for long.
        worker.since = -QUICK if slow else asyncio.get_running_loop().time()
        self._busy.append(worker)
        return worker

    def _open_spare(self) -> None:
        """Let the spare worker take the first who waits once all others are held up; until then look again."""
        place = self._first(fresh=True)
        if place is None or not self._spare:
            return
        loop = asyncio.get_running_loop()
        last = max((each.since for each in self._busy if not each.spare), default=-QUICK)
        if loop.time() >= last + QUICK:
            self._give(self._spare.pop(), place)
        elif self._timer is None:
            self._timer = loop.call_at(last + QUICK, self._look)

    def _look(self) -> None:
        self._timer = None
        self._open_spare()


class SolverPool:
    """A bounded number of solvers and a bounded number of questions that wait for one."""

    def __init__(
        self, *, size: int, waiting: int, first: Callable[[], Sequence[Question]] = tuple
    ) -> None:
        self.size = size
        self.first = first
        self.most = size + waiting
        self.taken = 0
        self._held = 0
        self._context = multiprocessing.get_context("spawn")
        self._waiting_line = WaitingLine()
        self._all: list[Solver] = []
        self._warm: set[Solver] = set()
        self._begun = False
        self._failures = 0
        self._preparing: set[asyncio.Task[None]] = set()
        self._last_will: Finalize | None = None

    @property
    def is_full(self) -> bool:
        """Tell whether one more question would be refused."""
        return self.taken >= self.most

    @property
    def is_ready(self) -> bool:
        """Tell whether all solvers have been ready once and one of them is there now."""
        return self._begun and any(not each.spare for each in self._warm)

    def start(self) -> None:
        """Start the processes; where this one ends before it stops them, it takes them with it."""
        self._last_will = Finalize(None, self._kill_all, exitpriority=0)
        for _ in range(self.size):
            self._hire()

    async def stop(self) -> None:
        """End every process."""
        for task in self._preparing:
            task.cancel()
        await asyncio.gather(*self._preparing, return_exceptions=True)
        for solver in tuple(self._all):
            self._dismiss(solver)
        self._waiting_line.close()
        if self._last_will is not None:
            self._last_will.cancel()

    def _kill_all(self) -> None:
        for solver in self._all:
            solver.process.kill()

    async def ask(self, question: Question, *, seconds: float) -> bytes:
        """Return the JSON of the answer; what a solver refuses is raised."""
        if self.is_full and not await self.has_room_in_time():
            raise Overloaded
        self.taken += 1
        try:
            return _read(await self._answered(question, seconds))
        finally:
            self.taken -= 1

    async def greet(self, question: Question) -> None:
        """Have every solver read a problem, one after the other, so that the others go on answering meanwhile."""
        while cold := [each for each in self._warm if question.digest not in each.known]:
            due = next((each for each in cold if not each.spare), None)
            if due is None:
                solver = self._waiting_line.take_spare()
            else:
                solver = await self._waiting_line.take(slow=True, known=due)
            if solver is not None and question.digest not in solver.known:
                _read(await self._asked(solver, question, OPENING, budget=None))
                continue
            if solver is not None:
                self._waiting_line.give_back(solver)
            await asyncio.sleep(QUICK)

    async def has_room_in_time(self) -> bool:
        """Hold a question past the bound, the longer the more are held; tell whether there is room for it then.

        To hold one costs nothing. One who asks again at once would otherwise be turned away again and again, until the
        server does nothing else.
        """
        self._held += 1
        try:
            await asyncio.sleep(pause(self._held))
        finally:
            self._held -= 1
        return not self.is_full

    async def _answered(self, question: Question, seconds: float) -> bytes:
        slow, lost = False, False
        while True:
            try:
                # No time limit of a question covers the start of the processes.
                async with asyncio.timeout(seconds + GRACE if self._begun else STARTING):
                    solver = await self._waiting_line.take(slow=slow, known=self._knowing(question))
            except TimeoutError:
                raise Overloaded from None
            budget = QUICK if solver.spare and seconds > QUICK else None
            try:
                reply = await self._asked(solver, question, seconds, budget=budget, is_doubted=lost)
            except SolverAbsent:
                continue
            except SolverLost:
                # Where one was ended others may have been, and it shows only when they are asked.
                if lost:
                    raise
                lost = True
                log.warning("a question is asked once more", extra={"task": question.task})
                continue
            if reply != PUT_BACK:
                return reply
            slow = True

    def _knowing(self, question: Question) -> Solver | None:
        """Return the solver that knows something of the one whom a question is about, if one does."""
        return next((each for each in self._all if question.case in each.cases), None)

    async def _asked(
        self,
        solver: Solver,
        question: Question,
        seconds: float,
        *,
        budget: float | None,
        is_doubted: bool = False,
    ) -> bytes:
        try:
            async with asyncio.timeout((budget or seconds) + GRACE):
                reply = await solver.ask(question, budget=budget, is_doubted=is_doubted)
        except SolverLost:
            self._replace_lost(solver)
            raise
        except BaseException as error:
            # Timed out, or given up by the one who asked: nobody can wait for this process.
            self._replace(solver)
            if not isinstance(error, TimeoutError):
                raise
            if budget is None:
                raise OutOfTime from None
            return PUT_BACK
        if reply == PUT_BACK:
            self._begin(self._warm_again(solver))
        else:
            self._waiting_line.give_back(solver)
        return reply

    async def _warm_again(self, solver: Solver) -> None:
        """Have a solver that was stopped midway work out anew what it needs, before it is given back."""
        try:
            for question in self.first():
                if question.digest in solver.known:
                    await solver.ask(question)
        except SolverLost:
            self._replace_lost(solver)
            return
        self._waiting_line.give_back(solver)

    def _hire(self, *, spare: bool = False, pause: float = 0.0) -> None:
        self._begin(self._prepare(spare, pause))

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._preparing.add(task)
        task.add_done_callback(self._preparing.discard)

    async def _prepare(self, spare: bool, pause: float) -> None:
        """Start a solver and have it read the problems before anyone waits for it."""
        await asyncio.sleep(pause)
        solver = self._started(spare)
        try:
            for question in self.first():
                await solver.ask(question)
        except SolverLost:
            self._replace_lost(solver)
            return
        if solver not in self._all:
            return
        self._failures = 0
        self._warm.add(solver)
        self._waiting_line.add(solver)
        if not self._begun and len(self._warm) >= self.size:
            self._begun = True
            self._hire(spare=True)

    def _started(self, spare: bool) -> Solver:
        ours, theirs = socket.socketpair()
        process = self._context.Process(target=solve_until_closed, args=(theirs,), daemon=True)
        with _held_back():
            process.start()
        theirs.close()
        solver = Solver(process, ours, spare)
        self._all.append(solver)
        if WATCHED:
            loop = asyncio.get_running_loop()
            loop.add_reader(process.sentinel, self._replace_lost, solver)
        return solver

    def _replace(self, solver: Solver) -> None:
        """End a solver and start another in its place: at once, unless it never got to answer anything."""
        if solver not in self._all:
            return
        pause = 0.0
        was_ready = solver in self._warm
        self._dismiss(solver)
        if not was_ready:
            pause = min(PAUSE * 2**self._failures, LONGEST_PAUSE)
            self._failures += 1
        self._hire(spare=solver.spare, pause=pause)

    def _replace_lost(self, solver: Solver) -> None:
        if solver in self._all:
            log.warning("a solver was ended from outside and is started anew")
            self._replace(solver)

    def _dismiss(self, solver: Solver) -> None:
        if WATCHED:
            asyncio.get_running_loop().remove_reader(solver.process.sentinel)
        self._all.remove(solver)
        self._warm.discard(solver)
        self._waiting_line.drop(solver)
        solver.end()


@contextmanager
def _held_back() -> Iterator[None]:
    """Hold SIGTERM back; a process that is started meanwhile does so too, until it has said that it does not heed it."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _read(reply: bytes) -> bytes:
    kind, content = reply[:1], reply[1:]
    if kind in (REFUSED, UNOPENED):
        data = json.loads(content)
        raise Refused(data["message"], data["faults"])
    if kind == FAILED:
        log.error("a solver failed", extra={"where": json.loads(content)})
        raise SolverFailed("this is a fault of p2c's own; the log says where")
    return content
