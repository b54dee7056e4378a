"""The same question put to clingo: a second opinion that shares the contract's cells with the native planner, not its search.

The encoding is `plan.lp` (and `run.lp` for effects that feed one another), ground once for a problem; `horizon` proves that
an answer is the cheapest of all lengths. Each plan is replayed by the validator before it is given out.
"""

from __future__ import annotations

import math
import threading
import time
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from p2c.domain.spec import Norm
from p2c.engines.asker import Asker
from p2c.engines.facts import problem_tests
from p2c.engines.grounding import TimeUp, load_clingo
from p2c.engines.horizon import Horizon, Ladder
from p2c.engines.parts import Parts
from p2c.engines.walk import walk
from p2c.errors import EngineError, MissingExtra
from p2c.plan.answer import ask, found, refuse_if_strict
from p2c.plan.check.validate import check_plan
from p2c.plan.compiled.person import place_person
from p2c.plan.compiled.transitions import Transitions
from p2c.plan.outcome import Already, Found, GaveUp, Infeasible

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p2c.domain.feature import Value
    from p2c.engines.model import Model
    from p2c.plan.compiled.space import Space
    from p2c.plan.outcome import Plan


class Session:
    """A problem that clingo is asked about, one person after the other."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._tests = problem_tests(parts)
        self._lock = threading.Lock()
        self._ladder = Ladder(parts)

    def plan(self, dynamics: Transitions, deadline: float | None) -> Plan:
        """Return the path of least cost, or what was proved instead."""
        question = ask(dynamics)
        asker = Asker(self._parts, dynamics, self._tests)
        with self._lock:
            horizon = Horizon(self._ladder, asker, deadline)
            try:
                model = horizon.cheapest()
            except TimeUp:
                best = None if horizon.best is None else _told(horizon, horizon.best, optimal=False)
                return GaveUp(question, _bound(horizon), best)
        if model is None:
            return Infeasible(question)
        return _told(horizon, model, optimal=True)


def _told(horizon: Horizon, model: Model, *, optimal: bool) -> Found:
    """Return the plan of an answer, once the validator agrees."""
    dynamics = horizon.asker.dynamics
    plan = found(dynamics, ask(dynamics), walk(horizon.asker, model))
    verdict = check_plan(dynamics.person.space.theory, plan.to_dict())
    if not verdict:
        raise EngineError(f"clingo: its answer does not replay: {verdict}")
    return Found(plan.question, plan.cost, plan.steps, optimal)


def _bound(horizon: Horizon) -> float:
    theory = horizon.asker.parts.space.theory
    share = Fraction(horizon.lowest[1]) / horizon.units
    return math.sqrt(share) if theory.norm is Norm.L2 else float(share)


@dataclass(frozen=True)
class ClingoEngine:
    """Answer set programming, with what is ground for a problem kept for as long as the problem."""

    install: str = "pip install 'p2c[clingo]'"

    def version(self) -> str | None:
        """Return the version of clingo."""
        try:
            return str(load_clingo().__version__)
        except MissingExtra:
            return None

    def plan(
        self, space: Space, state: Mapping[str, Value], *, time_limit: float | None = None
    ) -> Plan:
        """Return the path of least cost from a state to the goal."""
        deadline = None if time_limit is None else time.monotonic() + time_limit
        load_clingo()
        dynamics = Transitions(place_person(space, state))
        refuse_if_strict(dynamics)
        if dynamics.judge(dynamics.person.places).goal:
            return Already(ask(dynamics))
        lost = frozenset(
            governed.index
            for governed in space.governed
            if dynamics.person.values[governed.index] is None
        )
        return _session(space, lost).plan(dynamics, deadline)


def _sessions(_: Space) -> dict[frozenset[int], Session]:
    return {}


def _session(space: Space, lost: frozenset[int]) -> Session:
    """Return the session for a problem; a space keeps its own."""
    known = space.kept(_sessions)
    if lost not in known:
        known[lost] = Session(Parts(space, lost))
    return known[lost]
