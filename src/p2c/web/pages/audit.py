"""The audit of a problem: give a table of people, choose groups, see who has a way to a yes and who has none, and take the report along."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from p2c.errors import P2CError, counted, joined_lines
from p2c.markup import Markup
from p2c.web.audits import REPORT, columns_in, start, table_in, take_rows, take_table
from p2c.web.pages.address import read_case
from p2c.web.pages.frame import Opened, show
from p2c.web.service import context_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.datastructures import FormData

    from p2c.web.problem_store import Entry
    from p2c.web.workshop import Workshop

router = APIRouter()
KINDS = {
    "html": "text/html; charset=utf-8",
    "pdf": "application/pdf",
    "md": "text/markdown; charset=utf-8",
    "json": "application/json",
}


def _desk(request: Request, id: str) -> tuple[Entry, Workshop]:
    context = context_of(request)
    if context.audits is None:
        raise HTTPException(404, "no audits here: start the server with one process and with pages")
    entry = context.store.find(id)
    return entry, context.audits.of(entry)


def _back(request: Request, id: str) -> Response:
    query = f"?{request.url.query}" if request.url.query else ""
    return RedirectResponse(f"/p/{id}/audit{query}", 303)


@router.get("/p/{id}/audit")
async def audit(request: Request, id: str) -> Response:
    """Show what was found, how far it is, or what is needed for it."""
    entry, shop = _desk(request, id)
    return Opened.at(request, id).turned() or await _shown(request, entry, shop)


async def _shown(
    request: Request, entry: Entry, shop: Workshop, *, trouble: str = "", **typed: Any
) -> Response:
    case = read_case(request.query_params.multi_items())
    facts = await asyncio.to_thread(_facts, shop, case.spoken)
    return show(
        request,
        "audit.html",
        entry=entry,
        case=case,
        page="audit",
        language=case.spoken,
        status=422 if trouble else 200,
        trouble=trouble,
        endings=tuple(KINDS),
        rows=len(entry.rows),
        **{"chosen": (), "bands": {}, **facts, **typed},
    )


def _facts(shop: Workshop, language: str) -> dict[str, Any]:
    work, table = shop.work, table_in(shop.folder)
    part = shop.folder / REPORT / f"{REPORT}-{language}.part"
    divided = [each.partition(":") for each in work.told.get("by", ())]
    return {
        "work": work,
        "table": table,
        "names": columns_in(table) if table else [],
        "report": Markup(part.read_text(encoding="utf-8")) if work.state == "done" else "",
        "chosen": [name for name, _, _ in divided],
        "bands": {name: bands for name, _, bands in divided},
        "planned": counted(work.told.get("rows", 0), "row"),
    }


@router.post("/p/{id}/audit/people")
async def people(request: Request, id: str) -> Response:
    """Take a table of people, sent or served with the problem; what does not fit comes back with the reason."""
    entry, shop = _desk(request, id)
    async with request.form(max_files=1, max_fields=2) as form:
        try:
            await asyncio.to_thread(_take, entry, shop, form)
        except P2CError as error:
            return await _shown(request, entry, shop, trouble=joined_lines(error))
    return _back(request, id)


def _take(entry: Entry, shop: Workshop, form: FormData) -> None:
    sent = form.get("table")
    if form.get("rows"):
        take_rows(shop, entry)
    elif isinstance(sent, UploadFile) and sent.filename:
        with shop.received(sent.file, sent.filename) as path:
            take_table(shop, entry.problem, path)
    else:
        raise P2CError("choose the file of a table: CSV with names in the first line, or Parquet")


@router.post("/p/{id}/audit/start")
async def begin(request: Request, id: str) -> Response:
    """Begin the audit with the groups that were chosen."""
    entry, shop = _desk(request, id)
    async with request.form(max_fields=20_000) as form:
        given = {key: value for key, value in form.items() if isinstance(value, str)}
    chosen = _chosen(given)
    by = [f"{name}:{bands}" if bands else name for name, bands in chosen.items()]
    try:
        await asyncio.to_thread(start, shop, entry.problem, by)
    except P2CError as error:
        typed = {"chosen": list(chosen), "bands": chosen}
        return await _shown(request, entry, shop, trouble=joined_lines(error), **typed)
    return _back(request, id)


def _chosen(given: Mapping[str, str]) -> dict[str, str]:
    """Return the columns that were ticked, each with its bands; to type bands is to choose the column."""
    names = {key.partition("-")[2]: name for key, name in given.items() if key.startswith("name-")}
    bands = {place: given.get(f"bands-{place}", "").strip() for place in names}
    return {
        name: bands[place]
        for place, name in names.items()
        if f"by-{place}" in given or bands[place]
    }


@router.post("/p/{id}/audit/cancel")
async def cancel(request: Request, id: str) -> Response:
    """End the audit that is under way; it can be gone on with."""
    _, shop = _desk(request, id)
    await asyncio.to_thread(shop.cancel)
    return _back(request, id)


@router.get("/p/{id}/audit/report.{ending}")
async def download(request: Request, id: str, ending: str, language: str = "en") -> Response:
    """Give the report away."""
    entry, shop = _desk(request, id)
    path = shop.folder / REPORT / f"{REPORT}-{language}.{ending}"
    if ending not in KINDS or shop.work.state != "done" or not path.exists():
        raise HTTPException(404, "there is no such report yet")
    content = await asyncio.to_thread(path.read_bytes)
    headers = {"Content-Disposition": f'attachment; filename="audit-{entry.id}.{ending}"'}
    return Response(content, media_type=KINDS[ending], headers=headers)
