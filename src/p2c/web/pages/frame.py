"""What every page is written on: the templates, which escape everything, and the frame around them."""

from __future__ import annotations

from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse

from p2c.domain.cost import Norm
from p2c.explain.phrases import LANGUAGES, phrases_of
from p2c.explain.sentences import filled, number_words
from p2c.web.error_answers import RETRY
from p2c.web.service import context_of

if TYPE_CHECKING:
    from starlette.requests import Request

    from p2c.explain.phrases import Phrases
    from p2c.web.pages.address import Case
    from p2c.web.problem_store import Entry

FOLDER = Path(__file__).parent.parent
PAGES = ("problem", "person", "plan", "compare", "audit")

templates = Environment(
    loader=FileSystemLoader(FOLDER / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def _percent(share: float, phrases: Phrases) -> str:
    """Write a share with one digit after the point."""
    return filled(phrases.percent, share=f"{100 * share:.1f}".replace(".", phrases.decimal))


templates.filters |= {"filled": filled, "number": number_words, "percent": _percent}
templates.globals["norms"] = [each.value for each in Norm]


def show(
    request: Request,
    template: str,
    *,
    entry: Entry | None = None,
    case: Case | None = None,
    page: str = "",
    status: int = 200,
    language: str = "en",
    **facts: Any,
) -> HTMLResponse:
    """Return a page: the template with its facts inside the frame that all pages share, in a language."""
    context = context_of(request)
    phrases = phrases_of(language)
    entries = context.store.entries.values() if context.settings.pages else ()
    text = templates.get_template(template).render(
        entry=entry,
        entries=tuple(entries),
        case=case,
        query=case.query() if case else "",
        page=page,
        pages=PAGES if context.audits else PAGES[:-1],
        language=language,
        phrases=phrases,
        words=phrases.pages,
        languages={key: each.pages["name"] for key, each in LANGUAGES.items()},
        reviews=context.settings.open_reviews if context.settings.pages else (),
        making=context.workshop is not None,
        **facts,
    )
    return HTMLResponse(text.encode("utf-8", "replace"), status)


def language_of(request: Request, *, otherwise: str = "en") -> str:
    """Return the language that the address of a page asks for."""
    asked = request.query_params.get("language", otherwise)
    return asked if asked in LANGUAGES else "en"


def show_error(request: Request, status: int, message: str) -> HTMLResponse:
    """Return the page of an error."""
    page = show(
        request, "error.html", status=status, message=message, language=language_of(request)
    )
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        page.headers["Retry-After"] = RETRY
    return page
