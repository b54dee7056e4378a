"""A new project: give a table and a model, say who may change what, look at what came of it, and plan.

Each page keeps its state in the project's folder. The steps are those of `p2c fit` and `p2c init`.
"""

from __future__ import annotations

import io
import zipfile
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

from anyio import from_thread
from fastapi import APIRouter, Depends, Request
from pydantic import ValidationError
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from p2c.errors import P2CError, counted, joined_lines
from p2c.explain.phrases import phrases_of
from p2c.learn.causal.review import read_review
from p2c.learn.tables.domains import plain_value
from p2c.learn.tables.look import ColumnKind
from p2c.project.building import PEOPLE, REVIEW, build, built, find_causes
from p2c.project.draft import (
    MODELS,
    Choice,
    chosen,
    drop_model,
    opened_model,
    read_draft,
    seen_table,
    take_model,
    take_table,
    write_draft,
)
from p2c.web.pages.address import plain_number, typed_number
from p2c.web.pages.frame import kept, language_of, sent_form, show, texts_of
from p2c.web.service import context_of
from p2c.web.uploads import read_limited
from p2c.web.workshop import CHOOSE_TABLE, Workshop

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from p2c.explain.phrases import Phrases

router = APIRouter()
STEPS = ("files", "columns", "result")
ZIPPED = ("project.json", "review.jsonl", "people.csv", "problem.toml")
MOST_CLASSES = 20
"""How many values a column has at most that may be an outcome to choose from."""


async def _workshop(request: Request) -> Workshop:
    found = context_of(request).workshop
    assert found is not None, "these pages are there for a project alone"
    return found


Shop = Annotated[Workshop, Depends(_workshop)]
Files = Annotated[FormData, sent_form(max_files=2, max_fields=2)]
Columns = Annotated[FormData, sent_form(max_fields=20_000)]


def _onward(request: Request, step: str) -> Response:
    language = language_of(request)
    return RedirectResponse(
        f"/new/{step}" + ("" if language == "en" else f"?language={language}"), 303
    )


@router.get("/new")
def new(request: Request, shop: Shop) -> Response:
    """Go to the step that comes next."""
    if not read_draft(shop.folder).table:
        return _onward(request, "files")
    return _onward(request, "columns" if shop.work.state == "none" else "result")


def _shown(
    request: Request, shop: Workshop, step: str, *, trouble: str = "", **facts: Any
) -> Response:
    return show(
        request,
        f"new_{step}.html",
        page="new",
        language=language_of(request),
        status=422 if trouble else 200,
        steps=STEPS,
        step=step,
        draft=read_draft(shop.folder),
        project=shop.folder,
        problem=built(shop.folder),
        kinds=", ".join(MODELS),
        trouble=trouble,
        **facts,
    )


@router.get("/new/files")
def files(request: Request, shop: Shop) -> Response:
    """Ask for a table and a model."""
    return _shown(request, shop, "files")


@router.post("/new/files")
def take_files(request: Request, shop: Shop, form: Files) -> Response:
    """Take what was sent; what cannot be read comes back with the reason, and what was there before stays."""
    try:
        for field, take in (("table", take_table), ("model", take_model)):
            sent = form.get(field)
            if isinstance(sent, UploadFile) and sent.filename:
                with shop.received(sent.file, sent.filename) as path:
                    read_limited(path, take, shop.folder, path, limits=shop.limits)
        if form.get("without_model"):
            drop_model(shop.folder)
        if not read_draft(shop.folder).table:
            raise P2CError(CHOOSE_TABLE)
    except P2CError as error:
        return _shown(request, shop, "files", trouble=_line(error, shop))
    return _onward(request, "columns")


def _line(error: P2CError, shop: Workshop) -> str:
    return joined_lines(error).replace(f"{shop.folder}/", "")


@router.get("/new/columns")
def columns(request: Request, shop: Shop) -> Response:
    """Show what each column holds, and ask for the outcome and who may change what."""
    if not read_draft(shop.folder).table:
        return _onward(request, "files")
    try:
        facts = _columns(shop, phrases_of(language_of(request)))
    except P2CError as error:
        return _shown(request, shop, "files", trouble=_line(error, shop))
    return _shown(request, shop, "columns", **facts)


def _columns(
    shop: Workshop, phrases: Phrases, given: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Return what the page shows: each column as it was seen with what is said or assumed of it, and the outcomes.

    `given` is what was typed last, where it was not taken.
    """
    draft = read_draft(shop.folder)
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
def choose(request: Request, shop: Shop, form: Columns) -> Response:
    """Keep what was said of the columns, and go on; a wrong effort comes back with the reason."""
    given, phrases = texts_of(form), phrases_of(language_of(request))
    try:
        _choose(shop, given, phrases)
        if "build" in given:
            shop.start("build", build)
    except P2CError as error:
        facts = _columns(shop, phrases, given)
        return _shown(request, shop, "columns", trouble=_line(error, shop), **facts)
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
    draft = read_draft(shop.folder)
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
    desired = given.get("desired", "") if target == draft.target or draft.model else ""
    write_draft(
        shop.folder,
        draft.model_copy(update={"columns": said, "target": target, "desired": desired}),
    )


@router.get("/new/result")
def result(request: Request, shop: Shop) -> Response:
    """Show how far the work is, or what came of it and what can be done next."""
    path, work = shop.folder / REVIEW, shop.work
    review = read_review(path) if path.exists() else None
    ready = work.state != "working" and built(shop.folder) is not None
    return _shown(
        request,
        shop,
        "result",
        work=work,
        reviewed=review is not None,
        left=len(review.pending()) if review else 0,
        candidates=len(review.candidates) if review else 0,
        entry_id=_served(request, shop) if ready else "",
    )


def _served(request: Request, shop: Workshop) -> str:
    """Return the id of the made problem among those that are served, once every solver has opened it."""
    context, name = context_of(request), shop.folder.resolve().name
    entry = context.store.read_new(str(built(shop.folder)), str(shop.folder / PEOPLE), id_=name)
    if entry.id not in context.store.entries:
        from_thread.run(context.pool.greet, entry.greeting)
        context.store.entries[entry.id] = entry
    return entry.id


@router.post("/new/build")
def build_again(request: Request, shop: Shop) -> Response:
    """Make the problem again, with what was said and approved since."""
    shop.start("build", build)
    return _onward(request, "result")


@router.post("/new/causes")
def causes(request: Request, shop: Shop) -> Response:
    """Look for candidates for causal rules in the table."""
    shop.start("causes", find_causes, keep=True)
    return _onward(request, "result")


@router.post("/new/cancel")
def cancel(request: Request, shop: Shop) -> Response:
    """End the work that is under way."""
    shop.cancel()
    return _onward(request, "result")


@router.get("/new/folder.zip")
def download(shop: Shop) -> Response:
    """Give the folder away: the problem with its model, what was said, and the review; not the table."""
    if built(shop.folder) is None:
        raise HTTPException(404, "nothing has been made yet")
    name = "".join(each if each.isalnum() else "-" for each in shop.folder.resolve().name)
    file = f"{name.encode('ascii', 'replace').decode()}.zip"
    return kept(_zipped(shop.folder), "application/zip", file)


def _zipped(folder: Path) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in [folder / name for name in ZIPPED] + sorted((folder / "recourse").glob("*")):
            with suppress(FileNotFoundError):
                archive.write(path, path.relative_to(folder))
    return file.getvalue()
