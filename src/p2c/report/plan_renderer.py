"""Outcomes that can be asked for words and pictures: each gets a renderer that knows the problem it is about.

The formats are imported when they are asked for, so that planning does not wait for them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from p2c.plan.outcome import answer_to

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p2c.plan.outcome import Plan
    from p2c.report.document import Document
    from p2c.rules.theory import Theory


@dataclass(frozen=True, slots=True)
class PlanRenderer:
    """Tells and draws the plans of one problem; `cheapest` is false where others of the k nearest come before."""

    theory: Theory
    cheapest: bool = True

    def explain(self, plan: Plan, *, language: str) -> str:
        """Return the outcome in words for the person."""
        from p2c.report.text import plain_text

        return plain_text(self._letter(plan, language))

    def svg(self, plan: Plan, *, theme: str, language: str) -> str:
        """Return the outcome as a picture."""
        from p2c.report.picture import plan_svg

        return plan_svg(self.theory, plan, theme=theme, language=language)

    def png(self, plan: Plan, *, theme: str, language: str) -> bytes:
        """Return the outcome as a picture in pixels."""
        from p2c.report.png import png

        return png(self.svg(plan, theme=theme, language=language))

    def html(self, plan: Plan, *, language: str = "en") -> str:
        """Return the outcome as a piece of a notebook: the picture and the words."""
        from p2c.report.html import notebook_html

        picture = self.svg(plan, theme="auto", language=language)
        return notebook_html(self._letter(plan, language), picture)

    def _letter(self, plan: Plan, language: str) -> Document:
        from p2c.explain.letter import write_letter
        from p2c.report.document import letter_document

        letter = write_letter(self.theory, plan, language=language, cheapest=self.cheapest)
        return letter_document(letter)


def with_renderer(
    theory: Theory,
    plan: Plan,
    *,
    cheapest: bool = True,
    resting_on: Theory | None = None,
    asked: Mapping[str, Any] | None = None,
) -> Plan:
    """Return an outcome that can be asked for words and pictures, and those inside it too.

    It also says what was asked besides the problem, and what it rests on: what the rules were learned from, and values that
    are not known to what decides, which is not always what tells it.
    """
    question = plan.question.told(
        PlanRenderer(theory, cheapest),
        unknown=(resting_on or theory).missing(plan.question.initial),
        source=theory.told_source,
        asked=asked or {},
    )
    return answer_to(question, plan)
