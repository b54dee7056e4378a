"""Every example of the gallery runs, and prints and draws what the site shows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.test_docs import FIGURE
from website.gallery import EXAMPLES, run, scripts

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("script", scripts(), ids=lambda path: path.stem)
def test_an_example_prints_and_draws_what_the_site_shows(script: Path, tmp_path: Path) -> None:
    kept = {
        each.name: each.read_text(encoding="utf-8")
        for each in EXAMPLES.glob(f"{script.stem}*")
        if each.suffix in (".txt", ".svg")
    }
    if ".widget(" in script.read_text(encoding="utf-8"):
        pytest.importorskip("anywidget", reason="anywidget is not installed here: extra notebook")
    made = run(script, tmp_path)
    fits = FITTED.search(script.read_text(encoding="utf-8")) is not None
    # `python -m website.gallery` keeps what they print and draw now.
    assert {name: words(text, figures=not fits) for name, text in made.items()} == {
        name: words(text, figures=not fits) for name, text in kept.items()
    }


FITTED = re.compile(r"^(?:from|import) (?:sklearn|xgboost)\b", re.MULTILINE)
"""What fits a model of its own, whose figures another version may move a little."""


def words(text: str, *, figures: bool) -> list[str]:
    """Return the lines of what was printed, or the words of a picture, wherever it has them; figures or a mark for each."""
    told = re.findall(r">([^<>]+)<", text) if text.startswith("<svg") else text.splitlines()
    return told if figures else [FIGURE.sub("#", each) for each in told]
