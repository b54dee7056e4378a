"""One person in a solver: the row is read once, the plan found once, and reused."""

from __future__ import annotations

import json
from functools import cached_property
from typing import TYPE_CHECKING, Any

from p2c._answers import nearest, plan_for
from p2c._engines.policy import Policy
from p2c._plan.outcome import GaveUp, Infeasible
from p2c._rules.proof import why

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p2c._plan.outcome import Plan
    from p2c._rules.proof import Proof
    from p2c._spec.row import State
    from p2c.problem import Problem


KEYS = ("norm", "effects", "minimize", "exceptions", "law", "limits", "max_actions")
"""The problem's keys that a question may override."""


def overrides(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the problem's keys that a question overrides."""
    return {key: arguments[key] for key in KEYS if arguments.get(key) is not None}


def name_of(digest: str, arguments: Mapping[str, Any]) -> str:
    """Return what all questions about one person as they ask of one problem have in common; '' where it is about nobody."""
    if arguments.get("row") is None:
        return ""
    asked = [arguments["row"], arguments.get("restrictions") or {}, overrides(arguments)]
    asked.append(arguments.get("engine"))
    return f"{digest} {json.dumps(asked, sort_keys=True)}"


class Consultation:
    """A person's row and restrictions in a problem; `solves` counts the searches for their plan."""

    def __init__(
        self, problem: Problem, row: Mapping[str, Any] | None, engine: str = "auto"
    ) -> None:
        self.problem = problem
        self.engine = engine
        self.solves = 0
        self._row = row
        self._plan: Plan | None = None
        self._seconds = 0.0

    @cached_property
    def state(self) -> State:
        """Return the values of the row; what is wrong with it is raised here."""
        return self.problem.read_row(self._row or {})

    @cached_property
    def proof(self) -> Proof:
        """Return why the decision is what it is."""
        return why(self.problem.worded, self.state)

    def plan(self, seconds: float) -> Plan:
        """Return the cheapest plan; one that gave up is looked for again only where there is more time."""
        if self._plan is None or (_is_unsettled(self._plan) and seconds > self._seconds):
            self.solves += 1
            policy = Policy(self.engine, seconds)
            plan = plan_for(self.problem, self._row or {}, policy, state=self.state)
            self._plan, self._seconds = plan, seconds
        return self._plan

    def nearest(self, k: int, distinct: str, seconds: float) -> list[Plan]:
        """Return the k cheapest end states; the search continues from a known plan.

        A plan that gave up belongs to its own time limit, so the search then starts again.
        """
        first = None if isinstance(self._plan, GaveUp) else self._plan
        self.solves += first is None
        policy = Policy(self.engine, seconds)
        told = nearest(
            self.problem,
            self._row or {},
            k,
            policy,
            distinct=distinct,
            state=self.state,
            first=first,
        )
        if first is None and told and not _is_unsettled(told[0]):
            self._plan = told[0]
        return told


def _is_unsettled(plan: Plan) -> bool:
    """Tell whether more time might give a better answer."""
    return isinstance(plan, GaveUp) or (isinstance(plan, Infeasible) and not plan.explained)
