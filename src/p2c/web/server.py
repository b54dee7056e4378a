"""Runs the server: its address, its processes, and their end."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING

from p2c.errors import MissingExtra, P2CError
from p2c.web.settings import VARIABLE, to_environment

if TYPE_CHECKING:
    from p2c.web.settings import Settings

PARTING = 15
"""Seconds that requests under way have once the server is told to stop."""


def serve(settings: Settings, *, workers: int = 1) -> None:
    """Serve until told to stop; requests under way are answered first."""
    settings.check()
    try:
        import uvicorn
    except ImportError as error:
        raise MissingExtra("uvicorn", extra="web") from error
    os.environ[VARIABLE] = to_environment(settings)
    with tempfile.TemporaryDirectory(prefix="p2c-metrics-") as folder:
        if workers > 1:
            os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder
        try:
            uvicorn.run(
                "p2c.web.app:app_from_environment",
                factory=True,
                host=settings.host,
                port=settings.port,
                workers=workers,
                access_log=False,
                log_config=None,
                server_header=False,
                timeout_graceful_shutdown=PARTING,
            )
        except SystemExit as error:
            if error.code:
                address = f"{settings.host}:{settings.port}"
                raise P2CError(
                    f"the server could not start at {address}; the log says why"
                ) from None
