"""The page of letters: the open fields as a form, and the file made from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.responses import Response  # noqa: TC002 - fastapi needs it at run time

from p2c._explain.phrases import phrases_of
from p2c._notices.form import FORMS, frame_fields, read_lender, typed
from p2c._server.error_answers import describe, trouble_of
from p2c._server.pages.frame import Asked, Opened, kept, sent_form, texts_of
from p2c._server.pages.plan import TROUBLE
from p2c._server.service import MEDIA, context_of, report_file
from p2c.errors import check_word

if TYPE_CHECKING:
    from p2c._notices.form import Form, Lender

router = APIRouter()
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
