"""The workbench in a real browser: each page's main story, wrong input, restarts, two people, a phone, both themes."""

from __future__ import annotations

import json
import re
import shutil
import time
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlencode

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect, sync_playwright

from p2c import datasets
from p2c._learn.causal.review import read_review
from tests.learn.causal.reviews import new_review
from tests.server.hostile import TEXTS
from tests.server.running import PATIENCE, free_port, running
from tests.server.test_hostile import problem_with

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

    from tests.server.running import Running

CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium: apt-get install chromium")
EXPECTED = re.compile("409|net::ERR_CONNECTION")
"""What browsers say of an answer that is refused and of a server that is gone."""
PEOPLE = (
    "age,debt,loan_duration,bank_balance,credit_score\n31,5000,12,40000,599\n31,0,12,40000,599\n"
)


def slow_problem() -> dict[str, Any]:
    """Return a problem that takes a while: many features, each with an effect, all of which have to change."""
    rules: list[str] = []
    features: dict[str, Any] = {}
    for each in range(80):
        rules += [
            f"bad(X) :- f{each}(X,N), N<5.",
            f"bad(X) :- e{each}(X,'off').",
            f"e{each}(X,'on') :- f{each}(X,N), N>=5.",
        ]
        features[f"f{each}"] = {"type": "int", "min": 0, "max": 9}
        features[f"e{each}"] = {"type": "category", "values": ["on", "off"]}
    keys = {"goal": "not bad(X)", "norm": "l2", "effects": "supported"}
    return {**keys, "rules": "\n".join(rules), "features": features}


def long_problem() -> tuple[dict[str, Any], str]:
    """Return a problem of sixty features of which few decide, and a table with one person."""
    rules = [f"bad(X) :- f{each}(X,N), N<5." for each in range(6)]
    rules += [f"odd(X) :- f{each}(X,N), N<5." for each in range(6, 60)]
    features = {f"f{each}": {"type": "int", "min": 0, "max": 9} for each in range(60)}
    keys = {"goal": "not bad(X)", "rules": "\n".join(rules), "features": features}
    return keys, f"{','.join(features)}\n{','.join('1' for _ in features)}\n"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("browser")
    files = {
        "loan.toml": datasets.problem_text("loan"),
        "adult.toml": datasets.problem_text("adult"),
        "hostile.json": json.dumps(problem_with(TEXTS[2])),
        "slow.json": json.dumps(slow_problem()),
        "long.json": json.dumps(long_problem()[0]),
    }
    for name, text in files.items():
        (folder / name).write_text(text)
    (folder / "people.csv").write_text(PEOPLE)
    (folder / "crowd.csv").write_text(long_problem()[1])
    review = new_review(folder / "review.jsonl")
    problems = [str(folder / name) for name in files]
    rows = ["--rows", f"{problems[0]}={folder / 'people.csv'}"]
    rows += ["--rows", f"{problems[4]}={folder / 'crowd.csv'}"]
    with running(folder, *problems, *rows, "--review", str(review)) as found:
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def page(browser: Browser, server: Running) -> Iterator[Page]:
    context = browser.new_context(base_url=server.address)
    yield quiet(context.new_page())
    context.close()


def quiet(page: Page) -> Page:
    """Have any error of the page's scripts or of its policy fail the test."""
    page.set_default_timeout(1000 * PATIENCE)
    expect.set_options(timeout=1000 * PATIENCE)

    def refuse(kind: str, text: str) -> None:
        raise AssertionError(f"{kind}: {text}")

    page.on("pageerror", lambda error: refuse("error", str(error)))
    page.on(
        "console",
        lambda message: (
            refuse(message.type, message.text)
            if message.type == "error" and not EXPECTED.search(message.text)
            else None
        ),
    )
    return page


def test_a_person_is_picked_corrected_and_planned_for(page: Page) -> None:
    page.goto("/p/loan/person")
    page.get_by_role("link", name="row 1").click()
    debt = page.locator("[name='v:debt']")
    expect(debt).to_have_value("5000")
    debt.fill("many")
    expect(page.get_by_text("expected a whole number")).to_be_visible()
    expect(debt).to_have_attribute("aria-invalid", "true")
    page.get_by_role("button", name="Show the plan").click()
    expect(debt).to_be_focused()
    debt.fill("-1")
    expect(page.get_by_text("expected at least 0")).to_be_visible()
    debt.fill("4000")
    page.get_by_role("button", name="Show the plan").click()
    expect(
        page.get_by_text("Lower your debt from 4,000 dollars to 0 dollars.").first
    ).to_be_visible()


def test_every_change_plans_at_once_and_goes_into_the_address(page: Page) -> None:
    page.goto("/p/loan/plan?row=1")
    expect(page.locator("article")).to_have_attribute("data-status", "found")
    expect(page.get_by_text("There is no other way that differs in kind.")).to_be_visible()
    page.locator("[name='a:bank_balance']").select_option(label="I cannot change this")
    expect(page.locator("article")).to_have_attribute("data-status", "infeasible")
    expect(page).to_have_url(re.compile(r"/p/loan/plan\?state=[\w-]+$"))
    page.reload()
    expect(page.locator("article")).to_have_attribute("data-status", "infeasible")
    page.get_by_role("link", name="What if not?").click()
    expect(page.locator("article")).to_have_attribute("data-status", "found")
    page.get_by_role("link", name="Person").click()
    expect(page.locator("[name='v:debt']")).to_have_value("5000")
    page.go_back()
    expect(page.locator("article")).to_have_attribute("data-status", "found")


def test_headings_stand_above_their_boxes_at_the_same_edge(page: Page) -> None:
    page.goto("/p/loan/person")
    for group in page.locator("details.group[open]").all():
        heading, boxes = (
            group.locator(each).bounding_box() for each in (":scope > summary", ":scope > .fields")
        )
        assert heading
        assert boxes
        assert heading["x"] == boxes["x"]
        assert heading["y"] + heading["height"] <= boxes["y"]


def test_limits_and_weights_count(page: Page) -> None:
    page.goto("/p/loan/plan?row=1")
    page.get_by_text("Limits and effort for debt").click()
    page.locator("[name='w:debt']").fill("2")
    expect(page.locator("article")).to_contain_text("The effort is 0.01002")
    page.locator("[name='min:debt']").fill("1")
    expect(page.locator("article")).to_have_attribute("data-status", "infeasible")
    page.locator("[name='min:debt']").fill("")
    page.get_by_text("Limits and effort for bank balance").click()
    page.locator("[name='min:bank_balance']").fill("70,000")
    expect(page.locator("article")).to_contain_text("40,000 dollars to 70,000 dollars")


def test_a_field_that_cannot_be_read_has_no_plan_beside_it(page: Page) -> None:
    page.goto("/p/loan/plan?row=1")
    expect(page.locator("article")).to_be_visible()
    page.locator("[name='v:debt']").fill("many")
    expect(page.locator("#result")).to_contain_text("This cannot be planned yet.")
    expect(page.locator("#result")).to_contain_text("debt: expected a whole number")
    expect(page.locator("article")).to_have_count(0)
    page.locator("[name='v:debt']").fill("4,000")
    expect(page.locator("[data-echo='r1']")).to_have_count(1)
    expect(page.locator("#r1")).to_have_text("= 4,000 dollars")
    expect(page.locator("article")).to_contain_text("from 4,000 dollars to 0 dollars")


def test_an_empty_field_asks_for_a_value_or_that_it_is_not_known(page: Page) -> None:
    page.goto("/p/loan/plan?row=1")
    expect(page.locator("#example")).to_be_visible()
    page.locator("[name='v:debt']").fill("")
    expect(page.locator("#example")).to_have_count(0)
    expect(page.locator("#result")).to_contain_text("Still needed before there is an answer")
    expect(page.locator("article")).to_have_count(0)
    page.locator("#result").get_by_role("link", name="debt").click()
    expect(page.locator("[name='v:debt']")).to_be_focused()
    page.get_by_label("not known (debt)").check()
    expect(page.locator("#result")).to_contain_text("the answer rests on that: debt")
    page.locator("[name='v:debt']").fill("7")
    expect(page.get_by_label("not known (debt)")).not_to_be_checked()
    expect(page.locator("article")).to_contain_text("from 7 dollars to 0 dollars")


def test_the_answer_is_read_out_where_it_stands(page: Page) -> None:
    """The live region stays the same element while what it says changes; else nothing is read out."""
    page.goto("/p/loan/plan?row=1")
    region = page.locator("#result")
    region.evaluate("each => { each.kept = true; }")
    page.locator("[name='a:bank_balance']").select_option("fixed")
    expect(region).to_contain_text("There is no way from here.")
    assert region.evaluate("each => each.kept && each.getAttribute('aria-live') === 'polite'")


def test_the_link_is_copied_and_the_letter_downloaded(browser: Browser, server: Running) -> None:
    context = browser.new_context(
        base_url=server.address, permissions=["clipboard-read", "clipboard-write"]
    )
    page = quiet(context.new_page())
    page.goto("/p/loan/plan?row=1")
    page.locator("[name='v:debt']").fill("4321")
    expect(page.locator("article")).to_contain_text("from 4,321 dollars")
    page.get_by_role("button", name="Copy the link").click()
    expect(page.get_by_text("The link is copied.")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert re.search(r"/p/loan/plan\?state=[\w-]+$", copied)
    page.goto("/")
    page.goto(copied)
    expect(page.locator("[name='v:debt']")).to_have_value("4321")
    with page.expect_download() as waiting:
        page.get_by_role("link", name="HTML", exact=True).click()
    text = waiting.value.path().read_text()
    assert "Lower your debt from 4,321 dollars to 0 dollars." in text
    page.get_by_role("link", name="Start with an empty form").first.click()
    expect(page.locator("[name='v:debt']")).to_have_value("")
    context.close()


def test_paper_holds_the_values_and_is_light_also_where_the_screen_is_dark(page: Page) -> None:
    page.goto("/p/loan/plan?row=1")
    page.emulate_media(media="print", color_scheme="dark")
    expect(page.locator(".on-paper")).to_contain_text("40,000 dollars")
    expect(page.locator(".on-paper")).to_be_visible()
    expect(page.locator(".part.why")).to_be_visible()
    expect(page.locator("form")).to_be_hidden()
    expect(page.locator("picture.for-light")).to_be_visible()
    expect(page.locator("picture.for-dark")).to_be_hidden()
    ink, ground = page.locator("body").evaluate(
        "each => [getComputedStyle(each).color, getComputedStyle(each).backgroundColor]"
    )
    assert ground == "rgb(255, 255, 255)"
    assert max(map(int, re.findall(r"\d+", ink))) < 64
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    assert page.locator("body").evaluate("each => getComputedStyle(each).color") == ink


def test_a_phone_shows_the_whole_picture_and_keeps_the_answer_in_sight(
    browser: Browser, server: Running
) -> None:
    context = browser.new_context(base_url=server.address, viewport={"width": 390, "height": 844})
    page = quiet(context.new_page())
    page.goto("/p/loan/plan?row=1")
    picture = page.locator("picture.for-light img")
    expect(picture).to_have_js_property("complete", True)
    box = picture.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    scale = picture.evaluate("each => each.clientWidth / each.naturalWidth")
    assert scale > 0.85, "the letters are about as large as they are drawn"
    page.locator("[name='v:credit_score']").scroll_into_view_if_needed()
    expect(page.locator("#result .verdict")).to_be_in_viewport()
    context.close()


def test_a_long_form_is_searched_and_the_plan_stays_in_sight(page: Page) -> None:
    page.goto("/p/long/plan?row=1")
    expect(page.locator("article")).to_have_attribute("data-status", "found")
    assert page.evaluate("document.documentElement.scrollHeight") < 3_000
    page.locator("[name='v:f50']").scroll_into_view_if_needed()
    expect(page.locator("#result .verdict")).to_be_in_viewport()
    page.get_by_label("only what matters").check()
    expect(page.locator("fieldset[data-name='f50']")).to_be_hidden()
    expect(page.locator("fieldset[data-name='f3']")).to_be_visible()
    page.get_by_label("only what matters").uncheck()
    page.get_by_label("Find a field").fill("f41")
    expect(page.locator("fieldset[data-name='f41']")).to_be_visible()
    expect(page.locator("fieldset[data-name='f3']")).to_be_hidden()
    page.get_by_label("Find a field").fill("zzz")
    expect(page.get_by_text("No field is called so.")).to_be_visible()


def test_the_picture_is_drawn_and_the_proof_opens(page: Page) -> None:
    page.goto("/p/loan/plan?row=1")
    picture = page.locator(".for-light img")
    expect(picture).to_have_js_property("complete", True)
    assert picture.evaluate("image => image.naturalWidth") > 200
    page.get_by_text("For experts").click()
    page.get_by_text("not reject_loan(X)").click()
    expect(page.locator(".tree details details").first).to_be_visible()


def test_everything_works_with_the_keyboard(page: Page) -> None:
    page.goto("/p/loan/plan?row=1")
    page.keyboard.press("Tab")
    expect(page.get_by_text("Skip to the content")).to_be_focused()
    choice = page.locator("[name='a:debt']")
    for _ in range(40):
        page.keyboard.press("Tab")
        if choice.evaluate("element => element === document.activeElement"):
            break
    expect(choice).to_be_focused()
    page.keyboard.press("End")
    expect(page.locator("article")).to_have_attribute("data-status", "infeasible")


def test_the_plan_speaks_another_language(page: Page) -> None:
    page.goto("/p/loan/plan?row=1")
    page.locator("[name='v:bank_balance']").fill("41,000")
    page.get_by_role("button", name="Deutsch").click()
    expect(page.locator("html")).to_have_attribute("lang", "de")
    expect(page.locator("article")).to_have_attribute("lang", "de")
    balance = page.locator("[name='v:bank_balance']")
    expect(balance).to_have_value("41000")
    balance.fill("42.000")
    expect(page.locator("article")).to_contain_text("jetzt 42.000 Dollar, dann 60.000 Dollar")
    balance.fill("42,5")
    expect(page.locator("#result")).to_contain_text("hier gehört eine ganze Zahl hin, etwa 1.234")
    expect(page.get_by_text("Kontostand").first).to_be_visible()
    balance.fill("42.000")
    expect(page.get_by_text("Einen andersartigen Weg gibt es nicht.")).to_be_visible()


def test_long_work_shows_itself_and_can_be_cancelled(page: Page) -> None:
    row = {f"v:f{each}": "0" for each in range(80)} | {f"v:e{each}": "off" for each in range(80)}
    page.goto(f"/p/slow/plan?{urlencode(row)}&w:f0=x")
    page.locator("[name='w:f0']").fill("2")
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("Cancelled. Change something to plan again.")).to_be_visible()
    deadline = time.monotonic() + PATIENCE
    page.goto("/p/loan/plan?row=1")
    while page.get_by_text("ask again in a second").count() and time.monotonic() < deadline:
        page.reload()
    expect(page.locator("article")).to_have_attribute("data-status", "found")


def test_the_problem_page_draws_what_follows_from_what(page: Page) -> None:
    page.goto("/p/adult/problem")
    expect(page.get_by_role("heading", name="What follows from what")).to_be_visible()
    picture = page.locator("img.for-light")
    picture.scroll_into_view_if_needed()
    expect(picture).to_have_js_property("complete", True)
    assert picture.evaluate("image => image.naturalWidth") > 200


def test_another_answer_is_pasted_or_uploaded_and_its_illegal_steps_marked(page: Page) -> None:
    page.goto("/p/loan/compare?row=1")
    page.get_by_label("JSON, or CSV").fill('{"debt": 0, "credit_score": 700}')
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_text("never set directly")).to_be_visible()
    expect(page.locator("li.illegal").first).to_be_visible()
    shared = page.url
    page.goto("/")
    page.goto(shared)
    expect(page.get_by_text("never set directly")).to_be_visible()
    upload = {"name": "<b>.csv", "mimeType": "text/csv", "buffer": b"dept\n0\n"}
    page.get_by_label("Or a file").set_input_files(upload)  # type: ignore[arg-type]
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_role("alert")).to_contain_text("did you mean 'debt'?")


def test_a_review_goes_on_after_a_restart(browser: Browser, tmp_path: Path) -> None:
    path = new_review(tmp_path / "review.jsonl")
    port = free_port()
    with running(tmp_path, "--review", str(path), port=port) as first:
        page = quiet(browser.new_context(base_url=first.address).new_page())
        page.goto("/review")
        page.get_by_label("It is true: approve").check()
        page.get_by_label("Why").fill("debts count")
        page.get_by_label("Your name").fill("First")
        page.get_by_role("button", name="Save and go on").click()
        expect(page.get_by_text("The answer to score-1 is on the disk.")).to_be_visible()
        page.get_by_label("It is not: reject").check()
        page.get_by_label("Why").fill("written before the restart")
        first.kill()
    with running(tmp_path, "--review", str(path), port=port):
        page.get_by_role("button", name="Save and go on").click()
        expect(page.get_by_text("2 of 3 rules answered")).to_be_visible()
    answers = read_review(path).answers
    assert [each.why for each in answers] == ["debts count", "written before the restart"]
    page.context.close()


def test_two_reviewers_at_once_lose_nothing(browser: Browser, server: Running) -> None:
    pages = []
    for name in ("First", "Second"):
        page = quiet(browser.new_context(base_url=server.address).new_page())
        page.goto("/review?rule=paid-1")
        page.get_by_label("It is true: approve").check()
        page.get_by_label("Why").fill(f"so says {name}")
        page.get_by_label("Your name").fill(name)
        pages.append(page)
    for page in pages:
        page.get_by_role("button", name="Save and go on").click()
        page.wait_for_load_state()
    late = pages[1]
    expect(late.get_by_role("alert")).to_contain_text("First said 'approved'")
    expect(late.get_by_label("Why")).to_have_value("so says Second")
    late.get_by_role("button", name="Save and go on").click()
    expect(late.get_by_text("The answer to paid-1 is on the disk.")).to_be_visible()
    late.goto("/review?rule=paid-1")
    expect(late.get_by_text("by First")).to_be_visible()
    expect(late.get_by_text("by Second")).to_be_visible()
    for page in pages:
        page.context.close()


def test_nothing_of_a_hostile_problem_runs(page: Page) -> None:
    for name in ("problem", "person", "plan?v:money=2", "compare"):
        page.goto(f"/p/hostile/{name}")
        expect(page.locator("h1")).to_be_visible()
        assert page.evaluate("window.harmed") is None
    page.goto("/p/hostile/plan?v:money=2")
    page.locator("[name='v:money']").fill("1")
    expect(page.locator("article")).to_contain_text("The effort is 0.444")
    assert page.evaluate("window.harmed") is None


THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
PAGES = (
    "/",
    "/docs",
    "/login",
    "/p/loan/problem",
    "/p/loan/person",
    "/p/loan/person?v:debt=x",
    "/p/loan/plan",
    "/p/loan/plan?row=1&language=de",
    "/p/loan/plan?state=gone",
    "/p/loan/plan?v:debt=5000&v:bank_balance=",
    "/p/long/plan?row=1",
    "/p/adult/plan?v:marital_status=Divorced&v:relationship=Unmarried&v:sex=Male&v:capital_gain=0"
    "&v:education_num=9&v:age=38",
    "/p/loan/plan?v:age=31&v:debt=0&v:loan_duration=12&v:bank_balance=40000&v:credit_score=599",
    "/p/loan/compare",
    "/p/loan/compare?row=1&given=%7B%22debt%22%3A0%2C%22credit_score%22%3A700%7D",
    "/review",
    "/p/nowhere/plan",
)


def test_axe_finds_nothing_on_any_page_in_either_theme(browser: Browser, server: Running) -> None:
    context = browser.new_context(base_url=server.address)
    page = context.new_page()
    for address in PAGES:
        page.goto(address)
        page.wait_for_load_state("networkidle")
        page.locator("main details").evaluate_all("all => all.forEach(each => each.open = true)")
        for theme in THEMES:
            page.emulate_media(color_scheme=theme, reduced_motion="reduce")
            found = Axe().run(page)
            assert found.violations_count == 0, f"{address}, {theme}\n{found.generate_report()}"
    context.close()


def test_a_phone_shows_every_page_without_scrolling_sideways(
    browser: Browser, server: Running
) -> None:
    context = browser.new_context(
        base_url=server.address, viewport={"width": 360, "height": 740}, has_touch=True
    )
    page = context.new_page()
    for address in PAGES:
        page.goto(address)
        page.wait_for_load_state("networkidle")
        wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        assert wide <= 0, address
    context.close()


def test_the_theme_that_was_chosen_stays(page: Page) -> None:
    page.goto("/p/loan/plan?row=1")
    page.get_by_role("button", name="Dark").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.goto("/p/loan/problem")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(page.locator("img.for-dark")).to_be_visible()
    expect(page.locator("img.for-light")).to_be_hidden()
