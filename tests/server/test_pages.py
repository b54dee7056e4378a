"""The pages without a browser: their texts, their states and their input."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode

import pytest

from p2c import datasets
from p2c._explain.phrases import ENGLISH, GERMAN
from p2c._server.pages.address import case_of_row, read_case
from p2c._server.pages.frame import FOLDER
from tests.embedded import embedded

if TYPE_CHECKING:
    from starlette.testclient import TestClient

JOHN = case_of_row(datasets.rows("loan")["john"])
GERMAN_JOHN = JOHN.in_language("de", embedded("loan").theory.features)
STUCK = case_of_row(datasets.rows("loan")["no_way"])


def test_the_plan_page_tells_the_plan_of_the_address(client: TestClient) -> None:
    page = client.get(f"/p/loan/plan?{JOHN.query()}").text
    assert "Lower your debt from 5,000 dollars to 0 dollars." in page
    assert "Your credit score will then go from 599 points to 620 points" in page
    assert "No other way takes less effort. This is proved." in page


def test_a_restriction_in_the_address_changes_the_plan(client: TestClient) -> None:
    fixed = client.get(f"/p/loan/plan?{JOHN.query()}&a:bank_balance=fixed").text
    assert "There is no way from here" in fixed
    assert "What if not?" in fixed
    harder = client.get(f"/p/loan/plan?{JOHN.query()}&w:debt=2").text
    assert "The effort is 0.01002, measured as L1." in harder
    limited = client.get(f"/p/loan/plan?{JOHN.query()}&max:bank_balance=50000").text
    assert "There is no way from here" in limited


def test_one_click_lifts_a_blocker(client: TestClient) -> None:
    page = client.get(f"/p/loan/plan?{STUCK.query()}").text
    link = re.search(r'class="button" href="([^"]+)"', page)
    assert link
    lifted = client.get(link[1].replace("&amp;", "&")).text
    assert "There is a way" in lifted


def test_a_wrong_value_is_said_at_its_field_and_kept(client: TestClient) -> None:
    query = urlencode({**dict(parse_qsl(JOHN.query())), "v:debt": "-7x"})
    for page in ("person", "plan"):
        text = client.get(f"/p/loan/{page}?{query}").text
        assert 'value="-7x"' in text
        assert "expected a whole number" in text
        assert 'aria-invalid="true"' in text


def test_a_case_survives_the_way_through_an_address() -> None:
    query = "v:a=1&v:b=&a:a=up&min:a=2&max:a=3&w:b=0.5&only:c=x&only:c=y&lift=moves:a&lift=limits:b&norm=l2"
    case = read_case(parse_qsl(query, keep_blank_values=True))
    again = read_case(parse_qsl(case.query(), keep_blank_values=True))
    assert again == case
    assert case.only == {"c": ("x", "y")}
    assert case.lifted == (("moves", "a"), ("limits", "b"))


def test_other_ways_stand_side_by_side(client: TestClient) -> None:
    page = client.get(f"/p/adult/plan/ways?{case_of_row(datasets.rows('adult')['paper']).query()}")
    assert page.text.count('class="card"') > 1


def test_someone_is_picked_from_the_table(client: TestClient) -> None:
    page = client.get("/p/loan/person?a:debt=fixed").text
    links = re.findall(r'<th scope="row"><a href="([^"]+)"', page)
    assert len(links) == len(datasets.rows("loan"))
    picked = client.get(links[0].replace("&amp;", "&")).text
    assert 'name="v:debt" value="5000"' in picked
    assert '<option value="fixed" selected>' in picked


def test_the_problem_page_shows_features_rules_causes_findings_and_size(
    client: TestClient,
) -> None:
    page = client.get("/p/loan/problem").text
    for words in (
        "credit_score(X,N) :- debt(X,D), D=&lt;0, N&gt;=620.",
        "no rule reads this feature",
        "the rules can tell 8 apart",
        "1,000,000 dollars",
    ):
        assert words in page


def test_an_end_that_sets_an_effect_is_marked_at_its_step(client: TestClient) -> None:
    given = '{"debt": 0, "bank_balance": 60000, "credit_score": 620}'
    page = client.post(
        f"/p/loan/compare?{JOHN.query()}", data={"given": given}, follow_redirects=True
    )
    assert page.url.query.startswith(b"state=")
    assert "Not a legal plan" in page.text
    assert 'class="illegal"' in page.text
    assert "never set directly" in page.text
    assert "Yes, with effort 0.00502" in page.text


def test_our_own_plan_compares_as_legal(client: TestClient) -> None:
    row = datasets.rows("loan")["john"]
    plan = client.post("/plan", json={"problem": "loan", "row": row}).text
    page = client.post(f"/p/loan/compare?{JOHN.query()}", files={"file": ("plan.json", plan)}).text
    assert "Every step is legal" in page
    assert 'class="illegal"' not in page


def test_a_row_of_a_table_compares_and_one_that_cannot_be_reached_says_so(
    client: TestClient,
) -> None:
    page = client.post(
        f"/p/loan/compare?{JOHN.query()}",
        files={"file": ("end.csv", "age,debt\n30,0\n")},
    ).text
    assert "<p>No.</p>" in page
    assert "This is proved." in page


def test_the_person_stands_beside_the_comparison_in_the_words_of_the_features(
    client: TestClient,
) -> None:
    given = '{"debt": 0, "bank balance": 60000, "credit_score": 620}'
    page = client.post(f"/p/loan/compare?{JOHN.query()}", data={"given": given}).text
    assert "The person, now and at each end" in page
    row = page.partition('<th scope="row">bank balance</th>')[2].partition("</tr>")[0]
    now, ours, theirs = re.findall(r"<td>(.*?)</td>", row)
    assert now == "40,000 dollars"
    assert ours == theirs == "<strong>60,000 dollars</strong>"
    assert "credit score is an effect of its causal rules and is never set directly" in page


def test_several_answers_are_compared_at_once_each_with_its_own_verdict(client: TestClient) -> None:
    rows = "debt,bank_balance\n0,60000\n5000,60000\n"
    page = client.post(f"/p/loan/compare?{JOHN.query()}", data={"given": rows}).text
    assert "The other answer 1" in page
    assert "The other answer 2" in page
    assert page.count("Can that end be reached at all?") == 2
    many = "debt\n" + "0\n" * 21
    page = client.post(f"/p/loan/compare?{JOHN.query()}", data={"given": many}).text
    assert "expected 1 to 20 answers to compare, found 21" in page
    for none in ("[]", "debt\n", "[3]", '{"debt": 0, "x": 1}', '{"debt": 0, "debt": 1}'):
        page = client.post(f"/p/loan/compare?{JOHN.query()}", data={"given": none}).text
        assert "This cannot be compared." in page


def test_a_plan_of_somebody_else_is_no_answer_for_this_person(client: TestClient) -> None:
    row = datasets.rows("loan")["john"] | {"debt": 3000}
    plan = client.post("/plan", json={"problem": "loan", "row": row}).text
    page = client.post(f"/p/loan/compare?{JOHN.query()}", files={"file": ("plan.json", plan)}).text
    assert "Not a legal plan" in page
    assert "the plan starts from 3000, and this person has 5000" in page


def test_a_long_answer_to_compare_is_shown_without_being_kept(
    client: TestClient,
) -> None:
    given = '{"debt": 0}' + " " * 5_000
    page = client.post(f"/p/loan/compare?{JOHN.query()}", data={"given": given})
    assert page.request.method == "POST"
    assert "The other answer" in page.text


COMPARED = urlencode({"given": '{"debt": 0, "bank_balance": 60000, "credit_score": 620}'})


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("/p/loan/problem?language=de", "Wie groß die Suche ist"),
        ("/p/loan/problem?language=de", "300 Punkte bis 850 Punkte"),
        ("/p/loan/graph.svg?language=de", "die Entscheidung"),
        ("/p/loan/compare?language=de", "Unser Plan und eine andere Antwort"),
        (f"/p/loan/compare?{GERMAN_JOHN.query()}&{COMPARED}", "Kein zulässiger Plan"),
        (f"/p/loan/compare?{GERMAN_JOHN.query()}&{COMPARED}", "Senken Sie"),
        ("/p/nothing/plan?language=de", "Das hat nicht geklappt"),
        ("/login?language=de", "Das Token bitte"),
        ("/review?language=de", "Prüfung kausaler Regeln"),
    ],
)
def test_a_page_in_german_has_no_english_phrase(
    client: TestClient, address: str, words: str
) -> None:
    page = client.get(address).text
    assert words in page
    for key, phrase in ENGLISH.pages.items():
        if len(phrase) > 9 and "{" not in phrase and phrase != GERMAN.pages[key]:
            assert f">{phrase}<" not in page, key


def test_a_page_turns_from_one_language_to_the_other_and_back(client: TestClient) -> None:
    for page in ("problem", "compare"):
        english = client.get(f"/p/loan/{page}?{JOHN.query()}&to=de")
        assert '<html lang="de">' in english.text
        back = client.get(f"{english.url.copy_merge_params({'to': 'en'})}")
        assert '<html lang="en">' in back.text


def test_the_token_is_asked_for_in_the_language_of_the_browser(client: TestClient) -> None:
    asked = client.get("/login", headers={"Accept-Language": "de-AT,de;q=0.9,en;q=0.8"}).text
    assert "Das Token bitte" in asked
    assert "Le jeton" in client.get("/login", headers={"Accept-Language": "fr"}).text
    assert "The token, please" in client.get("/login", headers={"Accept-Language": "xx"}).text


@pytest.mark.parametrize("path", ["/new", "/new/files"])
def test_a_server_without_a_project_says_how_one_is_begun(client: TestClient, path: str) -> None:
    for answer in (client.get(path), client.post(path)):
        assert answer.status_code == 404
        assert "no project here: start the server with p2c serve FOLDER" in answer.text


def test_the_pages_own_files_are_small() -> None:
    files = [each for each in (FOLDER / "static").iterdir() if each.is_file()]
    assert sum(each.stat().st_size for each in files) < 30_000


def test_no_template_has_script_or_style_inside() -> None:
    for file in (FOLDER / "templates").iterdir():
        text = file.read_text()
        assert "style=" not in text
        assert "<style" not in text
        assert not re.search(r"<script(?![^>]* src=)", text)
        assert "|safe" not in text
