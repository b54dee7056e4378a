"""The service described for machines: OpenAPI, with made-up people as its examples, out of the problems' domains."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi.openapi.utils import get_openapi

if TYPE_CHECKING:
    from fastapi import FastAPI

    from p2c.web.problem_store import Entry, ProblemStore

ABOUT_PEOPLE = ("/plan", "/nearest", "/why")


def described(app: FastAPI, store: ProblemStore) -> dict[str, Any]:
    """Return the description of an app's routes."""
    document = get_openapi(
        title=app.title, version=app.version, summary=app.summary, routes=app.routes
    )
    for path in ABOUT_PEOPLE:
        content = document["paths"][path]["post"]["requestBody"]["content"]["application/json"]
        content["examples"] = {
            entry.id: {"value": {"problem": entry.id, "row": _made_up(entry)}}
            for entry in store.entries.values()
        }
    return document


def _made_up(entry: Entry) -> dict[str, Any]:
    """Return the middle of each domain: a row that fits, and nobody's."""
    return {
        each.name: each.domain.value((each.domain.size - 1) // 2)
        for each in entry.problem.theory.features
    }
