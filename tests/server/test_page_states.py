"""The states of pages: no address holds a person's value.

An id opens its state in one browser, for a while.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

import pytest
from starlette.testclient import TestClient

from p2c import datasets
from p2c._server import page_states
from p2c._server.page_states import LIFETIME, LONGEST, PageStates
from p2c._server.pages.address import case_of_row
from tests.server.conftest import HERE

if TYPE_CHECKING:
    from pathlib import Path

JOHN = dict(case_of_row(datasets.rows("loan")["john"]).pairs())
STUCK = dict(case_of_row(datasets.rows("loan")["no_way"]).pairs())
PRIVATE = re.compile(r"\b(v|a|min|max|w|only|lift|unknown|given|norm)(:|%3A|=)")


def addresses(page: str) -> list[str]:
    """Return every address that a page holds."""
    found = re.findall(r'(?:href|src|srcset|action|formaction|data-[a-z]+)="([^"]*)"', page)
    return [each.replace("&amp;", "&") for each in found if each.startswith(("/", "?", "state="))]


@pytest.mark.parametrize("person", [JOHN, STUCK])
def test_no_address_of_a_page_holds_a_value(client: TestClient, person: dict[str, str]) -> None:
    asked = {**person, "a:age": "fixed", "w:debt": "2", "norm": "l2", "given": '{"debt": 0}'}
    shown = client.post("/p/loan/plan", data=asked)
    assert shown.request.method == "GET"
    assert "answer is no" in shown.text
    at = shown.url.query.decode()
    for name in ("problem", "person", "plan", "compare"):
        page = client.get(f"/p/loan/{name}?{at}")
        assert not PRIVATE.search(str(page.url))
        assert addresses(page.text)
        assert not [each for each in addresses(page.text) if PRIVATE.search(each)]


def test_what_is_compared_is_kept_with_the_state(client: TestClient) -> None:
    at = client.post("/p/loan/plan", data=JOHN).url.query.decode()
    page = client.post(f"/p/loan/compare?{at}", data={"given": '{"debt": 0}'})
    assert [key for key, _ in parse_qsl(page.url.query.decode())] == ["state"]
    assert "The other answer" in page.text
    german = client.get(f"{page.url}&to=de")
    assert "Die andere Antwort" in german.text
    assert not PRIVATE.search(str(german.url))


def test_every_change_on_the_page_names_the_address_of_its_state(client: TestClient) -> None:
    part = client.post("/p/loan/plan/result", data=JOHN | {"a:debt": "fixed"}).text
    query, free = re.findall(r'data-(?:query|free)="([^"]*)"', part)
    assert "There is no way from here" in client.get(f"/p/loan/plan?{query}").text
    assert "There is a way" in client.get(f"/p/loan/plan?{free}").text


def test_an_address_with_values_leads_on_to_one_without(client: TestClient) -> None:
    answer = client.get("/p/loan/plan?v:debt=5000&language=de", follow_redirects=False)
    assert answer.status_code == 303
    where = answer.headers["location"]
    assert re.fullmatch(r"/p/loan/plan\?state=[\w-]{24}&language=de", where)
    assert 'name="v:debt" value="5000"' in client.get(where).text
    picture = client.get("/p/loan/plan/picture.svg?theme=dark&v:debt=5000", follow_redirects=False)
    assert picture.headers["location"].endswith("&theme=dark")


@pytest.mark.parametrize(
    ("language", "words"), [("", "These values are no longer kept"), ("&language=de", "neu")]
)
def test_a_state_opens_in_its_own_browser_alone_and_elsewhere_the_page_says_so(
    client: TestClient, language: str, words: str
) -> None:
    where = str(client.post("/p/loan/plan", data=JOHN).url)
    assert 'value="5000"' in client.get(where).text
    stranger = TestClient(client.app, base_url=HERE)
    for address in (where + language, f"/p/loan/plan?state=nothing{language}"):
        answer = stranger.get(address)
        assert answer.status_code == 410
        assert words in answer.text
        assert "5000" not in answer.text
        assert '<a href="/p/loan/person' in answer.text


@pytest.mark.parametrize("page", ["plan", "compare"])
def test_an_address_without_a_person_asks_for_one(client: TestClient, page: str) -> None:
    shown = client.get(f"/p/loan/{page}").text
    assert "Describe a person first" in shown
    assert 'data-status="' not in shown
    assert 'value="5000"' not in shown
    assert f'href="/p/loan/{page}?row=1"' in shown
    assert client.get("/p/loan/plan/plan.json").status_code == 422


def test_a_person_of_the_table_is_opened_by_place(client: TestClient) -> None:
    assert 'value="5000"' in client.get("/p/loan/person?row=1").text
    german = client.get("/p/loan/plan?row=1&to=de")
    assert "Senken Sie" in german.text
    for wrong in ("0", "99", "-1", "john", "1e3", "\u0663"):
        answer = client.get("/p/loan/plan", params={"row": wrong})
        assert answer.status_code == 404
        assert "expected 1 to 5" in answer.text


def test_too_long_a_form_is_refused(client: TestClient) -> None:
    answer = client.post("/p/loan/plan", data={"v:debt": "5" * LONGEST})
    assert answer.status_code == 413
    assert "at most 65,536 characters" in answer.text


def test_a_state_that_was_not_used_for_long_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1_000_000.0
    monkeypatch.setattr("p2c._server.page_states.time.time", lambda: now)
    states = PageStates()
    id_ = states.keep("me", "text") or ""
    now += LIFETIME
    assert states.find("me", id_) == "text"
    now += LIFETIME
    assert states.find("me", id_) == "text"
    now += LIFETIME + 1
    assert states.find("me", id_) is None
    states.keep("me", "other")
    assert states.count == 1


def test_states_are_bounded_for_one_browser_and_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_states, "OWN", 3)
    monkeypatch.setattr(page_states, "ALL", 5)
    states = PageStates()
    mine = [states.keep("me", f"state {each}") or "" for each in range(4)]
    assert [states.find("me", each) is None for each in mine] == [True, False, False, False]
    for each in range(3):
        states.keep("you", f"state {each}")
    assert states.count == 5
    assert states.find("me", mine[3]) == "state 3"


def test_an_id_is_the_same_for_the_same_state_and_another_for_another_browser() -> None:
    states = PageStates()
    assert states.keep("me", "text") == states.keep("me", "text")
    assert states.count == 1
    assert states.keep("me", "text") != states.keep("you", "text")
    assert states.keep("me", "x" * (LONGEST + 1)) is None


def test_several_processes_share_a_file(tmp_path: Path) -> None:
    first, second = (PageStates(str(tmp_path / "states.sqlite")) for _ in range(2))
    id_ = first.keep("me", "text") or ""
    assert second.find("me", id_) == "text"
