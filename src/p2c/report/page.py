"""A report as one HTML file: no script, nothing from outside, and a policy in its head that allows neither."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from p2c.errors import MissingExtra
from p2c.markup import Markup, clean, outline
from p2c.report.theme import DARK

if TYPE_CHECKING:
    from p2c.report.document import Document, Figure, Outline

DEEP = 100
"""Trees are open to any level in a report, for paper cannot be clicked."""


def html_page(document: Document) -> bytes:
    """Return a report as HTML."""
    style = _style()
    page = _template().render(document=document, style=Markup(style), policy=_policy(style))
    return str(page).encode("utf-8", "replace")


def _policy(style: str) -> str:
    """Return a policy that allows the page's own style sheet, by its hash, and nothing else."""
    mark = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{mark}'; base-uri 'none'; form-action 'none'"


@cache
def _style() -> str:
    folder = resources.files("p2c.report").joinpath("templates")
    dark = "".join(
        f".p2c-f-{name}{{fill:{colour}}}.p2c-s-{name}{{stroke:{colour}}}"
        for name, colour in DARK.items()
    )
    plain = folder.joinpath("page.css").read_text(encoding="utf-8")
    return f"{plain}@media screen and (prefers-color-scheme:dark){{{dark}}}"


@cache
def _template() -> Any:
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ModuleNotFoundError as error:
        raise MissingExtra("jinja2", extra="report") from error
    environment = Environment(
        loader=PackageLoader("p2c.report"), autoescape=True, undefined=StrictUndefined
    )
    environment.filters |= {
        "clean": clean,
        "kind": lambda block: type(block).__name__,
        "outline": _outline,
        "drawing": _drawing,
    }
    return environment.get_template("page.html")


def _outline(block: Outline) -> Markup:
    return outline(block.rows, open_to=DEEP)


def _drawing(block: Figure) -> Markup:
    return Markup(block.svg)
