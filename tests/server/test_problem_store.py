"""Problems on the store: read again when their files change, kept as they were when the new file is broken."""

from __future__ import annotations

import json
import os
import tomllib
from typing import TYPE_CHECKING, Any

import pytest
from starlette.testclient import TestClient

from p2c import datasets
from p2c._server import app, problem_store
from p2c._server.problem_store import UnknownProblem, open_store
from p2c._server.settings import Settings
from p2c.errors import P2CError
from tests.server.conftest import HERE, LIMITS
from tests.server.running import closed
from tests.server.test_server import until

if TYPE_CHECKING:
    from pathlib import Path

LOAN = datasets.problem_text("loan")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "loan.toml"
    path.write_text(LOAN)
    return path


def test_a_changed_file_is_read_again(file: Path) -> None:
    store = open_store(Settings(problems=(str(file),)))
    before = store.find("loan")
    store.refresh()
    assert store.find("loan") is before
    file.write_text(LOAN.replace("60000", "70000"))
    store.refresh()
    after = store.find("loan")
    assert after.digest != before.digest
    assert "70000" in (after.problem.spec.rules or "")


def test_a_broken_new_file_leaves_the_old_one_in_use_and_says_so(file: Path) -> None:
    store = open_store(Settings(problems=(str(file),)))
    before = store.find("loan")
    file.write_text("name = ")
    store.refresh()
    broken = store.find("loan")
    assert broken.problem is before.problem
    assert "not TOML" in str(broken.to_dict()["error"])
    file.unlink()
    store.refresh()
    assert "cannot be read" in store.find("loan").error
    file.write_text(LOAN)
    store.refresh()
    assert store.find("loan").to_dict()["error"] is None


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_what_may_not_be_read_for_a_while_is_reported_and_read_again_after(
    tmp_path: Path, kind: str
) -> None:
    file = tmp_path / "place" / "loan.toml"
    file.parent.mkdir()
    file.write_text(LOAN)
    store = open_store(Settings(problems=(str(file),)))
    before = store.find(None)
    with closed(file if kind == "file" else file.parent):
        store.refresh()
        store.refresh()
        assert "cannot be read" in store.find(None).error
        assert store.find(None).problem is before.problem
    store.refresh()
    assert store.find(None).error == ""
    file.write_text(LOAN.replace("60000", "70000"))
    store.refresh()
    assert store.find(None).digest != before.digest


def test_an_error_with_one_problem_leaves_the_others_watched(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other.toml"
    other.write_text(LOAN)
    store = open_store(Settings(problems=(str(file), str(other))))
    before, real = store.find("other").digest, problem_store._stamp

    def broken(name: str, *arguments: Any) -> problem_store.Stamp:
        if name == str(file):
            raise RuntimeError("unforeseen")
        return real(name, *arguments)

    monkeypatch.setattr(problem_store, "_stamp", broken)
    other.write_text(LOAN.replace("60000", "70000"))
    store.refresh()
    assert store.find("loan").error == f"{file.name}: cannot be read: RuntimeError"
    assert store.find("other").digest != before


def test_the_server_goes_on_watching_after_any_error(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = app.build_app(Settings(problems=(str(file),), limits=LIMITS))
    store, failures = server.state.context.store, []

    def broken() -> None:
        failures.append(1)
        raise RuntimeError("unforeseen")

    with TestClient(server, base_url=HERE) as client:
        with monkeypatch.context() as patch:
            patch.setattr(store, "refresh", broken)
            until(lambda: len(failures) > 1)
        file.write_text(LOAN.replace('name = "loan"', 'name = "renamed"'))
        until(lambda: client.get("/problems").json()["problems"][0]["name"] == "renamed")


def test_a_file_of_rules_is_watched_too(tmp_path: Path) -> None:
    rules = tmp_path / "rules.lp"
    rules.write_text("bad(X) :- f(X,N), N<5.")
    file = tmp_path / "small.toml"
    file.write_text(
        'goal = "not bad(X)"\nrules_file = "rules.lp"\n[features.f]\ntype = "int"\nmin = 0\nmax = 9\n'
    )
    store = open_store(Settings(problems=(str(file),)))
    before = store.find(None).digest
    rules.write_text("bad(X) :- f(X,N), N<7.")
    store.refresh()
    assert store.find(None).digest != before


def test_rows_to_pick_from_come_from_a_file(file: Path, tmp_path: Path) -> None:
    rows = tmp_path / "people.csv"
    rows.write_text("age,debt,loan_duration,bank_balance,credit_score\n31,5000,12,40000,599\n")
    store = open_store(Settings(problems=(str(file),), rows=((str(file), str(rows)),)))
    assert store.find("loan").rows["row 1"]["debt"] == 5000


def test_a_wrong_cell_is_named_by_its_place_and_never_shown(
    file: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rows = tmp_path / "people.csv"
    head = "age,debt,loan_duration,bank_balance,credit_score\n"
    rows.write_text(head + "31,5000,12,40000,599\n")
    settings = Settings(problems=(str(file),), rows=((str(file), str(rows)),))
    store = open_store(settings)
    for wrong in (head + "31,Jane Roe,12,40000,599\n", "Jane Roe,Jane Roe\n", "Jane Roe;31\n"):
        rows.write_text(wrong)
        store.refresh()
        said = str(store.find("loan").to_dict()["error"])
        assert "people.csv" in said
        assert "Jane Roe" not in said
        with pytest.raises(P2CError) as refused:
            open_store(settings)
        assert "Jane Roe" not in str(refused.value)
    rows.write_text(head + "31,Jane Roe,12,40000,599\n")
    store.refresh()
    assert "row 1, line 2, debt: does not fit" in store.find("loan").error
    assert not [each for each in caplog.records if "Jane Roe" in str(vars(each))]


@pytest.mark.parametrize("which", ["problem", "rows", "rules"])
def test_a_pipe_in_the_place_of_a_file_is_refused_and_holds_nobody_up(
    tmp_path: Path, which: str
) -> None:
    files = {"problem": "loan.json", "rows": "people.csv", "rules": "rules.lp"}
    problem = tomllib.loads(LOAN)
    (tmp_path / "rules.lp").write_text(problem.pop("rules"))
    (tmp_path / "loan.json").write_text(json.dumps({**problem, "rules_file": "rules.lp"}))
    (tmp_path / "people.csv").write_text("age,debt\n")
    settings = Settings(
        problems=(str(tmp_path / "loan.json"),),
        rows=((str(tmp_path / "loan.json"), str(tmp_path / "people.csv")),),
    )
    store = open_store(settings)
    (tmp_path / files[which]).unlink()
    os.mkfifo(tmp_path / files[which])
    store.refresh()
    assert "expected a regular file" in store.find("loan").error
    with pytest.raises(P2CError, match="expected a regular file"):
        open_store(settings)


def test_ids_can_stand_in_an_address_and_differ(tmp_path: Path) -> None:
    files = []
    for name in ("a b", "a?b", "<x>", "…"):
        path = tmp_path / f"{name}.toml"
        path.write_text(LOAN)
        files.append(str(path))
    store = open_store(Settings(problems=tuple(files)))
    assert list(store.entries) == ["a-b", "a-b-2", "x", "problem"]


def test_what_is_not_there_is_named(file: Path) -> None:
    store = open_store(Settings(problems=(str(file),)))
    with pytest.raises(UnknownProblem, match="did you mean 'loan'"):
        store.find("loans")
    with pytest.raises(P2CError, match="cannot be read"):
        open_store(Settings(problems=("nowhere.toml",)))
