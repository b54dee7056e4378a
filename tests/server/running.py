"""A real server in a process of its own, as `p2c serve` starts it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any

import httpx2

from p2c._project.draft import build

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

PATIENCE = 300.0
"""Seconds after which something is taken never to come, on a machine that has much else to do."""


@dataclass
class Running:
    """A server and its address."""

    process: subprocess.Popen[bytes]
    address: str
    log: Path

    def kill(self) -> None:
        """End it as a power cut would."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(PATIENCE)

    def stop_all(self) -> int:
        """Ask it and all its processes to end, as systemd does and a shell its jobs, and return its exit code."""
        os.killpg(self.process.pid, signal.SIGTERM)
        return self.process.wait(PATIENCE)

    def stop(self) -> int:
        """Ask it to end and return its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)


WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
PORTS = count(10_000 + 1_000 * WORKER + os.getpid() % 500)
"""Ports for this process alone, below those that the system gives to whoever connects somewhere."""


def free_port() -> int:
    """Return a port that nobody listens at, and nobody else takes before it is used."""
    for port in PORTS:
        with socket.socket() as tried, suppress(OSError):
            tried.bind(("127.0.0.1", port))
            return port
    raise AssertionError("there is no end of ports")


def never_ends(_folder: Path, _step: Callable[..., None]) -> dict[str, Any]:
    """Be at work until somebody cancels it."""
    threading.Event().wait()
    return {}


@contextmanager
def closed(path: Path) -> Iterator[None]:
    """Take every permission from a path.

    The administrator, who needs none, is another user meanwhile.
    """
    mode, user = path.stat().st_mode, os.geteuid()
    path.chmod(0)
    if user == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(user)
        path.chmod(mode)


HOLD = "hold"
"""The file in a project's folder while which is there work does not begin."""


def held_build(folder: Path, step: Callable[..., None]) -> dict[str, Any]:
    """Make a problem once nobody holds it up."""
    while (folder / HOLD).exists():
        time.sleep(0.05)
    return build(folder, step)


HOLDING = "import p2c._server.pages.project as project; from tests.server.running import held_build; project.build = held_build; "
"""What a server runs first whose projects can be held up."""


@contextmanager
def running(
    folder: Path, *arguments: str, port: int | None = None, first: str = ""
) -> Iterator[Running]:
    """Start a server, wait until it takes questions, and end it in any case."""
    port = port or free_port()
    log = folder / f"server-{port}.log"
    start = f"{first}from p2c.cli import main; main()"
    command = [sys.executable, "-c", start, "serve", *arguments, "--port", str(port)]
    if "--solvers" not in arguments:
        command += ["--solvers", "1"]
    with log.open("ab") as file:
        process = subprocess.Popen(
            command, stdout=file, stderr=file, env=dict(os.environ), process_group=0
        )
    server = Running(process, f"http://127.0.0.1:{port}", log)
    try:
        _wait(server)
        yield server
    finally:
        if process.poll() is None:
            server.kill()


def _wait(server: Running) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if server.process.poll() is not None:
            break
        try:
            if httpx2.get(f"{server.address}/ready", timeout=5).status_code == 200:
                return
        except httpx2.HTTPError:
            pass
        time.sleep(0.1)
    raise AssertionError(f"the server did not start: {server.log.read_text()}")
