"""Plans of problems with arithmetic: the best one, and the nearest ends."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
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
    TakenAction,
)
from p2c._rules.meaning import Change, ConstraintException, EquationException, FeatureException
from p2c._rules.render import render_rule
from p2c._spec.resources import uses_of
from p2c._spec.spec import Exceptions
from p2c.errors import Fault, RowError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from p2c._plan.boxes.orders import Act, Arrival
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
    theory: Theory,
    state: Mapping[str, Value],
    limits: Limits,
    *,
    lasting: bool = False,
    front: int = 0,
) -> Iterator[Plan]:
    """Yield plans to distinct end states, cheapest first.

    With a `front`, they are one for each Pareto-optimal vector of so many first objectives instead.

    The only answer is `already` where the goal holds at the start, and `infeasible` where there is no path. Where a limit
    ends the search, the last answer gave up.
    """
    person = Person(theory, state)
    refuse_if_strict(person)
    question = question_of(person)
    if person.judge(person.initial).final:
        yield Already(question)
        return
    search = Search(person, limits, lasting=lasting)
    yield from _told(person, question, search.front(front) if front else search.arrivals())


def _told(person: Person, question: Question, arrivals: Iterator[Arrival]) -> Iterator[Plan]:
    """Yield the plans of paths, or the answer without a path."""
    is_open = False
    try:
        for arrival in arrivals:
            is_open = True
            yield plan_of(person, question, arrival)
    except Stopped as stopped:
        best = stopped.arrival and plan_of(person, question, stopped.arrival)
        bound = 0.0 if person.cost_place else person.cost(stopped.key.objectives[0])
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
    for run in _runs(person, arrival.acts):
        before = state
        for act in run:
            state = _after(person, state, act)
        actions.append(_action(person, run, before, state))
        actions += _recomputed(person, before, state)
        if person.judge(state).consistent:
            named = person.named(state)
            steps.append(
                Step(tuple(actions), {each.name: named[each.name] for each in person.features})
            )
            actions = []
    assert not actions, "a path ends in a consistent state"
    cost = arrival.key.objectives[person.cost_place]
    return Found(question, person.cost(cost), tuple(steps))


def _runs(person: Person, acts: Sequence[Act]) -> Iterator[tuple[Act, ...]]:
    """Yield the actions of a path, consecutive repetitions of a named one together."""
    first = len(person.features)
    numbered = groupby(
        enumerate(acts), lambda each: (each[1].feature, each[1].feature < first and each[0])
    )
    return (tuple(act for _, act in run) for _, run in numbered)


def _after(person: Person, state: State, act: Act) -> State:
    """Return the state after an action of a path."""
    action = person.named_action(act.feature)
    if action is not None:
        ends = [(person.index[each.feature], each.end) for each in act.changes]
        return person.changed(state, ends, person.amounts(dict(action.uses)))
    used = person.used(act.feature, act.start, act.end) if act.direct else ()
    return person.after(state, act.feature, act.end, used)


def _action(person: Person, run: Sequence[Act], before: State, after: State) -> Action:
    """Return an action as plans list it, with all its repetitions."""
    act, taken = run[0], person.named_action(run[0].feature)
    if taken is not None:
        names = dict.fromkeys(each.feature for one in run for each in one.changes)
        places = [(name, person.index[name]) for name in names]
        changes = (Change(name, before[p], after[p]) for name, p in places if before[p] != after[p])
        return TakenAction.of(taken, len(run), tuple(changes))
    feature = person.features[act.feature]
    if not act.direct:
        return CausalAction(feature.name, act.start, act.end, act.because, act.assumed)
    cost = float(person.theory.norm.action_cost(feature, act.start, act.end))
    return DirectAction(
        feature.name, act.start, act.end, cost, uses_of(feature, act.start, act.end)
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
