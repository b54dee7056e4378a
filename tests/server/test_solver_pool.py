"""Solvers: bounded in number, ended at their time, replaced when they are lost."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import tomllib
from typing import TYPE_CHECKING, Any

import pytest

from p2c import datasets
from p2c._server.solver_pool import (
    OutOfTime,
    Overloaded,
    Question,
    Refused,
    SolverFailed,
    SolverPool,
)
from tests.server.running import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from p2c._server.solver_pool import Solver

KEYS = tomllib.loads(datasets.problem_text("loan"))
JOHN = datasets.rows("loan")["john"]
ENDLESS = {"k": 10**9, "distinct": "points"}


def question(task: str = "plan", **more: Any) -> Question:
    return Question(task, "loan", KEYS, {"row": JOHN, "time_limit": 10, **more})


def with_pool(size: int, waiting: int, story: Callable[[SolverPool], Awaitable[None]]) -> None:
    async def run() -> None:
        pool = SolverPool(size=size, waiting=waiting, first=lambda: [question("greet")])
        pool.start()
        try:
            await pool.ask(question(), seconds=60)
            await story(pool)
        finally:
            await pool.stop()

    asyncio.run(run())


def test_a_question_with_hardly_any_time_waits_for_the_solvers_to_start() -> None:
    async def run() -> None:
        pool = SolverPool(size=1, waiting=1, first=lambda: [question("greet")])
        pool.start()
        try:
            plan = json.loads(await pool.ask(question(time_limit=1e-9), seconds=1e-9))
            assert plan["status"] in ("found", "gave_up")
        finally:
            await pool.stop()

    asyncio.run(run())


def test_a_hard_question_does_not_block_an_easy_one() -> None:
    async def story(pool: SolverPool) -> None:
        hard = asyncio.create_task(pool.ask(question("nearest", **ENDLESS), seconds=60))
        await asyncio.sleep(0)
        easy = json.loads(await pool.ask(question(), seconds=60))
        assert easy["status"] == "found"
        assert not hard.done()
        hard.cancel()

    with_pool(2, 0, story)


def test_every_solver_reads_a_new_problem_where_all_are_free() -> None:
    async def story(pool: SolverPool) -> None:
        while len(pool._warm) < 4:  # three, and the spare one
            await asyncio.sleep(0.05)
        await asyncio.wait_for(pool.greet(Question("greet", "new", KEYS, {"row": JOHN})), 60)
        assert all("new" in each.known for each in pool._warm)

    with_pool(3, 0, story)


def test_questions_past_the_bound_are_refused_and_room_comes_back() -> None:
    async def story(pool: SolverPool) -> None:
        hard = question("nearest", **ENDLESS)
        asked = [asyncio.create_task(pool.ask(hard, seconds=60)) for _ in range(3)]
        await asyncio.sleep(0)
        assert pool.is_full
        with pytest.raises(Overloaded):
            await pool.ask(question(), seconds=60)
        for each in asked:
            each.cancel()
        await asyncio.gather(*asked, return_exceptions=True)
        assert pool.taken == 0
        assert json.loads(await pool.ask(question(), seconds=60))["status"] == "found"

    with_pool(1, 2, story)


def test_a_solve_past_its_time_is_ended_and_its_place_filled() -> None:
    async def story(pool: SolverPool) -> None:
        with pytest.raises(OutOfTime):
            await pool.ask(question("nearest", **ENDLESS), seconds=0.1)
        assert pool.taken == 0
        assert json.loads(await pool.ask(question(), seconds=60))["status"] == "found"

    with_pool(1, 0, story)


def test_who_stops_waiting_frees_the_solver() -> None:
    async def story(pool: SolverPool) -> None:
        hard = asyncio.create_task(pool.ask(question("nearest", **ENDLESS), seconds=600))
        await asyncio.sleep(0.2)
        hard.cancel()
        with pytest.raises(asyncio.CancelledError):
            await hard
        assert json.loads(await pool.ask(question(), seconds=60))["status"] == "found"

    with_pool(1, 0, story)


def kill(solver: Solver) -> None:
    assert solver.process.pid is not None
    os.kill(solver.process.pid, signal.SIGKILL)


async def gone(pool: SolverPool, *solvers: Solver) -> None:
    while set(solvers) & set(pool._all):
        await asyncio.sleep(0.01)


async def ready(pool: SolverPool) -> None:
    while not pool.is_ready:
        await asyncio.sleep(0.01)


def test_a_question_whose_solver_the_system_ends_is_asked_once_more(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def story(pool: SolverPool) -> None:
        endless = question("nearest", row={**JOHN, "age": 32}, **ENDLESS)
        hard = asyncio.create_task(pool.ask(endless, seconds=600))
        for _ in range(2):
            assert not hard.done()
            while not [each for each in pool._all if endless.case in each.cases and not each.spare]:
                await asyncio.sleep(0.01)
            (busy,) = [each for each in pool._all if not each.spare]
            kill(busy)
            await gone(pool, busy)
        with pytest.raises(SolverFailed):
            await hard
        assert json.loads(await pool.ask(question(), seconds=60))["status"] == "found"

    with_pool(1, 0, story)
    said = [each.message for each in caplog.records]
    assert said.count("a solver was ended from outside and is started anew") == 2
    assert said.count("a question is asked once more") == 1


def test_solvers_that_end_while_nobody_asks_are_noticed_and_replaced() -> None:
    async def story(pool: SolverPool) -> None:
        await ready(pool)
        old = tuple(pool._all)
        for each in old:
            kill(each)
        await gone(pool, *old)
        assert not pool.is_ready
        await ready(pool)
        answers = [pool.ask(question(), seconds=60) for _ in range(4)]
        assert {json.loads(each)["status"] for each in await asyncio.gather(*answers)} == {"found"}

    with_pool(2, 2, story)


def test_a_solver_does_not_end_because_it_is_told_to_with_the_whole_server() -> None:
    async def story(pool: SolverPool) -> None:
        await ready(pool)
        hard = asyncio.create_task(
            pool.ask(question("nearest", k=500, distinct="points"), seconds=600)
        )
        await asyncio.sleep(0.05)
        before = tuple(pool._all)
        for each in before:
            assert each.process.pid is not None
            os.kill(each.process.pid, signal.SIGTERM)
        assert len(json.loads(await hard)["plans"]) == 500
        assert set(before) <= set(pool._all)

    with_pool(1, 0, story)


LEAVING = """
import asyncio
from p2c._server.solver_pool import SolverPool

async def leave(pool):
    pool.start()
    while not pool.is_ready:
        await asyncio.sleep(0.01)

if __name__ == "__main__":
    pool = SolverPool(size=1, waiting=0)
    asyncio.run(leave(pool))
"""


def test_a_process_that_ends_without_stopping_its_solvers_takes_them_with_it(
    tmp_path: Path,
) -> None:
    program = tmp_path / "leaving.py"
    program.write_text(LEAVING, encoding="utf-8")
    assert subprocess.run([sys.executable, program], timeout=PATIENCE, check=False).returncode == 0


@pytest.mark.parametrize("is_noticed", [True, False])
def test_a_question_right_after_all_solvers_were_ended_is_answered(
    is_noticed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("p2c._server.solver_pool.WATCHED", is_noticed)

    async def story(pool: SolverPool) -> None:
        while len(pool._warm) < 3:
            await asyncio.sleep(0.01)
        for each in tuple(pool._all):
            kill(each)
        assert json.loads(await pool.ask(question(), seconds=60))["status"] == "found"

    with_pool(2, 0, story)


def test_a_solver_that_never_gets_ready_is_tried_again_after_a_pause(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("p2c._server.solver_pool.PAUSE", 0.01)

    async def run() -> None:
        pool = SolverPool(size=1, waiting=0, first=lambda: [question("greet")])
        pool.start()
        try:
            for tries in range(1, 4):
                while not pool._all:
                    await asyncio.sleep(0)
                (young,) = pool._all
                kill(young)
                await gone(pool, young)
                assert pool._failures == tries
                assert not pool.is_ready
            assert json.loads(await pool.ask(question(), seconds=60))["status"] == "found"
            assert pool._failures == 0
        finally:
            await pool.stop()

    asyncio.run(run())


def test_quick_questions_are_answered_while_slow_ones_hold_every_solver() -> None:
    async def story(pool: SolverPool) -> None:
        slow = [
            asyncio.create_task(pool.ask(question("nearest", **ENDLESS), seconds=600))
            for _ in range(5)
        ]
        await asyncio.sleep(0)
        for _ in range(3):
            assert json.loads(await pool.ask(question(), seconds=60))["status"] == "found"
        assert not any(each.done() for each in slow)
        assert sum(each.slow for each in pool._waiting_line._waiting) == 3
        for each in slow:
            each.cancel()
        await asyncio.gather(*slow, return_exceptions=True)
        assert pool.taken == 0
        assert json.loads(await pool.ask(question(), seconds=60))["status"] == "found"

    with_pool(2, 10, story)


def test_a_question_that_was_put_back_is_answered_by_a_solver_that_has_time_for_it() -> None:
    async def story(pool: SolverPool) -> None:
        while not pool._waiting_line._spare:
            await asyncio.sleep(0.01)
        hard = asyncio.create_task(pool.ask(question("nearest", **ENDLESS), seconds=600))
        long = asyncio.create_task(
            pool.ask(question("nearest", k=3_000, distinct="points"), seconds=60)
        )
        while not any(each.slow for each in pool._waiting_line._waiting):
            assert not long.done()
            await asyncio.sleep(0.01)
        hard.cancel()
        assert len(json.loads(await long)["plans"]) == 3_000

    with_pool(1, 2, story)


def test_bad_input_keeps_its_faults_and_a_fault_of_ours_says_no_values() -> None:
    async def story(pool: SolverPool) -> None:
        with pytest.raises(Refused, match="debt: -1 is outside its range") as refused:
            await pool.ask(question(row={**JOHN, "debt": -1}), seconds=60)
        assert refused.value.faults[0]["place"] == "debt"
        with pytest.raises(SolverFailed) as failed:
            await pool.ask(question("no such task"), seconds=60)
        assert "no such task" not in str(failed.value)
        assert json.loads(await pool.ask(question(), seconds=60))["status"] == "found"

    with_pool(1, 0, story)


def test_a_problem_that_cannot_be_opened_is_refused_however_often_it_is_asked_about() -> None:
    async def story(pool: SolverPool) -> None:
        torn = Question("plan", "torn", {**KEYS, "goal": "not a goal("}, {"row": JOHN})
        for _ in range(2):
            with pytest.raises(Refused, match="goal"):
                await pool.ask(torn, seconds=60)

    with_pool(1, 0, story)


def test_all_that_is_asked_about_one_person_goes_to_the_solver_that_knows_them() -> None:
    async def story(pool: SolverPool) -> None:
        await ready(pool)
        others = {**JOHN, "debt": 4000}, {**JOHN, "debt": 3000}
        for row in others:
            await asyncio.gather(
                *(pool.ask(question(row=row), seconds=60) for _ in range(4)),
                pool.ask(question("story", row=row), seconds=60),
            )
            case = question(row=row).case
            assert sum(case in each.cases for each in pool._all) == 1

    with_pool(2, 10, story)
