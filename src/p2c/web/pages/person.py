"""The page of a person: a form made from the problem, or a row picked from a table."""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from p2c.domain.feature import in_language
from p2c.explain.phrases import phrases_of
from p2c.explain.sentences import label_words, value_words
from p2c.web.pages.address import case_of_row, read_case, read_values
from p2c.web.pages.form import example_number, groups_of, typing_words
from p2c.web.pages.frame import show
from p2c.web.service import context_of

if TYPE_CHECKING:
    from p2c.domain.feature import Feature
    from p2c.domain.row import State
    from p2c.web.pages.address import Case, Reading
    from p2c.web.problem_store import Entry

router = APIRouter()

SHOWN = 200
"""How many rows of a table are shown to pick from."""


@router.get("/p/{id}/person")
async def person(request: Request, id: str) -> Response:
    """Show the form, and the rows to pick from."""
    entry = context_of(request).store.find(id)
    case = read_case(request.query_params.multi_items())
    language = case.spoken
    features = [in_language(each, language) for each in entry.problem.theory.features]
    read = read_values(entry.problem.theory, case)
    rows = [_row(row, name, features, case) for name, row in islice(entry.rows.items(), SHOWN)]
    return turned(request, entry, case) or show(
        request,
        "person.html",
        entry=entry,
        case=case,
        page="person",
        language=language,
        labels=[label_words(each) for each in features],
        rows=rows,
        more=max(len(entry.rows) - SHOWN, 0),
        **form_facts(entry, case, read),
    )


def _row(row: State, name: str, features: list[Feature], case: Case) -> dict[str, Any]:
    own = case_of_row(row).in_language(case.spoken, features)
    phrases = phrases_of(case.spoken)
    return {
        "name": name,
        "query": case.of(own).query(),
        "values": [
            "" if row[each.name] is None else value_words(each, row[each.name], phrases)
            for each in features
        ],
        "chosen": dict(own.values) == dict(case.values),
    }


def form_facts(entry: Entry, case: Case, read: Reading) -> dict[str, Any]:
    """Return what the template of the form needs."""
    return {
        "groups": groups_of(entry, case, read),
        "typing": json.dumps(typing_words(case.spoken)),
        "example_number": example_number(case.spoken),
    }


def turned(request: Request, entry: Entry, case: Case) -> Response | None:
    """Lead on to the same page in another language where one is asked for, its numbers written as that language does."""
    language = request.query_params.get("to")
    if language is None:
        return None
    other = case.in_language(language, entry.problem.theory.features)
    return RedirectResponse(f"{request.url.path}?{other.query()}", 303)
