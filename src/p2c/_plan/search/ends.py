"""All states in which a set of direct actions can end, over all orders and outcomes.

What the person sets and no rule changes stands where the set leaves it. So an end is where governed features come to rest, and
the others count only with the rules that their values let fire.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, reduce
from graphlib import CycleError, TopologicalSorter
from itertools import product
from operator import and_
from typing import TYPE_CHECKING, NamedTuple

from p2c._plan.search.options import placed
from p2c._spec.spec import Effects

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from p2c._plan.compiled.person import Places
    from p2c._plan.search.best_first import Limits
    from p2c._plan.search.options import Options
    from p2c._plan.search.stopovers import Stopovers

Still = frozenset[int]
"""Governed features that keep still, whatever their rules say."""

Stand = tuple[int, ...]
"""The places of the governed features."""


@dataclass(frozen=True)
class Frame:
    """A state but for its governed features, and all that is seen of it on the way."""

    places: Places
    seen: tuple[int, ...]


class Followed(NamedTuple):
    """What effects make of a stand: whether it may rest, and the stands that one effect leads to."""

    may_rest: bool
    following: tuple[Stand, ...]


@dataclass(frozen=True)
class Ends:
    """The ends of one person's choices, remembered."""

    options: Options
    stopovers: Stopovers | None = None
    """What is alike on the way, where only the best plan is wanted: then one place stands for all that are."""
    restless: list[Places] = field(default_factory=list)
    """States that keep a person from acting, or rules that support an effect from having it: nothing that stirs can be left out.

    From some of them effects may go round without end, which takes odd cycles of causal rules.
    """
    _rests: dict[tuple[tuple[int, ...], Still], dict[Stand, None]] = field(default_factory=dict)
    _followed: dict[tuple[tuple[int, ...], Still], dict[Stand, Followed]] = field(
        default_factory=dict
    )
    _targets: dict[tuple[int, int], tuple[int, ...]] = field(default_factory=dict)

    @cached_property
    def governed(self) -> tuple[int, ...]:
        """Return the governed features."""
        return tuple(each.index for each in self.options.space.governed)

    @cached_property
    def _position(self) -> dict[int, int]:
        return {axis: position for position, axis in enumerate(self.governed)}

    def rests(
        self, chosen: tuple[int, ...], limits: Limits, still: Still = frozenset()
    ) -> Iterable[Stand]:
        """Return where governed features are at rest after these options: each of them last, after all orders of the others.

        What may be done again may come last after all of them, too; that it never comes back to what it has left is not looked at.

        Some that no other notices may be told to keep still. A place where a feature was set stands for all that are alike.
        """
        seen = chosen if self.stopovers is None else self.stopovers.seen(chosen)
        return self._rest(seen, limits, still)

    def _rest(self, chosen: tuple[int, ...], limits: Limits, still: Still) -> dict[Stand, None]:
        known = self._rests.get((chosen, still))
        if known is None:
            limits.check()
            start = self._stand(self.options.transitions.person.places)
            stirred: dict[Stand, None] = {} if chosen else {start: None}
            for position, number in enumerate(chosen):
                before = self._rest(self.options.before(chosen, position), limits, still)
                stirred |= before if self._leaves(number) else self._after(number, before)
            known = self._rests[chosen, still] = self._settled(chosen, stirred, still)
        return known

    def _settled(
        self, chosen: tuple[int, ...], stirred: dict[Stand, None], still: Still
    ) -> dict[Stand, None]:
        """Return where effects come to rest from some stands, all outcomes considered."""
        frame = self._frame(chosen)
        again = [number for number in chosen if self.options.listed[number].again]
        followed = self._followed.setdefault((frame.seen, still), {})
        rests: dict[Stand, None] = {}
        forced: dict[Stand, tuple[Stand, ...]] = {}
        waiting = list(stirred)
        while waiting:
            stand = waiting.pop()
            known = followed.get(stand)
            if known is None:
                known = followed[stand] = self._follow(frame, stand, still)
                forced[stand] = () if known.may_rest else known.following
            following: Iterable[Stand] = known.following
            if known.may_rest:
                rests[stand] = None
                for number in again:
                    following = (*following, *self._after(number, (stand,)))
            for each in following:
                if each not in stirred:
                    stirred[each] = None
                    waiting.append(each)
        # What was followed before leads to nothing new, so what goes round is new as a whole.
        if not self.restless and _goes_round(forced):
            self.restless.append(frame.places)
        return rests

    def _leaves(self, number: int) -> bool:
        """Tell whether an option leaves governed features where they are."""
        return self.options.listed[number].axis not in self._position

    def _stand(self, places: Places) -> Stand:
        return tuple([places[axis] for axis in self.governed])

    def _frame(self, chosen: tuple[int, ...]) -> Frame:
        """Return the person's state after the options on features that no rule changes."""
        space, bodies = self.options.space, self.options.transitions.bodies
        options = [self.options.listed[number] for number in chosen]
        places = placed(
            self.options.transitions.person.places,
            [option for option in options if option.axis not in self._position],
        )
        if space.model_bit & space.noticing:
            return Frame(places, places)
        others = [n for n in range(len(places)) if n not in self._position]
        seen = reduce(and_, (bodies[n][places[n]] for n in others), space.noticing)
        return Frame(places, (seen, *self._excusing(places)))

    def _excusing(self, places: Places) -> Iterator[int]:
        """Yield the constraints, broken at the start, all of whose features that no rule changes have their own values."""
        transitions = self.options.transitions
        for bit, reads in transitions.excused_constraints:
            if all(
                places[n] == transitions.person.places[n] for n in reads - self._position.keys()
            ):
                yield bit

    def _after(self, number: int, stands: Iterable[Stand]) -> dict[Stand, None]:
        """Return where governed features stand when one of them is set: of places that are alike, in the first."""
        position = self._position[self.options.listed[number].axis]
        found: dict[Stand, None] = {}
        for before in stands:
            for place in self._places(number, position, before[position]):
                found[self._put(before, position, place)] = None
        return found

    def _put(self, stand: Stand, position: int, place: int) -> Stand:
        return (*stand[:position], place, *stand[position + 1 :])

    def _places(self, number: int, position: int, start: int) -> tuple[int, ...]:
        known = self._targets.get((number, start))
        if known is None:
            found = [place for place, _ in self.options.targets(number, start)]
            if self.stopovers is not None:
                alike = self.stopovers.alike
                found = [alike(self.governed[position], place).places[0] for place in found]
            known = self._targets[number, start] = tuple(dict.fromkeys(found))
        return known

    def spread(
        self, chosen: tuple[int, ...], limits: Limits, rests: Sequence[int] | None = None
    ) -> Iterator[Places]:
        """Yield the states in which all orders of some options end: where a feature was set, in every place that is alike.

        Where regions are given to rest in, only those of them.
        """
        axes = {self.options.listed[number].axis for number in chosen}
        frame = list(self._frame(chosen).places)
        for stand in self.rests(chosen, limits):
            stands: Iterable[Stand] = (stand,)
            if self.stopovers is not None:
                stands = product(
                    *[
                        self._alike(position, place, rests) if axis in axes else (place,)
                        for position, (axis, place) in enumerate(
                            zip(self.governed, stand, strict=True)
                        )
                    ]
                )
            for each in stands:
                for axis, place in zip(self.governed, each, strict=True):
                    frame[axis] = place
                yield tuple(frame)

    def _alike(self, position: int, place: int, rests: Sequence[int] | None) -> Sequence[int]:
        assert self.stopovers is not None
        alike = self.stopovers.alike(self.governed[position], place)
        if rests is None or not alike.regions & ~rests[position]:
            return alike.places
        region = self.stopovers.reach.region
        return [each for each in alike.places if region(position, each) & rests[position]]

    def strays(
        self, chosen: tuple[int, ...], limits: Limits, rests: Sequence[int]
    ) -> frozenset[int]:
        """Return the features that some orders of some options leave, where they were set, outside of given regions."""
        if self.stopovers is None:
            return frozenset()
        axes = {self.options.listed[number].axis for number in chosen}
        stands = self.rests(chosen, limits)
        return frozenset(
            axis
            for position, axis in enumerate(self.governed)
            if axis in axes
            and any(
                self.stopovers.alike(axis, place).regions & ~rests[position]
                for place in {stand[position] for stand in stands}
            )
        )

    def _follow(self, frame: Frame, stand: Stand, still: Still) -> Followed:
        """Return what effects make of a stand, one step on."""
        places = list(frame.places)
        for axis, place in zip(self.governed, stand, strict=True):
            places[axis] = place
        state = tuple(places)
        transitions = self.options.transitions
        verdict = transitions.judge(state)
        effects = [each for each in transitions.effects(state, verdict) if each.axis not in still]
        following = tuple(
            self._put(stand, self._position[each.axis], each.place)
            for each in effects
            if each.place != state[each.axis]
        )
        if not (verdict.consistent or effects) and self._are_optional:
            # What mends the state lets every feature move whose rules fire.
            self.restless.append(state)
        # What may as well not happen keeps nobody from acting.
        return Followed(verdict.consistent or not effects, following)

    @cached_property
    def _are_optional(self) -> bool:
        return self.options.space.theory.effects is Effects.SUPPORTED


def _goes_round(after: dict[Stand, tuple[Stand, ...]]) -> bool:
    try:
        TopologicalSorter(after).prepare()
    except CycleError:
        return True
    return False
