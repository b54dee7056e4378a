"""A new project: give a table and a model, say who may change what, look at what came of it, and plan.

Each page keeps its state in the project's folder. The steps are those of `p2c fit` and `p2c init`.
"""

from __future__ import annotations

import io
import zipfile
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from anyio import from_thread
from fastapi import APIRouter, Depends, Request
from pydantic import ValidationError
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from p2c._explain.phrases import phrases_of
from p2c._explain.sentences import filled, number_words
from p2c._learn.causal.review import read_review
from p2c._learn.foldse.literals import predicate_name
from p2c._learn.tables.look import ColumnKind
from p2c._project.draft import (
    MODEL,
    MODELS,
    REVIEW,
    Choice,
    aim_of,
    build,
    built,
    choices_of,
    chosen,
    drop_model,
    find_causes,
    opened_model,
    read_draft,
    seen_table,
    take_model,
    take_table,
    targets_of,
    write_draft,
)
from p2c._rules.theory import Call
from p2c._server.error_answers import PageError, trouble_of
from p2c._server.pages.address import plain_number, typed_number
from p2c._server.pages.frame import kept, language_of, sent_form, show, texts_of
from p2c._server.service import context_of
from p2c._server.workshop import Workshop, read_limited
from p2c._spec.spec import BY_MODEL
from p2c.errors import P2CError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from p2c._explain.phrases import Phrases
    from p2c._learn.tables.look import ColumnLook
    from p2c._project.draft import Draft
    from p2c._server.problem_store import Entry
    from p2c.problem import Problem


router = APIRouter()
STEPS = ("files", "columns", "result")
ZIPPED = ("project.json", "review.jsonl", "people.csv", "problem.toml")


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
    request: Request, shop: Workshop, step: str, *, error: P2CError | None = None, **facts: Any
) -> Response:
    language = language_of(request)
    trouble = trouble_of(error, phrases_of(language)) if error else None
    if trouble:
        trouble = trouble._replace(text=trouble.text.replace(f"{shop.folder}/", ""))
    return show(
        request,
        f"new_{step}.html",
        page="new",
        language=language,
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
            raise PageError("choose_table")
    except P2CError as error:
        return _shown(request, shop, "files", error=error)
    return _onward(request, "columns")


@router.get("/new/columns")
def columns(request: Request, shop: Shop) -> Response:
    """Show what each column holds, and ask for the outcome and who may change what."""
    if not read_draft(shop.folder).table:
        return _onward(request, "files")
    return _shown_columns(request, shop)


def _shown_columns(
    request: Request,
    shop: Workshop,
    typed: Mapping[str, str] | None = None,
    error: P2CError | None = None,
) -> Response:
    """Show the columns or, if they cannot be read, the page of the files with why."""
    try:
        facts = _columns(shop, phrases_of(language_of(request)), typed)
    except P2CError as fault:
        return _shown(request, shop, "files", error=fault)
    unread = facts.pop("error")
    return _shown(request, shop, "columns", error=error or unread, **facts)


def _columns(
    shop: Workshop, phrases: Phrases, given: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Return what the page shows: each column as it was seen with what is said or assumed of it, and the outcomes.

    `given` is what was typed last, where it was not taken.
    """
    draft = read_draft(shop.folder)
    table = seen_table(shop.folder, draft)
    targets = targets_of(table)
    if given and given.get("target") in targets:
        draft = draft.model_copy(update={"target": given["target"]})
    read = opened_model(shop.folder, draft).table if draft.model else table
    outcomes, unread = [], None
    try:
        outcomes = choices_of(shop.folder, draft)
    except P2CError as error:
        unread = error  # such as a model that is asked about the column of true outcomes, too
    looks = {each.name: each for each in read.seen.columns}
    typed = _typed(given or {})
    rows = [
        {
            "look": looks[each.column],
            "span": _span(looks[each.column], phrases),
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
        "names": targets,
        "chosen_target": draft.target,
        "outcomes": outcomes,
        "desired": (given or {}).get("desired", draft.desired),
        "count": table.seen.rows,
        "error": unread,
    }


def _span(look: ColumnLook, phrases: Phrases) -> str:
    """Return the range of a column of numbers, or else its most frequent values.

    Numbers are written as the language of the page writes them.
    """
    if look.ends is None:
        return look.span
    counts = look.kind is ColumnKind.NUMBER  # ids and dates have no thousands
    low, high = (number_words(each, phrases) if counts else str(each) for each in look.ends)
    return low if low == high else filled(phrases.pages["range"], least=low, most=high)


@router.post("/new/columns")
def choose(request: Request, shop: Shop, form: Columns) -> Response:
    """Keep the settings of the columns and continue, or return them with an error."""
    given, phrases = texts_of(form), phrases_of(language_of(request))
    try:
        _choose(shop, given, phrases)
    except P2CError as error:
        return _shown_columns(request, shop, given, error)
    try:
        if "build" in given:
            _start_build(shop)
    except PageError as error:
        return _shown_columns(request, shop, error=error)
    return _onward(request, "result" if "build" in given else "columns")


def _start_build(shop: Workshop) -> None:
    """Begin to make the problem, for a chosen outcome."""
    if not read_draft(shop.folder).desired:
        raise PageError("new_no_desired")
    shop.start("build", build)


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
    said = dict(draft.columns)
    for name, typed in _typed(given).items():
        effort = typed.get("weight") or "1"
        try:
            said[name] = Choice.model_validate(
                typed | {"weight": plain_number(effort, phrases), "label": typed.get("label", "")}
            )
        except ValidationError as error:
            key = str(error.errors()[0]["loc"][0])
            found = typed.get(key, "")[:20]
            raise PageError(f"new_wrong_{key}", column=name[:60], found=found) from None
    target = given.get("target", draft.target)
    if target and target not in targets_of(seen_table(shop.folder, draft)):
        raise PageError("new_no_column", column=target[:60])
    fresh = draft.model_copy(update={"columns": said, "target": target})
    write_draft(
        shop.folder,
        fresh.model_copy(update={"desired": _desired(shop.folder, draft, fresh, given)}),
    )


def _desired(folder: Path, old: Draft, fresh: Draft, typed: Mapping[str, str]) -> str:
    """Return the wanted outcome: the new choice, or else the earlier one.

    Another column has outcomes of its own.
    """
    if old.target and fresh.target != old.target and not fresh.model:
        return ""
    desired = typed.get("desired", old.desired)
    if desired != old.desired and desired and desired not in choices_of(folder, fresh):
        raise PageError("new_no_outcome", outcome=desired[:60])
    return desired


@router.get("/new/result")
def result(request: Request, shop: Shop) -> Response:
    """Show how far the work is, or what came of it and what can be done next."""
    path, work = shop.folder / REVIEW, shop.work
    review = read_review(path) if path.exists() else None
    entry = None
    if work.state != "working":
        entry = _served(request)
    return _shown(
        request,
        shop,
        "result",
        error=P2CError(entry.error) if entry and entry.error else None,
        work=work,
        reviewed=review is not None,
        left=len(review.pending()) if review else 0,
        candidates=len(review.candidates) if review else 0,
        entry_id=entry.id if entry else "",
        made_for=_other_aim(shop, entry, phrases_of(language_of(request))) if entry else "",
    )


def _other_aim(shop: Workshop, entry: Entry, phrases: Phrases) -> str:
    """Describe the aim of the made problem if another one was chosen since.

    The text is empty otherwise.
    """
    made, wanted = aim_of_problem(entry.problem), aim_of_draft(read_draft(shop.folder))
    if "aim" in shop.work.told:
        made = Aim(*shop.work.told["aim"])  # the problem in use may be an older one for a moment
    if made is None or (wanted is not None and made.is_same(wanted)):
        return ""
    return made.told(phrases)


def _served(request: Request) -> Entry | None:
    """Return the project's problem once every solver has opened it."""
    context = context_of(request)
    entry = context.store.project_entry()
    if entry is not None and entry is not context.store.entries.get(entry.id):
        if not entry.error:
            from_thread.run(context.pool.greet, entry.greeting)
        context.store.entries[entry.id] = entry
    return entry


@router.post("/new/build")
def build_again(request: Request, shop: Shop) -> Response:
    """Make the problem again, with what was said and approved since."""
    try:
        _start_build(shop)
    except PageError as error:
        return _shown_columns(request, shop, error=error)
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
        for path in [folder / name for name in ZIPPED] + sorted((folder / MODEL).glob("*")):
            with suppress(FileNotFoundError):
                archive.write(path, path.relative_to(folder))
    return file.getvalue()


class Aim(NamedTuple):
    """A wanted outcome: a value of a column, or a class of the model.

    `column` is empty for a class of the model.
    """

    column: str
    outcome: str

    def told(self, phrases: Phrases) -> str:
        """Return the aim in words."""
        key = "aim_column" if self.column else "aim_model"
        return filled(phrases.pages[key], **self._asdict())

    def is_same(self, other: Aim) -> bool:
        """Tell whether another aim is equal; rules spell column names differently."""
        names = predicate_name(self.column), predicate_name(other.column)
        return names[0] == names[1] and self.outcome == other.outcome


def aim_of_draft(draft: Draft) -> Aim | None:
    """Return the outcome chosen for a project; None before the choice."""
    return Aim(*aim_of(draft)) if draft.desired else None


def aim_of_problem(problem: Problem) -> Aim | None:
    """Return the outcome that a problem's goal names; None for other kinds of goal."""
    model = problem.spec.model
    if model is not None:
        is_plain = problem.spec.goal == BY_MODEL and model.desired is not None
        return Aim("", str(model.desired)) if is_plain else None
    match problem.theory.goal:
        case (Call(negated=False, decision=decision),) if len(decision.arguments) == 1:
            return Aim(decision.predicate, str(decision.arguments[0]))
    return None


def told_aim(folder: Path, entry: Entry | None, phrases: Phrases) -> str:
    """Return the line about the wanted outcome; empty on pages about other problems.

    Of the problem that a project has made it tells that problem's own outcome, else the one that is chosen.
    """
    if entry is None:
        return _told_choice(folder, phrases)
    if entry.file != str(built(folder)):
        return ""
    aim = aim_of_problem(entry.problem)
    goal = filled(phrases.pages["card_goal"], goal=entry.problem.spec.goal)
    return aim.told(phrases) if aim else goal


def _told_choice(folder: Path, phrases: Phrases) -> str:
    try:
        draft = read_draft(folder)
    except P2CError:
        return ""  # the page of the step says what is wrong with the file
    aim = aim_of_draft(draft)
    if aim is None:
        return phrases.pages["aim_none"] if draft.table else ""
    return aim.told(phrases)
