"""Minimize the largest cost of a feature (bottleneck bound).

Where the largest cost on a feature counts, a ceiling on every action rises until paths open.

Under a ceiling all that is left to compare is the number of actions, the way and the sequence, which add up, so every bound
and every pruning of the search holds. What arrives under a ceiling and touches it was not open under the one before. The next
ceiling is the least cost that was kept out, so none is passed over; where nothing was, there is no other path. Where a model
weighs numbers, every value has a cost of its own: there the first ceiling is found by halving.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from p2c._plan.compiled.transitions import Ceiling
from p2c._plan.search.best_first import Arrival, LimitReached
from p2c._plan.search.courses import first_where
from p2c._spec.spec import Minimize

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from p2c._plan.compiled.person import Person
    from p2c._plan.compiled.transitions import Transitions
    from p2c._plan.search.best_first import Limits

    Search = Callable[[Transitions], Iterator[Arrival]]


def under_ceilings(
    transitions: Transitions,
    search: Search,
    may_arrive: Callable[[Transitions], bool] | None,
    limits: Limits,
) -> Iterator[Arrival]:
    """Yield paths in the contract's order.

    Where actions come before the cost, paths with equally many actions come together.

    `may_arrive` is a look ahead where a model weighs numbers, None elsewhere.
    """
    lowest: int | None = 0
    if may_arrive is not None:
        lowest = _seen(transitions, may_arrive, limits)
        if lowest is not None and transitions.person.space.selects:
            reached = _reached(transitions, search, lowest, limits)
            lowest = None if reached is None else largest(transitions.person, reached)
    if lowest is None:
        return
    by_actions = transitions.person.space.theory.minimize is Minimize.ACTIONS
    actions: float = 0 if by_actions else math.inf
    while True:
        more = math.inf
        ceiling = Ceiling(transitions.person, lowest)
        while True:
            for arrival in _under(transitions, ceiling, search, limits):
                if arrival.direct > actions:
                    more = min(more, arrival.direct)
                    break
                touches = largest(transitions.person, arrival) == ceiling.most
                if touches and (not by_actions or arrival.direct == actions):
                    yield priced(transitions.person, arrival)
            if ceiling.beyond is None:
                break
            ceiling = Ceiling(transitions.person, ceiling.beyond)
        if more == math.inf:
            return
        actions = more


def _highest(person: Person) -> int:
    """Return a ceiling that keeps nothing out.

    Along `moves` a feature goes each way at most once from each of its values.
    """
    axes = person.space.axes
    most = max((each.size for each in axes if each.feature.moves_from is not None), default=1)
    return most * max(
        person.price(index, place, end)
        for index, axis in enumerate(person.space.axes)
        for place in {person.places[index], 0, axis.size - 1}
        for end in (0, axis.size - 1)
    )


def _seen(
    transitions: Transitions, may_arrive: Callable[[Transitions], bool], limits: Limits
) -> int | None:
    """Return the least ceiling under which reachability allows a path, or None."""

    def seen(most: int) -> bool:
        if limits.is_over:
            raise LimitReached(0, None)
        return may_arrive(_lowered(transitions, Ceiling(transitions.person, most)))

    if not may_arrive(transitions):
        return None
    return first_where(0, _highest(transitions.person), seen)


def best_under_ceilings(
    transitions: Transitions, search: Search, limits: Limits
) -> Iterator[Arrival]:
    """Yield the best path, if there is one.

    Sound because a path under a ceiling is one under every higher ceiling: the best path under a ceiling that it stays below is
    the best under each ceiling that it touches.
    """
    person = transitions.person
    actions = None
    if person.space.theory.minimize is Minimize.ACTIONS:
        free = Ceiling(person, _highest(person))
        arrival = next(_under(transitions, free, search, limits), None)
        if arrival is None:
            return
        actions = arrival.direct
    best = _reached(transitions, search, 0, limits, actions)
    if best is not None:
        yield best


def _reached(
    transitions: Transitions,
    search: Search,
    lowest: int,
    limits: Limits,
    actions: int | None = None,
) -> Arrival | None:
    """Return a path under the least ceiling that has one; None if there is none.

    It is found by halving the gap between a ceiling that is too low and the cost of a path.

    Args:
        transitions: The moves of the person.
        search: Yields the best path under a ceiling first.
        lowest: A ceiling below which there is no path.
        limits: Limits of the search.
        actions: Number of direct actions of the path; None if it may have any.
    """
    person = transitions.person
    best: Arrival | None = None
    most, highest = lowest, max(_highest(person), lowest)
    while True:
        ceiling = Ceiling(person, most)
        try:
            arrival = next(_under(transitions, ceiling, search, limits), None)
        except LimitReached as reached:
            # Ceilings are tried out of their order: only what lies below the lowest is known to be too low.
            raise LimitReached(lowest * person.prices.per_cost, best or reached.best) from None
        if arrival is not None and actions in (None, arrival.direct):
            best = priced(person, arrival)
            highest = largest(person, arrival)
        elif ceiling.beyond is None:
            return None
        else:
            lowest = ceiling.beyond
            highest = max(highest, lowest) if best is None else highest
        if best is not None and lowest >= highest:
            return best
        most = highest if best is None else (lowest + highest) // 2


def _lowered(transitions: Transitions, ceiling: Ceiling) -> Transitions:
    """Return what can happen under a ceiling, an effort being the number of direct actions."""
    person = transitions.person
    prices = person.prices._replace(per_cost=0, per_action=1)
    return replace(transitions, person=replace(person, prices=prices), ceiling=ceiling)


def _under(
    transitions: Transitions, ceiling: Ceiling, search: Search, limits: Limits
) -> Iterator[Arrival]:
    """Yield paths under a ceiling: an effort is the number of direct actions there."""
    person = transitions.person
    try:
        if limits.is_over:
            raise LimitReached(0, None)
        yield from search(_lowered(transitions, ceiling))
    except LimitReached as reached:
        best = reached.best and priced(person, reached.best)
        raise LimitReached(ceiling.most * person.prices.per_cost, best) from None


def priced(person: Person, arrival: Arrival) -> Arrival:
    """Return a path with the effort that the person has of it."""
    prices = person.prices
    effort = largest(person, arrival) * prices.per_cost + arrival.direct * prices.per_action
    return arrival._replace(effort=effort)


def largest(person: Person, arrival: Arrival) -> int:
    """Return the largest cost of a path on a feature, in whole numbers."""
    gone: dict[int, int] = {}
    prices = [0]
    for move in arrival.moves:
        if move.direct:
            before = gone.get(move.axis, 0)
            prices.append(person.price(move.axis, move.start, move.end, gone=before))
            gone[move.axis] = before + person.length(move.axis, move.start, move.end)
    return max(prices)
