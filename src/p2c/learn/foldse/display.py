"""A learned model as a piece of a notebook: its rules, and how each fares on the rows that it was learned from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from p2c.errors import counted
from p2c.markup import element

if TYPE_CHECKING:
    from p2c.learn.foldse.estimator import FoldSE


def model_html(model: FoldSE) -> str:
    """Return a fitted model as a table of its rules and the text of its program."""
    titles = ("rule for", "rows", "precision", "recall")
    head = element("tr", None, *(element("th", None, title) for title in titles))
    rows = [
        element(
            "tr",
            None,
            element("td", None, str(rule.label)),
            element("td", None, f"{quality.support:,}"),
            element("td", None, f"{quality.precision:.1%}"),
            element("td", None, f"{quality.recall:.1%}"),
        )
        for rule, quality in zip(model.rules_, model.qualities_, strict=True)
    ]
    program = [line for line in model.program_.splitlines() if line]
    default = element("p", None, f"otherwise: {model.default_}")
    lines = element("ol", None, *(element("li", None, element("code", None, x)) for x in program))
    title = element("strong", None, f"FoldSE, {counted(len(model.rules_), 'rule')}")
    return str(element("div", None, title, element("table", None, head, *rows), default, lines))
