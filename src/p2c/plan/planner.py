"""The question and the answer: a person's state in, a plan out (contract §2 and §3)."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from p2c.domain.spec import Exceptions, Minimize
from p2c.errors import Fault, RowError
from p2c.plan.answer import ask, found, question_of, rule_texts, tell
from p2c.plan.atlas import LABELS, QUICK, best_route
from p2c.plan.dynamics import Dynamics
from p2c.plan.outcome import Already, GaveUp, Infeasible
from p2c.plan.person import place_person
from p2c.plan.search import LimitReached, Limits, search
from p2c.plan.selection import best_selection

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p2c.domain.feature import Value
    from p2c.plan.atlas import Entry
    from p2c.plan.outcome import Plan
    from p2c.plan.person import Person
    from p2c.plan.space import Space


def find_plan(
    space: Space,
    state: Mapping[str, Value],
    *,
    time_limit: float | None = None,
    node_limit: int | None = None,
) -> Plan:
    """Return the path of least cost from a state to the goal, or what was proved instead."""
    person = place_person(space, state)
    no_time = time_limit is not None and time_limit <= 0
    if node_limit is None and not no_time and space.is_small:
        entry = space.atlas.entry(person, QUICK if space.selects else LABELS)
        if entry is not None and entry.routes is not None:
            return _from_atlas(person, entry)
    deadline = None if time_limit is None else time.monotonic() + time_limit
    limits = Limits(node_limit, deadline)
    return search_plan(Dynamics(person), limits, choose_first=space.selects)


def _from_atlas(person: Person, entry: Entry) -> Plan:
    refuse_if_strict(entry.dynamics)
    question = question_of(person, entry.exceptions)
    if entry.already:
        return Already(question)
    if not entry.routes:
        return Infeasible(question)
    effort, route = best_route(person, entry.routes)
    return tell(person, question, route.moves, breaks=route.breaks, effort=effort)


def search_plan(dynamics: Dynamics, limits: Limits, *, choose_first: bool = False) -> Plan:
    """Return the same for one person alone, state by state or with the set of direct actions chosen first."""
    refuse_if_strict(dynamics)
    question = ask(dynamics)
    if dynamics.judge(dynamics.person.places).goal:
        return Already(question)
    try:
        if choose_first:
            arrival = best_selection(dynamics, limits)
        else:
            relevant = dynamics.person.space.relevant
            arrival = next(search(dynamics, relevant=relevant, limits=limits), None)
    except LimitReached as reached:
        best = found(dynamics, question, reached.best) if reached.best else None
        return GaveUp(
            question,
            _bound(dynamics.person, reached.effort),
            best and replace(best, optimal=False),
        )
    return Infeasible(question) if arrival is None else found(dynamics, question, arrival)


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
