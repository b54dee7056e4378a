"""Letters and notices from the service and in the browser."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any

import pytest
from starlette.testclient import TestClient

from p2c import datasets
from p2c._notices.filed import read_register
from p2c._server.app import build_app
from p2c._server.settings import Settings
from p2c._spec.toml import problem_to_toml
from tests.embedded import embedded
from tests.notices.offices import CASE, FIELDS, lender
from tests.server.conftest import HERE, LIMITS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

JOHN = datasets.rows("loan")["john"]
ASKED: dict[str, Any] = {"problem": "loan", "row": JOHN}


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("office")
    (folder / "lender.toml").write_text(problem_to_toml(lender()), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def lending(office: Path) -> Iterator[TestClient]:
    settings = Settings(
        limits=LIMITS, lender=str(office / "lender.toml"), register=str(office / "register.jsonl")
    )
    with TestClient(build_app(settings), base_url=HERE, raise_server_exceptions=False) as opened:
        yield opened


@pytest.mark.parametrize("format", ["html", "md", "txt"])
@pytest.mark.parametrize("notice", ["reg-b", "ccd2", "colorado", "plain"])
def test_a_notice_of_the_service_is_the_library_s_own(
    lending: TestClient, notice: str, format: str
) -> None:
    answer = lending.post(
        "/report", json={**ASKED, "notice": notice, "format": format, "case": CASE}
    )
    assert answer.status_code == 200
    expected = embedded("loan").report(
        JOHN, format=format, notice=notice, lender=lender(), case=CASE
    )
    assert answer.content == expected


def test_a_notice_of_the_service_is_recorded_and_one_that_lacks_a_field_is_not(
    lending: TestClient, office: Path
) -> None:
    register = office / "register.jsonl"
    before = len(read_register(register)) if register.exists() else 0
    answer = lending.post("/report", json={**ASKED, "notice": "ccd2", "case": CASE})
    assert answer.headers["content-type"] == "application/pdf"
    assert answer.content.startswith(b"%PDF-")
    record = read_register(register)[-1]
    assert record["sha256"] == hashlib.sha256(answer.content).hexdigest()
    refused = lending.post("/report", json={**ASKED, "notice": "ccd2", "case": {"reference": "1"}})
    assert refused.status_code == 422
    places = [each["place"] for each in refused.json()["error"]["faults"]]
    assert places == ["applicant", "applicant_address", "account"]
    assert len(read_register(register)) == before + 1


def test_a_letter_without_a_lender_is_the_applicant_s_page(client: TestClient) -> None:
    answer = client.post("/report", json={**ASKED, "format": "txt", "language": "de"})
    assert answer.content == embedded("loan").report(JOHN, format="txt", language="de")
    refused = client.post("/report", json={**ASKED, "notice": "reg-b"})
    assert refused.status_code == 422
    unknown = client.post("/report", json={**ASKED, "language": "xx"})
    assert unknown.status_code == 422


@pytest.mark.parametrize(
    ("page", "kind"),
    [
        ("letter.pdf", "application/pdf"),
        ("letter.md", "text/markdown"),
        ("report.pdf", "application/pdf"),
    ],
)
def test_the_letter_and_the_report_are_there_in_every_format(
    client: TestClient, page: str, kind: str
) -> None:
    answer = client.get(f"/p/loan/plan/{page}?row=1")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith(kind)
    assert client.get("/p/loan/plan/letter.docx?row=1").status_code == 404


def test_a_letter_is_made_in_the_browser_from_what_the_lender_leaves_open(
    lending: TestClient,
) -> None:
    plan = lending.get("/p/loan/plan?row=1").text
    assert re.search(r'href="/p/loan/notice\?state=', plan)
    page = lending.get("/p/loan/notice?row=1&form=reg-b").text
    asked = re.findall(r'name="f:(\w+)"', page)
    assert asked == ["reference", "applicant", "applicant_address", "account"]
    action = re.search(r'action="(/p/loan/notice\?form=reg-b[^"]*)"', page)
    assert action
    address = action[1].replace("&amp;", "&")
    lacking = lending.post(address, data={"format": "pdf", "f:reference": "K-1"})
    assert lacking.status_code == 200
    assert "The letter is not complete." in lacking.text
    assert "<strong>applicant</strong>" in lacking.text
    assert ">K-1</textarea>" in lacking.text
    fields = {f"f:{name}": text for name, text in CASE.items()}
    letter = lending.post(address, data={"format": "html", **fields})
    assert letter.headers["content-disposition"] == 'attachment; filename="loan-reg-b.html"'
    assert "K-4711" in letter.text
    german = lending.get("/p/loan/notice?row=1&language=de").text
    assert "Brief oder Mitteilung" in german


def test_without_a_lender_there_is_no_page_of_letters(client: TestClient) -> None:
    assert "/p/loan/notice" not in client.get("/p/loan/plan?row=1").text
    assert client.get("/p/loan/notice?row=1").status_code == 404


def test_flags_that_the_lender_leaves_open_are_chosen(office: Path) -> None:
    fields = {name: value for name, value in FIELDS.items() if name != "outside_source"}
    (office / "open.toml").write_text(problem_to_toml(lender(fields=fields)), encoding="utf-8")
    settings = Settings(limits=LIMITS, lender=str(office / "open.toml"))
    with TestClient(build_app(settings), base_url=HERE) as client:
        page = client.get("/p/loan/notice?row=1&form=reg-b").text
        assert '<select id="outside_source" name="f:outside_source">' in page
