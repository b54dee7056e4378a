"""The same question put to different planners, behind one protocol."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from p2c.engines.protocol import Engine

HOMES = {
    "auto": ("p2c.engines.auto", "AutoEngine"),
    "native": ("p2c.engines.native", "NativeEngine"),
    "clingo": ("p2c.engines.clingo_engine", "ClingoEngine"),
    "scasp": ("p2c.engines.scasp.engine", "ScaspEngine"),
}


class Engines(Mapping[str, "Engine"]):
    """The engines by name, each loaded when it is first asked for."""

    def __init__(self) -> None:
        self._loaded: dict[str, Engine] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(HOMES)

    def __len__(self) -> int:
        return len(HOMES)

    def __getitem__(self, name: str) -> Engine:
        if name not in self._loaded:
            module, kind = HOMES[name]
            self._loaded[name] = getattr(import_module(module), kind)()
        return self._loaded[name]


ENGINES = Engines()
