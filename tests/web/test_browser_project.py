"""A new project in a real browser: a table and a model are sent, columns are said with the keyboard, on a phone, and a plan comes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import ViewportSize, expect

from p2c import Recourse
from tests.web.running import running
from tests.web.test_browser import browser as browser
from tests.web.test_browser import pytestmark as pytestmark
from tests.web.test_browser import quiet

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    from playwright.sync_api import Browser, Page

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


def check(page: Page) -> None:
    """Have a page be whole for everybody: no fault that axe knows, and nothing past the edge of a phone."""
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
        check(page)
        page.get_by_label("Table").set_input_files(given / "people.csv")
        page.get_by_label("Model").set_input_files(given / "model.skops")
        page.get_by_role("button", name="Send and go on").focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("group", name="income")).to_be_visible()
        check(page)
        page.get_by_label("The column of true outcomes").select_option("paid")
        page.get_by_label("The outcome that people want").select_option("yes")
        page.get_by_role("group", name="income").get_by_label("In words").fill("what you earn")
        page.get_by_role("group", name="age").get_by_label("Effort").fill("3")
        page.get_by_role("button", name="Save and make the problem").focus()
        page.keyboard.press("Enter")
        expect(page.get_by_text("plans are proved against the model itself")).to_be_visible()
        check(page)
        page.reload()
        expect(page.get_by_text("It is ready")).to_be_visible()
        page.get_by_role("link", name="Plan for somebody").click()
        page.get_by_role("link", name="row 1", exact=True).click()
        page.get_by_role("button", name="Show the plan").click()
        expect(page.locator("article")).to_have_attribute("data-status", "found")
        context.close()
    keys = (desk / "recourse" / "problem.toml").read_text()
    assert 'label = "what you earn"' in keys
    assert Recourse.load(desk / "recourse").reading is not None
