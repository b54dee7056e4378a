"""The policy of a plan: its engine and limits; and an examination of engines.

The same behind every door, for one person and for tables: nothing ends early unless the caller said so.
"""

from __future__ import annotations

import math
import time
from dataclasses import asdict, dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from p2c._engines import ENGINES
from p2c._plan.blockers import find_blockers
from p2c._plan.compiled.space import Space
from p2c._plan.nearest import Distinct, nearest_plans
from p2c._plan.outcome import Found, Infeasible
from p2c._plan.planner import find_plan
from p2c._plan.search.best_first import Limits
from p2c._rules.bind import build_theory
from p2c._spec.overrides import check_seconds, whole_number
from p2c._spec.row import read_row
from p2c._spec.spec import read_spec
from p2c.errors import EngineError, P2CError, check_word, suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

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


PROBLEM: dict[str, Any] = {
    "name": "checkup",
    "goal": "not refused(X)",
    "rules": "refused(X) :- score(X,N), N<3. score(X,N) :- debt(X,'no'), N>=3.",
    "features": {
        "debt": {"type": "category", "values": ["no", "yes"], "weight": 2},
        "score": {"type": "int", "min": 0, "max": 5},
    },
}
ROW = {"debt": "yes", "score": 1}
COST = 2.0
"""The person pays the debt, and the score follows."""

PATIENCE = 60.0
"""Seconds that an engine may take."""


@dataclass(frozen=True, slots=True)
class Examination:
    """The examination of one engine; without a version it is not installed."""

    engine: str
    version: str | None
    install: str
    seconds: float | None = None
    fault: str = ""

    @property
    def healthy(self) -> bool:
        """Tell whether nothing is wrong: an engine that is not installed is no fault."""
        return not self.fault

    def to_dict(self) -> dict[str, Any]:
        """Return the examination as JSON."""
        return asdict(self)


def examine() -> list[Examination]:
    """Return an examination of every engine."""
    return [_examine(name) for name in ENGINES]


def _examine(name: str) -> Examination:
    engine = ENGINES[name]
    version = engine.version()
    if version is None:
        return Examination(name, None, engine.install)
    theory = build_theory(read_spec(PROBLEM))
    state = read_row(theory.features, ROW)
    begin = time.perf_counter()
    try:
        plan = engine.plan(Space(theory), state, time_limit=PATIENCE)
    except P2CError as error:
        return Examination(name, version, engine.install, None, str(error))
    seconds = time.perf_counter() - begin
    right = plan.cost is not None and math.isclose(plan.cost, COST)
    fault = "" if right else f"expected a cost of {COST}, found {plan.status} at {plan.cost}"
    return Examination(name, version, engine.install, seconds, fault)
