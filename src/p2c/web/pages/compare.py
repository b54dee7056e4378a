"""The page that compares: our plan next to a counterfactual that is pasted or uploaded, its illegal steps marked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from starlette.datastructures import FormData, UploadFile
from starlette.responses import RedirectResponse, Response

from p2c.errors import P2CError
from p2c.web.error_answers import describe
from p2c.web.pages.address import Case, read_case
from p2c.web.pages.frame import show
from p2c.web.pages.pasted_answers import read_given
from p2c.web.pages.person import turned
from p2c.web.pages.plan import TROUBLE, ask, opened
from p2c.web.pages.values import read_values

if TYPE_CHECKING:
    from p2c.web.pages.values import Reading
    from p2c.web.problem_store import Entry

router = APIRouter()

SHAREABLE = 4_000
"""How many characters of a counterfactual go into an address."""


@router.get("/p/{id}/compare")
async def compare(request: Request, id: str) -> Response:
    """Show the comparison that the address holds, or the form for one."""
    entry, case, read = opened(request, id)
    away = turned(request, entry, case)
    if away:
        return away
    return await _shown(request, entry, case, read, request.query_params.get("given", ""))


@router.post("/p/{id}/compare")
async def take(request: Request, id: str) -> Response:
    """Take a counterfactual; a short one goes into the address, so that it can be shared."""
    async with request.form(max_files=1, max_fields=1000, max_part_size=2_000_000) as form:
        entry, case, read = opened(request, id)
        pairs = [(key, each) for key, each in form.multi_items() if isinstance(each, str)]
        posted = read_case(pairs)
        if not posted.is_blank:
            case, read = posted, read_values(entry.problem.theory, posted)
        try:
            text = await _text(form)
        except P2CError as error:
            return await _shown(request, entry, case, read, "", trouble=str(error))
    if len(text) <= SHAREABLE:
        query = urlencode([*case.pairs(), ("given", text)], errors="replace")
        return RedirectResponse(f"/p/{entry.id}/compare?{query}", 303)
    return await _shown(request, entry, case, read, text)


async def _text(form: FormData) -> str:
    upload = form.get("file")
    if isinstance(upload, UploadFile) and upload.size:
        try:
            return (await upload.read()).decode("utf-8-sig")
        except UnicodeDecodeError:
            raise P2CError("the file is not UTF-8 text: expected JSON or CSV") from None
    return str(form.get("given", ""))


async def _shown(
    request: Request,
    entry: Entry,
    case: Case,
    read: Reading,
    text: str,
    *,
    trouble: str = "",
) -> Response:
    facts: dict[str, Any] = {"told": None, "trouble": trouble, "faults": []}
    if text.strip() and not case.is_blank:
        try:
            given = read_given(entry.problem, read.known, text)
            facts["told"] = await ask(request, entry, case, read, "comparison", **given)
        except TROUBLE as error:
            _, facts["trouble"], facts["faults"] = describe(error)
    return show(
        request,
        "compare.html",
        entry=entry,
        case=case,
        page="compare",
        language=case.spoken,
        given=text,
        **facts,
    )
