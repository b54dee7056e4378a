"""The review page: every answer is kept, two experts at once lose nothing, and a power cut loses no saved answer."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import httpx2
import pytest
from starlette.testclient import TestClient

from p2c._learn.causal.review import read_review
from p2c._server.app import build_app
from p2c._server.settings import Limits, Settings
from tests.learn.causal.reviews import new_review
from tests.server.conftest import HERE
from tests.server.running import PATIENCE, running

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return new_review(tmp_path / "review.jsonl")


@pytest.fixture
def reviewer(path: Path) -> Iterator[TestClient]:
    settings = Settings(reviews=(str(path),), limits=Limits(solvers=1))
    with TestClient(build_app(settings), base_url=HERE) as opened:
        yield opened


def form(rule: str, **keys: str) -> dict[str, str]:
    usual = {"verdict": "approved", "law": "iff", "why": "seen", "by": "First", "seen": "0"}
    return {"file": "1", "rule": rule, "rule_text": ""} | usual | keys


def test_a_candidate_is_shown_with_its_evidence_and_its_counterexamples(
    reviewer: TestClient,
) -> None:
    page = reviewer.get("/review").text
    for words in (
        "score-1",
        "40 of 100 rows",
        "97.5%",
        "Rows that speak against it (1)",
        "not known",
    ):
        assert words in page


def test_rules_are_sentences_by_effect_and_the_open_ones_come_first(reviewer: TestClient) -> None:
    reviewer.post("/review", data=form("score-1"))
    reviewer.post("/review", data=form("paid-1"))
    page = reviewer.get("/review").text
    places = [
        page.index(words)
        for words in (
            '<h3 class="effect-name">paid <span class="tag open">1 open</span>',
            "If job is clerk, then paid is no.</a>",
            "If job is not “none”, then paid is yes.</a>",
            '<h3 class="effect-name">score</h3>',
            "If debt is at most 0, then score is at least 620.</a>",
        )
    ]
    assert places == sorted(places)


def test_each_law_has_a_sentence_an_example_and_its_exceptions(reviewer: TestClient) -> None:
    page = reviewer.get("/review?rule=score-1").text
    for words in (
        "Score is at least 620 exactly where debt is at most 0",
        "Where debt is at most 0, score is at least 620; elsewhere score may be anything.",
        "Score is at least 620 only where debt is at most 0",
        "where debt is at most 0 but score is 300, score changes by itself until score is at least 620",
        "where no rule for score applies but score is 620, that stays as it is",
        "Exceptions to it: 12 of 100 rows",
        "Exceptions to it: 1 of 100 rows",
        "Exceptions to it: 11 of 100 rows",
    ):
        assert words in page


def test_the_rules_are_read_in_german(reviewer: TestClient) -> None:
    page = reviewer.get("/review?rule=score-1&language=de").text
    assert "Wenn gilt: „debt“ ist höchstens 0, dann gilt: „score“ ist mindestens 620." in page
    for words in (
        "40 von 100 Zeilen",
        "97,5 %",
        "Zeilen, die dagegen sprechen (1)",
        "Ihre Antwort",
    ):
        assert words in page
    assert '<html lang="de">' in page
    assert reviewer.get("/review?language=xx").status_code == 422


def test_an_edited_rule_is_read_back_with_its_figures_before_it_is_saved(
    path: Path, tmp_path: Path
) -> None:
    data = tmp_path / "people.csv"
    data.write_text("debt,score\n0,700\n0,500\n5,700\n", encoding="utf-8")
    settings = Settings(reviews=(str(path),), data=str(data), limits=Limits(solvers=1))
    text = "score(X,N) :- debt(X,D), D=<0, N>=650."
    edited = form("score-1", verdict="edited", rule_text=text)
    with TestClient(build_app(settings), base_url=HERE) as client:
        page = client.post("/review", data=edited).text
        assert not read_review(path).answers
        assert "If debt is at most 0, then score is at least 650." in page
        assert "2 of 3 rows" in page
        looked = page.partition('name="looked" value="')[2].partition('"')[0]
        other = edited | {"looked": looked, "rule_text": text.replace("650", "660")}
        assert "at least 660" in client.post("/review", data=other).text
        assert not read_review(path).answers
        client.post("/review", data=edited | {"looked": looked})
    answer = read_review(path).verdicts()["score-1"]
    assert answer.text == text
    assert answer.evidence is not None
    assert (answer.evidence.support, answer.evidence.hits) == (2, 1)


def test_a_rule_can_be_skipped_and_the_last_answer_leads_to_the_next_command(
    reviewer: TestClient, path: Path
) -> None:
    page = reviewer.get("/review").text
    assert 'href="/review?file=1&amp;by=&amp;language=&amp;rule=paid-1">Skip for now' in page
    for rule in ("score-1", "paid-1"):
        page = reviewer.post("/review", data=form(rule)).text
        assert "p2c adopt" not in page
    assert "Skip for now" not in page
    page = reviewer.post("/review", data=form("paid-2", verdict="rejected")).text
    assert "All done" in page
    assert f"p2c adopt problem.toml {path} -o problem-causal.toml" in page
    assert "Save and go on" not in page
    assert not read_review(path).pending()


def test_an_answer_is_written_and_the_next_candidate_follows(
    reviewer: TestClient, path: Path
) -> None:
    page = reviewer.post("/review", data=form("score-1", why="paid debts raise scores"))
    assert "The answer to score-1 is on the disk." in page.text
    assert "1 of 3 rules answered" in page.text
    answer = read_review(path).verdicts()["score-1"]
    assert (answer.by, answer.why) == ("First", "paid debts raise scores")
    again = reviewer.get("/review?rule=score-1").text
    assert "by First" in again


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"why": " "}, "says by whom it is and why"),
        ({"by": ""}, "says by whom it is and why"),
        ({"verdict": "perhaps"}, "no verdict"),
        ({"verdict": ""}, "no verdict"),
        ({"law": "maybe"}, "no law"),
        ({"verdict": "edited", "rule_text": "score(X,N) :- "}, "line 1"),
        ({"verdict": "edited", "rule_text": "score(X,N) :- dept(X,D), D=<0, N>=620."}, "dept"),
    ],
)
def test_an_answer_that_cannot_hold_comes_back_with_all_that_was_typed(
    reviewer: TestClient, path: Path, keys: dict[str, str], words: str
) -> None:
    given = form("score-1", **({"why": "my long reason"} | keys))
    page = reviewer.post("/review", data=given)
    assert page.status_code == 409
    assert words in page.text
    assert keys.get("why") or "my long reason" in page.text
    assert not read_review(path).answers


def test_rules_that_contradict_each_other_are_refused_with_both_names(
    reviewer: TestClient, path: Path
) -> None:
    reviewer.post("/review", data=form("paid-1"))
    page = reviewer.post("/review", data=form("paid-2"))
    assert page.status_code == 409
    assert "paid-1, paid-2: both fire where job is" in page.text
    assert len(read_review(path).answers) == 1


def test_who_answers_second_is_shown_the_first_answer_and_both_are_kept(
    reviewer: TestClient, path: Path
) -> None:
    reviewer.post("/review", data=form("score-1"))
    late = form("score-1", verdict="rejected", by="Second", why="not in my bank")
    page = reviewer.post("/review", data=late)
    assert page.status_code == 409
    assert "First said &#39;approved&#39;" in page.text
    assert "not in my bank" in page.text
    assert reviewer.post("/review", data=late | {"seen": "1"}).status_code == 200
    assert [each.by for each in read_review(path).history("score-1")] == ["First", "Second"]


def test_many_answers_at_the_same_time_are_all_kept(tmp_path: Path) -> None:
    path = new_review(tmp_path / "busy.jsonl", extra=12)
    settings = Settings(reviews=(str(path),), limits=Limits(solvers=1))
    names = [f"more-{each}" for each in range(12)]

    def say(name: str) -> int:
        answer = client.post("/review", data=form(name, by=name), follow_redirects=False)
        return answer.status_code

    with (
        TestClient(build_app(settings), base_url=HERE) as client,
        ThreadPoolExecutor(6) as people,
    ):
        assert set(people.map(say, names)) == {303}
    review = read_review(path)
    assert sorted(each.by for each in review.answers) == sorted(names)
    assert review.torn == ()


def test_an_unknown_review_or_rule_is_said(reviewer: TestClient) -> None:
    assert reviewer.get("/review?file=2").status_code == 404
    assert reviewer.get("/review?file=x").status_code == 404
    for number in ("0000000019", "01", "1" * 5000, "\u0661"):
        assert reviewer.get("/review", params={"file": number}).status_code == 404
    page = reviewer.post("/review", data=form("nothing"))
    assert page.status_code == 409
    assert "no rule" in page.text


def test_a_crafted_last_line_is_said_in_one_line(reviewer: TestClient, path: Path) -> None:
    crafted = {"record": "answer", "rule": ["score-1"], "verdict": "approved", "law": "iff"}
    read_review(path).journal.append([crafted])
    page = reviewer.get("/review")
    assert page.status_code == 422
    assert "lacks or misuses &#39;rule&#39;" in page.text
    assert reviewer.post("/review", data=form("score-1")).status_code == 422


def test_a_server_without_a_review_says_how_to_get_one(client: TestClient) -> None:
    assert "--review review.jsonl" in client.get("/review").text


def test_what_was_said_to_be_saved_survives_a_power_cut(tmp_path: Path) -> None:
    path = new_review(tmp_path / "cut.jsonl", extra=200)
    saved: list[str] = []
    with (
        running(tmp_path, "--review", str(path)) as server,
        httpx2.Client(timeout=PATIENCE) as client,
    ):
        for each in range(200):
            name = f"more-{each}"
            if len(saved) == 5:
                server.kill()
            try:
                answer = client.post(f"{server.address}/review", data=form(name, by=name))
            except httpx2.HTTPError:
                break
            assert answer.status_code == 303
            saved.append(name)
    with path.open("ab") as file:
        file.write(b'{"record": "answer", "rule": "more-')
    with (
        running(tmp_path, "--review", str(path)) as server,
        httpx2.Client(timeout=PATIENCE) as client,
    ):
        page = client.get(f"{server.address}/review").text
        assert "was cut short while being written" in page
        answer = client.post(f"{server.address}/review", data=form("more-100"))
        assert answer.status_code == 303
    kept = [each.rule for each in read_review(path).answers]
    assert kept == [*saved, "more-100"]
