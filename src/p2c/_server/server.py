"""Runs the server: its address, its processes, and their end."""

from __future__ import annotations

import errno
import os
import signal
import socket
import sys
import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from p2c._learn.causal.review import read_review
from p2c._server.identity import read_users
from p2c._server.problem_store import open_store
from p2c._server.settings import VARIABLE, to_environment
from p2c.errors import MissingExtra, P2CError

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from p2c._server.settings import Settings

PARTING = 15
"""Seconds that requests under way have once the server is told to stop."""


def serve(settings: Settings, *, workers: int = 1, ready: Callable[[], None]) -> None:
    """Serve until told to stop; requests under way are answered first. `ready` is called once all can be read."""
    settings.check()
    if settings.users:
        read_users(settings.users)
    open_store(settings)  # what cannot be read is said here, before any process starts
    for review in settings.reviews:
        read_review(review)
    if settings.lender:
        from p2c._notices.form import read_lender

        known = read_lender(Path(settings.lender))
        for form in known.forms:
            known.form(form)
    _refuse_taken(settings)
    try:
        import uvicorn

        from p2c._server.protocol import BoundedProtocol
    except ImportError as error:
        raise MissingExtra("uvicorn", extra="web") from error
    ready()
    with tempfile.TemporaryDirectory(prefix="p2c-server-") as folder:
        if workers > 1:
            os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder
            settings = replace(settings, states=str(Path(folder) / "states.sqlite"))
        elif settings.pages:
            # Who audits has to come back to the same process, and people's rows shall be gone with it.
            settings = replace(settings, audits=folder)
        os.environ[VARIABLE] = to_environment(settings)
        # The server ends what is under way, then raises the signal again: by then all is done.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
        protocol = cast("type[asyncio.Protocol]", partial(BoundedProtocol, limits=settings.limits))
        uvicorn.run(
            "p2c._server.app:app_from_environment",
            factory=True,
            host=settings.host,
            port=settings.port,
            workers=workers,
            http=protocol,
            ws="none",
            access_log=False,
            log_config=None,
            server_header=False,
            proxy_headers=False,  # the guard reads them, of trusted proxies alone
            timeout_graceful_shutdown=PARTING,
        )


def _refuse_taken(settings: Settings) -> None:
    """Say in one line that an address cannot be had, before any process starts."""
    address = f"{settings.host}:{settings.port}"
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        with socket.socket(family) as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            tried.bind((settings.host, settings.port))
    except OSError as error:
        taken = error.errno == errno.EADDRINUSE
        reason = "someone listens there already" if taken else f"cannot be used: {error.strerror}"
        raise P2CError(f"{address}: {reason}") from None
