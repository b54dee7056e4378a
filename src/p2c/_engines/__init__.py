"""The same question put to different planners, behind one protocol."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Protocol

from p2c._on_demand import OnDemand
from p2c._plan.planner import find_plan
from p2c._plan.search.best_first import Limits
from p2c._release import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p2c._plan.compiled.space import Space
    from p2c._plan.outcome import Plan
    from p2c._spec.feature import Value


class Engine(Protocol):
    """A planner that returns the path of least cost; ties may be broken differently."""

    @property
    def install(self) -> str:
        """Return the command that installs the engine; empty if nothing is needed."""
        ...

    def version(self) -> str | None:
        """Return the version of the solver, or None if it is not installed."""
        ...

    def plan(
        self, space: Space, state: Mapping[str, Value], *, time_limit: float | None = None
    ) -> Plan:
        """Return the path of least cost from a state; `GaveUp` if a limit ends it."""
        ...


@dataclass(frozen=True)
class NativeEngine:
    """The native planner, which is the default.

    Whether another ever answers a person sooner is measured by `benchmarks/handover.py`.
    """

    install: str = ""

    def version(self) -> str | None:
        """Return the version of this package."""
        return __version__

    def plan(
        self, space: Space, state: Mapping[str, Value], *, time_limit: float | None = None
    ) -> Plan:
        """Return the path of least cost from a state to the goal."""
        return find_plan(space, state, Limits.within(time_limit))


HOMES = {
    "auto": ("p2c._engines", "NativeEngine"),
    "native": ("p2c._engines", "NativeEngine"),
    "clingo": ("p2c._engines.clingo.engine", "ClingoEngine"),
    "scasp": ("p2c._engines.scasp.engine", "ScaspEngine"),
}


def _load(name: str) -> Engine:
    module, kind = HOMES[name]
    engine: Engine = getattr(import_module(module), kind)()
    return engine


ENGINES = OnDemand(HOMES, make=_load)
