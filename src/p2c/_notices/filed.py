"""A notice as a file, and its record in the register."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from p2c._notices.lender import read_lender
from p2c._notices.notice import write_notice
from p2c._notices.register import append_record, record_of
from p2c._report.formats import renderer
from p2c._spec.spec import path_of
from p2c.errors import P2CError, shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p2c._audit.reasons import Catalogue
    from p2c._plan.outcome import Plan
    from p2c._statement import Statement


def render_notice(
    problem: Statement,
    plan: Plan,
    form: object,
    lender: object,
    case: Mapping[str, Any] | None,
    *,
    language: str,
    format: str,
    catalogue: Catalogue | None = None,
    time_limit: float | None = None,
) -> tuple[bytes, dict[str, Any]]:
    """Return a notice as the bytes of a file, and its record for the register."""
    if case is not None and not hasattr(case, "keys"):
        raise P2CError(f"case: expected a mapping of fields, found {shown(case)}")
    sender = read_lender(lender)
    notice = write_notice(
        problem,
        plan,
        sender.form(form),
        sender,
        dict(case or {}),
        language=language,
        catalogue=catalogue,
        time_limit=time_limit,
    )
    content = renderer(format)(notice.document)
    return content, record_of(notice, content, problem=problem.name, format=format)


def file_notice(*subject: Any, register: object, audience: str, **options: Any) -> bytes:
    """Return a notice as `render_notice` does, and append its record to the register."""
    if audience != "applicant":
        raise P2CError("notice: is for the applicant; leave the audience out")
    content, record = render_notice(*subject, **options)
    if register is not None:
        append_record(path_of(register), record)
    return content
