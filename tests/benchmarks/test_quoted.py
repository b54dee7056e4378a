"""Figures of the documentation, and whether the report holds them."""

from __future__ import annotations

import doctest
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchmarks import quoted
from benchmarks.record import RESULTS

if TYPE_CHECKING:
    from benchmarks.quoted import Passage

ROOT = Path(__file__).parents[2]
TEXT = """# Speed

`python -m benchmarks.engines 12` took 0.05 s at most.

| problem | median |
| --- | --- |
| loan | 0.04 ms |
| adult | 1.5 ms |

# Other

It never takes 7 s.
"""


def test_the_examples_in_docstrings_hold() -> None:
    found = doctest.testmod(quoted)
    assert found.attempted
    assert not found.failed


def test_only_sections_that_name_a_script_quote_it() -> None:
    (passage,) = quoted.passages("speed.md", TEXT)
    assert passage.scripts == ("engines",)
    assert [each.text for each in passage.figures] == ["0.05", "0.04", "1.5"]


def test_a_figure_is_looked_for_in_its_own_row() -> None:
    (passage,) = quoted.passages("speed.md", TEXT)
    known = {"engines": ["most 0.0512 s", "loan native 1.5", "adult native 1.47"]}
    found = {each.text: line for each, line in quoted.places(passage, known).items()}
    assert found == {"0.05": "most 0.0512 s", "0.04": None, "1.5": "adult native 1.47"}


def test_a_share_is_found_as_a_fraction() -> None:
    (figure,) = quoted.figures("| GBC | 30% |")
    assert quoted.place(figure, ["german GBC\n   rules alone 0.30"]) == "rules alone 0.30"
    assert quoted.place(figure, ["german GBC\n   rules alone 0.32"]) is None


def test_table_4_of_the_report_is_what_the_fidelity_script_measures() -> None:
    report = "# Report\n\n### Table 4: models\n\n| adult | 94.1 |\n\n## Next\n\n| adult | 7.5 |\n"
    known = quoted.sources(report, ROOT / "no such folder")
    assert "| adult | 94.1 |" in known["fidelity"]
    assert "| adult | 7.5 |" not in known["fidelity"]


@pytest.mark.parametrize(
    "passage", list(quoted.documents(ROOT)), ids=lambda each: f"{each.document}: {each.heading}"
)
def test_every_figure_that_the_documentation_quotes_is_in_the_report(passage: Passage) -> None:
    report = (ROOT / quoted.REPORT).read_text("utf-8")
    known = quoted.sources(report, ROOT / RESULTS)
    absent = quoted.unrecorded(passage, known)
    if absent:
        pytest.skip(f"nothing recorded: python -m benchmarks.{absent[0]} --record")
    nowhere = [each.text for each, line in quoted.places(passage, known).items() if line is None]
    assert not nowhere, f"not in the report: {', '.join(nowhere)}"
