"""The page of a plan with pictures and other ways, and the page of letters."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.responses import Response  # noqa: TC002 - fastapi needs it at run time

from p2c._explain.letter import spoken
from p2c._explain.phrases import phrases_of
from p2c._explain.sentences import label_words
from p2c._notices.form import FORMS, frame_fields, read_lender, typed
from p2c._server.error_answers import describe, trouble_of
from p2c._server.pages.address import NEEDED
from p2c._server.pages.frame import Asked, CaseForm, Opened, kept, sent_form, texts_of
from p2c._server.pages.person import form_facts
from p2c._server.service import MEDIA, context_of, report_file
from p2c._server.solver_pool import OutOfTime, Overloaded, SolverFailed
from p2c.errors import P2CError, RowError, check_word

if TYPE_CHECKING:
    from p2c._notices.form import Form, Lender


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


Sent = Annotated[FormData, sent_form(max_files=0, max_fields=200)]
MARK = "f:"
"""Prefix of the names of fields in the form of the page."""


@router.get("/p/{id}/notice")
async def notice(asked: Asked, form: str = FORMS[-1]) -> Response:
    """Show the form of a letter."""
    return asked.away("notice") or _shown(asked, form, {})


@router.post("/p/{id}/notice")
async def make(page: Asked, sent: Sent, form: str = FORMS[-1]) -> Response:
    """Hand out the letter as a file, or show the missing fields."""
    texts = texts_of(sent)
    ending = texts.get("format", "pdf")
    if ending not in MEDIA:
        raise HTTPException(404, f"no letter as '{ending[:20]}': expected {', '.join(MEDIA)}")
    fields = {
        name.removeprefix(MARK): text for name, text in texts.items() if name.startswith(MARK)
    }
    case = {name: typed(text) for name, text in fields.items() if text.strip()}
    _, lender = _lender(page, form)
    arguments = {"format": ending, "notice": form, "case": case, "lender": lender}
    try:
        content = await report_file(page.request, page.entry, page.arguments | arguments)
    except TROUBLE as error:
        return _shown(page, form, fields, error)
    return kept(content, MEDIA[ending], f"{page.entry.id}-{form}.{ending}")


def _lender(asked: Opened, form: str) -> tuple[Form, str]:
    """Return a form of the server's lender, and the lender's file."""
    file = context_of(asked.request).settings.lender
    if not file:
        raise HTTPException(404, "no lender's file here: start the server with --lender FILE")
    check_word("notice: no form", form, FORMS)
    return read_lender(file).form(form), file


def _shown(
    opened: Opened, form: str, texts: dict[str, str], error: Exception | None = None
) -> Response:
    chosen, file = _lender(opened, form)
    found = describe(error)[2] if error is not None else []
    faults: list[dict[str, Any]] = [{**each, "language": "en"} for each in found]
    return opened.show(
        "notice.html",
        page="plan",
        form=form,
        forms=FORMS,
        fields=_open_fields(chosen, read_lender(file)),
        flags={each.when for each in chosen.blocks.values() if each.when},
        given=texts,
        mark=MARK,
        trouble=trouble_of(error, phrases_of(opened.case.spoken)) if error else None,
        faults=faults,
    )


def _open_fields(form: Form, lender: Lender) -> dict[str, str]:
    """Return the fields that the lender's file leaves open, explained."""
    flags = [each.when for each in form.blocks.values() if each.when]
    if form.retention_months is None:
        flags.append("retention_months")
    places = [name for block in form.blocks.values() for name in block.places]
    usual = [*form.frame, "salutation", *flags, *places]
    explained = {**frame_fields(), **form.fields}
    present = {"date", *lender.fields}
    return {name: explained[name] for name in dict.fromkeys(usual) if name not in present}
