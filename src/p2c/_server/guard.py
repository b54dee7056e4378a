"""What stands before every request: who may ask, from where, how much, and what a browser may do with the answer."""

from __future__ import annotations

import hmac
import logging
import re
import secrets
import time
from hashlib import sha256
from typing import TYPE_CHECKING
from urllib.parse import urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import cookie_parser

from p2c._server.error_answers import BUSY, HUNG_UP, error_answer, head_too_long
from p2c._server.identity import LOCKED, VISITOR, needed_role
from p2c._server.settings import is_loopback

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from p2c._server.identity import Identities
    from p2c._server.settings import Settings
    from p2c._server.solver_pool import SolverPool
    from p2c._server.telemetry import Metrics

log = logging.getLogger("p2c.requests")

COOKIE = "p2c_session"
VISIT_COOKIE = "p2c_visit"
"""The cookie with the secret of a browser, which owns the states of its pages."""
NEW_VISIT = "p2c.new_visit"
"""Where the scope of a request holds a secret that the browser does not have yet."""
SECRET = re.compile(r"[A-Za-z0-9_-]{22,64}")
OPEN = frozenset({"/health", "/ready", "/login", "/logout"})
"""Paths that need no token."""
NO_USER = "no user: the proxy in front of this server is expected to name one"
HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[^\[\]:@/\s]+)(:[0-9]+)?")
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
    " form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


def _turned_away() -> tuple[Message, ...]:
    """Return the answer to a question past the bound, made once: refusing has to cost next to nothing."""
    answer = error_answer(503, BUSY, headers=HEADERS | {"Cache-Control": "no-store"})
    start = {"type": "http.response.start", "status": 503, "headers": answer.raw_headers}
    return start, {"type": "http.response.body", "body": answer.body}


TURNED_AWAY = _turned_away()
DIGITS = 18
"""How many digits of a stated length are read."""


def session(token: str) -> str:
    """Return what the cookie of someone who gave the token holds."""
    return sha256(f"p2c session {token}".encode()).hexdigest()


def visit_of(request: Request) -> str:
    """Return the secret of the browser that sent a request.

    It is the value of its cookie or a new one, which the answer brings.
    """
    secret = request.scope.get(NEW_VISIT) or request.cookies.get(VISIT_COOKIE, "")
    if not SECRET.fullmatch(secret):
        secret = request.scope[NEW_VISIT] = secrets.token_urlsafe(24)
    return str(secret)


class Guard:
    """Refuses what should not get through, and marks, counts and logs what does."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        settings: Settings,
        identities: Identities,
        pool: SolverPool,
        metrics: Metrics,
        solving: frozenset[str],
    ) -> None:
        self.app = app
        self.settings = settings
        self.identities = identities
        self.solving = solving
        self.pool = pool
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it here."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begin = time.perf_counter()
        if (
            scope["path"] in self.solving
            and self.pool.is_full
            and not await self.pool.has_room_in_time()
        ):
            self.metrics.count_request(scope["path"], 503, time.perf_counter() - begin)
            for message in TURNED_AWAY:
                await send(message)
            return
        status = HUNG_UP
        scope[VISITOR] = self.identities.visitor(scope)
        is_head = scope["method"] == "HEAD"
        if is_head:
            scope["method"] = "GET"

        async def marked(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                _mark(headers, scope["path"])
                if headers.get("location", "").startswith("/"):
                    headers["location"] = self.settings.root + headers["location"]
                if NEW_VISIT in scope:
                    headers.append("Set-Cookie", _visit_cookie(scope))
            elif is_head:
                message = {**message, "body": b""}
            await send(message)

        self.metrics.active.inc()
        try:
            await self._passed(scope, receive, marked)
        finally:
            self.metrics.active.dec()
            self._record(scope, status, time.perf_counter() - begin)

    async def _passed(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        refused = self._refused(scope, headers)
        if refused is not None:
            await refused(scope, receive, send)
            return
        read, most = 0, self._most(scope["path"])

        async def counted() -> Message:
            """Pass on a piece of the body: without a stated length it is counted as it is read."""
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > most:
                raise HTTPException(413, too_large(most))
            return message

        await self.app(scope, counted, send)

    def _refused(self, scope: Scope, headers: Headers) -> Response | None:
        method, path = scope["method"], scope["path"]
        if _head_size(scope) > self.settings.limits.head:
            return error_answer(431, head_too_long(self.settings.limits))
        host = headers.get("host", "")
        if not self._knows(host):
            shown = host[:60]
            return error_answer(
                421, f"the host '{shown}' is not this server's: use its own address"
            )
        if foreign(method, headers, host):
            return error_answer(403, "requests from other sites are refused: open the page itself")
        if not self._is_open(path):
            unknown = self._not_admitted(scope, headers)
            if unknown is not None:
                return unknown
        size = headers.get("content-length", "0")
        if not size.isdecimal():
            return error_answer(400, "content-length: expected a whole number")
        if len(size) > DIGITS or int(size) > self._most(path):
            return error_answer(413, too_large(self._most(path)))
        return None

    def _knows(self, host: str) -> bool:
        """Tell whether a Host header names this server: a page elsewhere may point its own name at this machine."""
        match = HOST.fullmatch(host)
        # With a token friends are told from strangers by it; behind a proxy the name is not known here.
        if match is None:
            return False
        known = not self.settings.is_local or match["name"].lower() in self.settings.hosts
        return known or is_loopback(match["name"].strip("[]"))

    def _is_open(self, path: str) -> bool:
        return path in OPEN or path.startswith("/static/")

    def _not_admitted(self, scope: Scope, headers: Headers) -> Response | None:
        """Return the answer to a visitor who may not ask this; None if the visitor may."""
        visitor, path = scope[VISITOR], scope["path"]
        if self.settings.token:
            if self.identities.is_locked(visitor.client):
                return locked_out()
            bearer = headers.get("authorization", "")
            cookie = cookie_parser(headers.get("cookie", "")).get(COOKIE, "")
            if _same(bearer, f"Bearer {self.settings.token}") or (
                _same(cookie, session(self.settings.token))
            ):
                return None
            if bearer:
                self.identities.count_failure(visitor.client)
            if not self.settings.user_header:
                return _unknown(scope, headers)
        if visitor.role is None:
            who = f"the user '{visitor.user}' has no role here" if visitor.user else NO_USER
            return error_answer(403, who)
        needed = needed_role(scope["method"], path)
        if visitor.role < needed:
            return error_answer(
                403,
                f"'{visitor.user}' is a {visitor.role.name.lower()}; this needs {needed.name.lower()}",
            )
        return None

    def _most(self, path: str) -> int:
        """Return how many bytes a body may have; files are sent to a project and to an audit alone."""
        settings, limits = self.settings, self.settings.limits
        project = settings.project and path == "/new/files"
        audit = settings.audits and path.endswith("/audit/people")
        return limits.upload if project or audit else limits.body

    def _record(self, scope: Scope, status: int, seconds: float) -> None:
        route = scope.get("route")
        name = getattr(route, "path", "") or "other"
        self.metrics.count_request(name, status, seconds)
        log.info(
            "request",
            extra={
                "method": scope["method"],
                "route": name,
                "status": status,
                "milliseconds": round(1000 * seconds, 3),
            },
        )


def too_large(most: int) -> str:
    """Say how large a body may be."""
    return f"the body: expected at most {most:,} bytes"


def foreign(method: str, headers: Headers, host: str) -> bool:
    """Tell whether a request comes from a page of another site; a link that is followed may."""
    site = headers.get("sec-fetch-site", "none")
    if site not in ("same-origin", "none"):
        followed = method in SAFE and headers.get("sec-fetch-mode") == "navigate"
        if not followed:
            return True
    origin = headers.get("origin")
    if method in SAFE or origin is None:
        return False
    try:
        return urlsplit(origin).netloc.lower() != host.lower()
    except ValueError:
        return True


def _visit_cookie(scope: Scope) -> str:
    """Return the header that gives a browser its secret until it is closed.

    The browser also sends it after a link from another site.
    """
    parts = [f"{VISIT_COOKIE}={scope[NEW_VISIT]}", "HttpOnly", "Path=/", "SameSite=lax"]
    return "; ".join([*parts, "Secure"] if scope[VISITOR].encrypted else parts)


def _head_size(scope: Scope) -> int:
    lines = sum(len(name) + len(value) for name, value in scope["headers"])
    return lines + len(scope.get("raw_path") or scope["path"]) + len(scope["query_string"])


def locked_out() -> Response:
    """Return the answer to a client that gave too many wrong tokens."""
    message = f"too many wrong tokens: try again in {LOCKED:g} seconds"
    return error_answer(429, message, headers={"Retry-After": f"{LOCKED:g}"})


def _unknown(scope: Scope, headers: Headers) -> Response:
    if "text/html" in headers.get("accept", "") and scope["method"] in SAFE:
        target = scope["path"] + (
            f"?{query}" if (query := scope["query_string"].decode("ascii", "replace")) else ""
        )
        place = "/login" if target == "/" else f"/login?{urlencode({'next': target})}"
        return error_answer(303, "the token is needed", headers={"Location": place})
    message = "the token is needed: send it as 'Authorization: Bearer …'"
    return error_answer(401, message, headers={"WWW-Authenticate": "Bearer"})


def _same(given: str, right: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), right.encode())


def _mark(headers: MutableHeaders, path: str) -> None:
    for name, value in HEADERS.items():
        headers[name] = value
    headers.setdefault("Content-Security-Policy", POLICY)
    fixed = path.startswith("/static/")
    headers.setdefault("Cache-Control", "no-cache" if fixed else "no-store")
