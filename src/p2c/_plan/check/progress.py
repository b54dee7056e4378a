"""The progress of a plan by a later row: done actions, rest, other changes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from p2c._plan.check.rehearse import rehearse
from p2c._plan.outcome import DirectAction
from p2c._spec.feature import exact

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p2c._plan.outcome import Action, Plan
    from p2c._rules.theory import Theory
    from p2c._spec.feature import Value


@dataclass(frozen=True, slots=True)
class Progress:
    """The done part of a plan, the rest of it, and how the row differs."""

    done: tuple[DirectAction, ...]
    """The direct actions whose targets were reached, with their values."""
    rest: tuple[Action, ...]
    """The other actions, with their effects."""
    changed: dict[str, tuple[Value, Value]]
    """The expected and the present value of each other feature that differs."""

    @property
    def left(self) -> tuple[DirectAction, ...]:
        """Return the direct actions that are not done."""
        return tuple(each for each in self.rest if isinstance(each, DirectAction))


def progress_of(theory: Theory, plan: Plan, row: Mapping[str, Value]) -> Progress:
    """Compare a plan with a later row.

    A row that is a state of the path has done all steps before it. Else an action is done if the row has its target, or
    a value of its slack.

    Args:
        theory: The problem as it was asked.
        plan: The plan.
        row: The person's values now.
    """
    actions = [each for step in plan.steps for each in step.actions]
    passed = [number for number, step in enumerate(plan.steps, start=1) if step.state == row]
    if passed:
        before = [each for step in plan.steps[: passed[-1]] for each in step.actions]
        done = [each for each in before if isinstance(each, DirectAction)]
        return Progress(tuple(done), tuple(actions[len(before) :]), {})
    direct = [each for each in actions if isinstance(each, DirectAction)]
    ends = [
        each for name in dict.fromkeys(a.feature for a in direct) for each in _done(plan, name, row)
    ]
    reached = {id(one): end for one, end in ends}
    done_actions = [_brought(theory, a, reached[id(a)]) for a in direct if id(a) in reached]
    rest = [each for each in actions if id(each) not in reached]
    played = [
        replace(each, end=reached[id(each)])
        if isinstance(each, DirectAction) and id(each) in reached
        else each
        for each in actions
        if id(each) in reached or not isinstance(each, DirectAction)
    ]
    expected = rehearse(theory, plan.question.initial, played).state
    differing = {
        name: (expected[name], value) for name, value in row.items() if expected[name] != value
    }
    return Progress(tuple(done_actions), tuple(rest), differing)


def _brought(theory: Theory, action: DirectAction, end: Value) -> DirectAction:
    """Return an action with the value that it brought, and its cost."""
    feature = theory.feature[action.feature]
    cost = theory.norm.action_cost(feature, action.start, end)
    return replace(action, end=end, cost=float(cost))


def _done(plan: Plan, name: str, row: Mapping[str, Value]) -> list[tuple[DirectAction, Value]]:
    """Return the done actions on a feature with the values that they brought."""
    own = [each for each in plan.actions if isinstance(each, DirectAction) and each.feature == name]
    for number, each in reversed(list(enumerate(own))):
        room = (plan.slack or {}).get(name) if number == len(own) - 1 else None
        if row[name] == each.end or (room is not None and _is_within(room, row[name])):
            return [*((a, a.end) for a in own[:number]), (each, row[name])]
    return []


def _is_within(room: Mapping[str, Any], value: Value) -> bool:
    if "values" in room:
        return value in room["values"]
    if value is None or isinstance(value, str):
        return False
    return exact(room["min"]) <= exact(value) <= exact(room["max"])
