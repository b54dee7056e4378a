"""Who may ask: this machine unless told otherwise, with the token where there is one, and no page of another site."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest
from starlette.testclient import TestClient

from p2c import datasets
from p2c._server.app import build_app
from p2c._server.settings import Limits, Settings
from p2c._server.solver_pool import HELD, pause
from p2c.errors import P2CError
from tests.server.conftest import HERE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fastapi import FastAPI

ASKED = {"problem": "loan", "row": datasets.rows("loan")["john"]}
TOKEN = "a-token-of-some-length"


@pytest.fixture(scope="module")
def guarded() -> Iterator[TestClient]:
    settings = Settings(host="0.0.0.0", token=TOKEN, limits=Limits(solvers=1))
    with TestClient(build_app(settings), base_url="http://p2c.example") as opened:
        yield opened


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "192.168.0.7"),
        *("[::1].evil.example", "[::1", "", "evil.example:8000", "127.0.0.1@evil.example"),
    ],
)
def test_a_name_that_someone_points_at_this_machine_is_refused(
    client: TestClient, host: str
) -> None:
    answer = client.get("/problems", headers={"Host": host})
    assert answer.status_code == 421
    assert answer.json()["error"]["code"] == "wrong_host"


@pytest.mark.parametrize("host", ["localhost", "localhost:8000", "127.0.0.1", "[::1]:80"])
def test_this_machine_s_own_names_are_known(client: TestClient, host: str) -> None:
    assert client.get("/health", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:9999"},
        {"Origin": "http://["},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"},
    ],
)
def test_a_post_from_another_site_is_refused(client: TestClient, headers: dict[str, str]) -> None:
    for path in ("/plan", "/p/loan/compare", "/review"):
        assert client.post(path, json=ASKED, headers=headers).status_code == 403


def test_a_post_from_the_page_itself_is_taken(client: TestClient) -> None:
    headers = {"Origin": HERE, "Sec-Fetch-Site": "same-origin"}
    assert client.post("/plan", json=ASKED, headers=headers).status_code == 200


def test_another_site_may_link_here_but_not_load_from_here(client: TestClient) -> None:
    followed = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    loaded = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
    assert client.get("/p/loan/plan", headers=followed).status_code == 200
    assert client.get("/p/loan/plan", headers=loaded).status_code == 403


def test_the_policy_forbids_what_is_not_our_own_on_every_answer(client: TestClient) -> None:
    for path in ("/", "/p/loan/plan", "/problems", "/nope", "/static/page.css", "/openapi.json"):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"


def test_without_the_token_only_the_signs_of_life_are_shown(guarded: TestClient) -> None:
    for path in ("/problems", "/metrics", "/p/loan/plan", "/openapi.json"):
        assert guarded.get(path).status_code == 401
    assert guarded.post("/plan", json=ASKED).status_code == 401
    assert guarded.get("/health").status_code == 200
    wrong = {"Authorization": "Bearer wrong"}
    assert guarded.get("/problems", headers=wrong).status_code == 401


def test_the_token_opens_the_service(guarded: TestClient) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    assert guarded.post("/plan", json=ASKED, headers=headers).status_code == 200


def test_a_browser_is_asked_for_the_token_and_keeps_a_proof_of_it(guarded: TestClient) -> None:
    asked = guarded.get("/", headers={"Accept": "text/html"})
    assert asked.url.path == "/login"
    assert guarded.post("/login", data={"token": "wrong"}).status_code == 401
    entered = guarded.post("/login", data={"token": TOKEN}, follow_redirects=False)
    cookie = entered.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert TOKEN not in cookie
    assert "Secure" not in cookie
    assert guarded.get("/p/loan/plan").status_code == 200
    guarded.cookies.clear()


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_cookies_go_over_tls_alone_where_there_is_tls(guarded: TestClient, scheme: str) -> None:
    client = TestClient(guarded.app, base_url=f"{scheme}://p2c.example")
    entered = client.post("/login", data={"token": TOKEN}, follow_redirects=False)
    visited = client.post("/p/loan/plan", data={"v:debt": "5000"}, follow_redirects=False)
    for answer, name in ((entered, "p2c_session"), (visited, "p2c_visit")):
        cookie = answer.headers["set-cookie"]
        assert cookie.startswith(f"{name}=")
        assert "HttpOnly" in cookie
        assert ("Secure" in cookie) == (scheme == "https")


@pytest.mark.parametrize("room", [True, False])
def test_a_question_past_the_bound_is_held_and_gets_in_where_room_comes_in_time(
    guarded: TestClient, room: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = cast("FastAPI", guarded.app).state.context.pool
    headers = {"Authorization": f"Bearer {TOKEN}"}
    held: list[int] = []

    def pause(number: int) -> float:
        held.append(number)
        pool.taken = 0 if room else pool.most
        return 0.0

    monkeypatch.setattr("p2c._server.solver_pool.pause", pause)
    pool.taken = pool.most
    answers = [guarded.post("/plan", json=ASKED, headers=headers) for _ in range(3)]
    pool.taken = 0
    assert {each.status_code for each in answers} == {200 if room else 503}
    assert held == ([1] if room else [1, 1, 1])


def test_the_more_are_held_the_longer_each_is() -> None:
    pauses = [pause(each) for each in range(1, 2_000)]
    assert pauses == sorted(pauses)
    assert pauses[-1] == HELD


def test_too_long_an_address_or_head_is_refused_before_the_token_is_looked_at(
    guarded: TestClient,
) -> None:
    half = {"X-Long": "x" * 32_768}
    for answer in (
        guarded.get("/problems?" + "x" * 32_768, headers=half),
        guarded.get("/" + "x" * 32_768, headers=half),
        guarded.get("/problems", headers=half | {"X-More": "x" * 32_768}),
    ):
        assert answer.status_code == 431
        assert "at most 65,536 bytes" in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (Settings(host="0.0.0.0"), "a token is needed"),
        (Settings(host="example.com"), "a token is needed"),
        (Settings(token="short"), "at least 16 characters"),
        (Settings(token="with a blank in the middle"), "without blanks"),
    ],
)
def test_a_server_open_to_strangers_does_not_start(settings: Settings, words: str) -> None:
    with pytest.raises(P2CError, match=words):
        settings.check()
