"""What comes over the line before anything is looked at: too long a head, too slow a body, no HTTP, half a request."""

from __future__ import annotations

import json
import socket
import threading
import time
from contextlib import closing, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import pytest
import uvicorn

from p2c import datasets
from p2c._server.app import build_app
from p2c._server.protocol import BoundedProtocol
from p2c._server.settings import Limits, Settings
from tests.server.running import PATIENCE, free_port

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Iterator

LIMITS = Limits(solvers=1, reading=0.5)
TOKEN = "a-token-of-some-length"
BODY = json.dumps({"problem": "loan", "row": datasets.rows("loan")["john"]}).encode()
JSON = b"Content-Type: application/json\r\nContent-Length: %d\r\n"
CHUNKED = b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n"


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    port = free_port()
    settings = Settings(limits=LIMITS, token=TOKEN)
    config = uvicorn.Config(
        build_app(settings),
        port=port,
        http=cast("type[asyncio.Protocol]", partial(BoundedProtocol, limits=LIMITS)),
        log_config=None,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield port
    server.should_exit = True
    thread.join(PATIENCE)


def dial(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)


def send(line: socket.socket, data: bytes) -> None:
    """Send as much as the other end takes."""
    with suppress(OSError):
        line.sendall(data)


def heard(line: socket.socket) -> bytes:
    """Return all that comes until the other end hangs up."""
    parts: list[bytes] = []
    while True:
        try:
            part = line.recv(65536)
        except ConnectionResetError:
            part = b""
        if not part:
            return b"".join(parts)
        parts.append(part)


def refusal(answer: bytes) -> tuple[int, dict[str, Any]]:
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)["error"]


def head(method: str = "GET", path: str = "/problems", more: bytes = b"") -> bytes:
    host = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {TOKEN}\r\n"
    return host.encode() + more + b"\r\n"


@pytest.mark.parametrize(
    "start", [b"GET /health?", b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX: "]
)
def test_a_head_without_an_end_is_refused_long_before_it_fills_the_memory(
    port: int, start: bytes
) -> None:
    with closing(dial(port)) as line:
        send(line, start)
        sent = 0
        for _ in range(400):
            try:
                line.sendall(b"x" * 100_000)
            except OSError:
                break
            sent += 100_000
        assert sent < 40_000_000
    with closing(dial(port)) as line:
        send(line, head(more=b"Connection: close\r\n"))
        assert heard(line).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("pieces", [1, 40])
def test_too_long_a_head_is_told_what_would_be_right(port: int, pieces: int) -> None:
    with closing(dial(port)) as line:
        sent = head(more=b"X: " + b"x" * 70_000 + b"\r\nConnection: close\r\n")
        size = len(sent) // pieces + 1
        for start in range(0, len(sent), size):
            send(line, sent[start : start + size])
            time.sleep(0.001)
        status, error = refusal(heard(line))
    assert (status, error["code"]) == (431, "head_too_large")
    assert "at most 65,536 bytes" in error["message"]


@pytest.mark.parametrize(
    "sent",
    [
        head("POST", "/plan", JSON % len(BODY)) + BODY[:20],
        head("POST", "/plan", CHUNKED) + b"5\r\n{",
        b"GET /health HTTP/1.1\r\nHost:",
    ],
)
def test_a_request_that_does_not_arrive_in_time_is_refused(port: int, sent: bytes) -> None:
    with closing(dial(port)) as line:
        send(line, sent)
        status, error = refusal(heard(line))
    assert (status, error["code"]) == (408, "too_slow")


def test_a_body_that_trickles_in_is_refused_too(port: int) -> None:
    with closing(dial(port)) as line:
        send(line, head("POST", "/plan", JSON % 1_000))
        answer = b""
        line.settimeout(0.05)
        while not answer:
            send(line, b" ")
            try:
                answer = line.recv(65536)
            except TimeoutError:
                continue
            if not answer:
                break
        assert refusal(answer)[0] == 408


def test_one_who_connects_and_says_nothing_is_hung_up_on(port: int) -> None:
    with closing(dial(port)) as line:
        assert heard(line) == b""


def test_requests_one_after_the_other_and_at_once_are_all_answered(port: int) -> None:
    asked = head("POST", "/plan", JSON % len(BODY)) + BODY
    last = head("POST", "/plan", JSON % len(BODY) + b"Connection: close\r\n") + BODY
    with closing(dial(port)) as line:
        send(line, asked)
        time.sleep(2 * LIMITS.reading)  # a connection that waits between two requests is not slow
        send(line, asked + asked + last)
        assert heard(line).count(b'"status": "found"') == 4


def test_what_is_no_http_is_refused_in_the_same_shape(port: int) -> None:
    with closing(dial(port)) as line:
        send(line, b"hello\r\n\r\n")
        status, error = refusal(heard(line))
    assert (status, error["code"]) == (400, "bad_request")
    assert "expected a request in HTTP/1.1" in error["message"]


@pytest.mark.parametrize("length", [JSON % len(BODY), CHUNKED])
def test_one_who_hangs_up_in_mid_body_is_no_fault_of_ours(
    port: int, length: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    with closing(dial(port)) as line:
        send(line, head("POST", "/plan", length) + b"5\r\n{")
        time.sleep(0.1)
    while not [each for each in caplog.records if each.message == "request"]:
        time.sleep(0.01)
    assert not [each for each in caplog.records if each.levelname == "ERROR"]
    (told,) = [each for each in caplog.records if each.message == "request"]
    assert vars(told)["status"] == 499
