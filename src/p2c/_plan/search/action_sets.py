"""Put sets of direct actions in order.

A plan is a set of direct actions and an order, in which effects follow. Searches choose sets; this module finds the best path
of each set to each of its ends, and defines the lead of such paths.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from p2c._plan.compiled.axis import OFF
from p2c._plan.compiled.bitsets import mask_of
from p2c._plan.compiled.transitions import Variety
from p2c._plan.search.best_first import Arrival, Key, Move, chain_of
from p2c._plan.search.ends import Ends
from p2c._plan.search.options import placed
from p2c._plan.search.order import Ordering, orders
from p2c._plan.search.propagation import Propagation
from p2c._plan.search.relaxed_reach import RelaxedReach
from p2c._spec.spec import Effects

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from p2c._plan.compiled.person import Places
    from p2c._plan.compiled.transitions import Transitions
    from p2c._plan.search.best_first import Lead, Limits
    from p2c._plan.search.options import Choice, Option, Options


@dataclass(frozen=True)
class ActionSets:
    """The sets of one person's options that were put in order.

    With `every`, all end states are wanted, so that a set that arrives may be extended.
    """

    options: Options
    land: Callable[[Arrival], Lead | Arrival]
    every: bool = False
    first_only: bool = True
    arrived: list[int] = field(default_factory=list)
    """The sets that have arrived so far, as masks."""
    closed: list[int] = field(default_factory=list)
    """Those of them that are not extended."""

    @cached_property
    def _ends(self) -> Ends:
        return Ends(self.options)

    @cached_property
    def _reach(self) -> RelaxedReach:
        return RelaxedReach(
            self.options.transitions, tuple(self.options.listed), self.options.by_axis
        )

    @cached_property
    def _propagation(self) -> Propagation:
        return Propagation(self._reach, self.first_only)

    def orders(self, choice: Choice, rests: list[int], limits: Limits) -> Iterator[Arrival]:
        """Yield the best paths that do just a set, best first; endogenous features end in the given regions.

        Options that effects do not depend on are taken as done while the others are put in order, and are inserted at their first
        place in the order of ties. If a part of the set reaches the goal without the rest, the place of each of them
        matters. If only the best path is wanted, a path that passes the goal is beaten by its beginning.
        """
        ordered = partial(self._ordered, choice, rests, limits)
        # Calm actions that are put off leave time for optional effects, which lead to other ends.
        lingers = not self.first_only and self.options.space.theory.effects is Effects.SUPPORTED
        halts = contains_one(mask_of(choice.chosen), self.arrived) or lingers
        ends: set[Places] = set()
        for arrival in ordered(halts=halts):
            if passes_the_goal(self.options.transitions, arrival):
                yield from ordered(halts=True)
                return
            yield arrival
            ends.add(arrival.places)
            if len(ends) >= self._most_ends(choice, limits):
                return

    def _ordered(
        self, choice: Choice, rests: list[int], limits: Limits, *, halts: bool
    ) -> Iterator[Arrival]:
        transitions, reach = self.options.transitions, self._reach
        chosen = choice.chosen if halts else self._stirring(choice.chosen)
        calm = self._rest_of(choice.chosen, chosen)

        def strays(position: int, place: int) -> bool:
            return not reach.region(position, place) & rests[position]

        def arrives(places: Places) -> bool:
            astray = any(strays(n, places[axis]) for axis, n in reach.position.items())
            return not astray and transitions.judge(placed(places, calm)).goal

        may_come = partial(reach.may_come, rests=rests)
        ordering = Ordering(self.options, chosen, arrives, strays, halts, {}, may_come)
        for arrival in orders(ordering, limits):
            yield joined(transitions, arrival, calm)

    def _most_ends(self, choice: Choice, limits: Limits) -> float:
        """Return an upper bound of the number of goal states in which a set ends."""
        places, governed = self.options.transitions.person.places, self.options.space.governed_axes
        points = self.options.transitions.variety is Variety.POINTS
        if points and any(self.options.listed[number].axis in governed for number in choice.chosen):
            return math.inf
        if any(places[index] == OFF for index in governed):
            return math.inf
        return sum(
            self.options.transitions.judge(each).goal for each in self.ends(choice.chosen, limits)
        )

    def ends(self, chosen: tuple[int, ...], limits: Limits) -> list[Places]:
        """Return the states in which all orders of some options end."""
        stirring = self._stirring(chosen)
        calm = self._rest_of(chosen, stirring)
        return [placed(places, calm) for places in self._ends.states(stirring, limits)]

    def _stirring(self, chosen: tuple[int, ...]) -> tuple[int, ...]:
        """Return the options that effects depend on while all of them are done.

        Of options that were added on the way, it is all on features that effects depend on.
        """
        added = bool(chosen) and max(chosen) >= len(self._reach.options)
        return (self.options.stirring_of if added else self._reach.stirring)(chosen)

    def _rest_of(self, chosen: tuple[int, ...], done: tuple[int, ...]) -> list[Option]:
        return [self.options.listed[number] for number in chosen if number not in done]


class OrderLead(NamedTuple):
    """The best path of a set, and its paths to other states."""

    search: ActionSets
    key: Key
    known: Arrival
    further: Iterator[Arrival]

    def follow(self, limits: Limits) -> Iterable[Lead | Arrival]:
        """Yield the path, then the next best."""
        yield self.search.land(self.known)
        if self.search.first_only:
            return
        following = next(self.further, None)
        if following is not None:
            yield OrderLead(self.search, following.key, following, self.further)


def passes_the_goal(transitions: Transitions, arrival: Arrival) -> bool:
    """Tell whether a path comes to the goal before its end."""
    places = list(transitions.person.places)
    for move in arrival.moves[:-1]:
        places[move.axis] = move.end
        if transitions.judge(tuple(places)).goal:
            return True
    return False


def contains_one(mask: int, sets: Iterable[int]) -> bool:
    """Tell whether a set of options contains one of several sets."""
    return any(each & mask == each for each in sets)


def choice_key(options: Options, chosen: tuple[int, ...], effort: int) -> Key:
    """Return a lower bound of the keys of the paths of a set: no effect happens, in the order of the features."""
    listed = [options.listed[number] for number in chosen]
    way = sum(each.way for each in listed)
    governed = options.space.governed_axes
    if any(each.axis in governed for each in listed):
        return Key(effort=effort, length=len(chosen), way=way, sequence=())
    ordered = sorted(listed, key=lambda each: each.axis)
    sequence = tuple([(each.axis, place) for each in ordered for place in each.trail])
    return Key(effort=effort, length=len(sequence), way=way, sequence=sequence)


def joined(transitions: Transitions, arrival: Arrival, calm: list[Option]) -> Arrival:
    """Return a path with calm actions inserted, each before the first action that comes after it and can wait."""
    own = transitions.person.places
    waiting = [
        Move(each.axis, start, end, True, 0, False, each.among if end == each.end else (end,))
        for each in sorted(calm, key=lambda each: each.axis, reverse=True)
        for start, end in reversed(list(pairwise((own[each.axis], *each.trail))))
    ]
    made: list[Move] = []
    places = own
    for move in arrival.moves:
        while (
            waiting
            and waiting[-1].axis < move.axis
            and (move.direct or transitions.judge(places).consistent)
        ):
            made.append(waiting.pop())
        made.append(move)
        places = (*places[: move.axis], move.end, *places[move.axis + 1 :])
    made += waiting[::-1]
    return Arrival(
        arrival.effort + sum(each.effort for each in calm),
        arrival.way + sum(each.way for each in calm),
        placed(arrival.places, calm),
        chain_of(made),
    )
