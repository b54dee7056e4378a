"""s(CASP) as an engine, with a program that follows the paper's algorithms.

s(CASP) finds paths; that one of them is the cheapest is proved by asking on: the depth, which is the number of direct
actions, grows until there is a path, and then the effort that a path may take shrinks until there is none left.
Each plan is replayed by the validator before it is given out.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from p2c._engines.instance import Instance, conclude, read_path
from p2c._engines.places import most_effort
from p2c._engines.scasp.program import ScaspProgram
from p2c._engines.scasp.rules import read_term
from p2c._engines.scasp.solver import INSTALL, OutOfTime, find_solver, require_solver
from p2c._plan.answer import ask
from p2c._plan.outcome import Already
from p2c.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p2c._engines.instance import Named
    from p2c._engines.scasp.solver import ScaspSolver
    from p2c._plan.compiled.space import Space
    from p2c._plan.outcome import Plan
    from p2c._plan.search.best_first import Arrival
    from p2c._spec.feature import Value

ONLY_PLANS = "#show plan/4."
"""The option that omits the rest of a model, which is slow to print."""

AT_ONCE = 20
"""Paths that are asked for at a time, once there is one to beat."""


@dataclass(frozen=True)
class ScaspEngine:
    """Goal-directed answer set programming in another process."""

    install: str = INSTALL

    def version(self) -> str | None:
        """Return the version of s(CASP), or None where there is none."""
        solver = find_solver()
        return None if solver is None else solver.version()

    def plan(
        self, space: Space, state: Mapping[str, Value], *, time_limit: float | None = None
    ) -> Plan:
        """Return the path of least cost from a state to the goal."""
        deadline = None if time_limit is None else time.monotonic() + time_limit
        solver = require_solver()
        instance = Instance.of(space, state)
        dynamics = instance.dynamics
        if dynamics.judge(dynamics.person.places).goal:
            return Already(ask(dynamics))
        return Quest(solver, instance, deadline).plan()


@dataclass
class Quest:
    """One person's question, asked on until the cheapest path is proved."""

    solver: ScaspSolver
    instance: Instance
    deadline: float | None
    best: Arrival | None = None

    def plan(self) -> Plan:
        """Return the path of least cost, or another outcome."""
        try:
            self._improve()
        except OutOfTime:
            return conclude(self.instance.dynamics, self.best, engine="scasp", bound=0.0)
        return conclude(self.instance.dynamics, self.best, engine="scasp")

    @cached_property
    def program(self) -> ScaspProgram:
        """Return the program of the person."""
        return ScaspProgram(self.instance)

    def _improve(self) -> None:
        """Find a path with the fewest direct actions, then cheaper ones to the end."""
        most = self.instance.most_actions
        paths = self._ask(1, most, most_effort(self.instance.reaches.values()), answers=1)
        if not paths:
            return
        self.best = paths[0]
        wanted = AT_ONCE
        while True:
            bound = self.best.effort - 1
            paths = self._ask(most, most, bound, answers=wanted)
            cheapest = min(paths, key=lambda path: path.effort, default=self.best)
            better = cheapest.effort < self.best.effort
            self.best = cheapest if better else self.best
            if not wanted or len(paths) < wanted:
                return
            # Where moves add up under l2, prices are bounds only: then all paths below them have to be seen.
            wanted = AT_ONCE if better else 0

    def _ask(self, depth: int, most: int, budget: int, *, answers: int) -> list[Arrival]:
        query = f"plan({depth}, {most}, {budget}, Path)"
        program = f"{ONLY_PLANS}\n{self.program.text}"
        told = self.solver.solve(program, query, answers=answers, deadline=self.deadline)
        return [self._read(answer["bindings"].get("Path")) for answer in told]

    def _read(self, path: Any) -> Arrival:
        """Return the path that an answer names, as the planner knows paths."""
        steps = read_term(path)
        if not isinstance(steps, list) or not steps:
            raise EngineError("scasp: expected a path of actions in its answer, found another term")
        return read_path(self.instance.dynamics, map(self._named, steps), engine="scasp")

    def _named(self, step: Any) -> Named:
        match step:
            case ("do" | "then" as kind, str() as name, _, end) if (
                name,
                end,
            ) in self.program.values:
                index = self.instance.dynamics.person.space.index[name]
                return kind == "do", index, self.program.values[name, end]
        raise EngineError(f"scasp: its answer has an action that is none of ours: {step}")
