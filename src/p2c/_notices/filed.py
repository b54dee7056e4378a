"""A notice as a file, and its record in the register."""

from __future__ import annotations

import hashlib
from calendar import monthrange
from datetime import date
from typing import TYPE_CHECKING, Any

from p2c._learn.causal.journal import Journal, create_journal, read_journal
from p2c._notices.form import read_lender
from p2c._notices.notice import write_notice
from p2c._report.formats import renderer
from p2c._spec.spec import path_of
from p2c.errors import P2CError, shown

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from p2c._audit.reasons import Catalogue
    from p2c._notices.notice import Notice
    from p2c._plan.outcome import Plan
    from p2c._statement import Statement


def kept_until(sent: date, months: int) -> date:
    """Return the day a number of months later, or the last of that month.

    >>> kept_until(date(2027, 1, 31), 25).isoformat()
    '2029-02-28'
    """
    year, month = divmod(sent.month - 1 + months, 12)
    year, month = sent.year + year, month + 1
    return date(year, month, min(sent.day, monthrange(year, month)[1]))


def record_of(notice: Notice, content: bytes, *, problem: str, format: str) -> dict[str, Any]:
    """Return the record of a notice; it holds no value of the person."""
    return {
        "notice": notice.form.name,
        "reference": notice.reference,
        "date": notice.date.isoformat(),
        "language": notice.document.language,
        "format": format,
        "sha256": hashlib.sha256(content).hexdigest(),
        "problem": problem,
        "reasons": [
            {"feature": each.feature, "direction": each.direction, "code": each.code}
            for each in notice.reasons
        ],
        "keep_until": kept_until(notice.date, notice.months).isoformat(),
    }


def append_record(path: Path, record: dict[str, Any]) -> None:
    """Append a record to a register, and return when it is on the disk.

    A register that does not exist is created.
    """
    if path.is_dir():
        raise P2CError(f"{path}: expected a file for the register, found a folder")
    if path.exists():
        Journal(path).append([record], shared=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    create_journal(path, [record])


def read_register(path: Path) -> tuple[dict[str, Any], ...]:
    """Return the records of a register, oldest first, without torn lines."""
    return tuple(read_journal(path).records)


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
