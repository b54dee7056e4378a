"""The page of a problem: its features, its rules, what causes what, what looks wrong, and how large the search is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from p2c.explain.letter import spoken
from p2c.explain.phrases import phrases_of
from p2c.explain.sentences import label_words, number_words
from p2c.web.pages.address import read_case
from p2c.web.pages.frame import show
from p2c.web.pages.person import domain_words, turned
from p2c.web.service import context_of, solve

if TYPE_CHECKING:
    from p2c.web.problem_store import Entry

router = APIRouter()


@router.get("/p/{id}/graph.svg")
async def graph(request: Request, id: str, theme: str = "light", language: str = "en") -> Response:
    """Draw what follows from what."""
    asked = {"theme": theme, "language": language}
    return await drawn(request, context_of(request).store.find(id), "graph", asked)


async def drawn(request: Request, entry: Entry, task: str, arguments: dict[str, Any]) -> Response:
    """Have a solver draw a picture; as an image of a page it runs nothing, whatever is in it."""
    picture = json.loads(await solve(request, entry, task, arguments) or b'{"svg": ""}')
    return Response(picture["svg"].encode("utf-8", "replace"), media_type="image/svg+xml")


@router.get("/p/{id}/problem")
async def problem(request: Request, id: str) -> Response:
    """Show a problem."""
    entry = context_of(request).store.find(id)
    case = read_case(request.query_params.multi_items())
    away = turned(request, entry, case)
    if away:
        return away
    phrases = phrases_of(case.spoken)
    told = await solve(request, entry, "overview", {"language": case.spoken})
    theory = spoken(entry.problem.theory, case.spoken)
    features = [
        {
            "name": each.name,
            "label": label_words(each),
            "kind": each.kind.value,
            "domain": domain_words(each, phrases),
            "change": phrases.graph[each.action.value],
            "weight": number_words(float(each.weight), phrases),
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
        case=case,
        page="problem",
        language=case.spoken,
        features=features,
        rules=(entry.problem.spec.rules or "").strip("\n"),
        overview=json.loads(told or b"{}"),
    )
