"""Hostile labels, values, names of files and uploads: they are shown as text, and nothing of them ever runs."""

from __future__ import annotations

import json
import pickle
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient

from p2c._server.app import build_app
from p2c._server.settings import Limits, Settings
from tests.hostile import unbraced
from tests.server.conftest import HERE
from tests.server.hostile import TEXTS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TAGS = frozenset(
    [
        "html",
        "head",
        "meta",
        "title",
        "link",
        "script",
        "body",
        "a",
        "header",
        "nav",
        "ul",
        "li",
        "button",
        "main",
        "h1",
        "h2",
        "h3",
        "h4",
        "p",
        "section",
        "div",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "form",
        "fieldset",
        "legend",
        "label",
        "input",
        "select",
        "option",
        "details",
        "summary",
        "textarea",
        "ol",
        "article",
        "span",
        "strong",
        "code",
        "pre",
        "dl",
        "dt",
        "dd",
        "img",
        "figure",
        "figcaption",
        "picture",
        "source",
        "time",
    ]
)
SCRIPTS = frozenset(
    {"/static/theme.js", "/static/fields.js", "/static/find.js", "/static/replan.js"}
)


class Reader(HTMLParser):
    """Refuses what none of our pages has: other elements, other scripts, handlers, addresses elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS, tag
        facts = dict(attrs)
        assert not [name for name in facts if name.startswith("on") or name == "style"]
        if tag == "script":
            assert facts["src"] in SCRIPTS
        for name in ("href", "src", "action"):
            address = facts.get(name) or "/"
            assert address.startswith(("/", "#", "?")), address
            assert not address.startswith("//")
        if tag == "meta":
            assert "http-equiv" not in facts

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def assert_harmless(page: str) -> str:
    """Read a page, and return its text."""
    assert "Traceback" not in page
    reader = Reader()
    reader.feed(page)
    return "".join(reader.text)


def problem_with(text: str) -> dict[str, Any]:
    """Return a problem that says a text wherever a problem can say one."""
    return {
        "name": text,
        "goal": "not poor(X)",
        "rules": "% "
        + text.replace("\n", " ").replace("\r", " ")
        + "\npoor(X) :- money(X,N), N<5.",
        "features": {
            "money": {
                "type": "int",
                "min": 0,
                "max": 9,
                "label": text,
                "unit": text,
                "phrase": f"{unbraced(text)} {{value}}",
            },
            text: {"type": "category", "values": [text, "other"], "label": text},
        },
    }


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    folder = tmp_path_factory.mktemp("hostile")
    files = [_written(folder, number, text) for number, text in enumerate(TEXTS)]
    settings = Settings(problems=tuple(files), limits=Limits(solvers=1, seconds=30))
    with TestClient(build_app(settings), base_url=HERE) as opened:
        yield opened


def _written(folder: Path, number: int, text: str) -> str:
    name = f"{number:02} {text[:60].replace('/', '').replace(chr(0), '')}.json"
    path = folder / name
    path.write_text(json.dumps(problem_with(text)))
    return str(path)


def ids(client: TestClient) -> list[str]:
    return [each["id"] for each in client.get("/problems").json()["problems"]]


def test_there_are_at_least_fifty_of_them() -> None:
    assert len(set(TEXTS)) >= 50


@pytest.mark.parametrize("page", ["problem", "person", "plan", "compare"])
def test_no_page_of_a_hostile_problem_has_more_than_our_own_elements(
    hostile: TestClient, page: str
) -> None:
    for id_, text in zip(ids(hostile), TEXTS, strict=True):
        query = urlencode({"v:money": "2", f"v:{text}": text, f"a:{text}": "fixed"})
        answer = hostile.get(f"/p/{id_}/{page}?{query}")
        assert answer.status_code == 200, text
        shown = assert_harmless(answer.text)
        if page == "plan":
            assert "There is a way" in shown, text


def test_hostile_values_and_restrictions_are_refused_on_the_page_as_text(
    client: TestClient,
) -> None:
    for text in TEXTS:
        pairs = [("v:age", text), ("v:debt", text), ("a:debt", text), ("min:debt", text)]
        pairs += [
            ("w:debt", text),
            ("lift", text),
            ("only:debt", text),
            ("norm", text),
            (text, text),
        ]
        for page in ("person", "plan", "plan/ways", "compare"):
            answer = client.get(f"/p/loan/{page}?{urlencode(pairs)}")
            assert answer.status_code == 200
            assert_harmless(answer.text)
        for page in ("person", "plan", "plan/result"):
            answer = client.post(f"/p/loan/{page}", data=dict(pairs))
            assert answer.status_code == 200
            assert_harmless(answer.text)


def test_hostile_uploads_and_their_names_are_refused_on_the_page_as_text(
    client: TestClient,
) -> None:
    for text in TEXTS:
        name = text.replace("\r", "").replace("\n", "")[:200]
        for content in (
            text.encode(),
            json.dumps({text: text}).encode(),
            json.dumps({"debt": text}).encode(),
            json.dumps({"status": text, "steps": [{"actions": text}]}).encode(),
            f"debt\n{text}".encode(),
        ):
            answer = client.post("/p/loan/compare?row=1", files={"file": (name, content)})
            assert answer.status_code == 200
            assert_harmless(answer.text)


@pytest.mark.parametrize(
    "content",
    [
        pickle.dumps({"debt": 0}),
        b"\x00" * 1000,
        b"\xff\xfe\x00\x01",
        b"PK\x03\x04" + b"\x00" * 50,
        b"[" * 50_000,
        b'{"a":' * 50_000,
        b'{"debt": 1e999}',
        b'{"debt": ' + b"9" * 10_000 + b"}",
        b"debt\n" + b"9" * 10_000,
        b'"' * 9_999,
        b"a," * 9_999,
        b"debt,debt\n1,2",
        b"debt\n1\n2,3",
        b"[{}, 3]",
        b"{}" * 2,
        b'{"status": "found", "steps": [], "initial": null}',
    ],
)
def test_an_upload_that_is_no_answer_is_refused_in_words(
    client: TestClient, content: bytes
) -> None:
    answer = client.post("/p/loan/compare?row=1", files={"file": ("x.json", content)})
    assert answer.status_code == 200
    assert "This cannot be compared" in assert_harmless(answer.text)


def test_too_large_an_upload_is_refused(client: TestClient) -> None:
    answer = client.post("/p/loan/compare?row=1", files={"file": ("x.csv", b"a" * 1_000_001)})
    assert answer.status_code == 413


def test_hostile_requests_to_the_service_are_refused_in_one_shape(client: TestClient) -> None:
    for text in TEXTS:
        for asked in (
            {"problem": text, "row": {}},
            {"problem": "loan", "row": {text: text}},
            {"problem": "loan", "row": {"debt": text}},
            {"problem": "loan", "row": {}, "restrictions": {text: {"action": "fixed"}}},
        ):
            answer = client.post("/plan", json=asked)
            assert 400 <= answer.status_code < 500
            assert set(answer.json()) == {"error"}
            assert answer.headers["content-type"] == "application/json"


def test_letters_that_are_no_letters_come_back_as_they_were(client: TestClient) -> None:
    answer = client.post(
        "/plan",
        content=b'{"problem": "\\ud800", "row": {}}',
        headers={"Content-Type": "application/json"},
    )
    assert 400 <= answer.status_code < 500
