"""The workbench: pages rendered on the server, which work without scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.staticfiles import StaticFiles

from p2c._server.pages import audit, compare, home, person, plan, problem, review
from p2c._server.pages.frame import FOLDER, Expired, Moved, lead_on, show_expired, templates

if TYPE_CHECKING:
    from fastapi import FastAPI

    from p2c._server.settings import Settings

PAGES = {"problem": problem, "person": person, "plan": plan, "compare": compare, "audit": audit}
"""The pages of a problem by name, in the order of the navigation."""
templates.globals["pages"] = tuple(PAGES)


def add_pages(app: FastAPI, settings: Settings) -> None:
    """Add the page of the service and, if `settings.pages`, the workbench."""
    app.include_router(home.router, include_in_schema=False)
    app.mount("/static", StaticFiles(directory=FOLDER / "static"), name="static")
    if settings.pages:
        for page in (*PAGES.values(), review):
            app.include_router(page.router, include_in_schema=False)
        app.add_exception_handler(Moved, lead_on)
        app.add_exception_handler(Expired, show_expired)
    if settings.pages and settings.project:
        from p2c._server.pages import project  # what reads tables and models loads slowly

        app.include_router(project.router, include_in_schema=False)
    elif settings.pages:
        for path in ("/new", "/new/{step}"):
            app.add_api_route(path, no_project, methods=["GET", "POST"], include_in_schema=False)


async def no_project() -> None:
    """Say how a project is begun."""
    raise HTTPException(404, "no project here: start the server with p2c serve FOLDER")
