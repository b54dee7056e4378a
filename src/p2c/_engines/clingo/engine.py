"""clingo as an engine: it shares cells with the native planner, and no search.

Each plan is replayed by the validator before it is given out. For the k nearest ends every state of a path is in the program,
and an end once found is ruled out. Of the places of a region at most k can be among the k nearest ends, since each has the
same future as a cheaper one; so k places of each are enough.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING

from p2c._engines.clingo.control import Deepening, TimeUp, load_clingo
from p2c._engines.clingo.encoding import Encoding, term, token
from p2c._engines.instance import Instance, conclude, first_actions, replayed
from p2c._plan.answer import ask, refuse_if_strict
from p2c._plan.compiled.axis import OFF
from p2c._plan.compiled.person import place_person
from p2c._plan.compiled.transitions import Transitions, Variety
from p2c._plan.nearest import Distinct, ways_of_their_own
from p2c._plan.outcome import Already, GaveUp
from p2c.errors import EngineError, MissingExtra, install_command

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from p2c._engines.clingo.control import Cost
    from p2c._plan.compiled.space import Space
    from p2c._plan.outcome import Found, Plan
    from p2c._plan.search.best_first import Arrival
    from p2c._spec.feature import Value

SPENT = "like(F,(V,W)) :- do(F,V,W,_)."
"""The rule that identifies a path by its direct actions."""
SAME_END = "like(F,K) :- at(F,V,end), kind(F,V,K)."
"""The rule that identifies a path by its end, in values or in cells."""
SAME = Fraction(1, 10**9)
"""Relative difference below which costs are equal (`docs/meaning.md`)."""


@dataclass(frozen=True)
class ClingoEngine:
    """Answer set programming."""

    install: str = install_command("clingo")

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
            return conclude(dynamics, search.unproved, engine="clingo", bound=_cost(search))
        return conclude(dynamics, best, engine="clingo")


def _cheapest(search: Deepening) -> Arrival | None:
    """Return the cheapest path; with rounded costs, compare near ones exactly."""
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
    prices, actions = instance.dynamics.person.prices, path.direct
    cost = (path.effort - actions * prices.per_action) // prices.per_cost
    bound = math.floor(cost * (1 - SAME) * tariff.units / prices.denominator)
    return (actions, bound) if first_actions(instance) else (bound,)


def _cost(search: Deepening) -> float:
    """Return the proved lower bound of the cost."""
    instance = search.encoding.instance
    return (
        search.encoding.tariff.cost(search.lowest[first_actions(instance)])
        if search.lowest
        else 0.0
    )


def clingo_nearest(
    space: Space,
    state: Mapping[str, Value],
    k: int,
    distinct: Distinct,
    time_limit: float | None = None,
) -> list[Plan]:
    """Return the k nearest ends by clingo.

    A question beyond its proofs is refused; the last answer is `GaveUp` if time ends.
    """
    deadline = None if time_limit is None else time.monotonic() + time_limit
    load_clingo()
    points = distinct is Distinct.POINTS
    dynamics = Transitions(place_person(space, state), Variety.POINTS if points else Variety.PLANS)
    refuse_if_strict(dynamics)
    if dynamics.judge(dynamics.person.places).goal:
        return [Already(ask(dynamics))]
    encoding = Encoding(Instance(dynamics, k if points else 0), by_steps=True)
    if not encoding.tariff.exact:
        raise EngineError("clingo: these costs do not fit into 32 bits; ask the native engine")
    ends = "\n".join(_kinds(encoding, by_cell=not points))
    ways = _found(Deepening(encoding, f"{ends}\n{SAME_END}", deadline))
    return _first(k, ways if points else ways_of_their_own(space.theory, ways), dynamics)


def _first(k: int, ways: Iterator[Found], dynamics: Transitions) -> list[Plan]:
    """Return the first k ways; that time was up comes last."""
    found: list[Plan] = []
    try:
        found += islice(ways, k)
    except TimeUp:
        found.append(GaveUp(ask(dynamics), 0.0))
    return found


def _found(search: Deepening) -> Iterator[Found]:
    dynamics = search.encoding.instance.dynamics
    return (replayed(dynamics, path, engine="clingo") for path in search.paths())


def _kinds(encoding: Encoding, *, by_cell: bool) -> Iterator[str]:
    """Yield the atoms that distinguish ends: values of features, or their cells."""
    instance = encoding.instance
    for name, reach in instance.reaches.items():
        axis = instance.dynamics.person.space.axes[reach.index]
        for place in reach.places:
            value = term(instance.value(name, place))
            kind = f"cell({axis.cell(place)})" if by_cell and place != OFF else value
            yield f"kind({token(name)},{value},{kind})."
