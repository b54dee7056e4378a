"""Solvers: bounded in number, ended at their time, replaced when they are lost."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import tomllib
from typing import TYPE_CHECKING, Any

import pytest

from p2c import datasets
from p2c.web.crew import Crew, OutOfTime, Overloaded, Question, Refused, SolverFailed

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

KEYS = tomllib.loads(datasets.problem_text("loan"))
JOHN = datasets.rows("loan")["john"]
ENDLESS = {"k": 10**9, "distinct": "points"}


def question(task: str = "plan", **more: Any) -> Question:
    return Question(task, "loan", KEYS, {"row": JOHN, "time_limit": 10, **more})


def with_crew(size: int, waiting: int, story: Callable[[Crew], Awaitable[None]]) -> None:
    async def run() -> None:
        crew = Crew(size=size, waiting=waiting)
        crew.start()
        try:
            await crew.ask(question(), seconds=60)
            await story(crew)
        finally:
            await crew.stop()

    asyncio.run(run())


def test_a_hard_question_does_not_block_an_easy_one() -> None:
    async def story(crew: Crew) -> None:
        hard = asyncio.create_task(crew.ask(question("nearest", **ENDLESS), seconds=60))
        await asyncio.sleep(0)
        easy = json.loads(await crew.ask(question(), seconds=60))
        assert easy["status"] == "found"
        assert not hard.done()
        hard.cancel()

    with_crew(2, 0, story)


def test_questions_past_the_bound_are_refused_at_once_and_room_comes_back() -> None:
    async def story(crew: Crew) -> None:
        asked = [asyncio.create_task(crew.ask(question(), seconds=60)) for _ in range(3)]
        await asyncio.sleep(0)
        assert crew.is_full
        with pytest.raises(Overloaded):
            await crew.ask(question(), seconds=60)
        for each in asked:
            assert json.loads(await each)["status"] == "found"
        assert crew.taken == 0
        assert json.loads(await crew.ask(question(), seconds=60))["status"] == "found"

    with_crew(1, 2, story)


def test_a_solve_past_its_time_is_ended_and_its_place_filled() -> None:
    async def story(crew: Crew) -> None:
        with pytest.raises(OutOfTime):
            await crew.ask(question("nearest", **ENDLESS), seconds=0.1)
        assert crew.taken == 0
        assert json.loads(await crew.ask(question(), seconds=60))["status"] == "found"

    with_crew(1, 0, story)


def test_who_stops_waiting_frees_the_solver() -> None:
    async def story(crew: Crew) -> None:
        hard = asyncio.create_task(crew.ask(question("nearest", **ENDLESS), seconds=600))
        await asyncio.sleep(0.2)
        hard.cancel()
        with pytest.raises(asyncio.CancelledError):
            await hard
        assert json.loads(await crew.ask(question(), seconds=60))["status"] == "found"

    with_crew(1, 0, story)


def test_a_solver_that_the_system_ends_is_replaced() -> None:
    async def story(crew: Crew) -> None:
        hard = asyncio.create_task(crew.ask(question("nearest", **ENDLESS), seconds=600))
        await asyncio.sleep(0.2)
        pid = crew._all[0].process.pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(SolverFailed):
            await hard
        assert json.loads(await crew.ask(question(), seconds=60))["status"] == "found"

    with_crew(1, 0, story)


def test_bad_input_keeps_its_faults_and_a_fault_of_ours_says_no_values() -> None:
    async def story(crew: Crew) -> None:
        with pytest.raises(Refused, match="debt: -1 is outside its range") as refused:
            await crew.ask(question(row={**JOHN, "debt": -1}), seconds=60)
        assert refused.value.faults[0]["place"] == "debt"
        with pytest.raises(SolverFailed) as failed:
            await crew.ask(question("no such task"), seconds=60)
        assert "no such task" not in str(failed.value)
        assert json.loads(await crew.ask(question(), seconds=60))["status"] == "found"

    with_crew(1, 0, story)
