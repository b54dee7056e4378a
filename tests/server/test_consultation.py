"""One click is one solve: the plan, its picture, its letter and the other ways are told from one search."""

from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING, Any

import pytest

from p2c import datasets
from p2c._engines.clingo.engine import ClingoEngine
from p2c._engines.policy import Policy
from p2c._explain.phrases import phrases_of
from p2c._server.pages import frame
from p2c._server.pages.address import case_of_row
from p2c._server.pages.frame import templates
from p2c._server.solver import ANSWERED, Memory, reply
from p2c._server.tasks import Consultation, name_of
from p2c.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.testclient import TestClient

KEYS = tomllib.loads(datasets.problem_text("adult"))
PAPER = datasets.rows("adult")["paper"]
CLICK = ("story", "picture", "letter", "plan", "ways", "why")


def asked(memory: Memory, task: str, **more: Any) -> Any:
    arguments = {"row": PAPER, "time_limit": 20, "k": 4, "theme": "light", **more}
    message: dict[str, Any] = {"task": task, "digest": "adult", "arguments": arguments}
    message |= {"keys": KEYS, "case": name_of("adult", arguments)}
    answer = reply(memory, json.dumps(message).encode())
    assert answer[:1] == ANSWERED
    return json.loads(answer[1:])


def counting(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> list[str]:
    calls: list[str] = []
    real: Callable[..., Any] = getattr(owner, name)

    def counted(*given: Any, **named: Any) -> Any:
        calls.append(name)
        return real(*given, **named)

    monkeypatch.setattr(owner, name, counted)
    return calls


@pytest.mark.parametrize("order", [CLICK, CLICK[::-1], ("ways", "story", "picture")])
def test_a_click_solves_once_and_reads_the_row_once(
    monkeypatch: pytest.MonkeyPatch, order: tuple[str, ...]
) -> None:
    import p2c._plan.nearest

    solves = counting(monkeypatch, Policy, "plan")
    solves_of_ways = counting(monkeypatch, p2c._plan.nearest, "find_plan")
    readings = counting(monkeypatch, Problem, "read_row")
    memory = Memory()
    answers = {task: asked(memory, task) for task in order}
    assert len(solves) + len(solves_of_ways) == 1
    assert len(readings) == 1
    (known,) = memory.asked.values()
    assert known.solves == 1
    assert len(answers["ways"]["ways"]) > 1


def test_what_a_memory_tells_is_what_a_fresh_solver_tells() -> None:
    memory = Memory()
    for task in CLICK:
        assert asked(memory, task) == asked(Memory(), task)


def test_another_row_restriction_or_key_is_another_question() -> None:
    memory = Memory()
    costs = [
        asked(memory, "plan", **more)["cost"]
        for more in (
            {},
            {"norm": "l0"},
            {"restrictions": {"capital_gain": {"weight": 2}}},
            {"row": {**PAPER, "capital_gain": 3000}},
        )
    ]
    assert len(set(costs)) == len(costs)
    assert [each.solves for each in memory.asked.values()] == [1, 1, 1, 1]


def test_a_search_that_gave_up_is_taken_up_again_only_with_more_time() -> None:
    consultation = Consultation(Problem.from_dict(KEYS), PAPER)
    assert consultation.plan(1e-9).status == "gave_up"
    assert consultation.plan(1e-9).status == "gave_up"
    assert consultation.solves == 1
    assert consultation.plan(20).status == "found"
    assert consultation.plan(1e-9).status == "found"
    assert consultation.solves == 2


def test_a_plan_that_gave_up_is_no_first_plan_of_the_nearest() -> None:
    consultation = Consultation(Problem.from_dict(KEYS), PAPER)
    assert consultation.plan(1e-9).status == "gave_up"
    found = consultation.nearest(2, "points", 20)
    assert [each.status for each in found] == ["found", "found"]
    assert consultation.plan(1e-9).status == "found"


def test_the_service_finds_the_nearest_after_somebody_else_s_plan_gave_up(
    client: TestClient,
) -> None:
    about = {"problem": "adult", "row": {**PAPER, "age": 37}}
    client.post("/plan", json={"problem": "adult", "row": PAPER})  # the solver has started then
    assert client.post("/plan", json=about | {"time_limit": 1e-9}).json()["status"] == "gave_up"
    plans = client.post("/nearest", json=about | {"k": 2}).json()["plans"]
    assert [each["status"] for each in plans] == ["found", "found"]


def test_other_ways_of_a_search_that_gave_up_are_no_ways() -> None:
    memory = Memory()
    row = {**PAPER, "age": 36}
    assert asked(memory, "plan", row=row, time_limit=1e-9)["status"] == "gave_up"
    ways = asked(memory, "ways", row=row, time_limit=1e-9)
    assert ways == {"ways": [], "complete": False}
    page = templates.get_template("ways.html").render(
        told=ways, trouble="", faults=(), words=phrases_of("en").pages
    )
    assert "The search stopped at its limit." in page
    assert "cheapest" not in page
    assert "There is no other way" not in page
    assert asked(memory, "ways", row=row)["complete"]


def test_what_was_proved_is_told_of_what_was_asked(client: TestClient) -> None:
    query = case_of_row(PAPER).query()
    usual = client.get(f"/p/adult/plan?{query}").text
    fewest = client.get(f"/p/adult/plan?{query}&minimize=actions").text
    assert "No other way takes less effort." in usual
    assert "No other way takes less effort." not in fewest
    assert "No other way takes fewer steps of your own." in fewest


def test_the_page_reads_the_values_of_an_address_once(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    readings = counting(monkeypatch, frame, "read_values")
    page = client.get(f"/p/adult/plan?{case_of_row(PAPER).query()}").text
    assert "No other way takes less effort." in page
    assert len(readings) == 1


def test_a_question_is_put_to_the_engine_that_it_names(monkeypatch: pytest.MonkeyPatch) -> None:
    solves = counting(monkeypatch, ClingoEngine, "plan")
    memory = Memory()
    first = asked(memory, "plan", engine="native")
    assert not solves
    assert asked(memory, "plan", engine="clingo")["cost"] == pytest.approx(first["cost"])
    assert len(solves) == 1
