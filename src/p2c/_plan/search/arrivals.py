"""Where the search begins, which depends on what decides.

Rules: sets of direct actions, chosen first (`set_search`). A model of tables: boxes of them (`box_search`); one that also weighs
numbers: boxes with parts of each number's line (`line_search`). Where sets cannot be chosen first: states (`states`).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from p2c._plan.search.best_first import LimitReached, best_first
from p2c._plan.search.ceilings import best_under_ceilings, under_ceilings
from p2c._plan.search.courses import SpanOptions
from p2c._plan.search.devices import ALL, Device
from p2c._plan.search.options import Options
from p2c._plan.search.propagation import Propagation, some_state
from p2c._plan.search.relaxed_reach import RelaxedReach
from p2c._plan.search.set_search import SetSearch
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

    Where only the best is wanted (`first_only`), prunings that lose others are used. Where more is wanted, `every` says that all
    end states are, not only those that differ in kind.
    `land` turns a path to a region into what is searched on among its places. `devices` are what keeps the search short.
    Raises `LimitReached` at once where too many places would have to be followed one by one.
    """
    space = transitions.person.space
    settable = space.settable if every else space.relevant
    weighs = space.wants_accepted and bool(space.weighed_axes)

    learns = first_only and space.selects_best and Device.LEARNING in devices

    def search(transitions: Transitions) -> Iterator[Arrival]:
        if learns:
            from p2c._plan.search.plan_search import PlanSearch

            return PlanSearch(transitions, settable, limits).arrivals()
        landing = partial(land, transitions)
        if not space.selects:
            return best_first(StateSearch(transitions, settable, landing).leads(), limits)
        if weighs:
            from p2c._plan.search.line_search import LineSearch

            spans = SpanOptions(transitions, settable)
            return best_first(
                LineSearch(spans, landing, every, first_only, devices).leads(), limits
            )
        kind = SetSearch
        if space.wants_accepted:
            # It brings arrays along, for which nobody waits whom rules alone decide about.
            from p2c._plan.search.box_search import BoxSearch

            kind = BoxSearch
        options = Options(transitions, settable)
        return best_first(kind(options, landing, every, first_only, devices).leads(), limits)

    if space.has_too_many_places:
        raise LimitReached(0, None)
    looks_ahead = not (space.selects or learns) and Device.RELAXED_REACH in devices
    if looks_ahead and not may_arrive(transitions, limits):
        return iter(())
    if not space.theory.norm.largest:
        return search(transitions)
    if learns:
        return best_under_ceilings(transitions, search, limits)
    return under_ceilings(
        transitions, search, partial(may_arrive, limits=limits) if weighs else None, limits
    )


def may_arrive(transitions: Transitions, limits: Limits) -> bool:
    """Tell whether a look ahead sees a way to the goal; where it does not, there is none."""
    space = transitions.person.space
    options = SpanOptions(transitions, space.relevant)
    if space.wants_accepted and space.weighed_axes:
        from p2c._plan.search.line_search import LineSearch

        # Moves and supported effects only take more steps to where rules may lead at all.
        landing = partial(_landed, transitions)
        return any(LineSearch(options, landing, first_only=False).leads())
    reach = RelaxedReach(transitions, tuple(options.listed), options.by_axis)
    left = (1 << len(options.listed)) - 1
    end = Propagation(reach, first_only=False).of((), left)
    if end is None or space.model_bit:
        # Whether some state is accepted at all is what a search finds out.
        return end is not None
    return some_state(end, limits)
