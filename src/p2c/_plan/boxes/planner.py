"""Plans of problems with arithmetic: the best one, and the nearest ends."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from p2c._plan.boxes.person import Person
from p2c._plan.boxes.search import Search, Stopped
from p2c._plan.outcome import (
    Already,
    CausalAction,
    DirectAction,
    Found,
    GaveUp,
    Infeasible,
    Question,
    Step,
)
from p2c._rules.meaning import ConstraintException, EquationException, FeatureException
from p2c._rules.render import render_rule
from p2c._spec.spec import Exceptions
from p2c.errors import Fault, RowError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from p2c._plan.boxes.orders import Arrival
    from p2c._plan.boxes.person import State
    from p2c._plan.outcome import Action, Plan
    from p2c._plan.search.best_first import Limits
    from p2c._rules.theory import Theory
    from p2c._spec.feature import Value


def find_plan(
    theory: Theory, state: Mapping[str, Value], limits: Limits, *, lasting: bool = False
) -> Plan:
    """Return the path of least cost from a state to the goal, or a proof."""
    return next(plans(theory, state, limits, lasting=lasting))


def may_arrive(theory: Theory, state: Mapping[str, Value], limits: Limits) -> bool:
    """Tell whether the propagators leave any action set."""
    return Search(Person(theory, state), limits).is_open()


def plans(
    theory: Theory, state: Mapping[str, Value], limits: Limits, *, lasting: bool = False
) -> Iterator[Plan]:
    """Yield plans to distinct end states, cheapest first.

    The only answer is `already` where the goal holds at the start, and `infeasible` where there is no path. Where a limit
    ends the search, the last answer gave up.
    """
    person = Person(theory, state)
    refuse_if_strict(person)
    question = question_of(person)
    if person.judge(person.initial).final:
        yield Already(question)
        return
    is_open = False
    try:
        for arrival in Search(person, limits, lasting=lasting).arrivals():
            is_open = True
            yield plan_of(person, question, arrival)
    except Stopped as stopped:
        best = stopped.arrival and plan_of(person, question, stopped.arrival)
        bound = 0.0 if person.counts_first else person.cost(stopped.key.first)
        yield GaveUp(question, bound, best and replace(best, proof="none"))
        return
    if not is_open:
        yield Infeasible(question)


def question_of(person: Person) -> Question:
    """Return the question that a person's row puts."""
    theory = person.theory
    return Question(
        theory.name,
        theory.norm.value,
        dict(person.row),
        person.exception_records,
        omitted=person.omitted,
    )


def plan_of(person: Person, question: Question, arrival: Arrival) -> Found:
    """Return the plan that a path describes."""
    steps: list[Step] = []
    actions: list[Action] = []
    state = person.initial
    for act in arrival.acts:
        feature = person.features[act.feature]
        if act.direct:
            cost = float(person.theory.norm.action_cost(feature, act.start, act.end))
            actions.append(DirectAction(feature.name, act.start, act.end, cost))
        else:
            actions.append(CausalAction(feature.name, act.start, act.end, act.because, act.assumed))
        after = person.after(state, act.feature, act.end)
        actions += _recomputed(person, state, after)
        state = after
        if person.judge(state).consistent:
            steps.append(Step(tuple(actions), person.named(state)))
            actions = []
    assert not actions, "a path ends in a consistent state"
    key = arrival.key
    return Found(
        question, person.cost(key.second if person.counts_first else key.first), tuple(steps)
    )


def _recomputed(person: Person, before: State, after: State) -> list[Action]:
    """Return the changes of computed features that an action brings."""
    changes: list[Action] = []
    for feature in person.theory.computed:
        place = person.index[feature.name]
        assert feature.equation is not None
        if before[place] != after[place]:
            text = (feature.equation.text,)
            changes.append(CausalAction(feature.name, before[place], after[place], text, False))
    return changes


def refuse_if_strict(person: Person) -> None:
    """Raise if the problem is strict and the row breaks any part of it."""
    if person.theory.exceptions is not Exceptions.STRICT:
        return
    faults = []
    for each in person.broken:
        match each:
            case FeatureException(name, value, fired):
                rules = fired or person.headed(name, value)
                texts = " ".join(render_rule(rule.rule) for rule in rules)
                faults.append(Fault(name, f"the value {value!r} breaks the causal rule {texts}"))
            case EquationException(name, equation, stated, computed):
                due = "undefined" if computed is None else repr(computed)
                faults.append(
                    Fault(name, f"the value {stated!r} is not {equation}, which is {due}")
                )
            case ConstraintException(clause):
                text = f"the row breaks the constraint {render_rule(clause.rule)}"
                faults.append(Fault("", text))
    if faults:
        raise RowError(faults)
