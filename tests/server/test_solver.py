"""What runs inside a solver: a question that needs more than its budget is stopped, and nothing stays half done."""

from __future__ import annotations

import json
import signal
import sys
import time
import tomllib
from typing import TYPE_CHECKING, Any

import pytest

from p2c import datasets
from p2c._server import solver
from p2c._server.solver import ANSWERED, PUT_BACK, Memory, budgeted_reply

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there the process is ended")
BUDGET = 0.02


@pytest.fixture(autouse=True)
def alarm() -> Iterator[None]:
    before = signal.signal(signal.SIGALRM, solver._spent)
    yield
    signal.signal(signal.SIGALRM, before)


def question(task: str, **more: Any) -> bytes:
    arguments = {"row": datasets.rows("loan")["john"], "time_limit": 60, **more}
    keys = tomllib.loads(datasets.problem_text("loan"))
    asked = {"task": task, "digest": "loan", "case": "john", "arguments": arguments}
    return json.dumps({**asked, "keys": keys, "budget": BUDGET}).encode()


def test_a_search_that_needs_more_than_its_budget_is_put_back() -> None:
    asked = question("nearest", k=10**9, distinct="points")
    assert budgeted_reply(Memory(), asked) == PUT_BACK


def test_what_libraries_do_is_not_stopped_midway(monkeypatch: pytest.MonkeyPatch) -> None:
    finished = []

    def task(*_: object) -> str:
        end = time.monotonic() + 5 * BUDGET
        while time.monotonic() < end:
            pass
        finished.append(True)
        return "done"

    monkeypatch.setitem(solver.TASKS, "library", task)
    assert budgeted_reply(Memory(), question("library"))[:1] in (ANSWERED, PUT_BACK)
    assert finished
