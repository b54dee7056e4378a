"""The formats of a report. A further one is a renderer in its own file and a line here."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from p2c.errors import P2CError, suggestion
from p2c.report.html import html_page
from p2c.report.markdown import markdown
from p2c.report.pdf import pdf_report
from p2c.report.png import png_report
from p2c.report.text import text_report

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from p2c.report.document import Document

FORMATS: Mapping[str, Callable[[Document], bytes]] = MappingProxyType(
    {"html": html_page, "md": markdown, "txt": text_report, "png": png_report, "pdf": pdf_report}
)
AUDIENCES = ("applicant", "expert")


def renderer(name: str) -> Callable[[Document], bytes]:
    """Return what renders a format, named by the ending of its files."""
    if name not in FORMATS:
        raise P2CError(f"format: no report as '{name}'; {suggestion(name, FORMATS)}")
    return FORMATS[name]


def check_audience(name: str) -> None:
    """Refuse an audience that there is no report for."""
    if name not in AUDIENCES:
        raise P2CError(f"audience: no report for '{name}'; {suggestion(name, AUDIENCES)}")
