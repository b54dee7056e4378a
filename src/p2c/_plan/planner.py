"""The question and the answer: a person's state in, a plan out (`docs/meaning.md`, "Cost and the answer")."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from p2c._plan.answer import ask, found, plan_of_steps, question_of, refuse_if_strict
from p2c._plan.boxes import planner as boxes
from p2c._plan.compiled.person import place_person
from p2c._plan.compiled.transitions import Transitions
from p2c._plan.outcome import Already, GaveUp, Infeasible
from p2c._plan.search.arrivals import arrivals
from p2c._plan.search.best_first import LimitReached, Limits
from p2c._plan.search.devices import ALL, Device
from p2c._plan.tables.class_routes import LABELS, QUICK, best_route, class_routes
from p2c._spec.spec import Minimize

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p2c._plan.compiled.person import Person
    from p2c._plan.compiled.space import Space
    from p2c._plan.outcome import Plan, Question
    from p2c._plan.search.devices import Devices
    from p2c._plan.tables.class_routes import Entry
    from p2c._spec.feature import Value


def find_plan(
    space: Space,
    state: Mapping[str, Value],
    limits: Limits | None = None,
    *,
    devices: Devices = ALL,
) -> Plan:
    """Return the path of least cost from a state to the goal, or what was proved instead.

    Where the problem is small and no limit of nodes is set, it is taken from the routes of everyone whom the rules see alike,
    which are found once (`tables/class_routes.py`); else it is searched for.
    """
    limits = limits or Limits()
    if space.theory.is_arithmetic:
        return boxes.find_plan(space.theory, state, limits)
    person = place_person(space, state)
    by_class = space.is_small and Device.CLASS_ROUTES in devices
    if by_class and limits.nodes is None and limits.left != 0.0:
        entry = class_routes(space).entry(person, QUICK if space.selects else LABELS)
        if entry is not None and entry.routes is not None:
            return _plan_from_routes(person, entry)
    return search_plan(Transitions(person), limits, devices)


def _plan_from_routes(person: Person, entry: Entry) -> Plan:
    refuse_if_strict(entry.transitions)
    question = question_of(person, entry.exceptions)
    if entry.already:
        return Already(question)
    if not entry.routes:
        return Infeasible(question)
    effort, route = best_route(person, entry.routes)
    return plan_of_steps(person, question, route.steps, effort=effort)


def search_plan(transitions: Transitions, limits: Limits, devices: Devices = ALL) -> Plan:
    """Return the plan of one person alone."""
    refuse_if_strict(transitions)
    question = ask(transitions)
    if transitions.judge(transitions.person.places).goal:
        return Already(question)
    try:
        arrival = next(arrivals(transitions, limits, devices=devices), None)
    except LimitReached as reached:
        return gave_up(transitions, question, reached)
    return Infeasible(question) if arrival is None else found(transitions, question, arrival)


def gave_up(transitions: Transitions, question: Question, reached: LimitReached) -> GaveUp:
    """Return what is known when a limit has ended a search."""
    best = found(transitions, question, reached.best) if reached.best else None
    bound = _bound(transitions.person, reached.effort)
    return GaveUp(question, bound, best and replace(best, proof="none"))


def _bound(person: Person, effort: int) -> float:
    """Return what no path costs less than; where the number of actions comes first, that is not known."""
    if person.space.theory.minimize is Minimize.ACTIONS:
        return 0.0
    return person.cost(effort, actions=0)
