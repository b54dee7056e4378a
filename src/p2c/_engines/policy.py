"""The policy of a plan: its engine, its limits, and the search for blockers.

The same behind every door, for one person and for tables: nothing ends early unless the caller said so.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from p2c._engines import ENGINES
from p2c._plan.blockers import find_blockers
from p2c._plan.nearest import Distinct, nearest_plans
from p2c._plan.outcome import Found, Infeasible
from p2c._plan.planner import find_plan
from p2c._plan.search.best_first import Limits
from p2c._spec.overrides import check_seconds, whole_number
from p2c.errors import EngineError, check_word, suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from p2c._plan.compiled.space import Space
    from p2c._plan.outcome import Plan
    from p2c._spec.feature import Value

OWN = ("auto", "native")
"""The engines that are our own planner."""


@dataclass(frozen=True, slots=True)
class Policy:
    """An engine and limits for each person."""

    engine: str = "auto"
    time_limit: float | None = None
    node_limit: int | None = None

    def __post_init__(self) -> None:
        check_seconds("time_limit", self.time_limit)
        if self.node_limit is not None:
            whole_number("node_limit", self.node_limit, least=0)
        check_word("no engine", self.engine, ENGINES, EngineError)
        if self.node_limit is not None and not self.is_own:
            raise EngineError(
                f"the engine '{self.engine}' takes a time limit, not a limit of nodes"
            )

    @property
    def is_own(self) -> bool:
        """Tell whether our own planner answers."""
        return self.engine in OWN

    @property
    def by_class(self) -> bool:
        """Tell whether classes of people may be planned together, without a node limit."""
        return self.is_own and self.node_limit is None and self.time_limit != 0

    @property
    def limits(self) -> Limits:
        """Return the limits of a search that begins now."""
        return Limits.within(self.time_limit, self.node_limit)

    def require_engine(self) -> None:
        """Refuse an engine that is not installed."""
        engine = ENGINES[self.engine]
        if engine.version() is None:
            raise EngineError(f"the engine '{self.engine}' is not installed: {engine.install}")

    def refuse_model(self) -> None:
        """Refuse an engine that speaks rules alone, where a model decides."""
        if not self.is_own:
            raise EngineError(
                f"the engine '{self.engine}' cannot hold a model, which decides here: use native"
            )

    def plan(self, space: Space, state: Mapping[str, Value], limits: Limits | None = None) -> Plan:
        """Return the path of least cost from a state; `limits` may run already."""
        if space.theory.model is not None:
            self.refuse_model()
        if self.is_own:
            return find_plan(space, state, limits or self.limits)
        return ENGINES[self.engine].plan(space, state, time_limit=self.time_limit)

    def explained_plan(
        self, space: Space, state: Mapping[str, Value], limits: Limits | None = None
    ) -> Plan:
        """Return the path of least cost, or the blockers, within the time limit."""
        limits = limits or self.limits
        return explained(space, state, self.plan(space, state, limits), limits)

    def ends(
        self,
        space: Space,
        state: Mapping[str, Value],
        k: int,
        distinct: Distinct,
        limits: Limits | None = None,
    ) -> list[Plan]:
        """Return up to k nearest plans, or one explained answer, within one time limit."""
        if not self.is_own:
            plans = self.nearest(space, state, k, distinct)
            return list(islice(plans, k)) or [self.explained_plan(space, state)]
        limits = limits or self.limits
        first = self.explained_plan(space, state, limits)
        if k == 1 or not isinstance(first, Found):
            return [first]
        return list(islice(self.nearest(space, state, k, distinct, first=first, limits=limits), k))

    def nearest(
        self,
        space: Space,
        state: Mapping[str, Value],
        k: int,
        distinct: Distinct,
        *,
        first: Plan | None = None,
        limits: Limits | None = None,
    ) -> Iterable[Plan]:
        """Return the k cheapest distinct end states; an answer that gave up comes last.

        The plan, where it is known, can be given as the `first`; `limits` may have begun.
        """
        if self.is_own:
            within = limits or self.limits
            return nearest_plans(space, state, distinct=distinct, limits=within, first=first)
        if self.engine != "clingo":
            hint = suggestion(self.engine, (*OWN, "clingo"))
            raise EngineError(f"no nearest ends by '{self.engine}'; {hint}")
        from p2c._engines.clingo.engine import clingo_nearest

        return clingo_nearest(space, state, k, distinct, self.time_limit)


def explained(space: Space, state: Mapping[str, Value], plan: Plan, limits: Limits) -> Plan:
    """Return a plan; without a plan, add blockers found in the remaining time."""
    if not isinstance(plan, Infeasible):
        return plan
    rest = Limits(deadline=limits.deadline)
    return Infeasible(plan.question, *find_blockers(space, state, rest))
