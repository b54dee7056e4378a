"""Our own planner as an engine, which is what everybody gets who names none.

Whether another ever answers a person sooner is measured by `benchmarks/handover.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from p2c.plan.planner import find_plan
from p2c.plan.search.best_first import Limits
from p2c.release import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p2c.domain.feature import Value
    from p2c.plan.compiled.space import Space
    from p2c.plan.outcome import Plan


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
