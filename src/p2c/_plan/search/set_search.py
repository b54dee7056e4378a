"""Large problems: choose the set of direct actions first, then the order in which they are done.

A plan is a set of direct actions, at most one a feature, and an order. Sets are tried best first. Where a set falls
short, there are reasons: a rule that surely fires still, a test that surely fails, a feature that cannot keep its value.
Any larger set that reaches the goal contains an action that remedies each of them, so only the actions of the narrowest
reason are branched on (goal-directed, as s(CASP) is), and all reasons together bound what is still needed. `propagation` looks
at what may still come, `landmarks` at what surely does not, `order` puts a set in order; where these do not decide, all
orders of the set are followed to their ends.

This needs features that are set at most once, or along few trails of `moves`, each of which is an option of its own; what has
`moves` and causal rules is set as often as its moves allow, which is decided with the order. Effects that are `supported` may happen or not between the actions of a set, wherever it
is put in order. Other problems are searched state by state.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from p2c._plan.compiled.axis import OFF
from p2c._plan.compiled.bitsets import mask_of, numbers
from p2c._plan.compiled.transitions import Variety
from p2c._plan.search.best_first import START, Arrival, Key, Move, chain_of
from p2c._plan.search.bounds import known_reasons
from p2c._plan.search.devices import ALL, Device
from p2c._plan.search.ends import Ends
from p2c._plan.search.influencing_options import InfluencingOptions
from p2c._plan.search.landmarks import Standing
from p2c._plan.search.least_efforts import least_efforts
from p2c._plan.search.options import Choice, placed
from p2c._plan.search.order import Beaten, Ordering, orders
from p2c._plan.search.propagation import Propagation
from p2c._plan.search.relaxed_reach import RelaxedReach
from p2c._plan.search.shares import shares
from p2c._plan.search.stopovers import Stopovers
from p2c._plan.search.unmet_reasons import UnmetReasons
from p2c._spec.spec import Effects

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from p2c._plan.compiled.person import Places
    from p2c._plan.compiled.transitions import Transitions
    from p2c._plan.search.best_first import Lead, Limits
    from p2c._plan.search.devices import Devices
    from p2c._plan.search.options import Option, Options
    from p2c._plan.search.propagation import End


NOTHING: Mapping[int, int] = {}


@dataclass(frozen=True)
class SetSearch:
    """What is searched by sets of one person's options.

    `every` end is wanted where end states count, so that a set that arrives may be added to; else a set that contains
    one that arrives is not looked at.
    """

    options: Options
    land: Callable[[Arrival], Lead | Arrival]
    every: bool = False
    first_only: bool = True
    devices: Devices = ALL
    arrived: list[int] = field(default_factory=list)
    """The sets that have arrived so far, as masks."""
    closed: list[int] = field(default_factory=list)
    """Those of them to which nothing is worth adding."""
    efforts: list[int] = field(default_factory=list)
    """What they took, where only the best is wanted."""

    def leads(self) -> Iterator[Lead]:
        """Yield where the search begins."""
        yield ChoiceLead(self, START, Choice(0, (), 0), None, None)

    @cached_property
    def _ends(self) -> Ends:
        return Ends(self.options, self._stopovers)

    @cached_property
    def _stopovers(self) -> Stopovers | None:
        transitions = self.options.transitions
        # Under a ceiling, places that are alike are not open alike.
        alike = transitions.variety is Variety.PLANS and transitions.ceiling is None
        useful = alike and self.first_only and Device.STOPOVERS in self.devices
        return Stopovers(self._reach) if useful else None

    @cached_property
    def _influencing(self) -> InfluencingOptions:
        return InfluencingOptions(self.options, self._ends.restless)

    @cached_property
    def _reach(self) -> RelaxedReach:
        return RelaxedReach(
            self.options.transitions, tuple(self.options.listed), self.options.by_axis
        )

    @cached_property
    def _propagation(self) -> Propagation:
        dominance = self.first_only and Device.DOMINATED_OPTIONS in self.devices
        return Propagation(self._reach, dominance)

    def end(self, choice: Choice, past: End | None) -> End | None:
        """Return what a choice may end with, or None where it leads nowhere."""
        left = self.options.open(choice)
        if Device.PROPAGATION in self.devices:
            return self._propagation.of(choice.chosen, left, past)
        return self._propagation.widest.narrowed(choice.chosen, left)

    def shares(self, reasons: list[int]) -> list[int]:
        """Return what each reason adds to the effort of a choice at least."""
        if Device.SHARES not in self.devices:
            return [0] * len(reasons)
        return shares(self.options.listed, reasons)

    def standing(self, choice: Choice, end: End) -> Standing:
        """Return where a choice stands that may end with this."""
        return Standing(self.options, self._influencing, self._ends, choice, end)

    def unmet_reasons(self, standing: Standing, limits: Limits) -> list[int]:
        """Return why no order of a choice reaches the goal."""
        chosen, landmarks = standing.choice.chosen, standing.landmarks
        ends = self.ends(chosen, limits, landmarks.rests)
        strays = self._ends.strays(self._stirring(chosen), limits, landmarks.rests)
        return UnmetReasons(self.options, self._influencing).reasons(ends, strays, landmarks)

    def orders(
        self, choice: Choice, rests: list[int], limits: Limits, least: Mapping[int, int] = NOTHING
    ) -> Iterator[Arrival]:
        """Yield the best paths that take just this choice, best first; governed features end in the given regions.

        Where a better path is known than all that are left, they are `Beaten`.

        What stirs nothing is taken as done while the others are put in order, and then slipped in where it comes first;
        but where some of the choice reaches the goal without the rest, it matters when. A path that comes to the goal
        before its end is beaten by its beginning, if only the best is wanted.
        """
        ordered = partial(self._ordered, choice, rests, limits, least)
        # What calm actions put off leaves time for effects that are only supported, which lead to other ends.
        lingers = not self.first_only and self.options.space.theory.effects is Effects.SUPPORTED
        halts = not self.efforts and contains_one(mask_of(choice.chosen), self.arrived)
        paths = ordered(halts=halts or lingers)
        ends: set[Places] = set()
        for arrival in paths:
            if self._passes_the_goal(arrival):
                if self.efforts:
                    raise Beaten
                yield from ordered(halts=True)
                return
            yield arrival
            ends.add(arrival.places)
            if len(ends) >= self._most_ends(choice, rests, limits):
                return

    def _ordered(
        self,
        choice: Choice,
        rests: list[int],
        limits: Limits,
        least: Mapping[int, int],
        *,
        halts: bool,
    ) -> Iterator[Arrival]:
        transitions, reach = self.options.transitions, self._reach
        chosen = choice.chosen if halts else self._stirring(choice.chosen)
        calm = self._rest_of(choice.chosen, chosen)

        def strays(position: int, place: int) -> bool:
            return not reach.region(position, place) & rests[position]

        def arrives(places: Places) -> bool:
            astray = any(strays(n, places[axis]) for axis, n in reach.position.items())
            return not astray and transitions.judge(placed(places, calm)).goal

        most = min(self.efforts, default=math.inf) - sum(each.effort for each in calm)
        looks = Device.REACH_OF_ORDERS in self.devices
        may_come = partial(reach.may_come, rests=rests) if looks else None
        ordering = Ordering(
            self.options, chosen, arrives, strays, halts, least, most, may_come, self._stopovers
        )
        for arrival in orders(ordering, limits):
            yield joined(transitions, arrival, calm)

    def _passes_the_goal(self, arrival: Arrival) -> bool:
        """Tell whether a path comes to the goal before its end."""
        transitions = self.options.transitions
        places = list(transitions.person.places)
        for move in arrival.moves[:-1]:
            places[move.axis] = move.end
            if transitions.judge(tuple(places)).goal:
                return True
        return False

    def _most_ends(self, choice: Choice, rests: list[int], limits: Limits) -> float:
        """Return in how many goal states a choice can end at most; where places are left to vary, that is not known."""
        places, governed = self.options.transitions.person.places, self.options.space.governed_axes
        points = self.options.transitions.variety is Variety.POINTS
        if points and any(self.options.listed[number].axis in governed for number in choice.chosen):
            return math.inf
        if any(places[index] == OFF for index in governed):
            return math.inf
        return sum(
            self.options.transitions.judge(each).goal
            for each in self.ends(choice.chosen, limits, rests)
        )

    def ends(
        self, chosen: tuple[int, ...], limits: Limits, rests: Sequence[int] | None = None
    ) -> list[Places]:
        """Return the states in which doing all chosen options can end; where a feature was set, in given regions only."""
        stirring = self._stirring(chosen)
        calm = self._rest_of(chosen, stirring)
        return [placed(places, calm) for places in self._ends.spread(stirring, limits, rests)]

    def _stirring(self, chosen: tuple[int, ...]) -> tuple[int, ...]:
        """Return those of some options that can set off effects; of options added on the way, all on features that can."""
        added = bool(chosen) and max(chosen) >= len(self._reach.options)
        return (self.options.stirring_of if added else self._reach.stirring)(chosen)

    def _rest_of(self, chosen: tuple[int, ...], done: tuple[int, ...]) -> list[Option]:
        return [self.options.listed[number] for number in chosen if number not in done]


class ChoiceLead(NamedTuple):
    """A set of options; then what it may end with, and the reasons why it falls short."""

    search: SetSearch
    key: Key
    choice: Choice
    past: End | None
    """What the choice that it came of may end with; its own, once its reasons are known."""
    reasons: list[int] | None
    shares: tuple[int, ...] = ()

    @property
    def known(self) -> None:
        """Return nothing: whether the set arrives is seen when it is put in order."""

    def follow(self, limits: Limits) -> Iterable[Lead | Arrival]:
        """Return the orders of the set, or the sets that remedy the narrowest reason why it falls short."""
        if self.reasons is not None:
            return self._branches(self.reasons, self.past)
        search, choice = self.search, self.choice
        if contains_one(mask_of(choice.chosen), search.closed):
            return ()
        end = search.end(choice, self.past)
        if end is None:
            return ()
        standing = search.standing(choice, end)
        sure = known_reasons(standing, search.devices, limits)
        if sure:
            return self._because(sure, end)
        least = least_efforts(choice, end)
        effort = _least_effort(search.options, choice, least)
        if effort > self.key.effort:
            dearer = choice._replace(effort=effort)
            key = choice_key(search.options, choice.chosen, effort, effort)
            return (self._replace(key=key, choice=dearer, past=end),)
        if self.key.effort > choice.effort:
            return self._because(search.unmet_reasons(standing, limits), end)
        return self._ordered(standing, limits, least)

    def _ordered(
        self, standing: Standing, limits: Limits, least: Mapping[int, int]
    ) -> Iterable[Lead | Arrival]:
        search, choice, end = self.search, self.choice, standing.end
        paths = search.orders(choice, standing.landmarks.end.regions, limits, least)
        try:
            arrival = next(paths, None)
        except Beaten:
            yield from self._because([end.left], end)
            return
        if arrival is None:
            yield from self._because(search.unmet_reasons(standing, limits), end)
            return
        search.arrived.append(mask_of(choice.chosen))
        if search.first_only:
            search.efforts.append(arrival.effort)
        yield OrderLead(search, arrival.key, arrival, paths)
        governed = search.options.space.governed_axes
        elsewhere = not search.first_only and any(
            search.options.listed[number].axis in governed for number in choice.chosen
        )
        if search.every or elsewhere or arrival.effort > choice.effort:
            yield from self._because([end.left], end)
        else:
            search.closed.append(mask_of(choice.chosen))

    def _because(self, reasons: list[int], end: End) -> Iterable[Lead | Arrival]:
        """Return the lead again with the reasons why it falls short; nothing, where one cannot be remedied."""
        if not reasons or not all(reasons):
            return ()
        shares = self.search.shares(reasons)
        need = self.choice.effort + sum(shares)
        if need <= self.key.effort:
            return self._branches(reasons, end, shares)
        length = len(self.choice.chosen) + 1
        key = Key(effort=need, length=length, way=self.key.way, sequence=())
        return (self._replace(key=key, past=end, reasons=reasons, shares=tuple(shares)),)

    def _branches(
        self, reasons: list[int], end: End | None, shares: Iterable[int] = ()
    ) -> Iterator[Lead]:
        """Yield the ways to remedy the narrowest reason, each leaving to the others what they try."""
        search, choice = self.search, self.choice
        listed = search.options.listed
        held = list(zip(reasons, shares or self.shares, strict=True))
        barred = choice.barred
        for number in numbers(min(reasons, key=int.bit_count)):
            effort = choice.effort + listed[number].effort
            rest = sum(share for mask, share in held if not mask >> number & 1)
            chosen = tuple(sorted((*choice.chosen, number)))
            key = choice_key(search.options, chosen, effort, max(effort + rest, self.key.effort))
            yield ChoiceLead(search, key, Choice(effort, chosen, barred), end, None)
            barred |= 1 << number


def _least_effort(options: Options, choice: Choice, least: Mapping[int, int]) -> int:
    """Return what a choice takes at least."""
    return sum(least.get(n, options.listed[n].effort) for n in choice.chosen)


def contains_one(mask: int, sets: list[int]) -> bool:
    """Tell whether a set of options contains one of some sets."""
    return any(each & mask == each for each in sets)


def choice_key(options: Options, chosen: tuple[int, ...], effort: int, bound: int) -> Key:
    """Return what no plan with a choice can beat: at best nothing more happens, in the order of the features."""
    listed = [options.listed[number] for number in chosen]
    way = sum(each.way for each in listed)
    governed = options.space.governed_axes
    if bound > effort or any(each.axis in governed for each in listed):
        return Key(effort=bound, length=len(chosen) + (bound > effort), way=way, sequence=())
    ordered = sorted(listed, key=lambda each: each.axis)
    sequence = tuple([(each.axis, place) for each in ordered for place in each.trail])
    return Key(effort=bound, length=len(sequence), way=way, sequence=sequence)


class OrderLead(NamedTuple):
    """The best order of a set that arrives, and those that arrive in other states."""

    search: SetSearch
    key: Key
    known: Arrival
    further: Iterator[Arrival]

    def follow(self, limits: Limits) -> Iterable[Lead | Arrival]:
        """Yield where it arrives, then the next best."""
        yield self.search.land(self.known)
        if self.search.first_only:
            return
        following = next(self.further, None)
        if following is not None:
            yield OrderLead(self.search, following.key, following, self.further)


def joined(transitions: Transitions, arrival: Arrival, calm: list[Option]) -> Arrival:
    """Return a path with calm actions slipped in, each before the first action that comes after it and can wait."""
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
