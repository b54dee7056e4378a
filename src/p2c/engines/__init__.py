"""The same question put to different planners, behind one protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING

from p2c.engines.clingo_engine import ClingoEngine
from p2c.engines.native import NativeEngine

if TYPE_CHECKING:
    from p2c.engines.protocol import Engine

ENGINES: dict[str, Engine] = {"native": NativeEngine(), "clingo": ClingoEngine()}
