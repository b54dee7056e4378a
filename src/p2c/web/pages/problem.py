"""The page of a problem: its features, its rules, what causes what, what looks wrong, and how large the search is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from p2c.explain.sentences import label_words
from p2c.web.pages.address import read_case
from p2c.web.pages.form import STANDING, domain_words
from p2c.web.pages.frame import show
from p2c.web.service import attended, context_of
from p2c.web.solver_pool import Question

if TYPE_CHECKING:
    from p2c.web.problem_store import Entry

router = APIRouter()


@router.get("/p/{id}/graph.svg")
async def graph(request: Request, id: str, theme: str = "light") -> Response:
    """Draw what follows from what."""
    return await drawn(request, context_of(request).store.find(id), "graph", {"theme": theme})


async def drawn(request: Request, entry: Entry, task: str, arguments: dict[str, Any]) -> Response:
    """Have a solver draw a picture; as an image of a page it runs nothing, whatever is in it."""
    context = context_of(request)
    question = Question(task, entry.digest, entry.keys, arguments)
    asking = context.pool.ask(question, seconds=context.settings.limits.seconds)
    picture = json.loads(await attended(request, asking) or b'{"svg": ""}')
    return Response(picture["svg"].encode("utf-8", "replace"), media_type="image/svg+xml")


@router.get("/p/{id}/problem")
async def problem(request: Request, id: str) -> Response:
    """Show a problem."""
    context = context_of(request)
    entry = context.store.find(id)
    question = Question("overview", entry.digest, entry.keys, {})
    asking = context.pool.ask(question, seconds=context.settings.limits.seconds)
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
