"""The audit in the browser: it counts what `p2c audit` counts, says what is wrong in one line, and can be cancelled."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import pandas as pd
import pytest
from starlette.testclient import TestClient

from p2c._batch.audited import audit_files
from p2c._server import workshop
from p2c._server.app import build_app
from p2c._server.settings import Limits, Settings
from tests.cli.test_auditing import PEOPLE
from tests.embedded import embedded
from tests.server.conftest import HERE, LIMITS
from tests.server.running import PATIENCE, never_ends

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

AT = "/p/loan/audit"
TABLE = pd.DataFrame(PEOPLE).assign(loan_duration=12).to_csv(index=False)


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    app = build_app(Settings(audits=str(tmp_path / "audits"), limits=LIMITS))
    with TestClient(app, base_url=HERE, raise_server_exceptions=False) as opened:
        yield opened


def send(client: TestClient, content: str = TABLE, name: str = "people.csv") -> str:
    return client.post(f"{AT}/people", files={"table": (name, content.encode())}).text


def groups(*chosen: str) -> dict[str, str]:
    """Return the form of the groups with some columns ticked, in bands where they are given."""
    found: dict[str, str] = {}
    for place, each in enumerate(chosen):
        name, _, bands = each.partition(":")
        found |= {f"name-{place}": name, f"by-{place}": "yes", f"bands-{place}": bands}
    return found


def ended(client: TestClient, language: str = "en") -> str:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        page = client.get(AT, params={"language": language}).text
        if "http-equiv" not in page:
            return page
        time.sleep(0.05)
    raise AssertionError("the audit did not end")


def test_the_page_counts_what_the_command_counts(client: TestClient, tmp_path: Path) -> None:
    assert "audit" in client.get("/p/loan/problem").text
    page = send(client)
    assert "Tick the columns" in page
    client.post(f"{AT}/start", data=groups("sex", "age:<40,>=40"))
    page = ended(client)
    assert "3 of 4 people are refused today (75%)." in page
    assert "3 von 4 Personen werden heute abgelehnt" in ended(client, "de")
    told = client.get(f"{AT}/report.json").json()
    (tmp_path / "people.csv").write_text(TABLE)
    by = ("sex", "age:<40,>=40")
    own = audit_files(embedded("loan"), tmp_path / "people.csv", tmp_path / "own", by=by)
    assert told["groups"] == json.loads(json.dumps(own.to_dict()))["groups"]
    for ending, start in (("html", b"<!doctype"), ("pdf", b"%PDF"), ("md", b"# Audit")):
        sent = client.get(f"{AT}/report.{ending}")
        assert sent.content.startswith(start)
        assert sent.headers["content-disposition"].endswith(f'"audit-loan.{ending}"')
    assert client.get(f"{AT}/report.exe").status_code == 404


def test_the_people_that_come_with_a_problem_can_be_audited(client: TestClient) -> None:
    client.post(f"{AT}/people", files={"rows": (None, "yes")})
    client.post(f"{AT}/start", data={})
    assert "people are refused today" in ended(client)


def test_what_is_wrong_is_said_in_one_line_and_what_was_there_stays(client: TestClient) -> None:
    assert "Choose the file of a table" in client.post(f"{AT}/people").text
    assert "There is no table of people yet" in client.post(f"{AT}/start", data={}).text
    assert "debt: no such column; known: &#39;sex&#39; (people.csv" in send(
        client, "age,sex\n1,f\n"
    )
    assert "a file that ends in" in send(client, TABLE, "people.exe")
    send(client)
    wrong = client.post(f"{AT}/start", data=groups("age:young"))
    assert wrong.status_code == 422
    assert "expected bands" in wrong.text
    assert 'value="young"' in wrong.text
    client.post(f"{AT}/start", data=groups("sex"))
    assert "sex: f" in ended(client)
    assert "debt: no such column" in send(client, "age\n1\n")
    assert "sex: f" in ended(client)


def test_an_audit_can_be_cancelled_and_gone_on_with(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    send(client)
    with monkeypatch.context() as patch:
        patch.setattr(workshop, "perform_audit", never_ends)
        client.post(f"{AT}/start", data=groups("sex"))
    assert client.post(f"{AT}/start", data=groups("sex")).status_code == 422
    assert "The audit was cancelled" in client.post(f"{AT}/cancel").text
    assert client.get(f"{AT}/report.json").status_code == 404
    client.post(f"{AT}/start", data=groups("sex"))
    assert "3 of 4 people are refused today" in ended(client)


def test_only_its_table_may_be_large(tmp_path: Path) -> None:
    limits = Limits(solvers=1, body=1000, upload=5000)
    settings = Settings(audits=str(tmp_path), limits=limits)
    with TestClient(build_app(settings), base_url=HERE) as client:
        assert client.post(f"{AT}/people", content=b"x" * 2000).status_code != 413
        assert client.post(f"{AT}/people", content=b"x" * 9000).status_code == 413
        assert client.post(f"{AT}/start", content=b"x" * 2000).status_code == 413


def test_where_no_audits_are_kept_there_is_no_such_page() -> None:
    with TestClient(build_app(Settings(limits=LIMITS)), base_url=HERE) as client:
        assert client.get(AT).status_code == 404
        assert "/audit" not in client.get("/p/loan/problem").text
