"""Load on the service over loopback: how fast it answers at half its peak, and what it does at three times its peak.

    python -m benchmarks.service [--solvers 1] [--seconds 5]
    python -m benchmarks.service --crowds
    python -m benchmarks.service --model [--rounds 3]

The peak is what a few connections get that ask again as soon as they are answered. The other rates are kept whether or
not answers come, and a time is counted from when a question was due, so waiting for a connection counts too. Every
answer with status 200 is compared, byte for byte, with what the library says. A crowd is many connections that ask without
a pause, and ask again at once where they are turned away: what counts is how many answers a second they get.

With `--model` the server has a folder with a boosted model of 100 trees, fitted to Adult, with causal rules, and is asked about
people drawn from Adult, some of whom are accepted already.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
import tomllib
import urllib.request
from collections import Counter, deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from benchmarks.clock import used_by_others
from benchmarks.record import recorded
from p2c import datasets
from p2c.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterable, Iterator, Sequence

CONNECTIONS = 400
"""How many connections the client opens at most."""
STARTING = 300
"""Seconds within which the server must be ready."""
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


def loan_rows(count: int = 300) -> Iterator[dict[str, Any]]:
    """Yield random people of the loan."""
    chance = random.Random(0)
    for _ in range(count):
        yield {
            "age": chance.randint(18, 90),
            "debt": chance.randint(1, 50_000),
            "loan_duration": chance.randint(1, 60),
            "bank_balance": chance.randint(0, 100_000),
            "credit_score": chance.randint(300, 619),
        }


def questions(
    port: int, problem: Problem, rows: Iterable[dict[str, Any]], *, name: str
) -> list[Asked]:
    """Return questions about people, with the library's answers."""
    found = []
    for row in rows:
        body = json.dumps({"problem": name, "row": row}).encode()
        head = (
            f"POST /plan HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        found.append(Asked(head.encode() + body, json.dumps(problem.plan(row).to_dict()).encode()))
    return found


def loan_questions(port: int) -> list[Asked]:
    problem = Problem.from_dict(tomllib.loads(datasets.problem_text("loan")))
    return questions(port, problem, loan_rows(), name="loan")


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


async def measure(port: int, asked: list[Asked], seconds: float) -> None:
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


async def measure_model(port: int, asked: list[Asked], seconds: float, rounds: int) -> None:
    """Measure half the peak some times, each time with what the peak is at that moment, and how busy the machine is."""
    await peak(port, asked, lines=2, seconds=1)
    for _ in range(rounds):
        rates = [await peak(port, asked, lines=each, seconds=seconds) for each in (2, 4)]
        best, tally = max(rates, key=lambda each: each[0])
        show("peak", best, tally)
        used = used_by_others()
        tally = await steady(port, asked, rate=best / 2, seconds=seconds)
        show("half the peak", best / 2, tally)
        each = (used_by_others() - used) / max(tally.statuses[200], 1)
        busy = f"load of the machine {os.getloadavg()[0]:.1f}, {os.cpu_count()} processors"
        print(f"{1000 * each:.1f} ms of a processor for an answer, server and solvers; {busy}")


async def measure_crowds(port: int, asked: list[Asked], seconds: float) -> None:
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
        end = time.monotonic() + STARTING
        while True:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/ready"):
                    break
            except OSError:
                assert server.poll() is None, "the server has ended"
                assert time.monotonic() < end, "the server does not get ready"
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


def run(work: Coroutine[Any, Any, None]) -> None:
    try:
        import uvloop
    except ImportError:
        asyncio.run(work)
    else:
        uvloop.run(work)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--solvers", type=int, default=1)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--crowds", action="store_true")
    parser.add_argument("--model", action="store_true", help="serve a folder with a model")
    parser.add_argument("--rounds", type=int, default=3, help="how often, with a model")
    given = parser.parse_args()
    port = free_port()
    options = ("--api", "--solvers", str(given.solvers), "--workers", str(given.workers))
    if given.model:
        serve_model(port, given, options)
        return
    measured = measure_crowds if given.crowds else measure
    for _ in started(port, *options):
        run(measured(port, loan_questions(port), given.seconds))


def serve_model(port: int, given: argparse.Namespace, options: Sequence[str]) -> None:
    """Fit and save the folder, serve it, and measure."""
    from benchmarks.desk import adult_recourse

    with tempfile.TemporaryDirectory() as place:
        recourse, _, people = adult_recourse()
        folder = Path(place) / "adult"
        recourse.save(folder)
        rows = json.loads(people.sample(500, random_state=0).to_json(orient="records"))
        asked = questions(port, Problem.load(folder), rows, name="adult")
        for _ in started(port, str(folder), *options):
            run(measure_model(port, asked, given.seconds, given.rounds))


if __name__ == "__main__":
    recorded("service", main)
