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
from typing import TYPE_CHECKING

from p2c.domain.spec import Effects
from p2c.plan.search.options import placed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from p2c.plan.compiled.person import Places
    from p2c.plan.search.best_first import Limits
    from p2c.plan.search.options import Options
    from p2c.plan.search.stopovers import Stopovers

Still = frozenset[int]
"""Governed features that keep still, whatever their rules say."""

Stand = tuple[int, ...]
"""The places of the governed features."""


@dataclass(frozen=True)
class Frame:
    """A state but for its governed features, and all that is seen of it on the way."""

    places: Places
    seen: int | Places


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
    _settled: dict[tuple[int | Places, Still], dict[Stand, tuple[Stand, ...]]] = field(
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
            known = self._rests[chosen, still] = {}
            again = [number for number in chosen if self.options.listed[number].again]
            frame = self._frame(chosen)
            while stirred:
                fresh = self._settle_all(frame, stirred, still, known)
                stirred = {}
                for number in again:
                    stirred |= self._after(number, fresh)
        return known

    def _settle_all(
        self, frame: Frame, stands: Iterable[Stand], still: Still, known: dict[Stand, None]
    ) -> dict[Stand, None]:
        """Add to what is known where effects come to rest from some stands; return what is new."""
        settled = self._settled.setdefault((frame.seen, still), {})
        fresh: dict[Stand, None] = {}
        for stand in stands:
            rests = settled.get(stand)
            if rests is None:
                rests = settled[stand] = self._settle(frame, stand, still)
            for rest in rests:
                if rest not in known:
                    known[rest] = fresh[rest] = None
        return fresh

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
        return Frame(places, reduce(and_, (bodies[n][places[n]] for n in others), space.noticing))

    def _after(self, number: int, stands: Iterable[Stand]) -> dict[Stand, None]:
        """Return where governed features stand when one of them is set: of places that are alike, in the first."""
        position = self._position[self.options.listed[number].axis]
        found: dict[Stand, None] = {}
        for before in stands:
            head, tail = before[:position], before[position + 1 :]
            for place in self._places(number, position, before[position]):
                found[(*head, place, *tail)] = None
        return found

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

    def _settle(self, frame: Frame, stand: Stand, still: Still) -> tuple[Stand, ...]:
        """Return where effects come to rest, all outcomes considered."""
        places = list(frame.places)
        for axis, place in zip(self.governed, stand, strict=True):
            places[axis] = place
        return tuple(map(self._stand, self._settled_from(tuple(places), still)))

    def _settled_from(self, places: Places, still: Still) -> list[Places]:
        transitions = self.options.transitions
        optional = self.options.space.theory.effects is Effects.SUPPORTED
        rests = []
        waiting, met_again = [places], False
        after: dict[Places, list[Places]] = {places: []}
        while waiting:
            state = waiting.pop()
            verdict = transitions.judge(state)
            effects = [
                each for each in transitions.effects(state, verdict) if each.axis not in still
            ]
            if verdict.consistent or not effects:
                rests.append(state)
                if not verdict.consistent and optional:
                    # What mends the state lets every feature move whose rules fire.
                    self.restless.append(state)
            for effect in effects:
                axis = effect.axis
                following = (*state[:axis], effect.place, *state[axis + 1 :])
                if not verdict.consistent:
                    # What may as well not happen keeps nobody from acting.
                    after[state].append(following)
                if following in after:
                    met_again = True
                else:
                    after[following] = []
                    waiting.append(following)
        if met_again and _goes_round(after):
            self.restless.append(places)
        return rests


def _goes_round(after: dict[Places, list[Places]]) -> bool:
    try:
        TopologicalSorter(after).prepare()
    except CycleError:
        return True
    return False
