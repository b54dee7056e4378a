"""Choose the search by the kind of problem.

Rules decide: the clause search (`plan_search`, `enumeration`). A parsed model of tables decides: boxes of actions (`box_search`); if it
also weighs numbers: boxes with intervals of them (`line_search`). If there are too many trails of moves, or a model decides
and the order of actions matters: state by state (`states`).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from p2c._plan.search.best_first import LimitReached, best_first
from p2c._plan.search.ceilings import best_under_ceilings, under_ceilings
from p2c._plan.search.courses import SpanOptions
from p2c._plan.search.devices import ALL, Device
from p2c._plan.search.enumeration import Enumeration
from p2c._plan.search.options import Options
from p2c._plan.search.plan_search import PlanSearch
from p2c._plan.search.propagation import Propagation
from p2c._plan.search.relaxed_reach import RelaxedReach
from p2c._plan.search.states import StateSearch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from p2c._plan.compiled.transitions import Transitions
    from p2c._plan.search.best_first import Arrival, Lead, Limits
    from p2c._plan.search.devices import Devices


def _landed(_: Transitions, arrival: Arrival) -> Arrival:
    return arrival


def arrivals(
    transitions: Transitions,
    limits: Limits,
    *,
    first_only: bool = True,
    every: bool = False,
    land: Callable[[Transitions, Arrival], Lead | Arrival] = _landed,
    devices: Devices = ALL,
) -> Iterator[Arrival]:
    """Yield the paths from a person's state to the goal in the contract's order, lazily.

    Args:
        transitions: The moves of the person.
        limits: Limits of the search.
        first_only: Whether only the best path is wanted.
        every: Whether all end states are wanted, not only those that differ in kind.
        land: Turns a path to a region into a lead of the paths to its places.
        devices: The prunings in use.

    Raises:
        LimitReached: At once if too many places would have to be followed one by one.
    """
    space = transitions.person.space
    settable = space.settable if every else space.relevant
    weighs = space.wants_accepted and bool(space.weighed_axes)
    chooses = space.selects_best if first_only else space.selects

    def search(transitions: Transitions) -> Iterator[Arrival]:
        landing = partial(land, transitions)
        # Boxes hold what a model accepts, so that they do where the goal has to be accepted only.
        decides = space.theory.model is not None and not space.wants_accepted
        if decides or (not chooses and not space.selects):
            return best_first(StateSearch(transitions, settable, landing).leads(), limits)
        if space.theory.model is None:
            master = PlanSearch(transitions, settable, limits, first_only, devices)
            if first_only:
                return master.arrivals()
            return best_first(Enumeration(master, landing, every=every).leads(), limits)
        if weighs:
            from p2c._plan.search.line_search import LineSearch

            spans = SpanOptions(transitions, settable)
            return best_first(LineSearch(spans, landing, every, first_only).leads(), limits)
        # It brings arrays along, which problems without a model do without.
        from p2c._plan.search.box_search import BoxSearch

        options = Options(transitions, settable)
        return best_first(BoxSearch(options, landing, every, first_only).leads(), limits)

    if space.has_too_many_places:
        raise LimitReached(0, None)
    looks_ahead = not (chooses or space.selects) and Device.RELAXED_REACH in devices
    if looks_ahead and not may_arrive(transitions, limits):
        return iter(())
    if not space.theory.norm.largest:
        return search(transitions)
    if first_only and space.theory.model is None and chooses:
        return best_under_ceilings(transitions, search, limits)
    return under_ceilings(
        transitions, search, partial(may_arrive, limits=limits) if weighs else None, limits
    )


def may_arrive(transitions: Transitions, limits: Limits) -> bool:
    """Tell whether a relaxation has a path to the goal."""
    space = transitions.person.space
    if space.wants_accepted and space.weighed_axes:
        from p2c._plan.search.line_search import LineSearch

        # Moves and optional effects only take more steps to where rules may lead at all.
        spans = SpanOptions(transitions, space.relevant)
        landing = partial(_landed, transitions)
        return any(LineSearch(spans, landing, first_only=False).leads())
    if space.theory.model is None:
        return PlanSearch(transitions, space.relevant, limits, first_only=False).may_arrive()
    options = Options(transitions, space.relevant)
    reach = RelaxedReach(transitions, tuple(options.listed), options.by_axis)
    left = (1 << len(options.listed)) - 1
    return Propagation(reach, first_only=False).of((), left) is not None
