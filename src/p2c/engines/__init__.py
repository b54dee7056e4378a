"""The same question put to different planners, behind one protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING

from p2c.engines.auto import AutoEngine
from p2c.engines.clingo_engine import ClingoEngine
from p2c.engines.native import NativeEngine
from p2c.engines.scasp.engine import ScaspEngine

if TYPE_CHECKING:
    from p2c.engines.protocol import Engine

CLINGO = ClingoEngine()
ENGINES: dict[str, Engine] = {
    "auto": AutoEngine(second=CLINGO),
    "native": NativeEngine(),
    "clingo": CLINGO,
    "scasp": ScaspEngine(),
}
