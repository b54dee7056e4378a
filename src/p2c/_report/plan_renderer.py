"""Outcomes that can be asked for words and pictures: each gets a renderer that knows the problem it is about.

The formats are imported when they are asked for, so that planning does not wait for them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from p2c._plan.outcome import answer_to

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from p2c._plan.outcome import Found, Plan
    from p2c._report.document import Document
    from p2c._rules.theory import Theory


@dataclass(frozen=True, slots=True)
class PlanRenderer:
    """Tells and draws the plans of one problem; `cheapest` is false where others of the k nearest come before."""

    theory: Theory
    cheapest: bool = True
    decides: Theory | None = None
    """The theory that decides, if another one gives the words."""
    _slacks: dict[Any, Mapping[str, Any] | None] = field(
        default_factory=dict, compare=False, repr=False
    )

    def slack(self, plan: Found) -> Mapping[str, Any] | None:
        """Return the values around each target that reach the goal as well."""
        from p2c._plan.slack import find_slack

        key = tuple((each.feature, each.end) for each in plan.actions)
        if key not in self._slacks:
            self._slacks[key] = find_slack(self.decides or self.theory, plan)
        return self._slacks[key]

    def explain(self, plan: Plan, *, language: str) -> str:
        """Return the outcome in words for the person."""
        from p2c._report.text import plain_text

        return plain_text(self._letter(plan, language))

    def svg(self, plan: Plan, *, theme: str, language: str) -> str:
        """Return the outcome as a picture."""
        from p2c._report.picture import plan_svg

        return plan_svg(self.theory, plan, theme=theme, language=language)

    def png(self, plan: Plan, *, theme: str, language: str) -> bytes:
        """Return the outcome as a picture in pixels."""
        from p2c._report.png import png

        return png(self.svg(plan, theme=theme, language=language))

    def html(self, plan: Plan, *, language: str = "en") -> str:
        """Return the outcome as a piece of a notebook: the picture and the words."""
        from p2c._report.html import notebook_html

        picture = self.svg(plan, theme="auto", language=language)
        return notebook_html(self._letter(plan, language), picture)

    def _letter(self, plan: Plan, language: str) -> Document:
        from p2c._explain.letter import write_letter
        from p2c._report.document import letter_document

        letter = write_letter(self.theory, plan, language=language, cheapest=self.cheapest)
        return letter_document(letter)


def with_renderer(
    theory: Theory,
    plan: Plan,
    *,
    cheapest: bool = True,
    resting_on: Theory | None = None,
    asked: Mapping[str, Any] | None = None,
    as_columns: Callable[[Mapping[str, Any], Mapping[str, Any]], dict[str, Any]] | None = None,
) -> Plan:
    """Attach the renderer and the question to a plan, and to plans inside it.

    Args:
        theory: The theory by which the plan is explained.
        plan: The plan.
        cheapest: False for a plan that follows others of the k nearest.
        resting_on: The theory that decides, by default that by which the plan is explained.
        asked: Overrides and restrictions of the question.
        as_columns: Translates an end state to the columns of the model.
    """
    question = plan.question.with_renderer(
        PlanRenderer(theory, cheapest, resting_on),
        unknown=(resting_on or theory).missing(plan.question.initial),
        source=theory.told_source,
        asked=asked or {},
        as_columns=as_columns,
    )
    return answer_to(question, plan)
