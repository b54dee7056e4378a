"""Relations between columns on the review page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from starlette.testclient import TestClient

from p2c._learn.causal.review import read_review, write_review
from p2c._server.app import build_app
from p2c._server.settings import Limits, Settings
from tests.learn.causal.test_relation_reviews import ALL, HOME, ORDER, RATIO
from tests.server.conftest import HERE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_review(tmp_path / "r.review", [RATIO, ORDER, HOME], features=ALL).path


@pytest.fixture
def reviewer(path: Path) -> Iterator[TestClient]:
    settings = Settings(reviews=(str(path),), limits=Limits(solvers=1))
    with TestClient(build_app(settings), base_url=HERE) as opened:
        yield opened


def form(rule: str, **keys: str) -> dict[str, str]:
    usual = {"verdict": "approved", "why": "seen", "by": "First", "seen": "0", "rule_text": ""}
    return {"file": "1", "rule": rule} | usual | keys


def test_a_relation_is_shown_with_its_rows_and_without_laws(reviewer: TestClient) -> None:
    page = reviewer.get("/review?rule=ratio-1").text
    for words in (
        "Ratio is computed from debt, income: ratio = debt / income.",
        "It holds on 98 of 100 rows.",
        "Rows that speak against it (2)",
        "Debt is never greater than income.",
    ):
        assert words in page
    assert 'name="law"' not in page


def test_a_relation_is_read_in_german(reviewer: TestClient) -> None:
    page = reviewer.get("/review?rule=debt-2&language=de").text
    assert "Debt ist nie größer als income." in page
    assert "Gilt in 90 von 90 Zeilen." in page


def test_an_answer_is_kept_and_the_next_relation_follows(reviewer: TestClient, path: Path) -> None:
    answer = reviewer.post("/review", data=form("ratio-1", law="iff"), follow_redirects=False)
    assert answer.status_code == 303
    assert "rule=debt-2" in answer.headers["location"]
    assert read_review(path).approved().declared.equations == {"ratio": "debt / income"}


def test_an_edited_equation_is_read_back_before_it_is_saved(
    reviewer: TestClient, path: Path
) -> None:
    edited = form("ratio-1", verdict="edited", rule_text="ratio = 100 * debt / income")
    page = reviewer.post("/review", data=edited).text
    assert "ratio = 100 * debt / income." in page
    assert not read_review(path).answers


def test_a_text_that_is_no_relation_comes_back_with_the_reason(reviewer: TestClient) -> None:
    page = reviewer.post("/review", data=form("ratio-1", verdict="edited", rule_text="twice"))
    assert page.status_code == 409
    assert "expected an equation" in page.text
