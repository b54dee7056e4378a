"""A server in this process, its problems those of the package; and one in a process of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from starlette.testclient import TestClient

from p2c._server.app import build_app
from p2c._server.settings import Limits, Settings

if TYPE_CHECKING:
    from collections.abc import Iterator

LIMITS = Limits(solvers=1, seconds=20)
HERE = "http://127.0.0.1:8000"


@pytest.fixture(scope="session")
def client() -> Iterator[TestClient]:
    app = build_app(Settings(limits=LIMITS))
    with TestClient(app, base_url=HERE, raise_server_exceptions=False) as opened:
        yield opened
