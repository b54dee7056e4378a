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
from p2c.learn.review import read_review
from tests.web.hostile import TEXTS
from tests.web.reviews import new_review
from tests.web.running import free_port, running
from tests.web.test_hostile import problem_with

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

    from tests.web.running import Running

CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium: apt-get install chromium")
PATIENCE = 60_000
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


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("browser")
    files = {
        "loan.toml": datasets.problem_text("loan"),
        "adult.toml": datasets.problem_text("adult"),
        "hostile.json": json.dumps(problem_with(TEXTS[2])),
        "slow.json": json.dumps(slow_problem()),
    }
    for name, text in files.items():
        (folder / name).write_text(text)
    (folder / "people.csv").write_text(PEOPLE)
    review = new_review(folder / "review.jsonl")
    problems = [str(folder / name) for name in files]
    rows = f"{problems[0]}={folder / 'people.csv'}"
    with running(folder, *problems, "--rows", rows, "--review", str(review)) as found:
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
    page.set_default_timeout(PATIENCE)
    expect.set_options(timeout=PATIENCE)

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
    page.goto("/p/loan/plan")
    expect(page.locator("article")).to_have_attribute("data-status", "found")
    expect(page.get_by_text("There is no other way that differs in kind.")).to_be_visible()
    page.locator("[name='a:bank_balance']").select_option(label="I cannot change this")
    expect(page.locator("article")).to_have_attribute("data-status", "infeasible")
    expect(page).to_have_url(re.compile("a%3Abank_balance=fixed"))
    page.reload()
    expect(page.locator("article")).to_have_attribute("data-status", "infeasible")
    page.get_by_role("link", name="What if not?").click()
    expect(page.locator("article")).to_have_attribute("data-status", "found")
    page.get_by_role("link", name="Person").click()
    expect(page.locator("[name='v:debt']")).to_have_value("5000")
    page.go_back()
    expect(page.locator("article")).to_have_attribute("data-status", "found")


def test_limits_and_weights_count(page: Page) -> None:
    page.goto("/p/loan/plan")
    page.get_by_text("Limits and effort for debt").click()
    page.locator("[name='w:debt']").fill("2")
    expect(page.get_by_text("of effort 0.01002")).to_be_visible()
    page.locator("[name='min:debt']").fill("1")
    expect(page.locator("article")).to_have_attribute("data-status", "infeasible")
    page.locator("[name='min:debt']").fill("9000")
    expect(page.get_by_role("alert")).to_contain_text("outside its range")


def test_the_picture_is_drawn_and_the_proof_opens(page: Page) -> None:
    page.goto("/p/loan/plan")
    picture = page.locator("img.for-light")
    expect(picture).to_have_js_property("complete", True)
    assert picture.evaluate("image => image.naturalWidth") > 200
    page.get_by_text("For experts: the rules behind it").click()
    page.get_by_text("not reject_loan(X)").click()
    expect(page.locator(".tree details details").first).to_be_visible()


def test_everything_works_with_the_keyboard(page: Page) -> None:
    page.goto("/p/loan/plan")
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
    page.goto("/p/loan/plan")
    page.locator("#language").select_option(label="Deutsch")
    expect(page.locator("article")).to_have_attribute("lang", "de")


def test_long_work_shows_itself_and_can_be_cancelled(page: Page) -> None:
    row = {f"v:f{each}": "0" for each in range(80)} | {f"v:e{each}": "off" for each in range(80)}
    page.goto(f"/p/slow/plan?{urlencode(row)}&w:f0=x")
    page.locator("[name='w:f0']").fill("2")
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("Cancelled. Change something to plan again.")).to_be_visible()
    deadline = time.monotonic() + PATIENCE / 1000
    page.goto("/p/loan/plan")
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
    page.goto("/p/loan/compare")
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
    expect(page.get_by_text("of effort 0.444")).to_be_visible()
    assert page.evaluate("window.harmed") is None


THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
PAGES = (
    "/",
    "/docs",
    "/login",
    "/p/loan/problem",
    "/p/loan/person",
    "/p/loan/person?v:debt=x",
    "/p/adult/plan?v:marital_status=Divorced&v:relationship=Unmarried&v:sex=Male&v:capital_gain=0"
    "&v:education_num=9&v:age=38",
    "/p/loan/plan?v:age=31&v:debt=0&v:loan_duration=12&v:bank_balance=40000&v:credit_score=599",
    "/p/loan/compare?given=%7B%22debt%22%3A0%2C%22credit_score%22%3A700%7D",
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
    page.goto("/p/loan/plan")
    page.get_by_role("button", name="Dark").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.goto("/p/loan/problem")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(page.locator("img.for-dark")).to_be_visible()
    expect(page.locator("img.for-light")).to_be_hidden()
