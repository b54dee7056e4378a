"""The line to one client, bounded before anything is looked at: how long a head may be, and how slowly all may come.

uvicorn's own protocol gathers a request's head however long it is, and waits for the rest of a request for ever. Both
happen before the guard sees the request, so both are bounded here; what is wrong is said in the shape of every error.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from p2c._server.error_answers import error_answer, head_too_long

if TYPE_CHECKING:
    import asyncio

    from p2c._server.settings import Limits

LOOKS = 8
"""How often a connection is looked at within the time that a request has to arrive."""


class BoundedProtocol(HttpToolsProtocol):
    """Ends a connection whose request has too long a head, or has not arrived whole within its time."""

    def __init__(self, *given: Any, limits: Limits, **named: Any) -> None:
        super().__init__(*given, **named)
        self._limits = limits
        self._since: float | None = None
        self._gathering = False
        self._gathered = 0
        self._look: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Give the first request its time from here on."""
        super().connection_made(transport)
        self._since = self.loop.time()
        self._look_later()

    def connection_lost(self, exc: Exception | None) -> None:
        """Look no more."""
        if self._look is not None:
            self._look.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on, unless the head that this goes on with is too long by now."""
        went_on = self._gathering
        super().data_received(data)
        if went_on and self._gathering:
            self._gathered += len(data)
            if self._gathered > self._limits.head:
                self._refuse(
                    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, head_too_long(self._limits)
                )

    def on_message_begin(self) -> None:
        """Give a request its time."""
        super().on_message_begin()
        self._since = self.loop.time()
        self._gathering, self._gathered = True, 0

    def on_headers_complete(self) -> None:
        """Hand the request on: from here the guard counts."""
        self._gathering = False
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Stop the time of a request that has arrived."""
        self._since = None
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP."""
        self._refuse(HTTPStatus.BAD_REQUEST, "expected a request in HTTP/1.1, found something else")

    def _look_later(self) -> None:
        self._look = self.loop.call_later(self._limits.reading / LOOKS, self._end_if_slow)

    def _end_if_slow(self) -> None:
        # Where reading pauses, the wait is ours: another request of this connection is being answered.
        ours = self.flow.read_paused or (self._gathering and self._answering)
        late = self._since is not None and self.loop.time() - self._since > self._limits.reading
        if late and not ours:
            message = f"the request: expected all of it within {self._limits.reading:g} seconds"
            self._refuse(HTTPStatus.REQUEST_TIMEOUT, message)
        else:
            self._look_later()

    @property
    def _answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _refuse(self, status: HTTPStatus, message: str) -> None:
        """Say what is wrong, unless an answer is under way or nothing was asked, and hang up."""
        mute = self.scope is None or (
            self._answering and (self._gathering or self.cycle.response_started)
        )
        if not mute and not self.transport.is_closing():
            answer = error_answer(status, message, headers={"Connection": "close"})
            lines = [b"%s: %s\r\n" % each for each in answer.raw_headers]
            self.transport.write(
                b"".join([STATUS_LINE[status], *lines, b"\r\n", bytes(answer.body)])
            )
        self.transport.close()
