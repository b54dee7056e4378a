"""Methods in processes of their own: answers come back, crashes and hangs are recorded."""

from __future__ import annotations

import os
import pickle
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from benchmarks import run
from benchmarks.peers import PEERS
from benchmarks.store import Store
from benchmarks.worker import answer_row, missing, serve
from tests.benchmarks.tiny import JOHN, loan_world

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from pathlib import Path

    from benchmarks.peers.protocol import Answer, Finder
    from benchmarks.world import State, World


def crash(world: World) -> Finder:
    """Answer nobody: the first row ends the process."""

    def find(person: State) -> Answer:
        os._exit(3)

    return find


def hang(world: World) -> Finder:
    """Answer nobody: every row takes for ever."""

    def find(person: State) -> Answer:
        time.sleep(1_000)
        raise AssertionError

    return find


def serve_with(connection: Connection, file: Path, method: str) -> None:
    """Serve a method that only this test knows; each worker is a process with its own registry."""
    PEERS["crash"] = replace(PEERS["p2c"], prepare=crash)
    PEERS["hang"] = replace(PEERS["p2c"], prepare=hang)
    serve(connection, file, method)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("benchmarks.worker.serve", serve_with)
    for name, prepare in {"crash": crash, "hang": hang}.items():
        monkeypatch.setitem(PEERS, name, replace(PEERS["p2c"], prepare=prepare))
    world = replace(loan_world(), people=(JOHN, {**JOHN, "balance": 5}))
    (tmp_path / "tiny").write_bytes(pickle.dumps(world))
    return tmp_path


def statuses(store: Store, method: str) -> list[str]:
    return [record["status"] for record in store.of("tiny", method)]


def test_a_method_answers_every_row_and_a_second_run_has_nothing_to_do(folder: Path) -> None:
    store = Store.open(folder / "store.jsonl")
    run.cover(store, folder, 2, 60.0, ("tiny", "p2c"))
    assert statuses(store, "p2c") == ["found", "found"]
    first = store.of("tiny", "p2c")[0]
    assert first["legal"]
    assert first["arrives"]
    assert first["faults"] == []
    assert first["executed_cost"] == pytest.approx(0.7)
    before = (folder / "store.jsonl").read_text()
    run.cover(Store.open(folder / "store.jsonl"), folder, 2, 60.0, ("tiny", "p2c"))
    assert (folder / "store.jsonl").read_text() == before


def test_a_crash_is_recorded_for_each_row_that_it_hits(folder: Path) -> None:
    store = Store.open(folder / "store.jsonl")
    run.cover(store, folder, 2, 60.0, ("tiny", "crash"))
    assert statuses(store, "crash") == ["error", "error"]
    assert "ended with code 3" in store.of("tiny", "crash")[0]["note"]


def test_a_hanging_method_is_ended_and_given_up_in_the_end(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "PATIENCE", 1)
    store = Store.open(folder / "store.jsonl")
    run.cover(store, folder, 2, 0.2, ("tiny", "hang"))
    assert statuses(store, "hang") == ["timeout", "timeout"]
    assert "not tried" in store.of("tiny", "hang")[1]["note"]


def test_a_method_that_is_not_installed_is_recorded_with_the_reason(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(PEERS, "absent", replace(PEERS["p2c"], needs=("no_such_module",)))
    store = Store.open(folder / "store.jsonl")
    run.cover(store, folder, 1, 60.0, ("tiny", "absent"))
    assert statuses(store, "absent") == ["missing"]
    assert "no_such_module" in store.of("tiny", "absent")[0]["note"]
    monkeypatch.setitem(PEERS, "future", replace(PEERS["p2c"], python=(9, 9)))
    assert missing("future") is not None


def test_a_methods_own_error_does_not_end_its_worker(folder: Path) -> None:
    world = pickle.loads((folder / "tiny").read_bytes())
    finder = PEERS["p2c"].prepare(world)
    with pytest.raises(IndexError):
        answer_row(world, PEERS["p2c"], finder, 7)
    store = Store.open(folder / "store.jsonl")
    run.cover(store, folder, 3, 60.0, ("tiny", "p2c"))
    assert statuses(store, "p2c") == ["found", "found", "error"]


def test_a_method_that_was_missing_is_asked_once_it_is_installed(folder: Path) -> None:
    store = Store.open(folder / "store.jsonl")
    store.add({"data": "tiny", "method": "p2c", "row": 0, "status": "missing", "note": ""})
    run.cover(store, folder, 1, 60.0, ("tiny", "p2c"))
    assert statuses(Store.open(folder / "store.jsonl"), "p2c") == ["found"]
