"""A new project in the browser: each step keeps what was said, refuses what is wrong in one line, and ends in a plan."""

from __future__ import annotations

import io
import re
import time
import zipfile
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
import skops.io
from sklearn.ensemble import IsolationForest
from sklearn.tree import DecisionTreeClassifier
from starlette.testclient import TestClient

from p2c._learn.causal.review import read_review
from p2c._project import draft
from p2c._project.draft import Draft, read_draft, write_draft
from p2c._server import app
from p2c._server.app import build_app
from p2c._server.pages import project
from p2c._server.settings import Limits, Settings
from p2c._server.workshop import Work, perform, read_work, write_work
from p2c.problem import Problem
from tests.project.test_draft import ROWS
from tests.server.conftest import HERE, LIMITS
from tests.server.forms import form_of
from tests.server.running import PATIENCE, never_ends

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SAID = {"target": "outcome", "desired": "yes", "column-1": "age", "action-1": "fixed"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "desk"


@pytest.fixture
def client(folder: Path) -> Iterator[TestClient]:
    app = build_app(Settings(project=str(folder), limits=LIMITS))
    with TestClient(app, base_url=HERE, raise_server_exceptions=False) as opened:
        yield opened


def ended(client: TestClient) -> str:
    """Wait for the work that is under way, and return the page then."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        page = client.get("/new/result").text
        if "http-equiv" not in page:
            return page
        time.sleep(0.05)
    raise AssertionError("the work did not end")


def send(client: TestClient, name: str = "people.csv", content: str = ROWS) -> str:
    return client.post("/new/files", files={"table": (name, content.encode())}).text


def test_from_a_table_to_a_plan_a_review_and_a_download(client: TestClient, folder: Path) -> None:
    assert client.get("/").url.path == "/new/files"
    assert "state" in send(client)
    assert ">yes</option>" in client.post("/new/columns", data={"target": "outcome"}).text
    client.post("/new/columns", data={**SAID, "build": "yes"})
    page = ended(client)
    assert "It is ready" in page
    assert client.get("/p/desk/person").status_code == 200
    problem = Problem.load(folder / "problem.toml")
    row = {"age": 30, "income": 10, "state": "a"}
    asked = client.post("/plan", json={"row": row})
    assert asked.json()["cost"] == problem.plan(row).cost
    client.post("/new/causes")
    assert "candidates are not answered yet" in ended(client)
    assert client.get("/review").status_code == 200
    review = read_review(folder / "review.jsonl")
    for each in review.pending():
        review.decide(each.id, "rejected", by="an expert", why="by chance")
    assert "candidates are answered" in ended(client)
    client.post("/new/build")
    assert "The approved ones are in use" in ended(client)
    archive = zipfile.ZipFile(io.BytesIO(client.get("/new/folder.zip").content))
    assert {"problem.toml", "project.json", "review.jsonl"} <= set(archive.namelist())


def test_what_was_said_is_shown_again_by_another_server(client: TestClient, folder: Path) -> None:
    send(client)
    said = {"weight-1": "2.5", "label-1": "your <b>age</b>"}
    client.post("/new/columns", data={**SAID, **said})
    again = build_app(Settings(project=str(folder), limits=LIMITS))
    with TestClient(again, base_url=HERE) as other:
        page = other.get("/new/columns").text
    assert 'value="2.5"' in page
    assert "your &lt;b&gt;age" in page


@pytest.mark.parametrize(
    ("name", "content", "right"),
    [
        ("people.txt", ROWS, "expected a table that ends in .csv, .parquet"),
        ("people.parquet", ROWS, "people.parquet: cannot be read as Parquet"),
        ("people.csv", "", "people.csv"),
        ("../../x.csv", "a;b\n1,5;2\n", "column"),
    ],
)
def test_a_bad_table_is_refused_in_one_line_without_a_path(
    client: TestClient, folder: Path, name: str, content: str, right: str
) -> None:
    page = send(client, name, content)
    (told,) = re.findall(r'role="alert"[^>]*>([^<]*)<', page)
    assert right in told
    assert str(folder) not in told
    assert ".upload" not in told
    assert not [each for each in folder.iterdir() if each.name.startswith(".upload")]


@pytest.mark.parametrize(
    ("said", "right"),
    [
        ({"weight-1": "heavy"}, "age: expected an effort, a number of 0 or more"),
        ({"weight-1": "-1"}, "age: expected an effort, a number of 0 or more"),
        ({"action-1": "sideways"}, "age: expected one of the choices"),
        ({"target": "nothing"}, "No column “nothing” holds outcomes"),
    ],
)
def test_a_wrong_choice_is_refused_and_nothing_is_kept(
    client: TestClient, folder: Path, said: dict[str, str], right: str
) -> None:
    send(client)
    before = (folder / "project.json").read_bytes()
    answer = client.post("/new/columns", data={**SAID, "label-1": "what was typed", **said})
    assert answer.status_code == 422
    assert right in answer.text
    assert "what was typed" in answer.text
    assert (folder / "project.json").read_bytes() == before


def test_work_can_be_cancelled_and_begun_again(
    client: TestClient, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    send(client)
    with monkeypatch.context() as patch:
        patch.setattr(project, "build", never_ends)
        client.post("/new/columns", data={**SAID, "build": "yes"})
    assert client.post("/new/build").status_code == 422
    assert "The work was cancelled" in client.post("/new/cancel").text
    assert not (folder / "problem.toml").exists()
    client.post("/new/build")
    assert "It is ready" in ended(client)


def test_work_that_nobody_does_any_more_is_said_to_have_ended(
    client: TestClient, folder: Path
) -> None:
    send(client)
    write_work(folder, Work(state="working"))
    assert "ended before its end" in ended(client)
    assert read_work(folder).state == "broken"


def test_only_a_project_takes_large_bodies(folder: Path) -> None:
    limits = Limits(solvers=1, body=1000, upload=5000)
    with TestClient(
        build_app(Settings(project=str(folder), limits=limits)), base_url=HERE
    ) as client:
        assert client.post("/new/files", content=b"x" * 2000).status_code != 413
        assert client.post("/new/files", content=b"x" * 9000).status_code == 413
        assert client.post("/new/columns", content=b"x" * 2000).status_code == 413


def test_a_large_upload_without_a_stated_length_is_taken_and_one_past_its_limit_is_not(
    folder: Path,
) -> None:
    limits = Limits(solvers=1, body=1000, upload=5000)
    head = b'--p\r\nContent-Disposition: form-data; name="table"; filename="rows.csv"\r\n\r\n'
    form = {"Content-Type": "multipart/form-data; boundary=p"}
    with TestClient(
        build_app(Settings(project=str(folder), limits=limits)), base_url=HERE
    ) as client:
        for size, refused in ((2000, False), (9000, True)):
            parts = iter([head, b"x" * size, b"\r\n--p--\r\n"])
            answer = client.post("/new/files", content=parts, headers=form)
            assert (answer.status_code == 413) == refused
            assert ("at most 5,000 bytes" in answer.text) == refused


def test_without_a_project_there_is_no_such_page() -> None:
    with TestClient(build_app(Settings(limits=LIMITS)), base_url=HERE) as client:
        assert client.get("/new").status_code == 404


GOOD = ROWS.replace(",yes\n", ",good\n").replace(",no\n", ",bad\n")
"""People whose wanted outcome is the last by alphabet."""
WANTED = "The wanted outcome: “good” in the column “outcome”."


def columns(client: TestClient) -> dict[str, str]:
    """Return the form of the columns as sent without changes."""
    return form_of(client.get("/new/columns").text, "/new/columns")


def saved(client: TestClient, **changes: str) -> dict[str, str]:
    """Save the form of the columns with changes, and return it as it is then."""
    client.post("/new/columns", data={**columns(client), **changes})
    return columns(client)


def test_no_outcome_is_wanted_before_somebody_has_chosen_it(
    client: TestClient, folder: Path
) -> None:
    send(client, content=GOOD)
    assert saved(client, target="outcome")["desired"] == ""
    assert read_draft(folder).desired == ""
    for address, sent in (("columns", {**columns(client), "build": "yes"}), ("build", {})):
        answer = client.post(f"/new/{address}", data=sent)
        assert answer.status_code == 422
        assert "Choose the outcome that people want. None is assumed." in answer.text
        assert "The wanted outcome: not chosen yet." in answer.text
    assert read_work(folder).state == "none"
    write_draft(folder, Draft(table="table.csv", target="outcome"))
    perform(draft.build, folder)
    assert "which outcome do people want" in read_work(folder).error


def test_the_chosen_outcome_is_the_goal_however_often_the_columns_are_saved_untouched(
    client: TestClient, folder: Path
) -> None:
    send(client, content=GOOD)
    saved(client, target="outcome")
    client.post("/new/columns", data={**columns(client), "desired": "good", "build": "yes"})
    assert "It is ready" in ended(client)
    row = {"age": 39, "income": 59, "state": "b"}
    for _ in range(2):
        problem = Problem.load(folder / "problem.toml")
        assert problem.spec.goal == "outcome(X,'good')"
        assert problem.plan(row).status == "already"
        before = (folder / "project.json").read_bytes()
        assert saved(client)["desired"] == "good"
        assert (folder / "project.json").read_bytes() == before
        client.post("/new/columns", data={**columns(client), "build": "yes"})
        assert "It is ready" in ended(client)


@pytest.mark.parametrize("wanted", ["good", "bad"])
def test_the_wanted_outcome_stands_on_every_page_of_the_project(
    client: TestClient, wanted: str
) -> None:
    send(client, content=GOOD)
    client.post("/new/columns", data={"target": "outcome", "desired": wanted, "build": "yes"})
    assert "It is ready" in ended(client)
    pages = ["problem", "person", "plan", "compare"]
    for address in (
        *(f"/new/{step}" for step in project.STEPS),
        *(f"/p/desk/{page}" for page in pages),
        "/review",
    ):
        page = client.get(address).text
        assert WANTED.replace("good", wanted) in page, address
    german = client.get("/p/desk/plan?language=de").text
    assert f"Das gewünschte Ergebnis: „{wanted}“ in der Spalte „outcome“." in german


def test_a_project_serves_the_problem_it_has_made_last_under_one_id(
    client: TestClient, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "LOOK", 1e6)
    time.sleep(0.6)  # the watcher looks once more, and then no more
    table = pd.read_csv(io.StringIO(ROWS))[["age", "income"]]
    model = DecisionTreeClassifier(max_depth=2).fit(table, [n > 60 for n in range(len(table))])
    skops.io.dump(model, tmp_path / "model.skops")
    model_file = {"model": ("model.skops", (tmp_path / "model.skops").read_bytes())}
    send(client, content=GOOD)
    steps: list[tuple[Any, Any, str, str]] = [
        (None, None, "good", "outcome(X,'good')"),
        (None, None, "bad", "outcome(X,'bad')"),
        (model_file, None, "True", "accepted(X)"),
        (None, {"without_model": "yes"}, "good", "outcome(X,'good')"),
    ]
    for files, data, desired, goal in steps:
        if files or data:
            client.post("/new/files", files=files, data=data)
        saved(client, target="outcome", desired=desired)
        client.post("/new/build")
        assert "It is ready" in ended(client)
        (listed,) = client.get("/problems").json()["problems"]
        assert (listed["id"], listed["goal"]) == ("desk", goal)
        assert desired in client.get("/p/desk/plan").text
        assert client.get("/p/desk/person").status_code == 200


def test_a_made_problem_that_cannot_be_read_is_told_without_its_folder(
    client: TestClient, folder: Path
) -> None:
    send(client, content=GOOD)
    client.post("/new/columns", data={"target": "outcome", "desired": "good", "build": "yes"})
    assert "It is ready" in ended(client)
    (folder / "problem.toml").write_text("name = ")
    page = client.get("/new/result")
    assert page.status_code == 422
    (listed,) = client.get("/problems").json()["problems"]
    assert listed["error"].startswith("problem.toml:")
    assert str(folder) not in listed["error"]


def test_an_outcome_that_is_chosen_later_is_told_beside_that_of_the_made_problem(
    client: TestClient,
) -> None:
    send(client, content=GOOD)
    client.post("/new/columns", data={"target": "outcome", "desired": "good", "build": "yes"})
    assert "stands for this one" not in ended(client)
    saved(client, desired="bad")
    page = client.get("/new/result").text
    assert WANTED.replace("good", "bad") in page
    assert f"It stands for this one: {WANTED}" in page
    assert WANTED in client.get("/p/desk/plan").text
    client.post("/new/build")
    assert "stands for this one" not in ended(client)


def test_another_column_or_table_has_outcomes_of_its_own(client: TestClient, folder: Path) -> None:
    send(client, content=GOOD)
    client.post("/new/columns", data={"target": "outcome", "desired": "good"})
    assert saved(client, target="state")["desired"] == ""
    assert saved(client, target="outcome", desired="good")["desired"] == ""
    answer = client.post("/new/columns", data={**columns(client), "desired": "splendid"})
    assert (answer.status_code, "No outcome is called “splendid”" in answer.text) == (422, True)
    saved(client, desired="good")
    send(client, content=GOOD + GOOD.partition("\n")[2])
    assert read_draft(folder).desired == "good"
    send(client, content=ROWS)
    assert read_draft(folder).desired == ""


def test_truth_values_are_outcomes_as_they_are_learned(client: TestClient) -> None:
    send(client, content=ROWS.replace(",yes\n", ",true\n").replace(",no\n", ",false\n"))
    saved(client, target="outcome")
    assert ">True</option>" in client.get("/new/columns").text
    client.post("/new/columns", data={**columns(client), "desired": "True", "build": "yes"})
    assert "It is ready" in ended(client)


@pytest.mark.parametrize("names", [("no", "yes"), (0, 1)])
def test_the_classes_of_a_model_are_offered_and_none_is_assumed(
    client: TestClient, folder: Path, tmp_path: Path, names: tuple[Any, Any]
) -> None:
    table = pd.read_csv(io.StringIO(ROWS))[["age", "income"]]
    labels = [names[each > 60] for each in range(len(table))]
    model = DecisionTreeClassifier(max_depth=2).fit(table, labels)
    skops.io.dump(model, tmp_path / "model.skops")
    client.post(
        "/new/files",
        files={
            "table": ("people.csv", table.to_csv(index=False).encode()),
            "model": ("model.skops", (tmp_path / "model.skops").read_bytes()),
        },
    )
    assert columns(client)["desired"] == ""
    page = client.get("/new/columns").text
    assert [f">{each}</option>" in page for each in names] == [True, True]
    answer = client.post("/new/columns", data={**columns(client), "build": "yes"})
    assert "Choose the outcome that people want" in answer.text
    client.post("/new/columns", data={**columns(client), "desired": str(names[1]), "build": "yes"})
    assert "It is ready" in ended(client)
    said = f"The wanted outcome: “{names[1]}”, by the model."
    assert said in client.get("/new/result").text
    assert said in client.get("/p/desk/person").text
    assert saved(client)["desired"] == str(names[1])
    sent = {"model": ("model.skops", (tmp_path / "model.skops").read_bytes())}
    client.post("/new/files", files=sent)
    assert read_draft(folder).desired == str(names[1])


def test_a_model_that_names_no_classes_is_asked_for_them(
    client: TestClient, tmp_path: Path
) -> None:
    table = pd.read_csv(io.StringIO(ROWS))[["age", "income"]]
    skops.io.dump(IsolationForest(n_estimators=3).fit(table), tmp_path / "model.skops")
    files = {"table": ("people.csv", table.to_csv(index=False).encode())}
    client.post("/new/files", files=files)
    client.post(
        "/new/files", files={"model": ("model.skops", (tmp_path / "model.skops").read_bytes())}
    )
    page = client.get("/new/columns").text
    assert [f">{each}</option>" in page for each in (-1, 1)] == [True, True]
