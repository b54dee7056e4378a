"""From a row to its question, and from what the search found to what a person is told: values, actions, steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from p2c.domain.spec import Exceptions
from p2c.errors import Fault, RowError
from p2c.plan.compiled.axis import OFF
from p2c.plan.outcome import CausalAction, DirectAction, Found, Question, Step, broken_law
from p2c.plan.search.best_first import step_ends

if TYPE_CHECKING:
    from collections.abc import Sequence

    from p2c.plan.compiled.person import Person
    from p2c.plan.compiled.space import Space
    from p2c.plan.compiled.transitions import Transitions
    from p2c.plan.outcome import Action
    from p2c.plan.search.best_first import Arrival, Move


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
    moves = arrival.moves
    breaks = step_ends(transitions, moves)
    return tell(person, question, moves, breaks=breaks, effort=arrival.effort)


def tell(
    person: Person,
    question: Question,
    moves: Sequence[Move],
    *,
    breaks: Sequence[int],
    effort: int,
) -> Found:
    """Return the plan that some moves make, cut into steps after those moves that end one."""
    assert breaks[-1] == len(moves), "a path ends in a consistent state"
    state = dict(question.initial)
    steps: list[Step] = []
    begin = direct = 0
    for end in breaks:
        actions = tuple([_action(person, move) for move in moves[begin:end]])
        for action in actions:
            state[action.feature] = action.end
            direct += isinstance(action, DirectAction)
        steps.append(Step(actions, dict(state)))
        begin = end
    return Found(question, person.cost(effort, actions=direct), tuple(steps))


def _action(person: Person, move: Move) -> Action:
    index, start, end, direct, fired, assumed, _ = move
    name = person.space.axes[index].feature.name
    start = person.places[index] if start == OFF else start
    before, after = person.value(index, start), person.value(index, end)
    if direct:
        return DirectAction(name, before, after, person.action_cost(index, start, end))
    return CausalAction(name, before, after, rule_texts(person.space, fired), assumed)


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
