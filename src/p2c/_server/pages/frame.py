"""The frame of every page: templates that escape all text, and opened addresses.

An address holds the id of a page's state (`state`), or the place of a person in the table (`row`), and no value of a person.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cached_property, partial
from http import HTTPStatus
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import parse_qsl, urlencode

from fastapi import Depends
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request  # noqa: TC002 - fastapi needs it at run time
from starlette.responses import HTMLResponse, RedirectResponse, Response

from p2c._explain.phrases import LANGUAGES, phrases_of
from p2c._explain.sentences import filled, number_words
from p2c._server.error_answers import RETRY, Trouble
from p2c._server.guard import visit_of
from p2c._server.identity import visitor_of
from p2c._server.page_states import LIFETIME, LONGEST
from p2c._server.pages.address import case_of_row, read_case, read_values
from p2c._server.service import context_of, solve
from p2c._spec.cost import Norm

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from p2c._explain.phrases import Phrases
    from p2c._server.pages.address import Case, Pair, Reading
    from p2c._server.problem_store import Entry

FOLDER = Path(__file__).parent.parent
PUBLIC = frozenset({"state", "row", "language", "to", "part", "theme", "shape", "form"})
"""Keys that an address of a page may hold."""

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
        query=link_to(request, case) if case else "",
        link=partial(link_to, request),
        page=page,
        audits=bool(context.audits),
        language=language,
        phrases=phrases,
        words=phrases.pages,
        languages={key: each.pages["name"] for key, each in LANGUAGES.items()},
        reviews=context.settings.open_reviews if context.settings.pages else (),
        making=context.workshop is not None,
        lending=bool(context.settings.lender),
        root=context.settings.root,
        user=visitor_of(request).user,
        leaves=bool(context.settings.token),
        aim=_aim(folder, entry, phrases) if folder else "",
        **facts,
    )
    return HTMLResponse(text.encode("utf-8", "replace"), status)


def _aim(folder: Path, entry: Entry | None, phrases: Phrases) -> str:
    """Return the line about the wanted outcome of a project."""
    # Projects need pandas, which the service does without.
    from p2c._server.pages.project import told_aim

    return told_aim(folder, entry, phrases)


def link_to(request: Request, case: Case, *more: Pair) -> str:
    """Return the query of a case's address, '' for an empty case.

    It begins with the question mark; the server keeps the state.
    """
    address = kept_address(request, case, *more)
    if address is None:
        raise HTTPException(413, f"the form: expected at most {LONGEST:,} characters")
    return address


def kept_address(request: Request, case: Case, *more: Pair) -> str | None:
    """Return the same; None if the state is longer than any that is kept."""
    language = case.options.get("language", "")
    shown = [("language", language)] if language else []
    private = [*case.pairs(), *more]
    if any(key != "language" for key, _ in private):
        text = urlencode(private, errors="replace")
        id_ = context_of(request).states.keep(visit_of(request), text)
        if id_ is None:
            return None
        shown.insert(0, ("state", id_))
    return urlencode(shown, errors="replace")


class Moved(Exception):
    """Report an address with forbidden contents; `address` holds the state's id."""

    def __init__(self, address: str) -> None:
        self.address = address
        super().__init__()


class Expired(Exception):
    """Report that a state is kept no more or belongs to another browser."""

    def __init__(self, entry: Entry) -> None:
        self.entry = entry
        super().__init__()


@dataclass(frozen=True)
class Opened:
    """The contents of an address: a problem, a person, and an answer to compare."""

    request: Request
    entry: Entry
    case: Case
    given: str = ""

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

    def sent(self, form: FormData) -> Opened:
        """Return the contents of a form in place of the contents of the address."""
        pairs = [(key, text) for key, text in form.multi_items() if isinstance(text, str)]
        return replace(self, case=read_case(pairs))

    def onward(self, page: str, form: FormData) -> Response:
        """Keep the contents of a form and redirect to a page about it.

        The page has another language if the form asks for one.
        """
        sent = self.sent(form)
        turned = sent.turned(str(form.get("to", "")) or sent.case.spoken)
        return turned.to(page)

    def to(self, page: str) -> Response:
        """Lead on to a page of the problem about the same case."""
        more = [("given", self.given)] if self.given else []
        query = link_to(self.request, self.case, *more)
        return RedirectResponse(f"/p/{self.entry.id}/{page}" + (f"?{query}" if query else ""), 303)

    def turned(self, language: str) -> Opened:
        """Return the same in another language, its numbers written as that language does."""
        if language == self.case.spoken:
            return self
        features = self.entry.problem.theory.features
        return replace(self, case=self.case.in_language(language, features))

    def away(self, page: str) -> Response | None:
        """Lead on to a page in another language if the address asks for one."""
        language = self.request.query_params.get("to")
        return None if language is None else self.turned(language).to(page)


async def opened(request: Request, id: str) -> Opened:
    """Return the problem and the case of an address.

    Raises:
        Expired: The state is kept no more, or belongs to another browser.
        Moved: The address holds values of a person, which belong into a state.
    """
    entry = context_of(request).store.find(id)
    language_of(request)
    parameters = request.query_params.multi_items()
    pairs = [*_stored(request, entry), *parameters]
    texts = [text for key, text in pairs if key == "given"]
    opening = Opened(request, entry, read_case(pairs), texts[-1] if texts else "")
    row = request.query_params.get("row")
    if row is not None:
        opening = replace(opening, case=opening.case.of(_person(opening, row)))
    public = [(key, text) for key, text in parameters if key in PUBLIC - {"state", "language"}]
    if request.method == "GET" and any(key not in PUBLIC for key, _ in parameters):
        more = [("given", opening.given)] if opening.given else []
        query = "&".join(filter(None, (link_to(request, opening.case, *more), urlencode(public))))
        raise Moved(f"{request.url.path}?{query}")
    return opening


def _stored(request: Request, entry: Entry) -> list[Pair]:
    id_ = request.query_params.get("state")
    if id_ is None:
        return []
    text = context_of(request).states.find(visit_of(request), id_)
    if text is None:
        raise Expired(entry)
    return parse_qsl(text, keep_blank_values=True)


def _person(opening: Opened, row: str) -> Case:
    """Return the person in a row of the table, counted from 1."""
    rows, number = opening.entry.rows, int(row) if row.isascii() and row[:9].isdigit() else 0
    if not 1 <= number <= len(rows):
        held = f"expected 1 to {len(rows):,}" if rows else "the problem has no table of people"
        raise HTTPException(404, f"no row '{row[:20]}': {held}")
    found = case_of_row(next(islice(rows.values(), number - 1, None)))
    return found.in_language(opening.case.spoken, opening.entry.problem.theory.features)


Asked = Annotated[Opened, Depends(opened)]


def sent_form(**limits: int) -> Any:
    """Return what gives a page the form that was sent to it, within limits; its files are closed after the answer."""

    async def read(request: Request) -> AsyncIterator[FormData]:
        async with request.form(**limits) as form:
            yield form

    return Depends(read)


CaseForm = Annotated[FormData, sent_form(max_fields=20_000)]
"""The form of a person, with several fields for each feature."""


def texts_of(form: FormData) -> dict[str, str]:
    """Return what was typed into a form, its files left aside."""
    return {key: value for key, value in form.items() if isinstance(value, str)}


def language_of(request: Request, *, otherwise: str = "en") -> str:
    """Return the language that an address asks for; refuse an unknown one."""
    name = request.query_params.get("language")
    if name:
        return phrases_of(name).language
    return otherwise if otherwise in LANGUAGES else "en"


def kept(content: bytes, kind: str, name: str) -> Response:
    """Return a file to be kept under a name."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=kind, headers=headers)


def show_error(request: Request, status: int, message: str) -> HTMLResponse:
    """Return the page of an error."""
    language = request.query_params.get("language", "en")
    page = show(
        request,
        "error.html",
        status=status,
        trouble=Trouble(message, "en"),
        language=language if language in LANGUAGES else "en",
    )
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        page.headers["Retry-After"] = RETRY
    return page


async def lead_on(request: Request, moved: Exception) -> Response:
    """Lead on to the address that holds the id of a state."""
    assert isinstance(moved, Moved)
    return RedirectResponse(moved.address, 303)


async def show_expired(request: Request, expired: Exception) -> Response:
    """Say that the state of an address is gone, and how to begin again."""
    assert isinstance(expired, Expired)
    language = language_of(request)
    hours, entry = str(LIFETIME // 3600), expired.entry
    return show(request, "expired.html", status=410, language=language, entry=entry, hours=hours)
