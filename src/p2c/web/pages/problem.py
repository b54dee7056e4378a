"""The page of a problem: its features, its rules, what causes what, what looks wrong, and how large the search is."""

from __future__ import annotations

import json

from fastapi import APIRouter, Request
from starlette.responses import Response  # noqa: TC002 - FastAPI reads it

from p2c.explain.sentences import label_words
from p2c.web.crew import Question
from p2c.web.pages.address import read_case
from p2c.web.pages.form import STANDING, domain_words
from p2c.web.pages.paper import show
from p2c.web.service import attended, desk_of

router = APIRouter()


@router.get("/p/{id}/problem")
async def problem(request: Request, id: str) -> Response:
    """Show a problem."""
    desk = desk_of(request)
    entry = desk.shelf.find(id)
    question = Question("overview", entry.digest, entry.keys, {})
    asking = desk.crew.ask(question, seconds=desk.settings.limits.seconds)
    overview = json.loads(await attended(request, asking) or b"{}")
    theory = entry.problem.theory
    features = [
        {
            "name": each.name,
            "label": label_words(each),
            "kind": each.kind.value,
            "domain": domain_words(each),
            "change": STANDING[each.action.value],
            "weight": each.weight,
            "causes": [
                name for name in theory.feature if name in theory.parents.get(each.name, ())
            ],
        }
        for each in theory.features
    ]
    return show(
        request,
        "problem.html",
        entry=entry,
        case=read_case(request.query_params.multi_items()),
        page="problem",
        features=features,
        rules=(entry.problem.spec.rules or "").strip("\n"),
        overview=overview,
    )
