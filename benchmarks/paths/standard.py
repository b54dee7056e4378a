"""A path to an end state by a standard planner, on PDDL that knows no causes (through unified-planning).

A feature has a value and may change it: that is all the domain says. What is fixed, goes one way or has `moves` is kept to,
because a planner can be told so; that an effect is nobody's to set is causal knowledge and is not told. Numbers take part
with the value that they have and the one that they shall have.
"""

from __future__ import annotations

import warnings
from contextlib import chdir
from dataclasses import dataclass, replace
from functools import cache
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from p2c._spec.feature import Action, permits

if TYPE_CHECKING:
    from benchmarks.world import State
    from p2c._rules.theory import Theory
    from p2c._spec.feature import Feature, Value

PLANNERS = ("fast-downward", "pyperplan")
"""The planner whose paths are judged, and a second one, whose order of steps may be another."""

Change = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Task:
    """A planning task without names, so that equal tasks are solved once: features and values by number.

    `changes` holds the permitted changes: a feature, a value and another one. `start` and `goal` hold a value a feature.
    """

    start: tuple[int, ...]
    goal: tuple[int, ...]
    changes: frozenset[Change]


def make_task(theory: Theory, start: State, end: State) -> tuple[Task, list[list[Value]]]:
    """Return the task of getting from one state to another, and the values that its numbers stand for."""
    begin, goal, changes = [], [], set()
    tables: list[list[Value]] = []
    for place, feature in enumerate(theory.features):
        own, target = start[feature.name], end[feature.name]
        table: list[Value] = list(dict.fromkeys([own, target]))
        if feature.moves is not None:
            every = [feature.domain.value(number) for number in range(feature.domain.size)]
            table = list(dict.fromkeys([*table, *every]))
        tables.append(table)
        begin.append(table.index(own))
        goal.append(table.index(target))
        settable = _settable(feature)
        changes |= {
            (place, table.index(one), table.index(other))
            for one in table
            for other in table
            if other is not None and permits(settable, one, other)
        }
    return Task(tuple(begin), tuple(goal), frozenset(changes)), tables


def _settable(feature: Feature) -> Feature:
    """Return a feature as one without causal knowledge sees it: an effect may be set."""
    return replace(feature, action=Action.FREE) if feature.action is Action.EFFECT else feature


def standard_path(
    theory: Theory, start: State, end: State, *, planner: str = PLANNERS[0]
) -> list[tuple[str, Value]] | None:
    """Return a standard planner's path as features and values in order, or None where it proves that there is none."""
    task, tables = make_task(theory, start, end)
    steps = solve(task, planner)
    if steps is None:
        return None
    return [(theory.features[place].name, tables[place][to]) for place, _, to in steps]


@cache
def solve(task: Task, planner: str) -> tuple[Change, ...] | None:
    """Return a plan of a task, or None where the planner says that it is unsolvable."""
    from unified_planning.engines import PlanGenerationResultStatus as Status
    from unified_planning.shortcuts import OneshotPlanner, get_environment

    get_environment().credits_stream = None
    # Fast Downward keeps its notes in the current folder, where two runs at a time would mix them up.
    with warnings.catch_warnings(), TemporaryDirectory() as folder, chdir(folder):
        warnings.simplefilter("ignore")
        with OneshotPlanner(name=planner) as engine:
            result = engine.solve(problem_of(task))
    if result.plan is not None:
        return tuple(_step(action) for action in result.plan.actions)
    unsolvable = (Status.UNSOLVABLE_PROVEN, Status.UNSOLVABLE_INCOMPLETELY)
    if result.status in unsolvable:
        return None
    raise RuntimeError(f"{planner}: {result.status.name}")


def problem_of(task: Task) -> Any:
    """Return a task as a problem of unified-planning, which writes it as PDDL for the planner."""
    from unified_planning import shortcuts as up

    feature_type, value_type = up.UserType("feature"), up.UserType("value")
    has = up.Fluent("has", up.BoolType(), f=feature_type, v=value_type)
    may = up.Fluent("may", up.BoolType(), f=feature_type, v=value_type, w=value_type)
    change = up.InstantaneousAction("change", f=feature_type, v=value_type, w=value_type)
    f, v, w = change.parameters
    change.add_precondition(has(f, v))
    change.add_precondition(may(f, v, w))
    change.add_effect(has(f, v), False)
    change.add_effect(has(f, w), True)
    problem = up.Problem("recourse")
    for fluent in (has, may):
        problem.add_fluent(fluent, default_initial_value=False)
    problem.add_action(change)
    most = max((n for c in task.changes for n in c[1:]), default=0)
    most = max(most, *task.start, *task.goal)
    features = [up.Object(f"feature{place}", feature_type) for place in range(len(task.start))]
    values = [up.Object(f"value{number}", value_type) for number in range(most + 1)]
    problem.add_objects([*features, *values])
    for place, (own, goal) in enumerate(zip(task.start, task.goal, strict=True)):
        problem.set_initial_value(has(features[place], values[own]), True)
        problem.add_goal(has(features[place], values[goal]))
    for place, one, other in sorted(task.changes):
        problem.set_initial_value(may(features[place], values[one], values[other]), True)
    return problem


def _step(action: Any) -> Change:
    names = [str(parameter) for parameter in action.actual_parameters]
    place = int(names[0].removeprefix("feature"))
    one, other = (int(name.removeprefix("value")) for name in names[1:])
    return place, one, other
