"""What every engine offers: a state in, a plan out, by the same contract."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p2c.domain.feature import Value
    from p2c.plan.compiled.space import Space
    from p2c.plan.outcome import Plan


class Engine(Protocol):
    """A planner: the path of least cost, or what was proved instead; ties need not be broken alike."""

    @property
    def install(self) -> str:
        """Return the command that installs what the engine needs; empty where nothing is needed."""
        ...

    def version(self) -> str | None:
        """Return the version of what answers, or None where it is not installed."""
        ...

    def plan(
        self, space: Space, state: Mapping[str, Value], *, time_limit: float | None = None
    ) -> Plan:
        """Return the path of least cost from a state to the goal; a time limit may end in GaveUp."""
        ...
