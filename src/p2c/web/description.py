"""The service described for machines: OpenAPI, with people of the problems at hand as its examples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi.openapi.utils import get_openapi

if TYPE_CHECKING:
    from fastapi import FastAPI

    from p2c.web.shelf import Entry, Shelf

ABOUT_PEOPLE = ("/plan", "/nearest", "/why")


def described(app: FastAPI, shelf: Shelf) -> dict[str, Any]:
    """Return the description of an app's routes."""
    document = get_openapi(
        title=app.title, version=app.version, summary=app.summary, routes=app.routes
    )
    for path in ABOUT_PEOPLE:
        content = document["paths"][path]["post"]["requestBody"]["content"]["application/json"]
        content["examples"] = {
            f"{entry.id}, {name}": {"value": {"problem": entry.id, "row": row}}
            for entry in shelf.entries.values()
            for name, row in _first(entry).items()
        }
    return document


def _first(entry: Entry) -> dict[str, Any]:
    return dict(tuple(entry.rows.items())[:2])
