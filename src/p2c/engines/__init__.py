"""The same question put to different planners, behind one protocol."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from p2c.on_demand import OnDemand

if TYPE_CHECKING:
    from p2c.engines.protocol import Engine

HOMES = {
    "auto": ("p2c.engines.auto", "AutoEngine"),
    "native": ("p2c.engines.native", "NativeEngine"),
    "clingo": ("p2c.engines.clingo.engine", "ClingoEngine"),
    "scasp": ("p2c.engines.scasp.engine", "ScaspEngine"),
}


def _load(name: str) -> Engine:
    module, kind = HOMES[name]
    engine: Engine = getattr(import_module(module), kind)()
    return engine


ENGINES = OnDemand(HOMES, make=_load)
