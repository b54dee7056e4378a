"""Errors as answers: one JSON shape, one line that says what is wrong and what would be right, never a traceback."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, NamedTuple

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from p2c._explain.phrases import ENGLISH
from p2c._explain.sentences import filled
from p2c._server.problem_store import UnknownProblem
from p2c._server.solver import refusal
from p2c._server.solver_pool import OutOfTime, Overloaded, Refused, SolverFailed
from p2c.errors import P2CError, joined_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from fastapi import FastAPI
    from starlette.requests import Request

    from p2c._explain.phrases import Phrases
    from p2c._server.settings import Limits


HUNG_UP = 499
"""The status in logs and counts of a request that nobody waits for any more."""
RETRY = "1"
"""Seconds after which one who was turned away may ask again."""
STATUSES = {
    400: ("bad_request", "The request cannot be read."),
    401: ("token_needed", "The token is needed."),
    403: ("forbidden", "The request comes from another site."),
    404: ("not_found", "The server has no such problem."),
    405: ("wrong_method", ""),
    408: ("too_slow", "The request did not arrive in time."),
    409: ("conflict", ""),
    413: ("too_large", "The body is too large."),
    415: ("not_json", "The body is not JSON."),
    421: ("wrong_host", "The Host header names another server."),
    422: (
        "bad_input",
        "The request does not fit the problem: one line, and fault by fault.",
    ),
    431: ("head_too_large", "The address and the headers are too large."),
    HUNG_UP: ("hung_up", ""),
    500: ("fault", "A fault of p2c's own."),
    503: ("overloaded", "Too many questions at once; Retry-After says when to ask again."),
    504: ("out_of_time", "The search passed its time limit and was ended."),
}
"""The code of an error in answers, by its status, and where a question can meet it, what OpenAPI says of it."""
PAGES = ("/p/", "/review", "/new")
"""Where paths of pages start."""
BUSY = "the server has as many questions as it can take: ask again in a second"
NOWHERE = "there is nothing at this address: /docs lists what can be asked"
SLOW = "the search passed its time limit and was ended: ask with fewer free features or a smaller k"


def error_answer(
    status: int,
    message: str,
    *,
    faults: Sequence[Mapping[str, str]] = (),
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Return an error as an answer."""
    code = STATUSES.get(status, ("error", ""))[0]
    body = {"error": {"code": code, "message": message, "faults": list(faults)}}
    content = json.dumps(body).encode()
    extra = {"Retry-After": RETRY} if status == HTTPStatus.SERVICE_UNAVAILABLE else {}
    return Response(
        content, status, media_type="application/json", headers={**extra, **(headers or {})}
    )


def head_too_long(limits: Limits) -> str:
    """Say how long the address and the headers of a request may be."""
    return f"the address and the headers: expected at most {limits.head:,} bytes"


def describe(error: Exception) -> tuple[int, str, list[dict[str, str]]]:
    """Return the status, the line and the faults of an error."""
    match error:
        case Refused(faults=faults):
            return 422, str(error), faults
        case UnknownProblem():
            return 404, str(error), []
        case P2CError():
            told = refusal(error)
            return 422, told["message"], told["faults"]
        case Overloaded():
            return 503, BUSY, []
        case OutOfTime():
            return 504, SLOW, []
        case RequestValidationError():
            faults = [_fault(each) for each in error.errors()[:20]]
            line = "; ".join(f"{each['place']}: {each['message']}" for each in faults[:5])
            return 422, line, faults
        case ClientDisconnect():
            return HUNG_UP, "the one who asked hung up", []
        case HTTPException(status_code=404, detail="Not Found"):
            return 404, NOWHERE, []
        case HTTPException(status_code=405):
            allowed = (error.headers or {}).get("Allow", "another method")
            return 405, f"this method is not for this address: expected {allowed}", []
        case HTTPException():
            return error.status_code, str(error.detail), []
        case SolverFailed():
            return 500, str(error), []
        case _:
            return 500, "this is a fault of p2c's own; the log says where", []


def _fault(error: Mapping[str, Any]) -> dict[str, str]:
    place = ".".join(str(each) for each in error["loc"] if each != "body") or "body"
    return {"place": place[:100], "message": str(error["msg"])[:200]}


HANDLED: tuple[type[Exception], ...] = (
    P2CError,
    Overloaded,
    OutOfTime,
    SolverFailed,
    RequestValidationError,
    ClientDisconnect,
    HTTPException,
    Exception,
)


def handle_errors(app: FastAPI, *, page: Callable[[Request, int, str], Response] | None) -> None:
    """Have every error of an app answered in the one shape, or as a page where there are pages and one was asked for."""

    async def answer(request: Request, error: Exception) -> Response:
        status, message, faults = describe(error)
        if page is not None and request.url.path.startswith(PAGES):
            return page(request, status, message)
        headers = getattr(error, "headers", None)
        return error_answer(status, message, faults=faults, headers=headers)

    for kind in HANDLED:
        app.add_exception_handler(kind, answer)


class PageError(P2CError):
    """Report an error by its key in the catalogue and its facts."""

    def __init__(self, key: str, **facts: str) -> None:
        super().__init__(filled(ENGLISH.pages[key], **facts))
        self.key, self.facts = key, facts


class Trouble(NamedTuple):
    """An error on a page, with its language: the library speaks English alone."""

    text: str
    language: str


def trouble_of(error: Exception, phrases: Phrases) -> Trouble:
    """Return an error in a language if the pages have words for it, else in English."""
    match error:
        case PageError(key=key, facts=facts):
            return Trouble(filled(phrases.pages[key], **facts), phrases.language)
        case Overloaded():
            return Trouble(phrases.pages["busy"], phrases.language)
        case OutOfTime():
            return Trouble(phrases.pages["slow"], phrases.language)
        case P2CError():
            return Trouble(joined_lines(error), "en")
    return Trouble(describe(error)[1], "en")
