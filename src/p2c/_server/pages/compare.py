"""The page that compares: our plan next to what is pasted or uploaded, its illegal steps marked.

Plans or end states are read, as JSON or as CSV with a line of names.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from fastapi import APIRouter
from starlette.datastructures import FormData, UploadFile
from starlette.responses import Response  # noqa: TC002 - fastapi needs it at run time

from p2c._explain.phrases import phrases_of
from p2c._explain.sentences import label_words
from p2c._server.error_answers import describe, trouble_of
from p2c._server.pages.address import read_case
from p2c._server.pages.frame import Asked, Opened, sent_form
from p2c._server.pages.plan import TROUBLE, ask
from p2c._spec.files import open_sheet, split_lines, unique_keys
from p2c._spec.row import read_row, read_text_row
from p2c.errors import Fault, P2CError, RowError, suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from p2c._spec.row import State
    from p2c.problem import Problem

router = APIRouter()

KEPT = 4_000
"""Maximum number of characters of a counterfactual kept with a page's state."""
T = TypeVar("T")
MOST = 20
"""How many answers are compared at once."""
Sent = Annotated[FormData, sent_form(max_files=1, max_fields=1000, max_part_size=2_000_000)]


@router.get("/p/{id}/compare")
async def compare(asked: Asked) -> Response:
    """Show the comparison of the page's state, or the form for one."""
    return asked.away("compare") or await _shown(asked, asked.given)


@router.post("/p/{id}/compare")
async def take(asked: Asked, form: Sent) -> Response:
    """Take a counterfactual; keep a short one with the page's state.

    The page can then be opened again.
    """
    posted = read_case((key, each) for key, each in form.multi_items() if isinstance(each, str))
    if not posted.is_blank:
        asked = replace(asked, case=posted)
    try:
        text = await _text(form)
    except P2CError as error:
        return await _shown(asked, "", error=error)
    if len(text) <= KEPT:
        return replace(asked, given=text).to("compare")
    return await _shown(asked, text)


async def _text(form: FormData) -> str:
    upload = form.get("file")
    if isinstance(upload, UploadFile) and upload.size:
        try:
            return (await upload.read()).decode("utf-8-sig")
        except UnicodeDecodeError:
            raise P2CError("the file is not UTF-8 text: expected JSON or CSV") from None
    return str(form.get("given", ""))


async def _shown(opening: Opened, text: str, *, error: P2CError | None = None) -> Response:
    phrases = phrases_of(opening.case.spoken)
    trouble = trouble_of(error, phrases) if error else None
    facts: dict[str, Any] = {"told": None, "trouble": trouble, "faults": []}
    if text.strip() and not opening.case.is_blank:
        try:
            given = read_given(opening.entry.problem, opening.read.known, text)
            facts["told"] = await ask(opening, "comparison", **given)
        except TROUBLE as fault:
            facts["trouble"] = trouble_of(fault, phrases)
            # What was typed into the form is read in the language of the page; the library speaks English.
            spoken_in = phrases.language if opening.read.faults else "en"
            facts["faults"] = [{**each, "language": spoken_in} for each in describe(fault)[2]]
    return opening.show("compare.html", page="compare", given=text, **facts)


def read_given(problem: Problem, state: State, text: str) -> dict[str, Any]:
    """Return the `answers` of a text: each a `document`, or an `end` state that keeps the person's other values.

    A feature is named as in the problem or by its label.
    """
    if text.lstrip()[:1] in ("{", "["):
        answers = [_json_answer(problem, state, each) for each in _json_objects(text)]
    else:
        answers = [_csv_answer(problem, state, each) for each in _csv_rows(text)]
    if not 1 <= len(answers) <= MOST:
        raise P2CError(f"expected 1 to {MOST} answers to compare, found {len(answers)}")
    return {"answers": answers}


def _csv_answer(problem: Problem, state: State, row: dict[str, str]) -> dict[str, Any]:
    features = problem.theory.features
    cells = _named(problem, row)
    end = read_text_row([each for each in features if each.name in cells], cells)
    return {"end": {**state, **end}}


def _json_answer(problem: Problem, state: State, data: dict[str, Any]) -> dict[str, Any]:
    if "steps" in data:
        return {"document": data}
    features = problem.theory.features
    inner = data.get("counterfactual")
    known = {each.name for each in features}
    row = inner if isinstance(inner, dict) and "counterfactual" not in known else data
    return {"end": read_row(features, {**state, **_named(problem, row)})}


def _json_objects(text: str) -> list[dict[str, Any]]:
    try:
        data = json.loads(text, object_pairs_hook=unique_keys)
    except (ValueError, RecursionError) as error:
        raise P2CError(f"not JSON: {str(error)[:200]}") from None
    found = data if isinstance(data, list) else [data]
    if not all(isinstance(each, dict) for each in found):
        raise P2CError("expected a JSON object, or a list of them: a plan, or values by feature")
    return found


def _csv_rows(text: str) -> list[dict[str, str]]:
    sheet = open_sheet(split_lines(text))
    return [dict(zip(sheet.names, row.cells, strict=True)) for row in sheet.rows]


def _named(problem: Problem, row: Mapping[str, T]) -> dict[str, T]:
    """Return values by the names of features, where some are given by their labels."""
    names = {label_words(each): each.name for each in problem.theory.features}
    names |= {each.name: each.name for each in problem.theory.features}
    _refuse_unknown(row, list(names))
    found = {names[key]: value for key, value in row.items()}
    if len(found) < len(row):
        raise P2CError("a feature is given twice, by its name and by its label")
    return found


def _refuse_unknown(given: Iterable[str], known: list[str]) -> None:
    odd = [name for name in given if name not in known]
    if odd:
        raise RowError(
            [
                Fault(name[:60], f"no such feature; {suggestion(name[:60], known)}")
                for name in odd[:5]
            ]
        )
