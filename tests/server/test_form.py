"""The form and its answer: numbers as the language writes them, what is still needed, and whose values these are."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode

import pytest
from starlette.testclient import TestClient

from p2c import datasets
from p2c._explain.phrases import ENGLISH, GERMAN, LANGUAGES, phrases_of
from p2c._explain.sentences import number_words
from p2c._server.app import build_app
from p2c._server.pages.address import (
    Case,
    case_of_row,
    plain_number,
    read_case,
    read_values,
    typed_number,
)
from p2c._server.settings import Settings
from p2c._spec.toml import problem_to_toml
from tests.embedded import embedded
from tests.loan import LOAN
from tests.server.conftest import HERE, LIMITS

if TYPE_CHECKING:
    from pathlib import Path


ROW = datasets.rows("loan")["john"]
JOHN = case_of_row(ROW)


def with_values(language: str = "", **values: str) -> str:
    """Return the address of John with other values, as they are typed."""
    case = Case({**JOHN.values, **values}, options={"language": language})
    return case.query()


@pytest.mark.parametrize(
    ("language", "text", "number"),
    [
        ("de", "40.000", "40000"),
        ("de", "40.000,5", "40000.5"),
        ("de", "0,25", "0.25"),
        ("de", "0.25", None),
        ("de", "4.00", None),
        ("en", "40,000", "40000"),
        ("en", "1,234,567.5", "1234567.5"),
        ("en", "40,00", None),
        ("en", "1,234.567,8", None),
        ("en", "−5", "-5"),
        ("de", "1 234 567", "1234567"),
        ("en", "1 234,567", None),
        ("en", "2e3", "2e3"),
        ("en", "", None),
        ("en", ".", None),
        ("en", "nan", None),
    ],
)
def test_a_number_is_read_as_the_language_writes_it(
    language: str, text: str, number: str | None
) -> None:
    assert plain_number(text, phrases_of(language)) == number


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("number", [0, 7, -1234, 40_000, 1_000_000_000, 0.25, -1234.5, 1e-7, 1e22])
def test_what_the_page_prints_can_be_typed_again(language: str, number: float) -> None:
    phrases = phrases_of(language)
    for text in (number_words(number, phrases), typed_number(str(number), phrases)):
        plain = plain_number(text, phrases)
        assert plain is not None
        assert float(plain) == number


def test_thousands_are_read_in_german_and_echoed(client: TestClient) -> None:
    page = client.get(f"/p/loan/plan?{with_values('de', bank_balance='40.000')}").text
    assert "Erhöhen Sie „Kontostand“: jetzt 40.000 Dollar, dann 60.000 Dollar oder mehr." in page
    assert "= 40.000 Dollar" in page
    assert 'value="40.000"' in page


def test_thousands_are_read_in_english_as_hints_print_them(client: TestClient) -> None:
    page = client.get(f"/p/loan/plan?{with_values(bank_balance='40,000')}").text
    assert "Raise your bank balance from 40,000 dollars to 60,000 dollars or more." in page


def test_a_point_in_a_whole_number_is_asked_about_and_never_guessed(client: TestClient) -> None:
    page = client.get(f"/p/loan/plan?{with_values(bank_balance='40.000')}").text
    assert "expected a whole number, such as 1,234" in page
    assert 'class="verdict' not in page


def test_a_language_is_changed_and_the_numbers_with_it(client: TestClient) -> None:
    query = with_values(bank_balance="40,000") + "&min:debt=1,000&w:debt=1.5&to=de"
    page = client.get(f"/p/loan/plan?{query}", follow_redirects=True)
    assert dict(parse_qsl(page.url.query.decode())).keys() == {"state", "language"}
    for name, text in (("v:bank_balance", "40000"), ("min:debt", "1000"), ("w:debt", "1,5")):
        assert re.search(rf'name="{name}" value="{text}"', page.text)
    assert '<html lang="de">' in page.text


def test_a_case_means_the_same_in_every_language() -> None:
    theory = embedded("loan").theory
    for language in LANGUAGES:
        turned = JOHN.in_language(language, theory.features)
        assert read_values(theory, turned).state == ROW
        assert turned.in_language("en", theory.features).values == JOHN.values


def test_a_german_page_speaks_german_from_the_form_to_the_other_ways(client: TestClient) -> None:
    page = client.get(f"/p/loan/plan?{with_values('de')}").text
    shown = re.sub(r"<code>.*?</code>|<[^>]*>|\"[^\"]*\"", " ", page[page.index("<main") :])
    shown = re.sub(r"(?s)&#34;.*?&#34;", " ", shown)
    german = ("Schulden", "Kontostand", "nicht bekannt", "Grenzen und Aufwand", "Andere Wege")
    for word in (*german, "gilt nicht:", "bank_balance ist 40000"):
        assert word in shown
    assert not re.search(
        r"\b(your|the|dollars|debt|change|not known|ways?|effort|holds|fails)\b", shown
    )
    ways = client.get(f"/p/loan/plan/ways?{with_values('de')}&part=1").text
    assert "Der günstigste" in ways
    assert not re.search(r"\b(your|the|cheapest|steps?)\b", re.sub(r"<[^>]*>", " ", ways))


def test_a_half_filled_form_gets_no_verdict_but_what_is_still_needed(client: TestClient) -> None:
    query = urlencode(
        {"v:age": "31", "v:debt": "", "v:bank_balance": "70000", "v:credit_score": ""}
    )
    for text in (
        client.get(f"/p/loan/plan?{query}").text,
        client.post(
            "/p/loan/plan/result", data=dict(parse_qsl(query, keep_blank_values=True))
        ).text,
    ):
        assert "Still needed before there is an answer" in text
        needed = text[text.index('id="needed"') : text.index("Give each a value")]
        assert re.findall(r'<a href="#v\d+">([^<]*)</a>', needed) == ["debt", "credit score"]
        assert "The answer is" not in text
        assert "Nothing has to change" not in text


def test_what_no_rule_looks_at_need_not_be_given(client: TestClient) -> None:
    values = {"v:debt": "0", "v:bank_balance": "70000", "v:credit_score": "700"}
    page = client.get(f"/p/loan/plan?{urlencode(values)}").text
    assert "The answer is yes." in page
    assert "rests on that" not in page


def test_an_answer_names_the_values_that_are_not_known(client: TestClient) -> None:
    values = {"v:debt": "", "unknown": "debt", "v:bank_balance": "70000", "v:credit_score": "700"}
    page = client.get(f"/p/loan/plan?{urlencode(values)}").text
    assert "Not known, and the answer rests on that: debt." in page
    assert "We do not know your debt, so this counts as not known." in page
    assert re.search(r'name="unknown" value="debt"[^>]* checked', page)


def test_nothing_is_planned_or_handed_out_for_a_half_filled_form(client: TestClient) -> None:
    for page in ("picture.svg", "letter.html", "report.html", "plan.json"):
        answer = client.get(f"/p/loan/plan/{page}?v:debt=5000&v:bank_balance=")
        assert answer.status_code == 422
    other = client.get('/p/loan/compare?v:debt=5000&v:bank_balance=&given={"debt": 0}').text
    assert "still needed" in other


def test_a_case_with_unknown_values_survives_the_way_through_an_address() -> None:
    case = read_case(parse_qsl("v:a=1&v:b=&unknown=b&unknown=c", keep_blank_values=True))
    assert case.unknown == ("b", "c")
    assert read_case(parse_qsl(case.query(), keep_blank_values=True)) == case
    assert read_case([("v:a", "1"), ("unknown", "a")]).unknown == ()


def test_an_example_says_whose_values_it_shows(client: TestClient) -> None:
    page = client.get("/p/loan/plan?row=1").text
    assert "These are not your values. They are those of “john”, shown as an example." in page
    own = client.get(f"/p/loan/plan?{with_values(debt='4999')}").text
    assert "shown as an example" not in own


def test_a_no_has_no_green_dot_and_no_bare_figure(client: TestClient) -> None:
    page = client.get("/p/loan/plan?row=1").text
    assert 'class="verdict found"' in page
    assert "There is a way, in 2 steps of your own." in page
    before, experts = page.split("For experts", 1)
    assert "0.00502" not in before
    assert "The effort is 0.00502, measured as L1." in experts
    styles = client.get("/static/page.css").text
    green = re.findall(r"([^{}\n]*::before) \{[^}]*background: var\(--good\)", styles)
    assert green == [".verdict.already::before"]


def test_the_answer_is_a_live_region_and_no_longer_than_it_has_to_be(client: TestClient) -> None:
    page = client.get("/p/loan/plan?row=1").text
    region = page[page.index('<div id="result"') : page.index('<div id="letter"')]
    assert 'aria-live="polite"' in region
    assert "The answer is no for now." in region
    assert len(re.sub(r"<[^>]*>|\s+", " ", region).split()) < 40


def test_the_letter_and_the_plan_can_be_kept(client: TestClient) -> None:
    letter = client.get(f"/p/loan/plan/letter.html?{with_values('de')}")
    assert letter.headers["content-disposition"] == 'attachment; filename="loan-letter.html"'
    assert "Senken Sie „Schulden“" in letter.text
    assert "Kontostand: 40.000 Dollar" in letter.text
    page = client.get(f"/p/loan/plan?{with_values()}").text
    assert "/p/loan/plan/report.html?" in page
    report = client.get(f"/p/loan/plan/report.html?{with_values()}")
    assert report.headers["content-disposition"] == 'attachment; filename="loan-report.html"'
    assert "reject_loan" in report.text
    plan = client.get(f"/p/loan/plan/plan.json?{with_values()}")
    assert "attachment" in plan.headers["content-disposition"]
    assert embedded("loan").check(json.loads(plan.text)).ok


def test_own_limits_that_exclude_today_are_taken(client: TestClient) -> None:
    page = client.get(f"/p/loan/plan?{with_values()}&min:bank_balance=70000").text
    assert "Raise your bank balance from 40,000 dollars to 70,000 dollars or more." in page


def test_restrictions_are_dropped_with_one_click(client: TestClient) -> None:
    page = client.get(f"/p/loan/plan?{with_values()}&a:debt=fixed&w:bank_balance=3").text
    link = re.search(r'href="([^"]*)" id="drop"', page)
    assert link
    free = client.get(link[1].replace("&amp;", "&")).text
    assert "There is a way, in 2 steps" in free
    assert 'value="5000"' in free


def test_fields_stand_in_groups_and_what_no_rule_looks_at_is_closed(client: TestClient) -> None:
    page = client.get("/p/loan/plan?row=1").text
    groups = re.findall(r'<details class="group" data-group="(\w+)"( open)?>', page)
    assert groups == [("change", " open"), ("effect", " open"), ("spare", "")]


def test_a_card_says_what_a_problem_is_about(client: TestClient) -> None:
    page = client.get("/").text
    assert "The goal: not “reject loan”" in page
    assert "bank balance, credit score" in page
    assert "Features: 5, rules: 3, people to start from: 5" in page
    german = client.get("/?language=de").text
    assert "Kontostand, Kreditwürdigkeit" in german
    assert 'href="/p/loan/plan?row=1&amp;language=de"' in german


def test_other_ways_on_the_page_contain_no_pointless_change(client: TestClient) -> None:
    for name in ("adult", "german"):
        for row in datasets.rows(name).values():
            query = case_of_row(row).query()
            page = client.get(f"/p/{name}/plan/ways?{query}&part=1").text
            cards = [
                frozenset(re.findall(r'class="do">([^<]*)<', card))
                for card in page.split('class="card"')[1:]
            ]
            for number, card in enumerate(cards):
                assert not any(earlier <= card for earlier in cards[:number])


def test_twice_as_hard_is_twice_the_problems_own_weight(tmp_path: Path) -> None:
    weights = {"age": 1, "debt": 3, "bank_balance": 0.75, "credit_score": 0}
    features = {name: LOAN["features"][name] | {"weight": each} for name, each in weights.items()}
    file = tmp_path / "heavy.toml"
    file.write_text(problem_to_toml(LOAN | {"features": features}))
    with TestClient(build_app(Settings(problems=(str(file),), limits=LIMITS)), base_url=HERE) as at:
        page = at.get("/p/heavy/person?language=de").text
    assert set(re.findall(r"\((üblich: [^)]*)\)", page)) == {
        "üblich: 1; 2 ist doppelt so schwer",
        "üblich: 3; 6 ist doppelt so schwer",
        "üblich: 0,75; 1,5 ist doppelt so schwer",
        "üblich: 0",
    }


def test_every_word_of_the_pages_is_there_in_every_language() -> None:
    assert ENGLISH.pages.keys() == GERMAN.pages.keys()
    assert not {"copy", "items", "keys", "values", "get"} & ENGLISH.pages.keys()


def test_no_selector_of_the_style_sheet_is_styled_twice(client: TestClient) -> None:
    styles = re.sub(r"(?s)/\*.*?\*/", "", client.get("/static/page.css").text)
    while "@" in styles:  # what holds of some screens only overrides what holds of all
        styles = re.sub(r"@[^{}]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}", "", styles)
    selectors = [each.strip() for each in re.findall(r"([^{}]+)\{", styles)]
    assert len(selectors) > 100
    assert len(selectors) == len(set(selectors))
