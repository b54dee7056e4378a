"""A problem as a piece of a notebook: its goal, its causal graph, its features and its rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from p2c.domain.feature import Points
from p2c.explain.caveats import rules_words
from p2c.explain.phrases import ENGLISH
from p2c.explain.sentences import filled, label_words, number_words
from p2c.markup import Markup, element
from p2c.report.graph import graph_svg
from p2c.rules.render import render_rule

if TYPE_CHECKING:
    from p2c.domain.feature import Feature
    from p2c.rules.theory import Theory

SHOWN = 8
"""How many values of a category are listed."""


def problem_html(theory: Theory) -> str:
    """Return a problem as a piece of a notebook."""
    titles = ("feature", "label", "type", "values", "action")
    head = element("tr", None, *(element("th", None, title) for title in titles))
    rows = [
        element("tr", None, *(element("td", None, cell) for cell in feature_row(feature)))
        for feature in theory.features
    ]
    rules = [
        element("li", None, element("code", None, render_rule(rule)))
        for rule in theory.program.rules
    ]
    goal = element("p", None, "goal: ", element("code", None, theory.goal_text))
    by = rules_words(theory)
    learned = [element("p", None, filled(ENGLISH.given_by, by=by))] if by else []
    return str(
        element(
            "div",
            None,
            element("strong", None, theory.name),
            goal,
            *learned,
            element("div", {"style": "overflow-x:auto"}, Markup(graph_svg(theory))),
            element("table", None, head, *rows),
            element("ol", None, *rules),
        )
    )


def feature_row(feature: Feature) -> tuple[str, str, str, str, str]:
    """Return what a table says of a feature."""
    return (
        feature.name,
        label_words(feature),
        feature.kind.value,
        values_text(feature),
        feature.action.value,
    )


def values_text(feature: Feature) -> str:
    """Return the values of a feature, or its range, in a few words."""
    domain = feature.domain
    if not isinstance(domain, Points):
        span = f"{number_words(feature.minimum)} to {number_words(feature.maximum)}"
        return f"{span} {feature.unit}".strip()
    shown = ", ".join(str(value) for value in domain.values[:SHOWN])
    return f"{shown}, …" if domain.size > SHOWN else shown
