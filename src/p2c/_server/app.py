"""The server: the service, and the pages unless it is the service alone, behind one guard; described by OpenAPI."""

from __future__ import annotations

import asyncio
import logging
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute

from p2c._server.error_answers import handle_errors
from p2c._server.guard import Guard
from p2c._server.identity import Identities
from p2c._server.messages import Message, WhyRequest
from p2c._server.page_states import PageStates
from p2c._server.pages import add_pages
from p2c._server.pages.frame import show_error
from p2c._server.problem_store import open_store
from p2c._server.service import Context, light, router
from p2c._server.settings import Settings, from_environment
from p2c._server.solver_pool import SolverFailed, SolverPool
from p2c._server.telemetry import Metrics, log_as_json
from p2c._server.workshop import Audits, Workshop
from p2c.errors import P2CError, joined_lines

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from p2c._server.problem_store import Entry, ProblemStore

log = logging.getLogger(__name__)
LOOK = 0.5
"""Seconds between two looks at the files of the problems."""


def build_app(settings: Settings) -> FastAPI:
    """Return the server's app; its solvers start with it and end with it."""
    limits = settings.limits
    store = open_store(settings)
    pool = SolverPool(size=limits.solvers, waiting=limits.waiting, first=store.greetings)
    workshop = Workshop(Path(settings.project), limits) if settings.project else None
    audits = Audits(Path(settings.audits), limits) if settings.audits else None
    states = PageStates(settings.states)
    identities = Identities(settings)
    context = Context(settings, store, pool, Metrics(), states, workshop, audits, identities)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        pool.start()
        watching = asyncio.create_task(watch_problems(store, pool))
        try:
            yield
        finally:
            for working in (workshop, audits):
                if working is not None:
                    working.cancel()
            watching.cancel()
            with suppress(asyncio.CancelledError):
                await watching
            await pool.stop()
            states.close()

    app = FastAPI(
        title="p2c",
        summary="Plans that turn a refusal into an acceptance, proved to be the cheapest there are.",
        version="1",
        servers=[{"url": settings.root}] if settings.root else None,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.context = context
    app.openapi = partial(described, app, store)  # type: ignore[method-assign]
    app.include_router(light)
    app.include_router(router)
    add_pages(app, settings)
    handle_errors(app, page=show_error if settings.pages else None)
    solving = frozenset(questions())
    app.add_middleware(
        Guard,
        settings=settings,
        identities=identities,
        pool=pool,
        metrics=context.metrics,
        solving=solving,
    )
    return app


def app_from_environment() -> FastAPI:
    """Return the app of the settings in the environment: what a server process starts."""
    log_as_json()
    return build_app(from_environment())


async def watch_problems(store: ProblemStore, pool: SolverPool) -> None:
    """Watch the files; every solver opens a changed model before it is used.

    An error of any kind is reported, and the files are looked at again: a server that misses changes is a stale one.
    """
    while True:
        await asyncio.sleep(LOOK)
        try:
            for entry in await asyncio.to_thread(store.refresh):
                await _open(entry, store, pool)
        except Exception:
            log.exception("the files of the problems could not be looked at")


async def _open(entry: Entry, store: ProblemStore, pool: SolverPool) -> None:
    """Put a changed problem with a model into use once every solver has opened it."""
    try:
        await pool.greet(entry.greeting)
    except (P2CError, SolverFailed) as error:
        store.take(entry, joined_lines(error))
    except Exception as error:
        log.exception("a changed model could not be opened")
        store.take(entry, f"{entry.file}: cannot be opened: {type(error).__name__}")
    else:
        store.take(entry)


def questions() -> dict[str, type[Message]]:
    """Return the paths of the service that a solver answers, with what each takes."""
    routes = [each for each in light.routes if isinstance(each, APIRoute) and each.body_field]
    return {each.path: each.body_field.field_info.annotation for each in routes}  # type: ignore[union-attr,misc]


def described(app: FastAPI, store: ProblemStore) -> dict[str, Any]:
    """Return the description of an app's routes."""
    document = get_openapi(
        title=app.title,
        version=app.version,
        summary=app.summary,
        routes=app.routes,
        servers=app.servers or None,
    )
    about_people = [path for path, kind in questions().items() if issubclass(kind, WhyRequest)]
    for path in about_people:
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
