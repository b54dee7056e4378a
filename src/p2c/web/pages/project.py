"""A new project: give a table and a model, say who may change what, look at what came of it, and plan.

Each page keeps its state in the project's folder. The steps are those of `p2c fit` and `p2c init`.
"""

from __future__ import annotations

import asyncio
import io
import zipfile
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request
from pydantic import ValidationError
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from p2c.errors import P2CError, counted, joined_lines
from p2c.explain.phrases import phrases_of
from p2c.web.pages.address import plain_number, typed_number
from p2c.web.pages.frame import language_of, show
from p2c.web.service import context_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from starlette.datastructures import FormData

    from p2c.explain.phrases import Phrases
    from p2c.project.draft import Draft
    from p2c.web.workshop import Workshop

router = APIRouter()
STEPS = ("files", "columns", "result")
ZIPPED = ("project.json", "review.jsonl", "people.csv", "problem.toml")
MOST_CLASSES = 20
"""How many values a column has at most that may be an outcome to choose from."""


def _workshop(request: Request) -> Workshop:
    found = context_of(request).workshop
    if found is None:
        raise HTTPException(404, "no project here: start the server with p2c serve FOLDER")
    return found


def _onward(request: Request, step: str) -> Response:
    language = language_of(request)
    return RedirectResponse(
        f"/new/{step}" + ("" if language == "en" else f"?language={language}"), 303
    )


@router.get("/new")
async def new(request: Request) -> Response:
    """Go to the step that comes next."""
    shop = _workshop(request)
    draft = await asyncio.to_thread(_draft, shop)
    if not draft.table:
        return _onward(request, "files")
    return _onward(request, "columns" if shop.work.state == "none" else "result")


def _draft(shop: Workshop) -> Draft:
    from p2c.project.draft import read_draft

    return read_draft(shop.folder)


def _built(shop: Workshop) -> Path | None:
    from p2c.project.building import built

    return built(shop.folder)


def _kinds() -> str:
    from p2c.project.draft import MODELS

    return ", ".join(MODELS)


async def _shown(request: Request, step: str, *, trouble: str = "", **facts: Any) -> Response:
    shop = _workshop(request)
    draft = await asyncio.to_thread(_draft, shop)
    return show(
        request,
        f"new_{step}.html",
        page="new",
        language=language_of(request),
        status=422 if trouble else 200,
        steps=STEPS,
        step=step,
        draft=draft,
        project=shop.folder,
        problem=_built(shop),
        kinds=await asyncio.to_thread(_kinds),
        trouble=trouble,
        **facts,
    )


@router.get("/new/files")
async def files(request: Request) -> Response:
    """Ask for a table and a model."""
    return await _shown(request, "files")


@router.post("/new/files")
async def take_files(request: Request) -> Response:
    """Take what was sent; what cannot be read comes back with the reason, and what was there before stays."""
    shop = _workshop(request)
    async with request.form(max_files=2, max_fields=2) as form:
        try:
            await asyncio.to_thread(_take, shop, form)
        except P2CError as error:
            return await _shown(request, "files", trouble=_line(error, shop))
    return _onward(request, "columns")


def _take(shop: Workshop, form: FormData) -> None:
    from p2c.project.draft import drop_model, read_draft, take_model, take_table

    for field, take in (("table", take_table), ("model", take_model)):
        sent = form.get(field)
        if isinstance(sent, UploadFile) and sent.filename:
            with shop.received(sent.file, sent.filename) as path:
                take(shop.folder, path)
    if form.get("without_model"):
        drop_model(shop.folder)
    if not read_draft(shop.folder).table:
        raise P2CError("choose the file of a table: CSV with names in the first line, or Parquet")


def _line(error: P2CError, shop: Workshop) -> str:
    return joined_lines(error).replace(f"{shop.folder}/", "")


@router.get("/new/columns")
async def columns(request: Request) -> Response:
    """Show what each column holds, and ask for the outcome and who may change what."""
    shop = _workshop(request)
    if not (await asyncio.to_thread(_draft, shop)).table:
        return _onward(request, "files")
    try:
        facts = await asyncio.to_thread(_columns, shop, phrases_of(language_of(request)))
    except P2CError as error:
        return await _shown(request, "files", trouble=_line(error, shop))
    return await _shown(request, "columns", **facts)


def _columns(
    shop: Workshop, phrases: Phrases, given: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Return what the page shows: each column as it was seen with what is said or assumed of it, and the outcomes.

    `given` is what was typed last, where it was not taken.
    """
    from p2c.learn.tables.domains import plain_value
    from p2c.learn.tables.look import ColumnKind
    from p2c.project.draft import chosen, opened_model, seen_table

    draft = _draft(shop)
    table = seen_table(shop.folder, draft)
    names = [each.name for each in table.seen.columns]
    if given and given.get("target") in names:
        draft = draft.model_copy(update={"target": given["target"]})
    outcomes: list[str] = []
    read = table
    if draft.model:
        opened = opened_model(shop.folder, draft)
        read, outcomes = opened.table, [str(each) for each in opened.classes or ()]
    elif draft.target in names:
        values = table.frame[draft.target].dropna().unique()
        outcomes = sorted(str(plain_value(each)) for each in values[: MOST_CLASSES + 1])
    looks = {each.name: each for each in read.seen.columns}
    typed = _typed(given or {})
    rows = [
        {
            "look": looks[each.column],
            "ordered": looks[each.column].kind is ColumnKind.NUMBER,
            "why": each.why,
            "action": each.action,
            "weight": typed_number(f"{each.weight:g}", phrases),
            "label": each.label,
            **typed.get(each.column, {}),
        }
        for each in chosen(draft, read)
        if each.column != draft.target
    ]
    return {
        "rows": rows,
        "names": [each.name for each in table.seen.columns if each.distinct <= MOST_CLASSES],
        "chosen_target": draft.target,
        "outcomes": outcomes if len(outcomes) <= MOST_CLASSES else [],
        "count": counted(table.seen.rows, "row"),
    }


@router.post("/new/columns")
async def choose(request: Request) -> Response:
    """Keep what was said of the columns, and go on; a wrong effort comes back with the reason."""
    shop = _workshop(request)
    async with request.form(max_fields=20_000) as form:
        given = {key: value for key, value in form.items() if isinstance(value, str)}
    phrases = phrases_of(language_of(request))
    try:
        await asyncio.to_thread(_choose, shop, given, phrases)
        if "build" in given:
            await asyncio.to_thread(_build, shop)
    except P2CError as error:
        facts = await asyncio.to_thread(_columns, shop, phrases, given)
        return await _shown(request, "columns", trouble=_line(error, shop), **facts)
    return _onward(request, "result" if "build" in given else "columns")


def _typed(given: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Return what was typed of each column, by its name."""
    found = {}
    for key, name in given.items():
        kind, _, place = key.partition("-")
        if kind == "column":
            fields = {each: given.get(f"{each}-{place}") for each in ("action", "weight", "label")}
            found[name] = {each: text for each, text in fields.items() if text is not None}
    return found


def _choose(shop: Workshop, given: Mapping[str, str], phrases: Phrases) -> None:
    from p2c.project.draft import Choice, seen_table, write_draft

    draft = _draft(shop)
    names = [each.name for each in seen_table(shop.folder, draft).seen.columns]
    said = dict(draft.columns)
    for name, typed in _typed(given).items():
        effort = typed.get("weight") or "1"
        try:
            said[name] = Choice.model_validate(
                typed | {"weight": plain_number(effort, phrases), "label": typed.get("label", "")}
            )
        except ValidationError as error:
            key = error.errors()[0]["loc"][0]
            right = {"action": "free, up, down or fixed", "weight": "a number, 0 or more"}
            told = f"{name[:60]}: {key}: expected {right.get(str(key), 'words')}"
            raise P2CError(f"{told}, found '{typed.get(str(key), '')[:20]}'") from None
    target = given.get("target", "")
    if target and target not in names:
        raise P2CError(f"no column '{target[:60]}'")
    kept = given.get("desired", "") if target == draft.target or draft.model else ""
    write_draft(
        shop.folder,
        draft.model_copy(update={"columns": said, "target": target, "desired": kept}),
    )


@router.get("/new/result")
async def result(request: Request) -> Response:
    """Show how far the work is, or what came of it and what can be done next."""
    shop = _workshop(request)
    facts = await asyncio.to_thread(_result, shop)
    if facts["work"].state != "working" and _built(shop) is not None:
        facts["entry_id"] = await _served(request, shop)
    return await _shown(request, "result", **facts)


def _result(shop: Workshop) -> dict[str, Any]:
    from p2c.project.building import REVIEW

    work = shop.work
    path = shop.folder / REVIEW
    left, count = 0, 0
    if path.exists():
        from p2c.learn.causal.review import read_review

        review = read_review(path)
        left, count = len(review.pending()), len(review.candidates)
    return {
        "work": work,
        "left": left,
        "candidates": count,
        "entry_id": "",
        "reviewed": path.exists(),
    }


async def _served(request: Request, shop: Workshop) -> str:
    """Return the id of the made problem among those that are served, once every solver has opened it."""
    from p2c.project.building import PEOPLE

    context, name = context_of(request), shop.folder.resolve().name
    files = str(_built(shop)), str(shop.folder / PEOPLE)
    entry = await asyncio.to_thread(context.store.read_new, *files, id_=name)
    if entry.id not in context.store.entries:
        await context.pool.greet(entry.greeting)
        context.store.entries[entry.id] = entry
    return entry.id


@router.post("/new/build")
async def build(request: Request) -> Response:
    """Make the problem again, with what was said and approved since."""
    await asyncio.to_thread(_build, _workshop(request))
    return _onward(request, "result")


def _build(shop: Workshop) -> None:
    from p2c.project.building import build

    shop.start("build", build)


def _find_causes(shop: Workshop) -> None:
    from p2c.project.building import find_causes

    shop.start("causes", find_causes, keep=True)


@router.post("/new/causes")
async def causes(request: Request) -> Response:
    """Look for candidates for causal rules in the table."""
    await asyncio.to_thread(_find_causes, _workshop(request))
    return _onward(request, "result")


@router.post("/new/cancel")
async def cancel(request: Request) -> Response:
    """End the work that is under way."""
    await asyncio.to_thread(_workshop(request).cancel)
    return _onward(request, "result")


@router.get("/new/folder.zip")
async def download(request: Request) -> Response:
    """Give the folder away: the problem with its model, what was said, and the review; not the table."""
    shop = _workshop(request)
    if _built(shop) is None:
        raise HTTPException(404, "nothing has been made yet")
    content = await asyncio.to_thread(_zipped, shop.folder)
    name = "".join(each if each.isalnum() else "-" for each in shop.folder.resolve().name)
    headers = {
        "Content-Disposition": f'attachment; filename="{name.encode("ascii", "replace").decode()}.zip"'
    }
    return Response(content, media_type="application/zip", headers=headers)


def _zipped(folder: Path) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in [folder / name for name in ZIPPED] + sorted((folder / "recourse").glob("*")):
            with suppress(FileNotFoundError):
                archive.write(path, path.relative_to(folder))
    return file.getvalue()
