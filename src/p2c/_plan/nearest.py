"""The k nearest: end states in the order of their cost, each with its own best path, one at a time.

The search works on regions, whose places have the same future; `search.variations` takes each path of regions to the
places within them. A way that contains a cheaper one adds something pointless to it and is none of its own.
"""

from __future__ import annotations

from enum import Enum
from itertools import chain
from typing import TYPE_CHECKING

from p2c._plan.answer import found
from p2c._plan.boxes import planner as boxes
from p2c._plan.compiled.person import place_person
from p2c._plan.compiled.transitions import Transitions, Variety
from p2c._plan.outcome import Found, Infeasible
from p2c._plan.planner import find_plan, gave_up
from p2c._plan.search.arrivals import arrivals
from p2c._plan.search.best_first import Arrival, LimitReached, Limits
from p2c._plan.search.variations import varied

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from p2c._plan.compiled.person import Places
    from p2c._plan.compiled.space import Space
    from p2c._plan.outcome import DirectAction, Plan, TakenAction
    from p2c._rules.theory import Theory
    from p2c._spec.feature import Value

    Direct = DirectAction | TakenAction


class Distinct(Enum):
    """What makes two end states different: a value, or something that a rule can see.

    Where they differ in kind, a way that contains another one is no other way.
    """

    POINTS = "points"
    CELLS = "cells"


def nearest_plans(
    space: Space,
    state: Mapping[str, Value],
    *,
    distinct: Distinct = Distinct.POINTS,
    limits: Limits | None = None,
    first: Plan | None = None,
) -> Iterator[Plan]:
    """Yield plans to distinct end states, cheapest first; one if the goal holds at the start, none if no way exists.

    The first is the plan, at its price, and is not looked for again where it is given. Where a limit ends the search,
    that it gave up comes last.
    """
    limits = limits or Limits()
    if space.theory.is_arithmetic:
        yield from _with_arithmetic(space.theory, state, distinct, limits)
        return
    first = first or find_plan(space, state, limits)
    if isinstance(first, Infeasible):
        return
    yield first
    if not isinstance(first, Found):
        return
    variety = Variety.POINTS if distinct is Distinct.POINTS else Variety.PLANS
    transitions = Transitions(place_person(space, state), variety)
    paths = (
        _points(transitions, limits) if variety is Variety.POINTS else _cells(transitions, limits)
    )
    plans: Iterator[Found] = (found(transitions, first.question, arrival) for arrival in paths)
    if distinct is Distinct.CELLS:
        plans = ways_of_their_own(space.theory, plans)
    end = first.end  # an engine that breaks ties in its own way may have another than the search
    try:
        yield from (each for each in plans if each.end != end)
    except LimitReached as reached:
        yield gave_up(transitions, first.question, reached)


def _with_arithmetic(
    theory: Theory, state: Mapping[str, Value], distinct: Distinct, limits: Limits
) -> Iterator[Plan]:
    """Yield plans to distinct end states of a problem with arithmetic.

    Where ends differ by what rules can see, every value of a feature that arithmetic reads counts as seen.
    """
    every = boxes.plans(theory, state, limits)
    first = next(every)
    if isinstance(first, Infeasible):
        return
    if distinct is Distinct.POINTS or not isinstance(first, Found):
        yield first
        yield from every
        return
    kept: list[Found] = []
    for plan in chain([first], every):
        if not isinstance(plan, Found):
            yield plan
        elif not any(contains(theory, plan, each) for each in kept):
            yield plan
            kept.append(plan)


def _cells(transitions: Transitions, limits: Limits) -> Iterator[Arrival]:
    """Yield paths to ends that some rule tells apart."""
    axes = transitions.person.space.axes
    ends: set[Places] = set()
    for arrival in arrivals(transitions, limits, first_only=False):
        cells = tuple(
            place if place < 0 else axis.cell(place)
            for axis, place in zip(axes, arrival.places, strict=True)
        )
        if cells not in ends:
            ends.add(cells)
            yield arrival


def _points(transitions: Transitions, limits: Limits) -> Iterator[Arrival]:
    """Yield paths to ends that differ in some value."""
    seen: set[Places] = set()
    for arrival in arrivals(transitions, limits, first_only=False, every=True, land=varied):
        if arrival.places not in seen:
            seen.add(arrival.places)
            yield arrival


def ways_of_their_own(theory: Theory, plans: Iterable[Found]) -> Iterator[Found]:
    """Yield the plans that contain no plan before them, in their order."""
    before: list[Found] = []
    for plan in plans:
        if not any(contains(theory, plan, each) for each in before):
            yield plan
        before.append(plan)


def contains(theory: Theory, plan: Found, other: Found) -> bool:
    """Tell whether a plan does all that another one does directly, each as far or farther, and more than that."""
    mine, theirs = plan.actions, other.actions
    same = {(each.feature, each.end) for each in theirs}
    if same == {(each.feature, each.end) for each in mine}:
        # The same in another order, which leads elsewhere.
        return False
    return all(
        any(one.feature == each.feature and _reaches(theory, one, each) for one in mine)
        for each in theirs
    )


def _reaches(theory: Theory, mine: Direct, other: Direct) -> bool:
    if mine.end == other.end:
        return True
    feature = theory.feature[mine.feature]
    if not feature.has_order or other.start is None or mine.end is None or other.end is None:
        return False
    start, short, far = (feature.order(each) for each in (other.start, other.end, mine.end))
    return start < short < far or start > short > far
