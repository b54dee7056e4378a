"""The state of the engines, for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console

    from p2c.engines.doctor import Examination


def show_examinations(console: Console, examinations: Iterable[Examination]) -> None:
    """Print one line an engine: its version and what came of the tiny problem, or how to get it."""
    table = Table(box=None, pad_edge=False)
    for title in ("engine", "version", "a tiny problem"):
        table.add_column(title)
    for each in examinations:
        table.add_row(each.engine, escape(each.version or "not installed"), escape(_said(each)))
    console.print(table)


def _said(examination: Examination) -> str:
    if examination.version is None:
        return f"to get it: {examination.install}"
    if examination.fault:
        return f"failed: {examination.fault}"
    assert examination.seconds is not None
    manner = f", by {examination.manner}" if examination.manner else ""
    return f"solved in {examination.seconds * 1000:.0f} ms{manner}"
