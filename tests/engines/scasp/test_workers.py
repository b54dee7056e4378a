"""The warm worker with the real s(CASP), where it is installed: as right as a process for each question, and never left behind."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from p2c._engines.scasp.engine import ScaspEngine
from p2c._engines.scasp.solver import WARM, find_solver
from p2c._engines.scasp.worker import workers_of
from p2c.errors import EngineError, P2CError
from p2c.problem import Problem
from tests.engines.scasp.test_worker import is_gone
from tests.loan import JOHN, LOAN
from tests.strategies import seeded_problems

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from p2c._engines.scasp.worker import Workers

Document = dict[str, Any]

SOLVER = find_solver()
pytestmark = pytest.mark.skipif(
    SOLVER is None or SOLVER.manner != WARM, reason="no s(CASP) here that can be kept warm"
)

LIMIT = 20.0
"""Seconds after which a random problem is left out."""

WANTED = [f"f{each}" for each in range(12)]
LONG: Document = {
    "goal": "good(X)",
    "rules": f"good(X) :- {', '.join(f'{name}(X,c)' for name in WANTED)}, z(X,y).",
    "features": {
        **{name: {"type": "category", "values": ["a", "b", "c"]} for name in WANTED},
        "z": {"type": "category", "values": ["n", "y"], "action": "fixed"},
    },
}
"""Out of reach, which takes s(CASP) longer to prove than anyone waits."""
SOMEBODY: Document = {**dict.fromkeys(WANTED, "a"), "z": "n"}


@pytest.fixture(autouse=True)
def _warm() -> None:
    """Skip where s(CASP) looks as if it could be kept warm, and yet cannot."""
    ask()
    assert SOLVER is not None
    if SOLVER.manner != WARM:
        pytest.skip("s(CASP) cannot be kept warm here")


def warm_workers() -> Workers:
    assert SOLVER is not None
    found = workers_of(SOLVER.command)
    assert found is not None
    return found


def ask(
    document: Document = LOAN, row: Document = JOHN, *, warm: bool = True, **options: Any
) -> Document:
    problem = Problem.from_dict(document)
    engine = ScaspEngine(warm=warm)
    return engine.plan(problem.compiled, problem.read_row(row), **options).to_dict()


def children(process: int) -> list[int]:
    return [
        int(each) for each in Path(f"/proc/{process}/task/{process}/children").read_text().split()
    ]


def wait_for(look: Callable[[], Sequence[int]]) -> Sequence[int]:
    """Return what is looked for once it is there."""
    for _ in range(6000):
        found = look()
        if found:
            return found
        time.sleep(0.01)
    raise AssertionError("it never came")


def assert_same_as_cold(problems: Sequence[tuple[Document, Document]]) -> int:
    """Compare one worker, asked in random order, with a process for each question."""
    cold = []
    for document, row in problems:
        try:
            answer = ask(document, row, warm=False, time_limit=LIMIT)
        except EngineError:
            raise
        except P2CError:
            continue
        if answer["status"] != "gave_up":
            cold.append((document, row, answer))
    random.Random(1).shuffle(cold)
    workers = warm_workers()
    workers.end()
    ask()
    started = workers.processes
    for document, row, answer in cold:
        assert ask(document, row) == answer, f"{document!r}\n{row!r}"
    assert workers.processes == started
    assert len(started) == 1
    return len(cold)


def test_one_worker_answers_as_a_process_for_each_question_does() -> None:
    assert assert_same_as_cold(seeded_problems(2200, 8)) >= 5


@pytest.mark.slow
def test_one_worker_answers_two_hundred_problems_as_a_process_for_each_does() -> None:
    assert assert_same_as_cold(seeded_problems(2201, 250)) >= 200


def test_threads_have_a_worker_each_and_never_anothers_answer() -> None:
    richer = {**JOHN, "bank_balance": 70_000}
    rows = [JOHN, richer] * 4
    expected = [ask(row=row)["cost"] for row in rows]
    warm_workers().end()
    with ThreadPoolExecutor(4) as pool:
        costs = [answer["cost"] for answer in pool.map(lambda row: ask(row=row), rows)]
    assert costs == expected
    assert costs[0] != costs[1]
    assert 1 <= len(warm_workers().processes) <= 4


def asked_at_length(outcome: list[BaseException]) -> threading.Thread:
    """Put the question that takes too long, on another thread."""

    def run() -> None:
        try:
            ask(LONG, SOMEBODY)
        except P2CError as error:
            outcome.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    return thread


@pytest.mark.parametrize(
    ("victim", "complaint"),
    [
        ("worker", "the warm worker ended by SIGKILL in the middle of a question"),
        ("fork", "the process was ended by SIGKILL"),
    ],
)
def test_killed_in_the_middle_of_a_question_is_one_error_and_nothing_stays(
    victim: str, complaint: str
) -> None:
    warm_workers().end()
    outcome: list[BaseException] = []
    thread = asked_at_length(outcome)
    (worker,) = wait_for(lambda: warm_workers().processes)
    (fork,) = wait_for(lambda: children(worker))
    os.kill(worker if victim == "worker" else fork, signal.SIGKILL)
    thread.join()
    assert [complaint in str(each) for each in outcome] == [True]
    assert is_gone(fork)
    assert ask()["status"] == "found"
    assert (worker in warm_workers().processes) == (victim == "fork")


def test_time_that_is_up_leaves_nothing_and_the_next_question_is_answered() -> None:
    ask()
    before = warm_workers().processes
    assert ask(LONG, SOMEBODY, time_limit=0.5)["status"] == "gave_up"
    assert all(map(is_gone, before))
    assert ask()["status"] == "found"


ELSEWHERE = """
import json, os, sys
from p2c._engines.scasp.engine import ScaspEngine
from p2c._engines.scasp.solver import find_solver
from p2c._engines.scasp.worker import workers_of
from p2c.problem import Problem

def ask(document, row):
    problem = Problem.from_dict(document)
    return ScaspEngine().plan(problem.compiled, problem.read_row(row)).cost

def tell(*values):
    print(json.dumps(values), flush=True)

loan, john, long, somebody = json.loads(sys.argv[1])
workers = workers_of(find_solver().command)
cost = ask(loan, john)
"""


def elsewhere(script: str) -> subprocess.Popen[str]:
    """Start a process of its own that has asked one question, and goes on with a script."""
    given = json.dumps([LOAN, JOHN, LONG, SOMEBODY])
    return subprocess.Popen(
        [sys.executable, "-c", ELSEWHERE + script, given], stdout=subprocess.PIPE, text=True
    )


def told(process: subprocess.Popen[str]) -> Any:
    assert process.stdout is not None
    return json.loads(process.stdout.readline())


@pytest.mark.parametrize(
    "script", ["tell(*workers.processes)", "tell(*workers.processes); os._exit(0)"]
)
def test_a_process_that_ends_leaves_no_worker(script: str) -> None:
    with elsewhere(script) as process:
        (worker,) = told(process)
    assert is_gone(worker)


def test_a_process_that_is_killed_leaves_neither_worker_nor_fork() -> None:
    with elsewhere("tell(*workers.processes); ask(long, somebody)") as process:
        (worker,) = told(process)
        (fork,) = wait_for(lambda: children(worker))
        process.kill()
    assert is_gone(fork)
    assert is_gone(worker)


def test_a_forked_process_has_a_worker_of_its_own() -> None:
    script = """
(first,) = workers.processes
child = os.fork()
if child == 0:
    tell(ask(loan, john), *workers.processes)
    os._exit(0)
os.waitpid(child, 0)
tell(cost, ask(loan, john), first, *workers.processes)
"""
    with elsewhere(script) as process:
        (theirs, other) = told(process)
        (cost, ours, first, *still) = told(process)
    assert cost == ours == theirs
    assert still == [first]
    assert other != first
    assert is_gone(other)
