"""The audit of a problem: give a table of people, choose groups, see who has a way to a yes and who has none, and take the report along."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Depends
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from p2c._explain.phrases import phrases_of
from p2c._markup import Markup
from p2c._server.error_answers import PageError, trouble_of
from p2c._server.pages.frame import Asked, kept, sent_form, texts_of
from p2c._server.service import context_of
from p2c._server.workshop import (
    REPORT,
    Workshop,
    columns_in,
    start,
    table_in,
    take_rows,
    take_table,
)
from p2c.errors import P2CError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p2c._server.pages.frame import Opened

router = APIRouter()
KINDS = {
    "html": "text/html; charset=utf-8",
    "pdf": "application/pdf",
    "md": "text/markdown; charset=utf-8",
    "json": "application/json",
}


async def _shop(asked: Asked) -> Workshop:
    audits = context_of(asked.request).audits
    if audits is None:
        raise HTTPException(404, "no audits here: start the server with one process and with pages")
    return audits.of(asked.entry)


Shop = Annotated[Workshop, Depends(_shop)]
People = Annotated[FormData, sent_form(max_files=1, max_fields=2)]
Groups = Annotated[FormData, sent_form(max_fields=20_000)]


def _back(asked: Opened) -> Response:
    query = asked.request.url.query
    return RedirectResponse(f"/p/{asked.entry.id}/audit" + (f"?{query}" if query else ""), 303)


@router.get("/p/{id}/audit")
def audit(asked: Asked, shop: Shop) -> Response:
    """Show what was found, how far it is, or what is needed for it."""
    return asked.away("audit") or _shown(asked, shop)


def _shown(
    opening: Opened, shop: Workshop, *, error: P2CError | None = None, **typed: Any
) -> Response:
    return opening.show(
        "audit.html",
        page="audit",
        status=422 if error else 200,
        trouble=trouble_of(error, phrases_of(opening.case.spoken)) if error else None,
        endings=tuple(KINDS),
        rows=len(opening.entry.rows),
        **{**_facts(shop, opening.case.spoken), **typed},
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
    }


@router.post("/p/{id}/audit/people")
def people(asked: Asked, shop: Shop, form: People) -> Response:
    """Take a table of people, sent or served with the problem; what does not fit comes back with the reason."""
    sent = form.get("table")
    try:
        if form.get("rows"):
            take_rows(shop, asked.entry)
        elif isinstance(sent, UploadFile) and sent.filename:
            with shop.received(sent.file, sent.filename) as path:
                take_table(shop, asked.entry.problem, path)
        else:
            raise PageError("choose_table")
    except P2CError as error:
        return _shown(asked, shop, error=error)
    return _back(asked)


@router.post("/p/{id}/audit/start")
def begin(asked: Asked, shop: Shop, form: Groups) -> Response:
    """Begin the audit with the groups that were chosen."""
    chosen = _chosen(texts_of(form))
    by = [f"{name}:{bands}" if bands else name for name, bands in chosen.items()]
    try:
        start(shop, asked.entry.problem, by)
    except P2CError as error:
        return _shown(asked, shop, error=error, chosen=list(chosen), bands=chosen)
    return _back(asked)


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
def cancel(asked: Asked, shop: Shop) -> Response:
    """End the audit that is under way; it can be gone on with."""
    shop.cancel()
    return _back(asked)


@router.get("/p/{id}/audit/report.{ending}")
def download(asked: Asked, shop: Shop, ending: str, language: str = "en") -> Response:
    """Give the report away."""
    path = shop.folder / REPORT / f"{REPORT}-{language}.{ending}"
    if ending not in KINDS or shop.work.state != "done" or not path.exists():
        raise HTTPException(404, "there is no such report yet")
    return kept(path.read_bytes(), KINDS[ending], f"audit-{asked.entry.id}.{ending}")
