"""The service on a folder with a model: every answer is the library's, and a changed folder is taken without a gap."""

from __future__ import annotations

import json
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from p2c._folder import accept_edit
from p2c._server.problem_store import open_store
from p2c._server.settings import Settings
from p2c._spec.spec import Trust
from p2c.errors import P2CError
from p2c.problem import Problem
from tests.folder.test_store import fitted, table
from tests.server.running import PATIENCE, closed, running
from tests.server.test_server import until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.server.running import Running


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    place = tmp_path_factory.mktemp("desks")
    for kind in ("boosted", "kernel"):
        fitted(kind).save(place / kind)
    return {kind: place / kind for kind in ("boosted", "kernel")}


@pytest.fixture(scope="module")
def server(folders: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    place = tmp_path_factory.mktemp("server")
    with running(place, *map(str, folders.values())) as found:
        yield found


def rows() -> list[dict[str, Any]]:
    return json.loads(table().head(6).to_json(orient="records"))  # type: ignore[no-any-return]


@pytest.mark.parametrize("kind", ["boosted", "kernel"])
def test_every_answer_of_the_service_equals_the_librarys(
    kind: str, server: Running, folders: dict[str, Path]
) -> None:
    problem = Problem.load(folders[kind])
    with httpx2.Client(timeout=PATIENCE) as client:
        for row in rows():
            asked = {"problem": kind, "row": row}
            told = client.post(f"{server.address}/plan", json=asked)
            assert told.status_code == 200, told.text
            assert told.json() == json.loads(json.dumps(problem.plan(row).to_dict()))
            ways = client.post(f"{server.address}/nearest", json={**asked, "k": 2})
            assert ways.status_code == 200, ways.text
            expected = [each.to_dict() for each in problem.nearest(row, 2)]
            assert ways.json()["plans"] == json.loads(json.dumps(expected))
            why = client.post(f"{server.address}/why", json=asked).json()
            assert why["model"]["accepted"] is problem.decide(row)
            assert why["model"]["read"] is (kind == "boosted")
            plan = {"problem": kind, "plan": told.json()}
            assert client.post(f"{server.address}/check", json=plan).json()["valid"]


@pytest.mark.parametrize("kind", ["boosted", "kernel"])
def test_the_pages_tell_what_the_model_said(kind: str, server: Running) -> None:
    row = next(each for each in rows() if each["income"] < 30)
    row = {"debt_now": row.pop("Debt now"), **row}
    with httpx2.Client(timeout=PATIENCE, follow_redirects=True) as client:
        values = {f"v:{name}": str(value) for name, value in row.items()}
        page = client.post(f"{server.address}/p/{kind}/plan", data=values)
        assert page.status_code == 200
        assert "The model itself was asked about the end of this way." in page.text
        for path in ("", "/plan/letter", "/rules"):
            found = client.get(f"{server.address}/p/{kind}{path}", params=values)
            assert found.status_code in (200, 404), path


@pytest.mark.parametrize("kind", ["boosted", "kernel"])
def test_features_that_the_model_reads_stand_by_who_may_change_them(
    kind: str, server: Running
) -> None:
    with httpx2.Client(timeout=PATIENCE, follow_redirects=True) as client:
        page = client.get(f"{server.address}/p/{kind}/person").text
        sent = {"v:income": "20"}
        half_filled = client.post(f"{server.address}/p/{kind}/plan", data=sent).text
    groups = {
        name: re.findall(r'data-name="(\w+)"', fields)
        for name, fields in re.findall(r'(?s)data-group="(\w+)" open>(.*?)</details>\n<', page)
    }
    assert groups["change"][:2] == ["income", "job"]
    assert (groups["effect"], groups["fixed"]) == (["debt_now"], ["age"])
    assert "Still needed before there is an answer" in half_filled


def test_a_changed_folder_is_taken_without_dropping_a_request(
    folders: dict[str, Path], tmp_path: Path
) -> None:
    desk = tmp_path / "desk"
    shutil.copytree(folders["boosted"], desk)
    row = {**rows()[0], "age": 30}
    file = desk / "problem.toml"
    before = file.read_text()
    with running(tmp_path, str(desk), "--api") as server, httpx2.Client(timeout=PATIENCE) as client:

        def fixed() -> str:
            answer = client.post(f"{server.address}/plan", json={"row": row, "norm": "l0"})
            assert answer.status_code == 200, answer.text
            return str(answer.json()["problem"])

        def error() -> Any:
            return client.get(f"{server.address}/problems").json()["problems"][0]["error"]

        assert fixed() == "recourse"
        file.write_text(before.replace('name = "recourse"', 'name = "renamed"'))
        until(error)
        assert "--accept" in error()
        assert fixed() == "recourse"
        accept_edit(desk)
        until(lambda: fixed() == "renamed")
        assert error() is None
        (desk / "model.skops").write_bytes(b"PK broken")
        until(error)
        assert fixed() == "renamed"


def test_a_folder_that_may_not_be_read_for_a_while_is_watched_on(
    folders: dict[str, Path], tmp_path: Path
) -> None:
    desk = tmp_path / "desk"
    shutil.copytree(folders["boosted"], desk)
    store = open_store(Settings(problems=(str(desk),)))
    with closed(desk):
        assert store.refresh() == []
        assert "cannot be read" in store.find("desk").error
    (fresh,) = store.refresh()
    store.take(fresh)
    assert store.find("desk").error == ""
    file = desk / "problem.toml"
    file.write_text(file.read_text().replace('name = "recourse"', 'name = "renamed"'))
    accept_edit(desk)
    (fresh,) = store.refresh()
    assert fresh.problem.name == "renamed"


def test_no_request_is_lost_while_many_ask_and_the_folder_changes(
    folders: dict[str, Path], tmp_path: Path
) -> None:
    desk, asked = tmp_path / "desk", rows()
    shutil.copytree(folders["boosted"], desk)
    file, ended = desk / "problem.toml", Event()
    with running(tmp_path, str(desk), "--api", "--solvers", "1") as server:

        def keep_asking(place: int) -> list[tuple[int, int, Any]]:
            told = []
            with httpx2.Client(timeout=PATIENCE) as client:
                while not ended.is_set():
                    place = (place + 1) % len(asked)
                    answer = client.post(f"{server.address}/plan", json={"row": asked[place]})
                    told.append((place, answer.status_code, answer.json()))
            return told

        def current() -> Any:
            answer = httpx2.post(f"{server.address}/plan", json={"row": asked[0]}, timeout=PATIENCE)
            return answer.json()["problem"]

        expected = {"recourse": [Problem.load(desk).plan(row).to_dict() for row in asked]}
        with ThreadPoolExecutor(4) as pool:
            asking = [pool.submit(keep_asking, place) for place in range(4)]
            try:
                until(lambda: current() == "recourse")
                for name in ("first", "second"):
                    before = "recourse" if name == "first" else "first"
                    text = file.read_text().replace(f'name = "{before}"', f'name = "{name}"')
                    file.write_text(text)
                    accept_edit(desk)
                    expected[name] = [Problem.load(desk).plan(row).to_dict() for row in asked]
                    until(lambda name=name: current() == name)
            finally:
                ended.set()
            told = [each for future in asking for each in future.result()]
    wrong = [each for each in told if each[1] != 200]
    assert not wrong, (len(told), wrong[:6])
    assert {answer["problem"] for *_, answer in told} == set(expected)
    for place, _, answer in told:
        assert answer == json.loads(json.dumps(expected[answer["problem"]][place]))


def test_a_pickle_is_never_opened_for_a_client(tmp_path: Path) -> None:
    from sklearn.neighbors import KNeighborsClassifier

    people = table()[["income", "age"]]
    model = KNeighborsClassifier(algorithm="kd_tree").fit(people, people["income"] > 40)
    Problem.from_model(model, people).save(tmp_path / "desk", pickle=True)
    Problem.load(tmp_path / "desk", trust=Trust(pickle=True))
    with pytest.raises(P2CError, match="can run any code"):
        open_store(Settings(problems=(str(tmp_path / "desk"),)))
