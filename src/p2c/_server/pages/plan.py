"""The page of a plan: the words, the picture, other ways, and what blocks, all made anew with every change."""

from __future__ import annotations

import json
from typing import Any

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.responses import Response  # noqa: TC002 - fastapi needs it at run time

from p2c._explain.letter import spoken
from p2c._explain.phrases import phrases_of
from p2c._explain.sentences import label_words
from p2c._server.error_answers import describe, trouble_of
from p2c._server.pages.address import NEEDED
from p2c._server.pages.frame import Asked, CaseForm, Opened, kept
from p2c._server.pages.person import form_facts
from p2c._server.service import MEDIA, report_file
from p2c._server.solver_pool import OutOfTime, Overloaded, SolverFailed
from p2c.errors import P2CError, RowError

router = APIRouter()

WAYS = 4
"""How many ways are shown side by side."""
TROUBLE = (P2CError, Overloaded, OutOfTime, SolverFailed)


@router.get("/p/{id}/plan")
async def plan(asked: Asked) -> Response:
    """Show the form beside the plan."""
    away = asked.away("plan")
    if away:
        return away
    rows = asked.entry.rows.items()
    return asked.show(
        "plan.html",
        page="plan",
        example=next((name for name, row in rows if row == asked.read.state), ""),
        **form_facts(asked),
        **await _told(asked, "story"),
    )


@router.post("/p/{id}/plan")
async def take(asked: Asked, form: CaseForm) -> Response:
    """Keep the values of a person and show the plan."""
    return asked.onward("plan", form)


@router.post("/p/{id}/plan/result")
async def result(asked: Asked, form: CaseForm) -> Response:
    """Show the plan for a form without its page, to be inserted into the page."""
    sent = asked.sent(form)
    return sent.show("result.html", **await _told(sent, "story"))


@router.get("/p/{id}/plan/ways")
async def ways(asked: Asked) -> Response:
    """Show other ways side by side, to be put into the page."""
    template = "ways.html" if "part" in asked.request.query_params else "ways_page.html"
    return asked.show(template, page="plan", **await _told(asked, "ways"))


@router.get("/p/{id}/plan/picture.svg")
async def picture(asked: Asked, theme: str = "light", shape: str = "") -> Response:
    """Draw the plan, across the page or down it."""
    return await asked.draw("picture", asked.arguments | {"theme": theme, "shape": shape})


@router.get("/p/{id}/plan/letter.{ending}")
async def letter(asked: Asked, ending: str) -> Response:
    """Hand out the letter as a file, to keep, to send or to print."""
    return await _file(asked, "letter", ending, audience="applicant")


@router.get("/p/{id}/plan/report.{ending}")
async def report(asked: Asked, ending: str) -> Response:
    """Hand out the report for experts as a file."""
    return await _file(asked, "report", ending, audience="expert")


async def _file(opened: Opened, name: str, ending: str, **more: Any) -> Response:
    if ending not in MEDIA:
        raise HTTPException(404, f"no {name} as '{ending[:20]}': expected {', '.join(MEDIA)}")
    content = await report_file(
        opened.request, opened.entry, opened.arguments | {"format": ending} | more
    )
    return kept(content, MEDIA[ending], f"{opened.entry.id}-{name}.{ending}")


@router.get("/p/{id}/plan/plan.json")
async def document(asked: Asked) -> Response:
    """Hand out the plan as the contract writes it."""
    told = await ask(asked, "plan")
    content = json.dumps(told, indent=2, ensure_ascii=False).encode("utf-8", "replace")
    return kept(content, "application/json", f"{asked.entry.id}-plan.json")


async def _told(asked: Opened, task: str) -> dict[str, Any]:
    """Return what a solver tells of a case, what is wrong with it, or what it still needs."""
    facts: dict[str, Any] = {"told": None, "trouble": None, "faults": [], "needed": []}
    if asked.case.is_blank:
        return facts
    theory, read = spoken(asked.entry.problem.theory, asked.case.spoken), asked.read
    labels = {name: label_words(each) for name, each in theory.feature.items()}
    numbers = {name: number for number, name in enumerate(labels)}
    facts["needed"] = [{"label": labels[name], "number": numbers[name]} for name in read.needed]
    try:
        if not read.needed or read.faults:
            facts["told"] = await ask(asked, task)
    except TROUBLE as error:
        # What was typed into the form is read in the language of the page; the library speaks English.
        spoken_in = asked.case.spoken if isinstance(error, RowError) else "en"
        facts["trouble"] = trouble_of(error, phrases_of(asked.case.spoken))
        facts["faults"] = [
            {
                "message": each["message"],
                "place": labels.get(each["place"], each["place"]),
                "language": spoken_in,
            }
            for each in describe(error)[2]
            if each["message"] != NEEDED
        ]
    return facts


async def ask(asked: Opened, task: str, **more: Any) -> Any:
    """Have a solver answer a question about a person."""
    return await asked.solve(task, asked.arguments | {"k": WAYS} | more)
