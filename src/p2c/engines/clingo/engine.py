"""The same question put to clingo: a second opinion that shares the contract's cells with the native planner, not its search.

Each plan is replayed by the validator before it is given out.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from p2c.engines.clingo.control import TimeUp, load_clingo
from p2c.engines.clingo.deepening import Deepening
from p2c.engines.clingo.encoding import Encoding
from p2c.engines.instance import Instance, first_actions
from p2c.engines.reading import replayed
from p2c.errors import MissingExtra
from p2c.plan.answer import ask
from p2c.plan.outcome import Already, GaveUp, Infeasible

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p2c.domain.feature import Value
    from p2c.engines.clingo.control import Cost
    from p2c.plan.compiled.space import Space
    from p2c.plan.outcome import Plan
    from p2c.plan.search.best_first import Arrival

SPENT = "like(F,(V,W)) :- do(F,V,W,_)."
"""Paths are alike that spend the same; one that spends more besides is not cheaper."""

SAME = Fraction(1, 10**9)
"""Costs closer than this, relatively, are equal (contract §2)."""


@dataclass(frozen=True)
class ClingoEngine:
    """Answer set programming."""

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
        instance = Instance.of(space, state)
        dynamics = instance.dynamics
        if dynamics.judge(dynamics.person.places).goal:
            return Already(ask(dynamics))
        search = Deepening(Encoding(instance), SPENT, deadline)
        try:
            best = _cheapest(search)
        except TimeUp:
            some = search.unproved
            found = (
                None if some is None else replayed(dynamics, some, engine="clingo", optimal=False)
            )
            return GaveUp(ask(dynamics), _cost(search), found)
        return (
            Infeasible(ask(dynamics)) if best is None else replayed(dynamics, best, engine="clingo")
        )


def _cheapest(search: Deepening) -> Arrival | None:
    """Return the cheapest path; where costs were rounded, others are looked at that rounding may hide."""
    best: Arrival | None = None
    for path in search.paths():
        best = path if best is None or path.effort < best.effort else best
        if search.encoding.tariff.exact:
            break
        search.bound = _just_below(search, best)
    return best


def _just_below(search: Deepening, path: Arrival) -> Cost:
    """Return the bound that every path keeps that is cheaper than this one."""
    instance, tariff = search.encoding.instance, search.encoding.tariff
    prices, actions = instance.dynamics.person.prices, sum(move.direct for move in path.moves)
    cost = (path.effort - actions * prices.per_action) // prices.per_cost
    bound = math.floor(cost * (1 - SAME) * tariff.units / prices.denominator)
    return (actions, bound) if first_actions(instance) else (bound,)


def _cost(search: Deepening) -> float:
    """Return what no path undercuts, as far as it is proved."""
    instance = search.encoding.instance
    return (
        search.encoding.tariff.cost(search.lowest[first_actions(instance)])
        if search.lowest
        else 0.0
    )
