"""The register of notices: a file to which one record for each is appended."""

from __future__ import annotations

import hashlib
from calendar import monthrange
from datetime import date
from typing import TYPE_CHECKING, Any

from p2c._learn.causal.journal import Journal, create_journal, read_journal
from p2c.errors import P2CError

if TYPE_CHECKING:
    from pathlib import Path

    from p2c._notices.notice import Notice


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
