"""What a state means: which causal rules fire, which values they allow, what then happens by itself.

Each function is one definition. They are written to be read and to be trusted, not to be fast: the validator stands on
them, and every planner is measured against them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from p2c._rules.cells import every_test
from p2c._rules.evaluate import body_holds, clause_fires, goal_holds, in_head
from p2c._spec.computed import origin_of
from p2c._spec.expression import evaluate, text_of
from p2c._spec.feature import Grid, Kind, distance, exact, leads, permits
from p2c._spec.row import omitted_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from fractions import Fraction

    from p2c._rules.theory import Clause, Test, Theory
    from p2c._spec.computed import Origin
    from p2c._spec.feature import Feature, Number, Value
    from p2c._spec.resources import NamedAction

    State = Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class FeatureException:
    """A governed feature that breaks its law at the start, kept consistent while nothing about it changes."""

    feature: str
    value: Value
    fired: tuple[Clause, ...]


@dataclass(frozen=True, slots=True)
class ConstraintException:
    """A constraint broken at the start, tolerated while every feature that it reads keeps its value."""

    constraint: Clause
    values: tuple[tuple[str, Value], ...]


@dataclass(frozen=True, slots=True)
class EquationException:
    """A row that contradicts an equation without residual.

    The value is kept while the raw equation stays the same.
    """

    feature: str
    equation: str
    stated: Number
    computed: Number | None


AbducedException = FeatureException | ConstraintException | EquationException


@dataclass(frozen=True, slots=True)
class Outcome:
    """One thing that may happen by itself: a governed feature takes a value."""

    feature: str
    start: Value
    value: str | int | float
    because: tuple[Clause, ...]
    assumed: bool
    barred: bool = False
    """Whether one person forbids such a change: no plan continues after it."""


def fired(theory: Theory, feature: str, state: State) -> tuple[Clause, ...]:
    """Return the causal rules of a feature whose bodies hold (Fired)."""
    return tuple(c for c in theory.rules_of[feature] if clause_fires(theory, c, state))


def unheaded(theory: Theory, feature: str, value: Value) -> bool:
    """Tell whether a value is in the head of none of the feature's rules."""
    return not any(in_head(theory, clause, value) for clause in theory.rules_of[feature])


def allows(theory: Theory, feature: str, rules: tuple[Clause, ...], value: Value) -> bool:
    """Tell whether a value is allowed when just these rules of the feature fire (Allowed)."""
    if any(in_head(theory, clause, value) for clause in rules):
        return True
    law = theory.feature[feature].law
    silent = not (law.asks_for_silence and rules)
    return silent and (not law.asks_for_unheaded or unheaded(theory, feature, value))


def broken_constraints(theory: Theory, state: State) -> tuple[Clause, ...]:
    """Return the constraints whose bodies hold."""
    return tuple(c for c in theory.constraints if body_holds(theory, c.body, state))


def origin(theory: Theory, initial: State) -> Origin | None:
    """Return the start of a person; None in a problem without arithmetic."""
    if not theory.is_arithmetic:
        return None
    return origin_of(theory.features, initial, omitted_in(initial))


def undefined(theory: Theory, state: State, start: Origin | None) -> tuple[str, ...]:
    """Return the equations and sides of comparisons that became undefined.

    They were defined at the start.

    A state that has any is inconsistent, and no exception covers it.
    """
    if start is None:
        assert not theory.is_arithmetic, "problems with equations are judged from a start"
        return ()
    sides = dict.fromkeys(side for each in theory.relations for side in (each.left, each.right))
    lost = (
        text_of(side)
        for side in sides
        if evaluate(side, state) is None and evaluate(side, start.initial) is not None
    )
    return (*start.lost(state), *lost)


def abduce(theory: Theory, initial: State) -> tuple[AbducedException, ...]:
    """Return an exception for each law, equation and constraint broken at first."""
    found: list[AbducedException] = []
    start = origin(theory, initial)
    found += [EquationException(*each) for each in start.mismatches] if start else []
    for name, _ in theory.causes:
        rules = fired(theory, name, initial)
        if not allows(theory, name, rules, initial[name]):
            found.append(FeatureException(name, initial[name], rules))
    for clause in broken_constraints(theory, initial):
        names = theory.reads(clause.body)
        values = tuple((f.name, initial[f.name]) for f in theory.features if f.name in names)
        found.append(ConstraintException(clause, values))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Change:
    """A feature that a named action really changes."""

    feature: str
    start: Value
    end: str | int | float


def changes_of(theory: Theory, action: NamedAction, state: State) -> tuple[Change, ...] | None:
    """Return the changes that a named action makes in a state.

    Earlier actions and the limits of resources are left aside.

    Returns:
        None if the action does not exist there: its condition fails, a change is not permitted, or a sum leaves the limits
        of its feature.
    """
    if not body_holds(theory, action.when, state):
        return None
    ends: list[tuple[str, str | int | float]] = list(action.sets)
    for name, number in action.adds:
        start = state[name]
        if start is None or isinstance(start, str):
            return None
        total = exact(start) + number
        ends.append((name, int(total) if theory.feature[name].kind is Kind.INT else float(total)))
    changes = []
    for name, end in ends:
        feature, start = theory.feature[name], state[name]
        added = name not in dict(action.sets)
        if not (admits_sum(feature, end) if added else feature.contains(end)):
            return None
        if start != end:
            if not permits(feature, start, end):
                return None
            changes.append(Change(name, start, end))
    return tuple(changes)


def admits_sum(feature: Feature, value: str | int | float) -> bool:
    """Tell whether a sum is a value of a number; the grid does not bind it."""
    match feature.domain:
        case Grid(low, high, _):
            return not isinstance(value, str) and exact(low) <= exact(value) <= exact(high)
        case listed:
            return value in listed.values


def violated(
    theory: Theory, state: State, exceptions: Iterable[AbducedException]
) -> tuple[str, ...]:
    """Return the governed features whose value is not allowed and that no exception covers."""
    excused = {each.feature: each for each in exceptions if isinstance(each, FeatureException)}
    names = []
    for name, _ in theory.causes:
        rules = fired(theory, name, state)
        if allows(theory, name, rules, state[name]):
            continue
        own = excused.get(name)
        if own is None or state[name] != own.value or rules != own.fired:
            names.append(name)
    return tuple(names)


def breached(
    theory: Theory, state: State, exceptions: Iterable[AbducedException]
) -> tuple[Clause, ...]:
    """Return the constraints that are broken and that no exception covers."""
    excused = [
        each.constraint
        for each in exceptions
        if isinstance(each, ConstraintException)
        and all(state[name] == value for name, value in each.values)
    ]
    return tuple(c for c in broken_constraints(theory, state) if c not in excused)


def consistent(
    theory: Theory,
    state: State,
    exceptions: tuple[AbducedException, ...],
    start: Origin | None = None,
) -> bool:
    """Tell whether a state obeys every law and constraint (Definition 2).

    Exceptions are left aside.

    Args:
        theory: The problem.
        state: The state.
        exceptions: What the person is excused from.
        start: The person's start, needed in a problem with arithmetic.
    """
    return not (
        violated(theory, state, exceptions)
        or breached(theory, state, exceptions)
        or undefined(theory, state, start)
    )


def goal_met(
    theory: Theory,
    state: State,
    exceptions: tuple[AbducedException, ...],
    start: Origin | None = None,
) -> bool:
    """Tell whether a state is a counterfactual: consistent, and the goal query succeeds (Definition 8)."""
    return goal_holds(theory, state) and consistent(theory, state, exceptions, start)


def may_act(theory: Theory, feature: str, violations: Iterable[str]) -> bool:
    """Tell whether no other violated feature lies upstream, the feature's own cycle not counted."""
    return not any(
        other != feature
        and other in theory.upstream[feature]
        and feature not in theory.upstream[other]
        for other in violations
    )


def triggered_outcomes(
    theory: Theory, state: State, violations: tuple[str, ...]
) -> tuple[Outcome, ...]:
    """Return what may happen by itself in an inconsistent state.

    From a missing number every allowed value is equally near, and there may be millions: listed are the ends of the
    allowed ranges and the values on either side of every constant that any rule compares the feature with, so that
    every set of values which the rules tell apart is there by one of its members.
    """
    found: list[Outcome] = []
    for name in violations:
        if may_act(theory, name, violations):
            rules = fired(theory, name, state)
            found += _outcomes(theory, name, state, rules, partial(allows, theory, name, rules))
    return tuple(found)


def supported_outcomes(theory: Theory, state: State) -> tuple[Outcome, ...]:
    """Return what fired rules support in a consistent state, when effects are `supported`."""
    found: list[Outcome] = []
    for name, _ in theory.causes:
        rules = fired(theory, name, state)
        for clause in rules:
            if not in_head(theory, clause, state[name]):
                found += _outcomes(theory, name, state, rules, partial(in_head, theory, clause))
    return tuple(each for each in found if not each.barred)


def _outcomes(
    theory: Theory,
    name: str,
    state: State,
    rules: tuple[Clause, ...],
    admits: Callable[[Value], bool],
) -> list[Outcome]:
    feature = theory.feature[name]
    tests = (
        None if state[name] is not None else [t for t in every_test(theory) if t.feature == name]
    )
    start = state[name]
    values = nearest_values(feature, start, admits, candidate_values(theory, feature, tests))
    assumed = len(values) > 1
    return [
        Outcome(name, start, value, rules, assumed, barred=not permits(feature, start, value))
        for value in values
    ]


def nearest_values(
    feature: Feature,
    start: Value,
    admits: Callable[[Value], bool],
    candidates: Iterable[str | int | float],
) -> list[str | int | float]:
    """Return the nearest admitted candidates that action and moves can reach."""
    near: list[str | int | float] = []
    best: Fraction | None = None
    for value in candidates:
        if not (leads(feature, start, value) and admits(value)):
            continue
        far = distance(feature, start, value)
        if best is None or far < best:
            best, near = far, []
        if far == best:
            near.append(value)
    return near


def candidate_values(
    theory: Theory, feature: Feature, tests: Iterable[Test] | None = None
) -> list[str | int | float]:
    """Return the values among which, from a value that is not missing, the nearest allowed ones lie, in order.

    For categories these are all values. For numbers they are the ends of the domain and of the targets, and the grid points
    next to each constant that a head compares with: between two of those, allowed values end nowhere. A number's own neighbours are
    not needed, since a violated value lies strictly outside every allowed range. With `tests`, the points next to
    their constants are listed as well.
    """
    domain = feature.domain
    if not feature.kind.is_number:
        return [domain.value(place) for place in range(domain.size)]
    places = {0, domain.size - 1}
    if feature.targets is not None:
        ends = (feature.targets.value(0), feature.targets.value(feature.targets.size - 1))
        places |= {place for end in ends if (place := feature.place(end)) is not None}
    heads = [test for clause in theory.rules_of[feature.name] for test in clause.head]
    for test in (*heads, *(tests or ())):
        assert not isinstance(test.constant, str)
        constant = exact(test.constant)
        after, past = domain.first_place_from(constant), domain.first_place_past(constant)
        places |= {after - 1, after, past, past - 1}
    return [domain.value(place) for place in sorted(places) if 0 <= place < domain.size]
