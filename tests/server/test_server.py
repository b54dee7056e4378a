"""A server in a process of its own: it starts, changes with its files, and stops without dropping a request."""

from __future__ import annotations

import json
import os
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from p2c import datasets
from p2c.problem import Problem
from tests.server.running import PATIENCE, running

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.server.running import Running

JOHN = datasets.rows("loan")["john"]
LOAN = datasets.problem_text("loan")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("server")) as found:
        yield found


def until(fact: Any) -> None:
    """Wait for a fact to become true."""
    end = time.monotonic() + PATIENCE
    while not fact():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_file_that_changes_is_served_anew_and_no_request_is_dropped(tmp_path: Path) -> None:
    file = tmp_path / "loan.toml"
    file.write_text(LOAN)
    richer = LOAN.replace("60000", "70000")
    ends: list[int] = []
    with running(tmp_path, str(file), "--api") as server, httpx2.Client(timeout=PATIENCE) as client:

        def balance() -> int:
            answer = client.post(f"{server.address}/plan", json={"row": JOHN})
            assert answer.status_code == 200
            ends.append(answer.json()["counterfactual"]["bank_balance"])
            return ends[-1]

        assert balance() == 60_000
        file.write_text(richer)
        until(lambda: balance() == 70_000)
        file.write_text("broken")
        until(lambda: client.get(f"{server.address}/problems").json()["problems"][0]["error"])
        assert balance() == 70_000
        file.write_text(LOAN)
        until(lambda: balance() == 60_000)
        assert set(ends) == {60_000, 70_000}
        assert "a changed problem cannot be read" in server.log.read_text()


def test_logs_are_json_and_hold_nothing_that_a_person_said(server: Running) -> None:
    with httpx2.Client(timeout=PATIENCE) as client:
        row = {**JOHN, "debt": 123_457}
        client.post(f"{server.address}/plan", json={"problem": "loan", "row": row})
        client.post(f"{server.address}/plan", json={"problem": "loan", "row": {"debt": "Jane Roe"}})
        client.get(f"{server.address}/p/loan/plan?v:debt=123458")
    until(lambda: '"/p/{id}/plan"' in server.log.read_text())  # written once the answer is out
    lines = server.log.read_text().splitlines()
    records = [json.loads(line) for line in lines if not line.startswith("http://")]
    routes = [each["route"] for each in records if each["message"] == "request"]
    assert routes.count("/plan") == 2
    for secret in ("123457", "123458", "Jane Roe"):
        assert secret not in server.log.read_text()


@pytest.mark.parametrize(("trusted", "secure"), [("127.0.0.1", True), ("192.0.2.1", False)])
def test_a_proxy_is_believed_about_tls_only_if_it_is_trusted(
    tmp_path: Path, trusted: str, secure: bool
) -> None:
    token = "a-token-of-some-length"
    with running(tmp_path, "--token", token, "--proxy", trusted) as server:
        told = {"X-Forwarded-Proto": "https"}
        entered = httpx2.post(f"{server.address}/login", data={"token": token}, headers=told)
    assert ("Secure" in entered.headers["set-cookie"]) == secure


def _metrics(address: str) -> bytes:
    return httpx2.get(f"{address}/metrics", timeout=PATIENCE).content


def test_several_processes_answer_as_one(tmp_path: Path) -> None:
    problem = Problem.from_dict(tomllib.loads(LOAN))
    expected = json.loads(json.dumps(problem.plan(JOHN).to_dict()))
    with running(tmp_path, "--api", "--workers", "2") as server:
        with httpx2.Client(timeout=PATIENCE) as client:
            for _ in range(20):
                answer = client.post(
                    f"{server.address}/plan", json={"problem": "loan", "row": JOHN}
                )
                assert answer.json() == expected
        text = _metrics(server.address).decode()
        assert 'p2c_answers_total{problem="loan",status="found"} 20.0' in text
        assert server.stop() == 0


def test_at_more_than_it_can_take_it_sheds_and_recovers(server: Running) -> None:
    asked = {"problem": "loan", "row": JOHN}
    with httpx2.Client(timeout=PATIENCE) as client:
        expected = client.post(f"{server.address}/plan", json=asked).json()

        def ask(number: int) -> httpx2.Response:
            path, body = ("nearest", asked | {"k": 100}) if number % 2 else ("plan", asked)
            return client.post(f"{server.address}/{path}", json=body)

        with ThreadPoolExecutor(90) as crowd:
            answers = list(crowd.map(ask, range(180)))
        assert {each.status_code for each in answers} <= {200, 503}
        for number, answer in enumerate(answers):
            if answer.status_code == 503:
                assert answer.headers["retry-after"] == "1"
            elif number % 2 == 0:
                assert answer.json() == expected
        assert client.post(f"{server.address}/plan", json=asked).json() == expected


def test_a_request_under_way_is_answered_before_the_server_stops(server: Running) -> None:
    asked = {"problem": "loan", "row": JOHN, "k": 100}
    with ThreadPoolExecutor(1) as other, httpx2.Client(timeout=PATIENCE) as client:
        long = other.submit(client.post, f"{server.address}/nearest", json=asked)
        until(lambda: long.done() or b"p2c_active_requests 2.0" in _metrics(server.address))
        assert server.stop() == 0
        assert len(long.result().json()["plans"]) == 100


def test_a_request_is_answered_too_where_all_processes_are_told_to_stop(tmp_path: Path) -> None:
    asked = {"problem": "loan", "row": JOHN, "k": 100}
    with (
        running(tmp_path, "--api") as server,
        ThreadPoolExecutor(1) as other,
        httpx2.Client(timeout=PATIENCE) as client,
    ):
        long = other.submit(client.post, f"{server.address}/nearest", json=asked)
        until(lambda: long.done() or b"p2c_active_requests 2.0" in _metrics(server.address))
        assert server.stop_all() == 0
        assert len(long.result().json()["plans"]) == 100
        assert "ended from outside" not in server.log.read_text()


LACKING = """
import sys

class Lacking:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("pandas", "sklearn", "scipy", "pyarrow", "clingo", "matplotlib"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Lacking())
"""
"""What a process is like where only the extra `web` is installed; solvers are such processes too."""


def test_the_service_and_its_pages_need_no_extra_but_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sitecustomize.py").write_text(LACKING, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    with running(tmp_path) as server:
        body = {"problem": "loan", "row": JOHN}
        assert httpx2.post(f"{server.address}/plan", json=body, timeout=PATIENCE).status_code == 200
        assert httpx2.get(server.address, timeout=PATIENCE).status_code == 200
