"""Load on the service over loopback: how fast it answers at half its peak, and what it does at three times its peak.

    python -m benchmarks.service [--solvers 1] [--seconds 5]
    python -m benchmarks.service --crowds

The peak is what a few connections get that ask again as soon as they are answered. The other rates are kept whether or
not answers come, and a time is counted from when a question was due, so waiting for a connection counts too. Every
answer with status 200 is compared, byte for byte, with what the library says. A crowd is many connections that ask without
a pause, and ask again at once where they are turned away: what counts is how many answers a second they get.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import socket
import subprocess
import sys
import time
import tomllib
import urllib.request
from collections import Counter, deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from benchmarks.record import recorded
from p2c import datasets
from p2c.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

CONNECTIONS = 400
"""How many connections the client opens at most."""
CROWDS = (60, 150, 300)
"""How many connections ask at once, each again as soon as it is answered or turned away."""


@dataclass(frozen=True)
class Asked:
    """A request as it goes over the wire, and the body of the right answer."""

    request: bytes
    answer: bytes


@dataclass
class Tally:
    """What came back."""

    seconds: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    wrong: int = 0

    def quantile(self, share: float) -> float:
        ordered = sorted(self.seconds)
        return ordered[min(int(share * len(ordered)), len(ordered) - 1)] if ordered else 0.0


class Line(asyncio.Protocol):
    """One connection with one question at a time."""

    def __init__(self) -> None:
        self.transport: asyncio.Transport | None = None
        self.waiting: asyncio.Future[tuple[int, bytes]] | None = None
        self.buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)

    def connection_lost(self, exc: Exception | None) -> None:
        if self.waiting and not self.waiting.done():
            self.waiting.set_result((0, b""))

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        head, mark, rest = self.buffer.partition(b"\r\n\r\n")
        if not mark:
            return
        start = head.index(b"content-length: ") + 16
        size = int(head[start:].split(b"\r\n", 1)[0])
        if len(rest) >= size and self.waiting and not self.waiting.done():
            self.buffer = b""
            self.waiting.set_result((int(head[9:12]), rest))

    async def ask(self, request: bytes) -> tuple[int, bytes]:
        assert self.transport is not None
        self.waiting = asyncio.get_running_loop().create_future()
        self.transport.write(request)
        return await self.waiting

    def close(self) -> None:
        assert self.transport is not None
        self.transport.close()


def questions(port: int, count: int = 300) -> list[Asked]:
    """Return questions about random people of the loan, with the library's answers."""
    problem = Problem.from_dict(tomllib.loads(datasets.problem_text("loan")))
    chance = random.Random(0)
    found = []
    for _ in range(count):
        row = {
            "age": chance.randint(18, 90),
            "debt": chance.randint(1, 50_000),
            "loan_duration": chance.randint(1, 60),
            "bank_balance": chance.randint(0, 100_000),
            "credit_score": chance.randint(300, 619),
        }
        body = json.dumps({"problem": "loan", "row": row}).encode()
        head = (
            f"POST /plan HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        found.append(Asked(head.encode() + body, json.dumps(problem.plan(row).to_dict()).encode()))
    return found


def count(tally: Tally, asked: Asked, status: int, body: bytes, seconds: float) -> None:
    tally.statuses[status] += 1
    if status == 200:
        tally.seconds.append(seconds)
        tally.wrong += body != asked.answer


async def connected(port: int) -> Line:
    _, line = await asyncio.get_running_loop().create_connection(Line, "127.0.0.1", port)
    return line


async def peak(port: int, asked: list[Asked], *, lines: int, seconds: float) -> tuple[float, Tally]:
    """Return how many answers a second some connections get that ask without a pause."""
    tally = Tally()
    end = time.perf_counter() + seconds

    async def keep_asking(number: int) -> None:
        line = await connected(port)
        while (begin := time.perf_counter()) < end:
            number += 1
            each = asked[number % len(asked)]
            status, body = await line.ask(each.request)
            count(tally, each, status, body, time.perf_counter() - begin)
        line.close()

    begin = time.perf_counter()
    await asyncio.gather(*(keep_asking(each * 31) for each in range(lines)))
    return tally.statuses[200] / (time.perf_counter() - begin), tally


async def steady(port: int, asked: list[Asked], *, rate: float, seconds: float) -> Tally:
    """Ask at a rate, whether or not answers come."""
    tally = Tally()
    idle: deque[Line] = deque()
    opened = 0
    tasks: set[asyncio.Task[None]] = set()
    freed = asyncio.Condition()

    async def one(each: Asked, due: float) -> None:
        nonlocal opened
        if idle:
            line = idle.popleft()
        elif opened < CONNECTIONS:
            opened += 1
            line = await connected(port)
        else:
            async with freed:
                await freed.wait_for(lambda: bool(idle))
                line = idle.popleft()
        status, body = await line.ask(each.request)
        count(tally, each, status, body, time.perf_counter() - due)
        if status == 0:
            opened -= 1
            return
        idle.append(line)
        async with freed:
            freed.notify()

    begin = time.perf_counter()
    number = 0
    while (now := time.perf_counter()) - begin < seconds:
        while begin + number / rate <= now:
            task = asyncio.create_task(one(asked[number % len(asked)], begin + number / rate))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
            number += 1
        await asyncio.sleep(max(begin + number / rate - time.perf_counter(), 0))
    while tasks:
        await asyncio.gather(*tasks)
    for line in idle:
        line.close()
    return tally


def show(name: str, rate: float, tally: Tally) -> None:
    refused = tally.statuses[503]
    lost = sum(tally.statuses.values()) - tally.statuses[200] - refused
    print(
        f"{name:<24} {rate:8.0f}/s  200: {tally.statuses[200]:6}  503: {refused:6}  lost: {lost}"
        f"  wrong: {tally.wrong}  p50 {1000 * tally.quantile(0.5):6.2f} ms"
        f"  p99 {1000 * tally.quantile(0.99):6.2f} ms"
    )


async def measure(port: int, seconds: float) -> None:
    asked = questions(port)
    await peak(port, asked, lines=2, seconds=1)
    rates = [await peak(port, asked, lines=each, seconds=seconds) for each in (2, 4, 8)]
    best, tally = max(rates, key=lambda each: each[0])
    show("peak", best, tally)
    show("half the peak", best / 2, await steady(port, asked, rate=best / 2, seconds=seconds))
    show(
        "three times the peak", 3 * best, await steady(port, asked, rate=3 * best, seconds=seconds)
    )
    await asyncio.sleep(1)
    again = await steady(port, asked, rate=best / 2, seconds=seconds)
    show("half the peak again", best / 2, again)


async def measure_crowds(port: int, seconds: float) -> None:
    asked = questions(port)
    await peak(port, asked, lines=2, seconds=1)
    for lines in CROWDS:
        rate, tally = await peak(port, asked, lines=lines, seconds=seconds)
        show(f"{lines} that retry at once", rate, tally)


def started(port: int, *arguments: str) -> Iterator[None]:
    """Run a server while the caller measures."""
    command = [sys.executable, "-m", "p2c", "serve", *arguments]
    server = subprocess.Popen(
        [*command, "--port", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        while True:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/ready"):
                    break
            except OSError:
                time.sleep(0.1)
        yield
    finally:
        server.terminate()
        server.wait()


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--solvers", type=int, default=1)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--crowds", action="store_true")
    given = parser.parse_args()
    port = free_port()
    measured = measure_crowds if given.crowds else measure
    options = ("--api", "--solvers", str(given.solvers), "--workers", str(given.workers))
    for _ in started(port, *options):
        try:
            import uvloop
        except ImportError:
            asyncio.run(measured(port, given.seconds))
        else:
            uvloop.run(measured(port, given.seconds))


if __name__ == "__main__":
    recorded("service", main)
