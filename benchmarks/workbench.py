"""From a click on the plan page to the new plan in it, in a real browser, on the embedded problems.

    python -m benchmarks.workbench [--clicks 20]

The time is the page's own: from the event of the changed choice to the moment the new plan is in the page.
"""

from __future__ import annotations

import argparse
import shutil
import statistics

from playwright.sync_api import sync_playwright

from benchmarks.record import recorded
from benchmarks.service import free_port, started
from p2c import datasets

CLICK = """
(value) => new Promise((done) => {
  const choice = document.querySelector("select[name^='a:']");
  document.addEventListener("p2c:planned", () => done(performance.now() - begin), { once: true });
  choice.value = value;
  const begin = performance.now();
  choice.dispatchEvent(new Event("input", { bubbles: true }));
})
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clicks", type=int, default=20)
    given = parser.parse_args()
    port = free_port()
    for _ in started(port, "--solvers", "1"):
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox"]
            )
            page = browser.new_page()
            for name in datasets.names():
                page.goto(f"http://127.0.0.1:{port}/p/{name}/plan?row=1")
                page.wait_for_load_state("networkidle")
                options = page.evaluate(
                    "[...document.querySelector(\"select[name^='a:']\").options].map(o => o.value)"
                )
                times = []
                for number in range(given.clicks):
                    times.append(page.evaluate(CLICK, options[(number + 1) % len(options)]))
                    page.wait_for_load_state("networkidle")
                print(
                    f"{name:<8} first {times[0]:6.1f} ms  median {statistics.median(times):6.1f} ms"
                    f"  worst {max(times):6.1f} ms"
                )
            browser.close()


if __name__ == "__main__":
    recorded("workbench", main)
