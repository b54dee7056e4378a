"""The JSON service: each route reads a typed request, has a solver answer it and returns its answer unchanged."""

from __future__ import annotations

import asyncio
import json
from base64 import b64decode
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from p2c._explain.phrases import phrases_of
from p2c._notices.filed import append_record
from p2c._plan.plan_json import PlanRecord
from p2c._server import messages
from p2c._server.error_answers import STATUSES, error_answer
from p2c._server.solver_pool import Question
from p2c._spec.files import unique_keys
from p2c.errors import Fault, RowError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from p2c._server.identity import Identities
    from p2c._server.page_states import PageStates
    from p2c._server.problem_store import Entry, ProblemStore
    from p2c._server.settings import Settings
    from p2c._server.solver_pool import SolverPool
    from p2c._server.telemetry import Metrics
    from p2c._server.workshop import Audits, Workshop

ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": messages.ErrorAnswer, "description": text}
    for status, (_, text) in STATUSES.items()
    if text
}
MEDIA = {
    "html": "text/html; charset=utf-8",
    "pdf": "application/pdf",
    "md": "text/markdown; charset=utf-8",
    "txt": "text/plain; charset=utf-8",
}
"""The media types of reports by their formats."""
REPORTS = {kind.partition(";")[0]: {"schema": {"type": "string"}} for kind in MEDIA.values()}
PATIENCE, LONGEST_PATIENCE = 0.05, 1.0
"""Seconds after which it is worth looking whether the one who asked is still there: at first, doubled each time, and at most."""


@dataclass(frozen=True)
class Context:
    """The shared parts of the service: settings, problems, solvers, counts, states.

    It also holds the project that is being made, and the audits.
    """

    settings: Settings
    store: ProblemStore
    pool: SolverPool
    metrics: Metrics
    states: PageStates
    workshop: Workshop | None = None
    audits: Audits | None = None
    identities: Identities | None = None


class LightRoute(APIRoute):
    """A route that reads its body in one pass, as bytes into the typed request; the usual way takes two."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return what answers a request."""
        endpoint, field = self.endpoint, self.body_field
        assert field is not None
        model = field.field_info.annotation
        assert model is not None

        async def handle(request: Request) -> Response:
            kind = request.headers.get("content-type", "")
            if not kind.startswith("application/json"):
                raise HTTPException(415, f"expected application/json, found '{kind[:60]}'")
            body = await request.body()
            try:
                message = model.model_validate_json(body)
            except ValidationError as error:
                raise RequestValidationError(error.errors(include_url=False)) from None
            json.loads(body, object_pairs_hook=unique_keys)
            answer: Response = await endpoint(request, message)
            return answer

        return handle


router = APIRouter(responses=ERRORS)
light = APIRouter(responses=ERRORS, route_class=LightRoute)


def context_of(request: Request) -> Context:
    """Return what the server of a request has."""
    context: Context = request.app.state.context
    return context


@light.post("/plan", response_model=PlanRecord)
async def plan(request: Request, asked: messages.PlanRequest) -> Response:
    """Find the cheapest plan for one person, or prove that there is none."""
    return await _solved(request, "plan", asked)


@light.post("/nearest", response_model=messages.NearestAnswer)
async def nearest(request: Request, asked: messages.NearestRequest) -> Response:
    """Find the k cheapest end states, each with its best plan."""
    most = context_of(request).settings.limits.plans
    if asked.k > most:
        raise RowError([Fault("k", f"expected at most {most}, found {min(asked.k, 10**12)}")])
    return await _solved(request, "nearest", asked)


@light.post("/why", response_model=messages.WhyAnswer)
async def why(request: Request, asked: messages.WhyRequest) -> Response:
    """Say why the decision is what it is: in sentences, and as a proof tree."""
    return await _solved(request, "why", asked)


@light.post("/report", response_class=Response, responses={200: {"content": REPORTS}})
async def report(request: Request, wanted: messages.ReportRequest) -> Response:
    """Return a letter, a notice, or a report for experts as a file."""
    entry, arguments = _arguments(request, wanted)
    arguments |= {"language": phrases_of(wanted.language).language, "format": wanted.format}
    lender = context_of(request).settings.lender
    content = await report_file(request, entry, arguments | {"lender": lender})
    return Response(content, media_type=MEDIA[wanted.format])


@light.post("/check", response_model=messages.CheckAnswer)
async def check(request: Request, asked: messages.CheckRequest) -> Response:
    """Replay a plan and list everything that is wrong with it."""
    return await _solved(request, "check", asked)


@light.post("/follow-up", response_model=messages.FollowUpAnswer)
async def follow_up(request: Request, asked: messages.FollowUpRequest) -> Response:
    """Compare a plan with the person's values now and plan again from there."""
    return await _solved(request, "follow_up", asked)


@router.get("/problems", response_model=messages.ProblemsAnswer)
async def problems(request: Request) -> dict[str, Any]:
    """List the problems that the server has."""
    store = context_of(request).store
    return {"problems": [each.to_dict() for each in store.entries.values()]}


@router.get("/health", response_model=messages.HealthAnswer)
async def health() -> dict[str, str]:
    """Say that the server runs."""
    return {"status": "ok"}


@router.get("/ready", response_model=messages.HealthAnswer)
async def ready(request: Request) -> Response:
    """Say whether the server takes questions: 503 while it starts or is full."""
    pool = context_of(request).pool
    if pool.is_ready and not pool.is_full:
        return Response(b'{"status": "ok"}', media_type="application/json")
    return error_answer(503, "the server starts or is full: ask again in a second")


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
async def metrics(request: Request) -> Response:
    """Return the counts for Prometheus."""
    return Response(
        context_of(request).metrics.text(), headers={"Content-Type": CONTENT_TYPE_LATEST}
    )


def _arguments(request: Request, question: messages.Message) -> tuple[Entry, dict[str, Any]]:
    context = context_of(request)
    return solver_arguments(question, context.store, context.settings.limits.seconds)


def solver_arguments(
    question: messages.Message, store: ProblemStore, limit: float
) -> tuple[Entry, dict[str, Any]]:
    """Return the problem of a question and the arguments for a solver.

    Args:
        question: The request.
        store: The problems of the server.
        limit: Seconds that one question may take; a longer limit of the request is replaced by it.
    """
    arguments = question.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
    entry = store.find(arguments.pop("problem", None))
    if isinstance(question, messages.NearestRequest):
        arguments |= {"k": question.k, "distinct": question.distinct}
    if isinstance(question, messages.WhyRequest | messages.VerifyRequest):
        arguments["row"] = question.row
    if not isinstance(question, messages.CheckRequest) or isinstance(
        question, messages.VerifyRequest
    ):
        arguments["time_limit"] = float(min(limit, arguments.get("time_limit") or limit))
    return entry, arguments


async def _solved(request: Request, task: str, asked: messages.Message) -> Response:
    entry, arguments = _arguments(request, asked)
    reply = await solve(request, entry, task, arguments, seconds=arguments.get("time_limit"))
    context_of(request).metrics.count_answer(entry.id, reply)
    return Response(reply, media_type="application/json")


async def report_file(request: Request, entry: Entry, arguments: dict[str, Any]) -> bytes:
    """Return a report as the bytes of a file; append the record of a notice."""
    seconds = arguments["time_limit"]
    reply = await solve(request, entry, "letter", arguments, seconds=seconds)
    made = json.loads(reply or b'{"content": "", "record": null}')
    register = context_of(request).settings.register
    if made["record"] and register:
        await asyncio.to_thread(append_record, Path(register), made["record"])
    return b64decode(made["content"])


async def solve(
    request: Request,
    entry: Entry,
    task: str,
    arguments: dict[str, Any],
    *,
    seconds: float | None = None,
) -> bytes:
    """Have a solver answer a question, as long as the one who asked waits for it; else it is freed, the answer empty."""
    context = context_of(request)
    question = Question(task, entry.digest, entry.keys, arguments)
    limit = context.settings.limits.seconds if seconds is None else seconds
    asking = asyncio.ensure_future(context.pool.ask(question, seconds=limit))
    patience = PATIENCE
    try:
        while True:
            done, _ = await asyncio.wait({asking}, timeout=patience)
            if done:
                return asking.result()
            patience = min(2 * patience, LONGEST_PATIENCE)
            if await request.is_disconnected():
                return b""
    finally:
        asking.cancel()
