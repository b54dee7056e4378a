"""What runs inside a solver's process: take a question from the pipe, answer it, keep the problem for the next one."""

from __future__ import annotations

import functools
import json
import signal
import sys
import traceback
from collections import OrderedDict
from importlib.resources import files
from typing import TYPE_CHECKING, Any, TypeVar

from p2c._server import comparison_task, tasks
from p2c._server.tasks import Consultation, overrides
from p2c.errors import MOST_FAULTS, NoticeError, P2CError, ProblemError, RowError, joined_lines
from p2c.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from socket import socket
    from types import FrameType

Kept = TypeVar("Kept")
TASKS: dict[str, Callable[[Consultation, Mapping[str, Any]], Any]] = {
    **tasks.TASKS,
    "comparison": comparison_task.comparison,
}
ANSWERED, REFUSED, FAILED, PUT_BACK, UNOPENED = b"0", b"1", b"2", b"3", b"4"
ARE_YOU_THERE = b""
"""A message that is no question, and comes back as it is."""
PREFIX = 8
"""Bytes that say how long a message is."""
KEPT = 64
"""How many problems, each as some person restricted it, are kept compiled, and for how many people what was found."""
STOPPABLE = (str(files("p2c")), functools.__file__)
"""Whose code may be stopped anywhere: ours, and what stands between a cached property and its value."""
SOON = 0.001
"""Seconds after which it is looked again whether a question can be stopped."""


class LruMemory(OrderedDict[str, Kept]):
    """The values put last, by their names.

    >>> recent = LruMemory(2)
    >>> for name in "abac":
    ...     recent.put(name, name.upper())
    >>> "a" in recent, "b" in recent, recent["c"]
    (True, False, 'C')
    """

    def __init__(self, size: int = 16) -> None:
        super().__init__()
        self._size = size

    def put(self, name: str, value: Kept) -> None:
        """Keep a value as the latest, and forget the oldest where there are too many."""
        self[name] = value
        self.move_to_end(name)
        if len(self) > self._size:
            self.popitem(last=False)


class BudgetSpent(BaseException):
    """Ends a question that was given little time and needs more; not to be caught on the way."""


class Memory:
    """The problems that were sent, those that restrictions made of them, and what was found for whom."""

    def __init__(self, sent: Iterable[tuple[str, Problem]] = ()) -> None:
        # The other end keeps the same record of what was sent, and so knows what has to be sent again.
        self.sent: LruMemory[Problem] = LruMemory()
        for name, problem in sent:
            self.sent.put(name, problem)
        self.made: LruMemory[Problem] = LruMemory(KEPT)
        self.asked: LruMemory[Consultation] = LruMemory(KEPT)

    def open(self, message: dict[str, Any]) -> None:
        """Read the problem that a question brings along."""
        digest = message["digest"]
        sent = Problem.from_message(message["keys"]) if "keys" in message else self.sent[digest]
        self.sent.put(digest, sent)

    def recall(self, message: dict[str, Any]) -> Consultation:
        """Return what is known of the one whom a question is about."""
        problem, arguments, name = self._problem(message), message["arguments"], message["case"]
        if not name:
            return Consultation(problem, None)
        if name in self.asked:
            known = self.asked[name]
        else:
            asked = problem.with_keys(**overrides(arguments))
            known = Consultation(asked, arguments["row"], arguments.get("engine", "auto"))
        self.asked.put(name, known)
        return known

    def _problem(self, message: dict[str, Any]) -> Problem:
        digest = message["digest"]
        sent = self.sent[digest]
        restrictions = message["arguments"].get("restrictions")
        if not restrictions:
            return sent
        key = f"{digest} {json.dumps(restrictions, sort_keys=True)}"
        made = self.made[key] if key in self.made else sent.restricted(restrictions)
        self.made.put(key, made)
        return made


def framed(message: bytes) -> bytes:
    """Return a message with its length before it."""
    return len(message).to_bytes(PREFIX) + message


def solve_until_closed(line: socket) -> None:
    """Answer questions until the other end closes the line or is gone.

    Who stops a server often signals every process of its group, as systemd and `kill %1` do: the server has what is under
    way answered, and ends its solvers then.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if sys.platform != "win32":
        signal.signal(signal.SIGALRM, _spent)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    memory = Memory()
    with line, line.makefile("rwb") as stream:
        while True:
            size = stream.read(PREFIX)
            if len(size) < PREFIX:
                return
            message = stream.read(int.from_bytes(size))
            before = tuple(memory.sent.items())
            answer = budgeted_reply(memory, message) if message != ARE_YOU_THERE else message
            if answer == PUT_BACK:
                # What was stopped midway is not used again; a model stays open, for its files may have changed since.
                memory = Memory((name, problem.renewed()) for name, problem in before)
            try:
                stream.write(framed(answer))
                stream.flush()
            except OSError:
                return


def budgeted_reply(memory: Memory, message: bytes) -> bytes:
    """Return the answer to one question, or, where its budget is spent before, that it is put back."""
    try:
        try:
            return reply(memory, message)
        finally:
            # Past this line no signal is due any more: one that came just before is raised by it.
            _set_alarm(0)
    except BudgetSpent:
        return PUT_BACK


def _set_alarm(seconds: float) -> None:
    """Have the question under way end after some seconds, or never; where the system cannot, the process is ended."""
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _spent(_: int, frame: FrameType | None) -> None:
    """End the question under way, as soon as nothing but our own code is: an import or a library may not stand it."""
    within: list[str] = []
    while frame is not None and frame.f_code is not budgeted_reply.__code__:
        within.append(frame.f_code.co_filename)
        frame = frame.f_back
    if frame is not None:
        if all(file.startswith(STOPPABLE) for file in within):
            raise BudgetSpent
        _set_alarm(SOON)


def reply(memory: Memory, message: bytes) -> bytes:
    """Return the answer to one question, or what is wrong with it."""
    try:
        question = json.loads(message)
        _set_alarm(question.get("budget", 0))
        try:
            memory.open(question)
        except P2CError as error:
            return UNOPENED + json.dumps(refusal(error)).encode()
        answer = TASKS[question["task"]](memory.recall(question), question["arguments"])
        return ANSWERED + json.dumps(answer, allow_nan=False).encode()
    except P2CError as error:
        return REFUSED + json.dumps(refusal(error)).encode()
    except Exception as error:
        return FAILED + json.dumps(_where(error)).encode()


def refusal(error: P2CError) -> dict[str, Any]:
    """Return an error as JSON: one line, and its faults with their places."""
    faults = (
        error.faults[:MOST_FAULTS]
        if isinstance(error, NoticeError | ProblemError | RowError)
        else ()
    )
    return {"message": joined_lines(error), "faults": [each.to_dict() for each in faults]}


def _where(error: Exception) -> dict[str, Any]:
    """Say where a fault lies; its message may hold a person's values and is left out."""
    frames = traceback.extract_tb(error.__traceback__)
    return {
        "kind": type(error).__name__,
        "frames": [f"{each.filename}:{each.lineno} {each.name}" for each in frames],
    }
