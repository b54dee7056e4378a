"""Every visible word of a German page is German or marked as foreign.

No language falls back silently.
"""

from __future__ import annotations

import re
import time
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient

from p2c import datasets
from p2c._explain.letter import spoken
from p2c._explain.phrases import ENGLISH, GERMAN, LANGUAGES
from p2c._learn.tables.look import ColumnKind, Why
from p2c._rules.lint import MESSAGES
from p2c._server.app import build_app
from p2c._server.pages.address import case_of_row
from p2c._server.settings import Settings
from p2c._server.tasks import Consultation, overview
from p2c.problem import Problem
from tests.embedded import embedded
from tests.learn.causal.reviews import new_review
from tests.server.conftest import HERE, LIMITS
from tests.server.forms import form_of
from tests.server.running import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from p2c._explain.phrases import Phrases

VOID = frozenset({"input", "img", "meta", "link", "br", "source", "hr"})
ALIKE = frozenset(
    {"april", "august", "september", "november", "person", "plan", "problem", "token"}
)
"""Words that are the same in both languages."""
UNSPOKEN = frozenset({"script", "style", "code", "pre", "textarea", "time"})
"""Elements without words of a language: programs, rules and typed text."""
SHOWN = ("aria-label", "placeholder", "title", "alt")
"""Attributes that a reader sees or hears."""
COMMON = frozenset(
    [
        "the",
        "of",
        "and",
        "or",
        "is",
        "are",
        "was",
        "were",
        "be",
        "been",
        "this",
        "that",
        "these",
        "those",
        "there",
        "it",
        "its",
        "not",
        "no",
        "yes",
        "your",
        "you",
        "what",
        "which",
        "who",
        "where",
        "when",
        "how",
        "why",
        "with",
        "without",
        "from",
        "to",
        "for",
        "by",
        "at",
        "on",
        "into",
        "than",
        "then",
        "so",
        "as",
        "if",
        "but",
        "all",
        "each",
        "every",
        "any",
        "some",
        "other",
        "more",
        "most",
        "at",
        "least",
        "expected",
        "found",
        "missing",
        "row",
        "rows",
        "column",
        "value",
        "values",
        "feature",
        "features",
        "number",
        "numbers",
        "file",
        "table",
        "model",
        "rule",
        "rules",
        "goal",
        "plan",
        "change",
        "changed",
        "changes",
        "free",
        "up",
        "down",
        "fixed",
        "answer",
        "problem",
        "search",
        "people",
        "nobody",
    ]
)
"""English words that mark a text as English, in the catalogue or not."""


class _Words(HTMLParser):
    """The words that a page shows in one language."""

    def __init__(self, language: str) -> None:
        super().__init__()
        self.language = language
        self.texts: list[str] = []
        self.open: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        keys = dict(attrs)
        language = keys.get("lang") or (self.open[-1][1] if self.open else "")
        if language == self.language:
            self.texts += [keys[each] or "" for each in SHOWN if each in keys]
        if tag not in VOID:
            self.open.append((tag, language))

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        if not self.open:
            return
        silent = UNSPOKEN.intersection(tag for tag, _ in self.open)
        if self.open[-1][1] == self.language and not silent:
            self.texts.append(data)


def words_in(text: str) -> set[str]:
    """Return the words of a text, without placeholders and identifiers.

    A name with an underscore or a dash is an identifier.
    """
    text = re.sub(r"\{\w+\}|[\w-]*[_-][\w-]*", " ", text)
    return {each.lower() for each in re.findall(r"[^\W\d_]+", text)}


def texts_of(value: Any) -> Iterator[str]:
    """Return the texts of a catalogue."""
    if isinstance(value, str):
        yield value
    else:
        for each in value.values():
            yield from texts_of(each)


def catalogue(phrases: Phrases) -> dict[tuple[str, ...], str]:
    """Return each text of a catalogue by where it stands."""
    texts: dict[tuple[str, ...], str] = {}

    def add(place: tuple[str, ...], value: str | Mapping[str, Any]) -> None:
        if isinstance(value, str):
            texts[place] = value
        else:
            for key, each in value.items():
                add((*place, key), each)

    for name, value in vars(phrases).items():
        if name != "units_of_one":  # the units that are common in a language
            add((name,), value)
    return texts


def vocabulary(phrases: Phrases) -> set[str]:
    """Return all words of a catalogue."""
    return set().union(*map(words_in, catalogue(phrases).values()))


FOREIGN = (vocabulary(ENGLISH) | COMMON) - vocabulary(GERMAN)


def english_in(page: str, *, own: str = "") -> set[str]:
    """Return the English words that a German page shows as German.

    The words of the problem's own are left out.
    """
    assert '<html lang="de">' in page
    reader = _Words("de")
    reader.feed(page)
    return words_in(" ".join(reader.texts)) & FOREIGN - words_in(own)


def own_words(name: str) -> str:
    """Return the problem's own words: people's names, units and authors' reasons."""
    problem = embedded(name)
    units = [each.unit for each in spoken(problem.theory, "de").features]
    reasons = [each.reason for each in problem.findings()]
    names = [each.replace("_", " ") for each in (name, *datasets.rows(name))]
    return " ".join((*names, *units, *reasons, problem.spec.goal.replace("_", " ")))


def test_every_catalogue_says_the_same_things_and_fills_in_the_same_facts() -> None:
    english, german = catalogue(ENGLISH), catalogue(GERMAN)
    assert english.keys() == german.keys()
    for place, text in english.items():
        assert text.strip() == "" or german[place].strip(), place
        filled = [set(re.findall(r"\{(\w+)\}", each)) for each in (text, german[place])]
        assert filled[0] == filled[1], place


def test_no_text_of_the_german_catalogue_is_english() -> None:
    for place, text in catalogue(GERMAN).items():
        assert not words_in(text) & (COMMON - vocabulary(GERMAN)), place
        english = catalogue(ENGLISH)[place]
        if words_in(text) and text == english:
            assert words_in(text) <= ALIKE, (place, text)


@pytest.mark.parametrize("page", ["/", "/p/loan/problem", "/p/loan/plan", "/p/loan/person"])
def test_an_unknown_language_is_refused_with_a_hint(client: TestClient, page: str) -> None:
    for query in ("language=fr", "language=deutsch"):
        answer = client.get(f"{page}?{query}")
        assert answer.status_code == 422
        assert "language: no catalogue" in answer.text
        assert "de" in answer.text
    assert client.get(f"{page}?language=").status_code == 200


def test_findings_are_told_in_every_language() -> None:
    assert ENGLISH.findings == MESSAGES
    keys: dict[str, Any] = {
        "goal": "g(X), not g(X)",
        "rules": "g(X) :- a(X,N), N>5.\nbad(X) :- a(X,N), N>9.\n",
        "features": {each: {"type": "int", "min": 0, "max": 9} for each in ("a", "b")},
    }
    found = overview(Consultation(Problem.from_dict(keys), None), {"language": "de"})["findings"]
    texts = [each["text"] for each in found]
    assert len(texts) == 4
    assert not [each for each in texts if words_in(each) & FOREIGN - {"features", "bad", "not"}]
    assert any(each.startswith("Zeile 2: Nichts verwendet bad(X)") for each in texts)


def test_kinds_and_reasons_of_columns_are_in_every_catalogue() -> None:
    for phrases in LANGUAGES.values():
        assert {f"kind_{each.name.lower()}" for each in ColumnKind} <= phrases.pages.keys()
        assert {f"why_{each.name.lower()}" for each in Why} <= phrases.pages.keys()
    for each in Why:
        assert ENGLISH.pages[f"why_{each.name.lower()}"] == each.value


@pytest.mark.parametrize("page", ["problem", "person", "plan", "plan/ways", "compare"])
@pytest.mark.parametrize("name", ["john", "no_way", "already", "exception", "nobody"])
def test_german_pages_of_a_problem_show_no_english(
    client: TestClient, page: str, name: str
) -> None:
    row = datasets.rows("loan").get(name)
    case = case_of_row(row) if row else case_of_row({"debt": "x", "bank_balance": ""})
    query = case.query() + "&language=de"
    text = client.get(f"/p/loan/{page}?{query}").text
    assert not english_in(text, own=own_words("loan"))


@pytest.mark.parametrize(
    "given", ['{"debt": 0}', '{"debt": 0, "bank_balance": 60000}', '{"xyz": 1}', "{"]
)
def test_german_comparisons_show_no_english(client: TestClient, given: str) -> None:
    query = urlencode({"language": "de", "given": given})
    row = case_of_row(datasets.rows("loan")["john"]).query()
    assert not english_in(client.get(f"/p/loan/compare?{row}&{query}").text, own=own_words("loan"))


def test_german_pages_of_the_way_in_and_of_errors_show_no_english(client: TestClient) -> None:
    own = " ".join(map(own_words, datasets.names()))
    assert not english_in(client.get("/?language=de").text, own=own)
    commands = "p2c causal data csv review jsonl"
    for address in ("/p/none/plan", "/p/loan/nothing", "/review"):
        assert not english_in(client.get(f"{address}?language=de").text, own=commands)
    settings = Settings(token="a token of sixteen", limits=LIMITS)
    with TestClient(build_app(settings), base_url=HERE) as closed:
        german = {"Accept-Language": "de"}
        assert not english_in(closed.get("/login", headers=german).text)
        wrong = closed.post("/login", data={"token": "x"}, headers=german)
        assert not english_in(wrong.text)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[TestClient]:
    settings = Settings(
        project=str(tmp_path / "schreibtisch"), audits=str(tmp_path / "audits"), limits=LIMITS
    )
    with TestClient(build_app(settings), base_url=HERE) as opened:
        yield opened


def ended(client: TestClient, address: str) -> str:
    """Wait for the work that is under way, and return the page then."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        page = client.get(f"{address}?language=de").text
        if "http-equiv" not in page:
            return page
        assert not english_in(page)
        time.sleep(0.05)
    raise AssertionError("the work did not end")


TABLE = "alter,einkommen,land,tag,nummer,leer,eins,postleitzahl,zahlt\n" + "".join(
    f"{20 + each % 40},{each // 2},{'pq'[each % 2]},2024-01-{each % 28 + 1:02},{each},,1,0{each % 9}1,"
    f"{'gut' if each > 60 else 'schlecht'}\n"
    for each in range(120)
)
"""Columns of every kind, with names that are not English."""


def test_german_pages_of_a_project_show_no_english(desk: TestClient) -> None:
    files = "/new/files?language=de"
    kinds = "csv parquet skops onnx json ubj txt cbm pickle schreibtisch"
    own = f"{kinds} p2c plan problem toml people row tmp pytest of root test"
    said = [desk.get(files), desk.post(files), desk.post(files, files={"table": ("x.csv", b"")})]
    said.append(desk.post(files, files={"table": ("x.csv", TABLE.encode())}))
    at = "/new/columns?language=de"

    def form() -> dict[str, str]:
        return form_of(desk.get(at).text, "/new/columns")

    for typed in (
        {"target": "zahlt"},
        {"build": "yes"},
        {"desired": "besser"},
        {"target": "niemand"},
        {"weight-1": "viel"},
        {"action-1": "quer"},
        {"desired": "gut", "build": "yes"},
    ):
        said.append(desk.post(at, data={**form(), **typed}))
    pages = [each.text for each in said]
    pages += [
        ended(desk, "/new/result"),
        desk.post(at, data={**form(), "desired": "schlecht"}).text,
    ]
    pages.append(desk.get("/new/result?language=de").text)
    desk.post("/new/causes?language=de")
    pages.append(ended(desk, "/new/result"))
    for each in ("problem", "person", "plan", "compare", "audit"):
        pages.append(desk.get(f"/p/schreibtisch/{each}?language=de").text)
    for place, page in enumerate(pages):
        assert not english_in(page, own=own), place


def test_german_pages_of_an_audit_show_no_english(desk: TestClient, tmp_path: Path) -> None:
    settings = Settings(audits=str(tmp_path / "other"), limits=LIMITS)
    with TestClient(build_app(settings), base_url=HERE) as client:
        at, language = "/p/loan/audit", {"language": "de"}
        own = own_words("loan") + " age john csv parquet html pdf md json"
        pages = [client.get(at, params=language), client.post(f"{at}/people", params=language)]
        pages.append(client.post(f"{at}/start", params=language))
        pages.append(client.post(f"{at}/people", params=language, data={"rows": "yes"}))
        for page in pages:
            assert not english_in(
                page.text, own=f"{own} bank balance loan duration debt credit score"
            )


def test_german_pages_of_a_review_show_no_english(tmp_path: Path) -> None:
    settings = Settings(reviews=(str(new_review(tmp_path / "review.jsonl")),), limits=LIMITS)
    with TestClient(build_app(settings), base_url=HERE) as client:
        page = client.get("/review?language=de").text
        own = "job none yes no"
        assert not english_in(page, own=own)
        rules = re.findall(r"rule=([\w-]+)", page)
        assert rules
        for rule in dict.fromkeys(rules):
            sent = {
                "file": "1",
                "rule": rule,
                "language": "de",
                "verdict": "approved",
                "by": "N",
                "why": "gesehen",
            }
            answer = client.post("/review", data={**sent, "seen": "0", "rule_text": ""})
            assert not english_in(answer.text, own=own), rule
