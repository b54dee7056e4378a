"""Users, roles and logins of a server behind a proxy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from starlette.testclient import TestClient

from p2c._learn.causal.review import read_review
from p2c._server.app import build_app
from p2c._server.identity import ATTEMPTS, Role, read_users
from p2c._server.settings import Limits, Settings
from p2c.errors import P2CError
from tests.learn.causal.reviews import new_review
from tests.server.conftest import HERE

if TYPE_CHECKING:
    from pathlib import Path

TOKEN = "a token of more than sixteen letters".replace(" ", "-")
PAGE = {"accept": "text/html"}


def server(client: str = "127.0.0.1", **settings: Any) -> TestClient:
    app = build_app(Settings(limits=Limits(solvers=1), **settings))
    address = (client, 50_000)
    return TestClient(app, base_url=HERE, client=address, follow_redirects=False)


@pytest.fixture
def users(tmp_path: Path) -> str:
    path = tmp_path / "users.toml"
    path.write_text('[users]\nvera = "viewer"\nedda = "expert"\nada = "admin"\n')
    return str(path)


def test_only_listed_users_of_the_proxy_are_admitted(users: str) -> None:
    visit = server(user_header="x-forwarded-user", users=users)
    assert visit.get("/", headers={"X-Forwarded-User": "vera"}).status_code == 200
    stranger = visit.get("/", headers={"X-Forwarded-User": "mallory"})
    assert stranger.status_code == 403
    assert "mallory" in stranger.text
    assert visit.get("/").status_code == 403
    assert visit.get("/health").status_code == 200


def test_a_client_that_is_no_proxy_cannot_name_a_user(users: str) -> None:
    visit = server("10.1.2.3", user_header="x-forwarded-user", users=users)
    assert visit.get("/", headers={"X-Forwarded-User": "ada"}).status_code == 403
    trusted = server("10.1.2.3", user_header="x-forwarded-user", users=users, proxy="10.1.0.0/16")
    assert trusted.get("/", headers={"X-Forwarded-User": "ada"}).status_code == 200


def test_the_role_decides_over_reviews_projects_and_metrics(users: str, tmp_path: Path) -> None:
    review = new_review(tmp_path / "review.jsonl")
    visit = server(user_header="x-forwarded-user", users=users, reviews=(str(review),))

    def status(user: str, method: str, path: str) -> int:
        return visit.request(method, path, headers={"X-Forwarded-User": user}).status_code

    assert status("vera", "GET", "/review") == 200
    assert status("vera", "POST", "/review") == 403
    assert status("edda", "POST", "/review") != 403
    assert status("edda", "GET", "/metrics") == 403
    assert status("ada", "GET", "/metrics") == 200
    assert status("edda", "GET", "/new") == 403
    assert status("ada", "GET", "/new") == 404


def test_a_review_records_the_user_and_the_role(users: str, tmp_path: Path) -> None:
    review = new_review(tmp_path / "review.jsonl")
    visit = server(user_header="x-forwarded-user", users=users, reviews=(str(review),))
    form = {
        "rule": "score-1",
        "verdict": "approved",
        "by": "another name",
        "why": "seen",
        "law": "iff",
    }
    answer = visit.post("/review", data={**form, "seen": "0"}, headers={"X-Forwarded-User": "edda"})
    assert answer.status_code == 303
    assert read_review(review).history("score-1")[-1].by == "edda (expert)"


def test_five_wrong_tokens_lock_a_client_out() -> None:
    visit = server(token=TOKEN)
    for _ in range(ATTEMPTS):
        assert visit.post("/login", data={"token": "wrong"}).status_code == 401
    locked = visit.post("/login", data={"token": TOKEN})
    assert locked.status_code == 429
    assert locked.headers["retry-after"] == "60"
    bearer = {"authorization": f"Bearer {TOKEN}"}
    assert visit.get("/problems", headers=bearer).status_code == 429
    other = bearer | {"x-forwarded-for": "203.0.113.9"}
    assert visit.get("/problems", headers=other).status_code == 200


def test_the_page_that_was_wanted_opens_after_the_login() -> None:
    visit = server(token=TOKEN)
    sent = visit.get("/p/loan/plan?row=1", headers=PAGE)
    assert sent.status_code == 303
    login = sent.headers["location"]
    assert login == "/login?next=%2Fp%2Floan%2Fplan%3Frow%3D1"
    page = visit.get(login)
    assert page.status_code == 200
    opened = visit.post(login, data={"token": TOKEN})
    assert opened.headers["location"] == "/p/loan/plan?row=1"
    assert visit.get("/p/loan/plan?row=1", headers=PAGE).status_code == 200
    away = visit.post("/login?next=//elsewhere.example/", data={"token": TOKEN})
    assert away.headers["location"] == "/"


def test_a_logout_ends_the_session() -> None:
    visit = server(token=TOKEN)
    visit.post("/login", data={"token": TOKEN})
    assert visit.get("/problems").status_code == 200
    assert visit.post("/logout").headers["location"] == "/login"
    assert visit.get("/problems").status_code == 401


def test_a_server_under_a_path_links_within_it() -> None:
    visit = server(root="/p2c", token=TOKEN)
    assert visit.get("/", headers=PAGE).headers["location"] == "/p2c/login"
    visit.post("/login", data={"token": TOKEN})
    for path in ("/", "/p/loan/person", "/p/loan/plan?row=1", "/p/loan/problem", "/docs"):
        text = visit.get(path, headers=PAGE).text
        for attribute in ('href="/', 'src="/', 'action="/'):
            for part in text.split(attribute)[1:]:
                assert part.startswith("p2c/"), (path, attribute, part[:40])
    assert visit.get("/openapi.json").json()["servers"] == [{"url": "/p2c"}]


def test_head_has_the_headers_of_get_and_no_body() -> None:
    visit = server()
    got, head = visit.get("/health"), visit.head("/health")
    assert head.status_code == 200
    assert head.content == b""
    assert head.headers["content-length"] == got.headers["content-length"]


def test_a_named_host_is_this_server() -> None:
    visit = server(hosts=("plans.example",))
    assert visit.get("/health", headers={"host": "plans.example"}).status_code == 200
    assert visit.get("/health", headers={"host": "other.example"}).status_code == 421


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('[users]\nvera = "owner"\n', "users.vera: no role 'owner'"),
        ('role = "x"\n', "'role': expected the keys users and default"),
        ("users = 3\n", "expected a table"),
        ("[", "cannot be read"),
    ],
)
def test_a_wrong_file_of_users_is_refused(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "users.toml"
    path.write_text(content)
    with pytest.raises(P2CError) as caught:
        read_users(str(path))
    assert message in str(caught.value)


def test_users_who_are_not_listed_have_the_default_role(tmp_path: Path) -> None:
    path = tmp_path / "users.toml"
    path.write_text('default = "viewer"\n[users]\nada = "admin"\n')
    found = read_users(str(path))
    assert (found.role("ada"), found.role("anyone")) == (Role.ADMIN, Role.VIEWER)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"users": "users.toml"}, "--user-header"),
        ({"root": "p2c"}, "--root-path p2c"),
        ({"proxy": "nginx"}, "--proxy nginx"),
    ],
)
def test_wrong_options_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(P2CError, match=message):
        Settings(**settings).check()
