"""The workbench: pages made on the server, with a little script on top; each works without it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.staticfiles import StaticFiles

from p2c.web.pages import audit, compare, home, person, plan, problem, project, review
from p2c.web.pages.frame import FOLDER

if TYPE_CHECKING:
    from fastapi import FastAPI


def add_pages(app: FastAPI, *, workbench: bool) -> None:
    """Add the description of the service and, unless it is the service alone, the workbench."""
    app.include_router(home.router, include_in_schema=False)
    app.mount("/static", StaticFiles(directory=FOLDER / "static"), name="static")
    if workbench:
        for page in (problem, person, plan, review, compare, audit, project):
            app.include_router(page.router, include_in_schema=False)
