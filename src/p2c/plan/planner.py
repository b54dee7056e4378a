"""The question and the answer: a person's state in, a plan out (contract §2 and §3)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from p2c.domain.spec import Exceptions, Minimize
from p2c.errors import Fault, RowError
from p2c.plan.answer import ask, found, question_of, rule_texts, tell
from p2c.plan.atlas import LABELS, QUICK, best_route
from p2c.plan.dynamics import Dynamics
from p2c.plan.futures import Futures, some_state
from p2c.plan.options import Options
from p2c.plan.outcome import Already, GaveUp, Infeasible
from p2c.plan.outlook import Outlook
from p2c.plan.person import place_person
from p2c.plan.search import LimitReached, Limits, best_first
from p2c.plan.selection import SetSearch
from p2c.plan.states import StateSearch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from p2c.domain.feature import Value
    from p2c.plan.atlas import Entry
    from p2c.plan.outcome import Plan, Question
    from p2c.plan.person import Person
    from p2c.plan.search import Arrival, Lead
    from p2c.plan.space import Space


def find_plan(space: Space, state: Mapping[str, Value], limits: Limits | None = None) -> Plan:
    """Return the path of least cost from a state to the goal, or what was proved instead."""
    person = place_person(space, state)
    limits = limits or Limits()
    if limits.nodes is None and limits.left != 0.0 and space.is_small:
        entry = space.atlas.entry(person, QUICK if space.selects else LABELS)
        if entry is not None and entry.routes is not None:
            return _from_atlas(person, entry)
    return search_plan(Dynamics(person), limits)


def _from_atlas(person: Person, entry: Entry) -> Plan:
    refuse_if_strict(entry.dynamics)
    question = question_of(person, entry.exceptions)
    if entry.already:
        return Already(question)
    if not entry.routes:
        return Infeasible(question)
    effort, route = best_route(person, entry.routes)
    return tell(person, question, route.moves, breaks=route.breaks, effort=effort)


def search_plan(dynamics: Dynamics, limits: Limits) -> Plan:
    """Return the plan of one person alone."""
    refuse_if_strict(dynamics)
    question = ask(dynamics)
    if dynamics.judge(dynamics.person.places).goal:
        return Already(question)
    try:
        arrival = next(arrivals(dynamics, limits), None)
    except LimitReached as reached:
        return gave_up(dynamics, question, reached)
    return Infeasible(question) if arrival is None else found(dynamics, question, arrival)


def gave_up(dynamics: Dynamics, question: Question, reached: LimitReached) -> GaveUp:
    """Return what is known when a limit has ended a search."""
    best = found(dynamics, question, reached.best) if reached.best else None
    bound = _bound(dynamics.person, reached.effort)
    return GaveUp(question, bound, best and replace(best, optimal=False))


def _landed(arrival: Arrival) -> Arrival:
    return arrival


def arrivals(
    dynamics: Dynamics,
    limits: Limits,
    *,
    first_only: bool = True,
    every: bool = False,
    land: Callable[[Arrival], Lead | Arrival] = _landed,
) -> Iterator[Arrival]:
    """Yield the paths from a person's state to the goal in the contract's order, lazily.

    Where more than the best is wanted, `every` says that all end states are, not only those that differ in kind.
    `land` turns a path to a region into what is searched on among its places.
    """
    space = dynamics.person.space
    settable = space.settable if every else space.relevant
    search: SetSearch | StateSearch
    if space.selects:
        search = SetSearch(Options(dynamics, settable), land, every, first_only)
    else:
        if not may_arrive(dynamics, limits):
            return iter(())
        search = StateSearch(dynamics, settable, land)
    return best_first(search.leads(), limits)


def may_arrive(dynamics: Dynamics, limits: Limits) -> bool:
    """Tell whether a look ahead sees a way to the goal; where it does not, there is none."""
    options = Options(dynamics, dynamics.person.space.relevant)
    outlook = Outlook(dynamics, options.listed, options.by_axis)
    left = (1 << len(options.listed)) - 1
    end = Futures(outlook, first_only=False).of((), left)
    return end is not None and some_state(end, limits)


def _bound(person: Person, effort: int) -> float:
    """Return what no path costs less than; where the number of actions comes first, that is not known."""
    if person.space.theory.minimize is Minimize.ACTIONS:
        return 0.0
    return person.cost(effort, actions=0)


def refuse_if_strict(dynamics: Dynamics) -> None:
    """Raise if the problem is strict and the person breaks a law or a constraint at the start."""
    space = dynamics.person.space
    if space.theory.exceptions is not Exceptions.STRICT:
        return
    faults = []
    for index, fired in dynamics.excused.items():
        name = space.axes[index].feature.name
        headed = dynamics.headed(index, dynamics.person.places[index])
        rules = rule_texts(space, fired or headed)
        value = dynamics.person.values[index]
        faults.append(Fault(name, f"the value {value!r} breaks the causal rule {' '.join(rules)}"))
    for bit, _ in dynamics.excused_constraints:
        faults.append(Fault("", f"the row breaks the constraint {rule_texts(space, bit)[0]}"))
    if faults:
        raise RowError(faults)
