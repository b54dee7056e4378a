"""The page of a plan: the words, the picture, other ways, and what blocks, all made anew with every change."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from p2c.errors import P2CError
from p2c.explain.letter import spoken
from p2c.explain.sentences import label_words
from p2c.web.error_answers import describe
from p2c.web.pages.address import NEEDED, case_of_row, read_case, read_values
from p2c.web.pages.frame import show
from p2c.web.pages.person import form_facts, turned
from p2c.web.pages.problem import drawn
from p2c.web.service import context_of, solve
from p2c.web.solver_pool import OutOfTime, Overloaded, SolverFailed

if TYPE_CHECKING:
    from p2c.web.pages.address import Case, Reading
    from p2c.web.problem_store import Entry

router = APIRouter()

WAYS = 4
"""How many ways are shown side by side."""
TROUBLE = (P2CError, Overloaded, OutOfTime, SolverFailed)


@router.get("/p/{id}/plan")
async def plan(request: Request, id: str) -> Response:
    """Show the form beside the plan."""
    entry, case, read = opened(request, id)
    away = turned(request, entry, case)
    if away:
        return away
    return show(
        request,
        "plan.html",
        entry=entry,
        case=case,
        page="plan",
        language=case.spoken,
        example=next((name for name, row in entry.rows.items() if row == read.state), ""),
        **form_facts(entry, case, read),
        **await _told(request, entry, case, read, "story"),
    )


@router.get("/p/{id}/plan/result")
async def result(request: Request, id: str) -> Response:
    """Show the plan alone, to be put into the page."""
    entry, case, read = opened(request, id)
    told = await _told(request, entry, case, read, "story")
    return show(request, "result.html", entry=entry, case=case, language=case.spoken, **told)


@router.get("/p/{id}/plan/ways")
async def ways(request: Request, id: str) -> Response:
    """Show other ways side by side, to be put into the page."""
    entry, case, read = opened(request, id)
    told = await _told(request, entry, case, read, "ways")
    whole = "part" not in request.query_params
    return show(
        request,
        "ways_page.html" if whole else "ways.html",
        entry=entry,
        case=case,
        page="plan",
        language=case.spoken,
        **told,
    )


@router.get("/p/{id}/plan/picture.svg")
async def picture(request: Request, id: str, theme: str = "light", shape: str = "") -> Response:
    """Draw the plan, across the page or down it."""
    entry, case, read = opened(request, id)
    seconds = context_of(request).settings.limits.seconds
    more = {"time_limit": seconds, "theme": theme, "shape": shape}
    return await drawn(request, entry, "picture", case.arguments(entry.problem.theory, read) | more)


@router.get("/p/{id}/plan/letter.html")
async def letter(request: Request, id: str) -> Response:
    """Hand out the letter as a page of its own, to keep, to send or to print."""
    entry, case, read = opened(request, id)
    told = await ask(request, entry, case, read, "letter")
    return _kept(told["html"].encode("utf-8", "replace"), "text/html", f"{entry.id}-letter.html")


@router.get("/p/{id}/plan/plan.json")
async def document(request: Request, id: str) -> Response:
    """Hand out the plan as the contract writes it."""
    entry, case, read = opened(request, id)
    told = await ask(request, entry, case, read, "plan")
    content = json.dumps(told, indent=2, ensure_ascii=False).encode("utf-8", "replace")
    return _kept(content, "application/json", f"{entry.id}-plan.json")


def _kept(content: bytes, kind: str, name: str) -> Response:
    return Response(
        content,
        media_type=kind,
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def opened(request: Request, id_: str) -> tuple[Entry, Case, Reading]:
    """Return the problem and the case of an address, read; nobody described is the first person of the table."""
    entry = context_of(request).store.find(id_)
    case = read_case(request.query_params.multi_items())
    if case.is_blank and entry.rows:
        first = case_of_row(next(iter(entry.rows.values())))
        case = case.of(first.in_language(case.spoken, entry.problem.theory.features))
    return entry, case, read_values(entry.problem.theory, case)


async def _told(
    request: Request, entry: Entry, case: Case, read: Reading, task: str
) -> dict[str, Any]:
    """Return what a solver tells of a case, what is wrong with it, or what it still needs."""
    facts: dict[str, Any] = {"told": None, "trouble": "", "faults": [], "needed": []}
    if case.is_blank:
        return facts
    theory = spoken(entry.problem.theory, case.spoken)
    labels = {name: label_words(each) for name, each in theory.feature.items()}
    numbers = {name: number for number, name in enumerate(labels)}
    facts["needed"] = [{"label": labels[name], "number": numbers[name]} for name in read.needed]
    try:
        if not read.needed or read.faults:
            facts["told"] = await ask(request, entry, case, read, task)
    except TROUBLE as error:
        _, facts["trouble"], faults = describe(error)
        facts["faults"] = [
            {**each, "place": labels.get(each["place"], each["place"])}
            for each in faults
            if each["message"] != NEEDED
        ]
    return facts


async def ask(
    request: Request, entry: Entry, case: Case, read: Reading, task: str, **more: Any
) -> Any:
    """Have a solver answer a question about a case."""
    seconds = context_of(request).settings.limits.seconds
    asked = case.arguments(entry.problem.theory, read)
    arguments = asked | {"time_limit": seconds, "k": WAYS} | more
    return json.loads(await solve(request, entry, task, arguments) or b"{}")
