"""Our own planner as an engine: by itself, and as people get it, with clingo to hand over to.

Both prove what they say, so which one answers shows only in the time it takes and in how ties are broken. What clingo wins is
measured by `benchmarks/handover.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from p2c.engines import ENGINES
from p2c.errors import EngineError
from p2c.plan.outcome import GaveUp
from p2c.plan.planner import find_plan
from p2c.plan.search.best_first import Limits
from p2c.release import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p2c.domain.feature import Value
    from p2c.plan.compiled.space import Space
    from p2c.plan.outcome import Plan

PATIENCE = 0.2
"""Seconds that our own planner has, where it follows states one by one, before it hands over."""


@dataclass(frozen=True)
class NativeEngine:
    """Search in Python, with nothing to install."""

    install: str = ""

    def version(self) -> str | None:
        """Return the version of this package."""
        return __version__

    def plan(
        self, space: Space, state: Mapping[str, Value], *, time_limit: float | None = None
    ) -> Plan:
        """Return the path of least cost from a state to the goal."""
        return find_plan(space, state, Limits.within(time_limit))


@dataclass(frozen=True)
class AutoEngine:
    """Our own planner, and another engine where ours cannot choose sets of actions first and takes long."""

    second: str = "clingo"
    install: str = ""

    def version(self) -> str | None:
        """Return our own version: the second engine is optional."""
        return ENGINES["native"].version()

    def plan(
        self, space: Space, state: Mapping[str, Value], *, time_limit: float | None = None
    ) -> Plan:
        """Return the path of least cost from a state to the goal."""
        limits = Limits.within(time_limit)
        own = space.is_small or space.selects or space.theory.model is not None
        if own or ENGINES[self.second].version() is None:
            return find_plan(space, state, limits)
        patience = PATIENCE if time_limit is None else min(PATIENCE, time_limit)
        plan = find_plan(space, state, Limits.within(patience))
        if not isinstance(plan, GaveUp) or limits.left == 0.0:
            return plan
        try:
            return ENGINES[self.second].plan(space, state, time_limit=limits.left)
        except EngineError:
            # Something that the second engine cannot take: then it is ours after all.
            return find_plan(space, state, limits)
