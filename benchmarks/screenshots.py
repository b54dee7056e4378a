"""Pictures of the workbench for the README, taken from the running page.

python -m benchmarks.screenshots docs/images
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import sync_playwright

from benchmarks.service import free_port, started

SIZE = {"width": 1280, "height": 860}
ADULT = {
    "v:marital_status": "Divorced",
    "v:relationship": "Not-in-family",
    "v:sex": "Male",
    "v:capital_gain": "6000",
    "v:education_num": "9",
    "v:age": "38",
    "w:capital_gain": "200",
}
SHOTS = {
    "plan-light.png": ("light", "/p/loan/plan?row=1"),
    "plan-dark.png": ("dark", f"/p/adult/plan?{urlencode(ADULT)}"),
    "compare.png": (
        "light",
        "/p/loan/compare?row=1&given=%7B%22debt%22%3A%200%2C%20%22credit_score%22%3A%20700%7D",
    ),
}


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    port = free_port()
    for _ in started(port, "--solvers", "1"):
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox"]
            )
            for name, (theme, address) in SHOTS.items():
                page = browser.new_page(viewport=SIZE, color_scheme=theme)
                page.goto(f"http://127.0.0.1:{port}{address}")
                page.wait_for_load_state("networkidle")
                page.screenshot(path=folder / name)
                print(folder / name)
            browser.close()


if __name__ == "__main__":
    main()
