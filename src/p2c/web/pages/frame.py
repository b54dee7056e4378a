"""What every page is written on: the templates, which escape everything, the frame around them, and what an address opens."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cached_property
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Depends
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request  # noqa: TC002 - fastapi needs it at run time
from starlette.responses import HTMLResponse, RedirectResponse, Response

from p2c.domain.cost import Norm
from p2c.explain.phrases import LANGUAGES, phrases_of
from p2c.explain.sentences import filled, number_words
from p2c.web.error_answers import RETRY
from p2c.web.page_error import Trouble
from p2c.web.pages.address import case_of_row, read_case, read_values
from p2c.web.pages.aim import told_aim
from p2c.web.service import context_of, solve

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.datastructures import FormData

    from p2c.explain.phrases import Phrases
    from p2c.web.pages.address import Case, Reading
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
    folder = context.workshop.folder if context.workshop is not None and page else None
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
        aim=told_aim(folder, entry, phrases) if folder else "",
        **facts,
    )
    return HTMLResponse(text.encode("utf-8", "replace"), status)


@dataclass(frozen=True)
class Opened:
    """What an address opens: a problem, and the person that it describes."""

    request: Request
    entry: Entry
    case: Case

    @cached_property
    def read(self) -> Reading:
        """Return the values of the person as they were read."""
        return read_values(self.entry.problem.theory, self.case)

    @property
    def arguments(self) -> dict[str, Any]:
        """Return what a solver is asked about the person; what cannot be read is raised here."""
        seconds = context_of(self.request).settings.limits.seconds
        asked = self.case.arguments(self.entry.problem.theory, self.read)
        return asked | {"time_limit": seconds}

    def show(self, template: str, *, page: str = "", **facts: Any) -> HTMLResponse:
        """Return a page about the person in their language."""
        about: dict[str, Any] = {"entry": self.entry, "case": self.case, "page": page}
        return show(self.request, template, language=self.case.spoken, **about, **facts)

    async def solve(self, task: str, arguments: dict[str, Any]) -> Any:
        """Have a solver answer a question about the problem."""
        return json.loads(await solve(self.request, self.entry, task, arguments) or b"{}")

    async def draw(self, task: str, arguments: dict[str, Any]) -> Response:
        """Have a solver draw a picture; as an image of a page it runs nothing, whatever is in it."""
        svg: str = (await self.solve(task, arguments)).get("svg", "")
        return Response(svg.encode("utf-8", "replace"), media_type="image/svg+xml")

    def turned(self) -> Response | None:
        """Lead on to the same page in another language where one is asked for, its numbers written as that language does."""
        language = self.request.query_params.get("to")
        if language is None:
            return None
        other = self.case.in_language(language, self.entry.problem.theory.features)
        return RedirectResponse(f"{self.request.url.path}?{other.query()}", 303)


async def opened(request: Request, id: str) -> Opened:
    """Return the problem and the case of an address."""
    case = read_case(request.query_params.multi_items())
    return Opened(request, context_of(request).store.find(id), case)


async def opened_for_somebody(request: Request, id: str) -> Opened:
    """Return the problem and the case of an address, or that of the first person of the table where it describes nobody."""
    asked = await opened(request, id)
    if not asked.case.is_blank or not asked.entry.rows:
        return asked
    first = case_of_row(next(iter(asked.entry.rows.values())))
    features = asked.entry.problem.theory.features
    return replace(asked, case=asked.case.of(first.in_language(asked.case.spoken, features)))


Asked = Annotated[Opened, Depends(opened)]
AskedForSomebody = Annotated[Opened, Depends(opened_for_somebody)]


def sent_form(**limits: int) -> Any:
    """Return what gives a page the form that was sent to it, within limits; its files are closed after the answer."""

    async def read(request: Request) -> AsyncIterator[FormData]:
        async with request.form(**limits) as form:
            yield form

    return Depends(read)


def texts_of(form: FormData) -> dict[str, str]:
    """Return what was typed into a form, its files left aside."""
    return {key: value for key, value in form.items() if isinstance(value, str)}


def language_of(request: Request, *, otherwise: str = "en") -> str:
    """Return the language that the address of a page asks for."""
    asked = request.query_params.get("language", otherwise)
    return asked if asked in LANGUAGES else "en"


def kept(content: bytes, kind: str, name: str) -> Response:
    """Return a file to be kept under a name."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=kind, headers=headers)


def show_error(request: Request, status: int, message: str) -> HTMLResponse:
    """Return the page of an error."""
    page = show(
        request,
        "error.html",
        status=status,
        trouble=Trouble(message, "en"),
        language=language_of(request),
    )
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        page.headers["Retry-After"] = RETRY
    return page
