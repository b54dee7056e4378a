"""The page of a plan: the words, the picture, other ways, and what blocks, all made anew with every change."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request
from starlette.responses import Response  # noqa: TC002 - FastAPI reads it

from p2c.errors import P2CError
from p2c.web.complaints import describe
from p2c.web.crew import OutOfTime, Overloaded, Question, SolverFailed
from p2c.web.pages.address import Case, case_of_row, read_case
from p2c.web.pages.form import fields_of
from p2c.web.pages.paper import show
from p2c.web.pages.person import value_faults
from p2c.web.pages.problem import drawn
from p2c.web.service import attended, desk_of

if TYPE_CHECKING:
    from p2c.web.shelf import Entry

router = APIRouter()

WAYS = 4
"""How many ways are shown side by side."""
TROUBLE = (P2CError, Overloaded, OutOfTime, SolverFailed)


@router.get("/p/{id}/plan")
async def plan(request: Request, id: str) -> Response:
    """Show the form beside the plan."""
    entry, case = opened(request, id)
    return show(
        request,
        "plan.html",
        entry=entry,
        case=case,
        page="plan",
        fields=fields_of(entry, case, value_faults(entry, case)),
        **await _told(request, entry, case, "story"),
    )


@router.get("/p/{id}/plan/result")
async def result(request: Request, id: str) -> Response:
    """Show the plan alone, to be put into the page."""
    entry, case = opened(request, id)
    told = await _told(request, entry, case, "story")
    return show(request, "result.html", entry=entry, case=case, **told)


@router.get("/p/{id}/plan/ways")
async def ways(request: Request, id: str) -> Response:
    """Show other ways side by side, to be put into the page."""
    entry, case = opened(request, id)
    told = await _told(request, entry, case, "ways")
    whole = "part" not in request.query_params
    return show(
        request,
        "ways_page.html" if whole else "ways.html",
        entry=entry,
        case=case,
        page="plan",
        **told,
    )


@router.get("/p/{id}/plan/picture.svg")
async def picture(request: Request, id: str, theme: str = "light") -> Response:
    """Draw the plan."""
    entry, case = opened(request, id)
    seconds = desk_of(request).settings.limits.seconds
    more = {"time_limit": seconds, "theme": theme}
    return await drawn(request, entry, "picture", case.arguments(entry) | more)


def opened(request: Request, id_: str) -> tuple[Entry, Case]:
    """Return the problem and the case of an address; nobody described is the first person of the table."""
    entry = desk_of(request).shelf.find(id_)
    case = read_case(request.query_params.multi_items())
    if case.is_blank and entry.rows:
        first = case_of_row(next(iter(entry.rows.values())))
        case = Case(first.values, case.actions, case.numbers, case.only, case.lifted, case.options)
    return entry, case


async def _told(request: Request, entry: Entry, case: Case, task: str) -> dict[str, Any]:
    """Return what a solver tells of a case, or what is wrong with it."""
    if case.is_blank:
        return {"told": None, "trouble": "", "faults": []}
    try:
        return {"told": await ask(request, entry, case, task), "trouble": "", "faults": []}
    except TROUBLE as error:
        _, message, faults = describe(error)
        return {"told": None, "trouble": message, "faults": faults}


async def ask(request: Request, entry: Entry, case: Case, task: str, **more: Any) -> Any:
    """Have a solver answer a question about a case."""
    desk = desk_of(request)
    seconds = desk.settings.limits.seconds
    arguments = case.arguments(entry) | {"time_limit": seconds, "k": WAYS} | more
    question = Question(task, entry.digest, entry.keys, arguments)
    return json.loads(await attended(request, desk.crew.ask(question, seconds=seconds)) or b"{}")
