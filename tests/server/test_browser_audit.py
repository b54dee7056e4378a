"""The audit in a real browser: a table is sent, groups are chosen with the keyboard, on a phone, in both languages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.server.running import running
from tests.server.test_audit_page import TABLE
from tests.server.test_browser import browser as browser
from tests.server.test_browser import pytestmark as pytestmark
from tests.server.test_browser import quiet
from tests.server.test_browser_project import PHONE, check

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser


def test_people_are_audited_with_the_keyboard_on_a_phone(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(TABLE, encoding="utf-8")
    with running(tmp_path) as server:
        context = browser.new_context(base_url=server.address, viewport=PHONE)
        page = quiet(context.new_page())
        page.goto("/p/loan/problem")
        page.get_by_role("link", name="Audit", exact=True).click()
        check(page, "/p/loan/audit")
        page.get_by_label("Table").set_input_files(tmp_path / "people.csv")
        page.get_by_role("button", name="Send the table").focus()
        page.keyboard.press("Enter")
        page.get_by_role("checkbox", name="sex").focus()
        check(page, "/p/loan/audit")
        page.keyboard.press("Space")
        page.get_by_role("group", name="age", exact=True).get_by_label("Bands").fill("<40,>=40")
        page.get_by_role("button", name="Make the audit").focus()
        page.keyboard.press("Enter")
        expect(page.get_by_text("3 of 4 people are refused today (75%).")).to_be_visible()
        check(page, "/p/loan/audit")
        with page.expect_download() as sent:
            page.get_by_role("link", name="PDF").click()
        assert sent.value.path().read_bytes().startswith(b"%PDF")
        page.get_by_role("link", name="Deutsch").click()
        expect(page.get_by_text("3 von 4 Personen werden heute abgelehnt (75 %).")).to_be_visible()
        check(page, "/p/loan/audit")
        page.screenshot(path=tmp_path / "audit.png", full_page=True)
        context.close()
