"""From a row to its question, and from what the search found to what a person is told: values, actions, steps."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from p2c._plan.compiled.axis import OFF
from p2c._plan.outcome import CausalAction, DirectAction, Found, Question, Step, broken_law
from p2c._plan.search.best_first import step_ends
from p2c._spec.resources import uses_of
from p2c._spec.spec import Exceptions
from p2c.errors import Fault, RowError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from p2c._plan.compiled.person import Person
    from p2c._plan.compiled.space import Space
    from p2c._plan.compiled.transitions import Transitions
    from p2c._plan.outcome import Action
    from p2c._plan.search.best_first import Arrival, Move
    from p2c._spec.feature import Value


class NamedMove(NamedTuple):
    """A move with what is told of it to everybody who makes it."""

    move: Move
    feature: str
    end: Value
    because: tuple[str, ...]


def ask(transitions: Transitions) -> Question:
    """Return the question that a person's row puts."""
    return question_of(transitions.person, exceptions_of(transitions))


def question_of(person: Person, exceptions: tuple[dict[str, Any], ...]) -> Question:
    """Return the question that a person's row puts when its exceptions are known."""
    space = person.space
    initial = dict(zip(space.index, person.values, strict=True))
    return Question(space.theory.name, space.theory.norm.value, initial, exceptions)


def exceptions_of(transitions: Transitions) -> tuple[dict[str, Any], ...]:
    """Return what the person is excused from, as the contract lists it."""
    space, places = transitions.person.space, transitions.person.places
    laws = [
        broken_law(
            space.axes[index].feature.name,
            rule_texts(space, fired),
            rule_texts(space, transitions.headed(index, places[index])),
        )
        for index, fired in transitions.excused.items()
    ]
    constraints = [
        {"constraint": text}
        for bit, _ in transitions.excused_constraints
        for text in rule_texts(space, bit)
    ]
    return (*laws, *constraints)


def rule_texts(space: Space, bits: int) -> tuple[str, ...]:
    """Return the text of the rules that some bits stand for."""
    if not bits:
        return ()
    return tuple(text for bit, text in enumerate(space.texts) if bits >> bit & 1)


def found(transitions: Transitions, question: Question, arrival: Arrival) -> Found:
    """Return the plan that a path of the search describes."""
    person = transitions.person
    return plan_of_steps(
        person, question, named_steps(transitions, arrival.moves), effort=arrival.effort
    )


def named_steps(
    transitions: Transitions, moves: Sequence[Move]
) -> tuple[tuple[NamedMove, ...], ...]:
    """Return the moves of a path, cut into steps after those that end one."""
    named = [_named(transitions.person.space, move) for move in moves]
    breaks = step_ends(transitions, moves)
    assert breaks[-1] == len(moves), "a path ends in a consistent state"
    return tuple(tuple(named[begin:end]) for begin, end in pairwise((0, *breaks)))


def _named(space: Space, move: Move) -> NamedMove:
    feature = space.axes[move.axis].feature
    end = feature.domain.value(move.end)
    return NamedMove(move, feature.name, end, rule_texts(space, move.fired))


def plan_of_steps(
    person: Person, question: Question, path: Iterable[Iterable[NamedMove]], *, effort: int
) -> Found:
    """Return the plan that the steps of a path make for a person."""
    state = dict(question.initial)
    steps: list[Step] = []
    direct = 0
    for moves in path:
        actions = []
        for named in moves:
            actions.append(_action(person, named))
            state[named.feature] = named.end
            direct += named.move.direct
        steps.append(Step(tuple(actions), dict(state)))
    return Found(question, person.cost(effort, actions=direct), tuple(steps))


def _action(person: Person, named: NamedMove) -> Action:
    index, start, end, direct, _, assumed, _ = named.move
    place = person.places[index] if start == OFF else start
    before = person.value(index, place)
    if direct:
        cost = person.action_cost(index, place, end)
        uses = uses_of(person.space.axes[index].feature, before, named.end)
        return DirectAction(named.feature, before, named.end, cost, uses)
    return CausalAction(named.feature, before, named.end, named.because, assumed)


def refuse_if_strict(transitions: Transitions) -> None:
    """Raise if the problem is strict and the person breaks a law or a constraint at the start."""
    space = transitions.person.space
    if space.theory.exceptions is not Exceptions.STRICT:
        return
    faults = []
    for index, fired in transitions.excused.items():
        name = space.axes[index].feature.name
        headed = transitions.headed(index, transitions.person.places[index])
        rules = rule_texts(space, fired or headed)
        value = transitions.person.values[index]
        faults.append(Fault(name, f"the value {value!r} breaks the causal rule {' '.join(rules)}"))
    for bit, _ in transitions.excused_constraints:
        faults.append(Fault("", f"the row breaks the constraint {rule_texts(space, bit)[0]}"))
    if faults:
        raise RowError(faults)
