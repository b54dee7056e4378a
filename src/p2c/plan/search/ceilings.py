"""Costs that are no sums: where the largest cost on a feature counts, a ceiling on every action rises until paths open.

Under a ceiling all that is left to compare is the number of actions, the way and the sequence, which add up, so every bound
and every pruning of the search holds. What arrives under a ceiling and touches it was not open under the one before. The next
ceiling is the least cost that was kept out, so none is passed over; where nothing was, there is no other path. Where a model
weighs numbers, every value has a cost of its own: there the first ceiling is found by halving.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from p2c.domain.spec import Minimize
from p2c.plan.compiled.transitions import Ceiling
from p2c.plan.search.best_first import Arrival, LimitReached
from p2c.plan.search.courses import first_where

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from p2c.plan.compiled.person import Person
    from p2c.plan.compiled.transitions import Transitions

    Search = Callable[[Transitions], Iterator[Arrival]]


def under_ceilings(
    transitions: Transitions, search: Search, may_arrive: Callable[[Transitions], bool] | None
) -> Iterator[Arrival]:
    """Yield paths in the contract's order; where actions come before the cost, those with equally many together."""
    lowest = 0 if may_arrive is None else _lowest(transitions, search, may_arrive)
    if lowest is None:
        return
    by_actions = transitions.person.space.theory.minimize is Minimize.ACTIONS
    actions: float = 0 if by_actions else math.inf
    while True:
        more = math.inf
        ceiling = Ceiling(transitions.person, lowest)
        while True:
            for arrival in _under(transitions, ceiling, search):
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


def _lowest(
    transitions: Transitions, search: Search, may_arrive: Callable[[Transitions], bool]
) -> int | None:
    """Return the least ceiling under which there is a path, or where states are followed a look ahead sees one; None if none."""
    person = transitions.person
    highest = max(
        person.price(index, place, end)
        for index, axis in enumerate(person.space.axes)
        for place in {person.places[index], 0, axis.size - 1}
        for end in (0, axis.size - 1)
    )

    def seen(most: int) -> bool:
        return may_arrive(_lowered(transitions, Ceiling(person, most)))

    def reached(most: int) -> bool:
        return next(_under(transitions, Ceiling(person, most), search), None) is not None

    if not may_arrive(transitions):
        return None
    lowest = first_where(0, highest, seen)
    if not person.space.selects or reached(lowest):
        return lowest
    # A path under a ceiling is one under every higher ceiling.
    return first_where(lowest + 1, highest, reached) if reached(highest) else None


def _lowered(transitions: Transitions, ceiling: Ceiling) -> Transitions:
    """Return what can happen under a ceiling, an effort being the number of direct actions."""
    person = transitions.person
    prices = person.prices._replace(per_cost=0, per_action=1)
    return replace(transitions, person=replace(person, prices=prices), ceiling=ceiling)


def _under(transitions: Transitions, ceiling: Ceiling, search: Search) -> Iterator[Arrival]:
    """Yield paths under a ceiling: an effort is the number of direct actions there."""
    person = transitions.person
    try:
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
