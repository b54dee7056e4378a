"""The formats of a report. A further one is a renderer in its own file and a line here."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from types import MappingProxyType
from typing import TYPE_CHECKING

from p2c._report.document import applicant_document
from p2c._report.expert_report import expert_document
from p2c._report.html import html_page
from p2c._report.pdf import pdf_report
from p2c._report.text import markdown, text_report
from p2c.errors import check_word

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from p2c._plan.outcome import Plan
    from p2c._report.document import Document
    from p2c._report.expert_report import Origin
    from p2c._statement import Statement

FORMATS: Mapping[str, Callable[[Document], bytes]] = MappingProxyType(
    {"html": html_page, "md": markdown, "txt": text_report, "pdf": pdf_report}
)
AUDIENCES = ("applicant", "expert")


def renderer(name: str) -> Callable[[Document], bytes]:
    """Return what renders a format, named by the ending of its files."""
    check_word("format: no report as", name, FORMATS)
    return FORMATS[name]


def check_report(format: str, audience: str) -> None:
    """Refuse a format or an audience that there is no report for."""
    renderer(format)
    check_word("audience: no report for", audience, AUDIENCES)


def report_on(
    problem: Statement,
    plan: Plan,
    *,
    format: str,
    audience: str,
    language: str,
    origin: Origin,
    ways: Callable[[], Sequence[Plan]],
    reasons: tuple[str, ...],
) -> bytes:
    """Return a report on a plan as the bytes of a file.

    `reasons` are told the applicant after the verdict, `ways` finds the alternatives that an expert sees.
    """
    check_report(format, audience)
    if audience == "applicant":
        theory = problem.theory
        document = applicant_document(theory, plan, language=language, reasons=reasons)
    else:
        today = origin.date or date.today().isoformat()
        origin = replace(origin, problem=problem.to_dict(), date=today)
        read = problem.decider is None or problem.decider.is_read
        searched = problem if read else problem.surrogate
        space = None if searched is None else searched.compiled
        document = expert_document(
            problem.theory, plan, origin, space=space, ways=ways, language=language
        )
    return renderer(format)(document)
