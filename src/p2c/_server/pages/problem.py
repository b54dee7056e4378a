"""The page of a problem: its features, its rules, what causes what, what looks wrong, and how large the search is."""

from __future__ import annotations

from fastapi import APIRouter, Response

from p2c._explain.letter import spoken
from p2c._explain.phrases import phrases_of
from p2c._explain.sentences import label_words, number_words
from p2c._server.pages.frame import Asked  # noqa: TC001 - fastapi needs it at run time
from p2c._server.pages.person import domain_words

router = APIRouter()


@router.get("/p/{id}/graph.svg")
async def graph(asked: Asked, theme: str = "light", language: str = "en") -> Response:
    """Draw what follows from what."""
    return await asked.draw("graph", {"theme": theme, "language": language})


@router.get("/p/{id}/problem")
async def problem(asked: Asked) -> Response:
    """Show a problem."""
    away = asked.away("problem")
    if away:
        return away
    language = asked.case.spoken
    phrases, theory = phrases_of(language), spoken(asked.entry.problem.theory, language)
    overview = await asked.solve("overview", {"language": language})
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
    rules = (asked.entry.problem.spec.rules or "").strip("\n")
    return asked.show(
        "problem.html", page="problem", features=features, rules=rules, overview=overview
    )
