"""The server: the service, and the pages unless it is the service alone, behind one guard."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING

from fastapi import FastAPI

from p2c.web.complaints import handle_errors
from p2c.web.crew import Crew
from p2c.web.description import described
from p2c.web.desk import Desk
from p2c.web.guard import Guard
from p2c.web.logs import log_as_json
from p2c.web.metrics import Metrics
from p2c.web.pages import add_pages
from p2c.web.pages.paper import show_error
from p2c.web.service import light, router
from p2c.web.settings import Settings, from_environment
from p2c.web.shelf import open_shelf

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from p2c.web.shelf import Shelf

LOOK = 0.5
"""Seconds between two looks at the files of the problems."""


def build_app(settings: Settings) -> FastAPI:
    """Return the server's app; its solvers start with it and end with it."""
    limits = settings.limits
    shelf = open_shelf(settings)
    crew = Crew(size=limits.solvers, waiting=limits.waiting, first=shelf.greetings)
    desk = Desk(settings, shelf, crew, Metrics())

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        crew.start()
        watching = asyncio.create_task(_watch(shelf))
        try:
            yield
        finally:
            watching.cancel()
            with suppress(asyncio.CancelledError):
                await watching
            await crew.stop()

    app = FastAPI(
        title="p2c",
        summary="Plans that turn a refusal into an acceptance, proved to be the cheapest there are.",
        version="1",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.desk = desk
    app.openapi = partial(described, app, shelf)  # type: ignore[method-assign]
    app.include_router(light)
    app.include_router(router)
    add_pages(app, workbench=settings.pages)
    handle_errors(app, page=show_error if settings.pages else None)
    app.add_middleware(Guard, settings=settings, crew=crew, metrics=desk.metrics)
    return app


def app_from_environment() -> FastAPI:
    """Return the app of the settings in the environment: what a server process starts."""
    log_as_json()
    return build_app(from_environment())


async def _watch(shelf: Shelf) -> None:
    while True:
        await asyncio.sleep(LOOK)
        await asyncio.to_thread(shelf.refresh)
