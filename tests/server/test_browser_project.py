"""A new project in a real browser: a table and a model are sent, columns are said with the keyboard, on a phone, and a plan comes."""

from __future__ import annotations

import re
import zipfile
from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import ViewportSize, expect

from p2c import Problem
from p2c._learn.causal.review import read_review
from tests.server.running import HOLD, HOLDING, running
from tests.server.test_browser import browser as browser
from tests.server.test_browser import pytestmark as pytestmark
from tests.server.test_browser import quiet

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    from playwright.sync_api import Browser, Page

WORKING = "The model is read, or rules are learned."
PHONE: ViewportSize = {"width": 390, "height": 800}


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, pd.DataFrame]:
    """Return a folder with a table and a boosted model of it, and the table."""
    import pandas as pd
    from sklearn.ensemble import GradientBoostingClassifier
    from skops import io

    folder = tmp_path_factory.mktemp("people")
    rows = range(200)
    table = pd.DataFrame(
        {
            "age": [20 + each % 41 for each in rows],
            "income": [each % 97 for each in rows],
            "debt": [(7 * each) % 31 for each in rows],
        }
    )
    paid = ["yes" if each % 97 > 2 * ((7 * each) % 31) else "no" for each in rows]
    model = GradientBoostingClassifier(n_estimators=10, random_state=0).fit(table, paid)
    table.assign(paid=paid).to_csv(folder / "people.csv", index=False)
    io.dump(model, folder / "model.skops")
    return folder, table


def check(page: Page, path: str) -> None:
    """Have the page at a path be whole for everybody: no fault that axe knows, and nothing past the edge of a phone."""
    expect(page).to_have_url(re.compile(rf"^http://[^/]*{path}(\?.*)?$"))
    page.wait_for_load_state()
    assert not [each["id"] for each in Axe().run(page).response["violations"]]
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_a_table_and_a_model_become_a_desk_with_the_keyboard_on_a_phone(
    browser: Browser, people: tuple[Path, pd.DataFrame], tmp_path: Path
) -> None:
    given, _ = people
    desk = tmp_path / "desk"
    with running(tmp_path, str(desk)) as server:
        context = browser.new_context(base_url=server.address, viewport=PHONE)
        page = quiet(context.new_page())
        page.goto("/")
        check(page, "/new/files")
        page.get_by_label("Table").set_input_files(given / "people.csv")
        page.get_by_label("Model").set_input_files(given / "model.skops")
        page.get_by_role("button", name="Send and go on").focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("group", name="income")).to_be_visible()
        check(page, "/new/columns")
        page.get_by_label("The column of true outcomes").select_option("paid")
        page.get_by_label("The outcome that people want").select_option("yes")
        page.get_by_role("group", name="income").get_by_label("In words").fill("what you earn")
        page.get_by_role("group", name="age").get_by_label("Effort").fill("3")
        page.get_by_role("button", name="Save and make the problem").focus()
        page.keyboard.press("Enter")
        expect(page.get_by_text("plans are proved against the model itself")).to_be_visible()
        check(page, "/new/result")
        page.reload()
        expect(page.get_by_text("It is ready")).to_be_visible()
        page.get_by_role("link", name="Plan for somebody").click()
        page.get_by_role("link", name="row 1", exact=True).click()
        page.get_by_role("button", name="Show the plan").click()
        expect(page.locator("article")).to_have_attribute("data-status", "found")
        context.close()
    keys = (desk / "model" / "problem.toml").read_text()
    assert 'label = "what you earn"' in keys
    assert Problem.load(desk / "model").reading is not None


@pytest.fixture
def graph(people: tuple[Path, pd.DataFrame]) -> Path:
    """Return a folder with the same table as Parquet and a model of it as ONNX, which is only asked."""
    from skl2onnx import to_onnx
    from skl2onnx.common.data_types import Int64TensorType
    from sklearn.compose import make_column_transformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    folder, table = people
    paid = [
        "yes" if earned > 2 * owed else "no"
        for earned, owed in zip(table["income"], table["debt"], strict=True)
    ]
    scaled = make_column_transformer((StandardScaler(), list(table.columns)))
    model = make_pipeline(scaled, LogisticRegression()).fit(table, paid)
    kinds = [(name, Int64TensorType([None, 1])) for name in table.columns]
    written = to_onnx(model, initial_types=kinds, options={"zipmap": False})
    (folder / "model.onnx").write_bytes(written.SerializeToString())
    half = table["income"] // 49
    table.assign(saves=half.map({0: "little", 1: "much"}), paid=paid).to_parquet(
        folder / "people.parquet"
    )
    return folder


def reject_all(page: Page, count: int) -> None:
    """Answer every candidate of a review, each of which is a sentence."""
    assert count
    for number in range(1, count + 1):
        expect(page.get_by_role("heading", name=re.compile("^If "))).to_be_visible()
        page.get_by_label("It is not: reject").check()
        page.get_by_label("Why").fill("by chance")
        page.get_by_label("Your name").fill("An expert")
        page.get_by_role("button", name="Save and go on").click()
        expect(page.get_by_text(f"{number} of {count} rules answered")).to_be_visible()


def downloaded(page: Page, link: str) -> Path:
    """Return the file that a link gives."""
    with page.expect_download() as waiting:
        page.get_by_role("link", name=link).click()
    return waiting.value.path()


def test_work_is_cancelled_causes_are_reviewed_and_everything_is_downloaded(
    browser: Browser, graph: Path, tmp_path: Path
) -> None:
    desk = tmp_path / "desk"
    with running(tmp_path, str(desk), first=HOLDING) as server:
        context = browser.new_context(base_url=server.address, viewport=PHONE)
        page = quiet(context.new_page())
        page.goto("/")
        page.get_by_label("Table").set_input_files(graph / "people.parquet")
        page.get_by_label("Model").set_input_files(graph / "model.onnx")
        page.get_by_role("button", name="Send and go on").click()
        page.get_by_label("The column of true outcomes").select_option("paid")
        page.get_by_label("The outcome that people want").select_option("yes")
        page.get_by_role("group", name="age").get_by_label("May be changed").select_option("fixed")
        (desk / HOLD).touch()
        page.get_by_role("button", name="Save and make the problem").click()
        expect(page.get_by_text(WORKING)).to_be_visible()
        expect(page.get_by_role("progressbar")).to_be_visible()
        cancel = page.get_by_role("button", name="Cancel")
        with page.expect_response(re.compile("/new/result$")):
            cancel.focus()
        expect(cancel).to_be_focused()
        check(page, "/new/result")
        cancel.press("Enter")
        expect(page.get_by_text("The work was cancelled.")).to_be_visible()
        (desk / HOLD).unlink()
        assert not (desk / "model").exists()
        page.get_by_role("link", name="Change something").click()
        chosen = page.get_by_role("group", name="age").get_by_label("May be changed")
        expect(chosen).to_have_value("fixed")
        page.get_by_role("button", name="Save and make the problem").click()
        expect(page.get_by_text("it cannot be proved that no cheaper one exists")).to_be_visible()
        stand_in = page.get_by_text(re.compile(r"agree with it on [0-9.]+% of the rows"))
        expect(stand_in).to_be_visible()
        expect(page.get_by_role("group", name="The rules")).to_contain_text(":-")
        page.get_by_role("button", name="Seek candidates").click()
        page.get_by_role("link", name="Go to the review").click()
        check(page, "/review")
        reject_all(page, len(read_review(desk / "review.jsonl").candidates))
        page.goto("/new/result")
        page.get_by_role("button", name="Make the problem again with the approved ones").click()
        expect(page.get_by_text("The approved ones are in use.")).to_be_visible()
        zipfile.ZipFile(downloaded(page, "Download the folder")).extractall(tmp_path / "downloaded")
        page.get_by_role("link", name="Plan for somebody").click()
        page.get_by_role("link", name="row 1", exact=True).click()
        page.get_by_role("button", name="Show the plan").click()
        expect(page.locator("article")).to_have_attribute("data-status", "found")
        letter = downloaded(page, "HTML").read_text()
        assert "The model itself was asked about the end of this way." in letter
        context.close()
    found = Problem.load(tmp_path / "downloaded" / "model")
    assert found.theory.feature["age"].action.value == "fixed"
