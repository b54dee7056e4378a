"""The page of a person: a form made from the problem, or a row picked from a table."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from fastapi import APIRouter, Request
from starlette.responses import Response  # noqa: TC002 - FastAPI reads it

from p2c.errors import RowError
from p2c.explain.sentences import label_words
from p2c.web.pages.address import Case, case_of_row, read_case
from p2c.web.pages.form import fields_of
from p2c.web.pages.paper import show
from p2c.web.service import desk_of

if TYPE_CHECKING:
    from p2c.web.shelf import Entry

router = APIRouter()

SHOWN = 200
"""How many rows of a table are shown to pick from."""


@router.get("/p/{id}/person")
async def person(request: Request, id: str) -> Response:
    """Show the form, and the rows to pick from."""
    entry = desk_of(request).shelf.find(id)
    case = read_case(request.query_params.multi_items())
    rows = [
        {
            "name": name,
            "query": Case(
                case_of_row(row).values,
                case.actions,
                case.numbers,
                case.only,
                case.lifted,
                case.options,
            ).query(),
            "values": list(case_of_row(row).values.values()),
            "chosen": dict(case_of_row(row).values) == dict(case.values),
        }
        for name, row in islice(entry.rows.items(), SHOWN)
    ]
    return show(
        request,
        "person.html",
        entry=entry,
        case=case,
        page="person",
        fields=fields_of(entry, case, value_faults(entry, case)),
        labels=[label_words(each) for each in entry.problem.theory.features],
        rows=rows,
        more=max(len(entry.rows) - SHOWN, 0),
    )


def value_faults(entry: Entry, case: Case) -> dict[str, str]:
    """Return what is wrong with the values of a case, by feature; nothing where nobody was described."""
    if case.is_blank:
        return {}
    try:
        case.row(entry.problem.theory.features)
    except RowError as error:
        return {each.place: each.message for each in error.faults}
    return {}
