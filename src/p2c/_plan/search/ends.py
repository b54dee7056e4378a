"""All states in which a set of direct actions can end, over all orders and outcomes.

What the person sets and no rule changes stands where the set leaves it. So an end is where governed features come to rest, and
the others count only with the rules that their values let fire.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, reduce
from operator import and_
from typing import TYPE_CHECKING, NamedTuple

from p2c._plan.search.options import placed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from p2c._plan.compiled.person import Places
    from p2c._plan.search.best_first import Limits
    from p2c._plan.search.options import Options

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

        Some that no other notices may be told to keep still.
        """
        return self._rest(chosen, limits, still)

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
        waiting = list(stirred)
        while waiting:
            stand = waiting.pop()
            known = followed.get(stand)
            if known is None:
                known = followed[stand] = self._follow(frame, stand, still)
            following: Iterable[Stand] = known.following
            if known.may_rest:
                rests[stand] = None
                for number in again:
                    following = (*following, *self._after(number, (stand,)))
            for each in following:
                if each not in stirred:
                    stirred[each] = None
                    waiting.append(each)
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
        """Return where governed features stand when one of them is set."""
        position = self._position[self.options.listed[number].axis]
        found: dict[Stand, None] = {}
        for before in stands:
            for place in self._places(number, before[position]):
                found[self._put(before, position, place)] = None
        return found

    def _put(self, stand: Stand, position: int, place: int) -> Stand:
        return (*stand[:position], place, *stand[position + 1 :])

    def _places(self, number: int, start: int) -> tuple[int, ...]:
        known = self._targets.get((number, start))
        if known is None:
            found = tuple([place for place, _ in self.options.targets(number, start)])
            known = self._targets[number, start] = found
        return known

    def states(self, chosen: tuple[int, ...], limits: Limits) -> Iterator[Places]:
        """Yield the states in which all orders of some options end."""
        frame = list(self._frame(chosen).places)
        for stand in self.rests(chosen, limits):
            for axis, place in zip(self.governed, stand, strict=True):
                frame[axis] = place
            yield tuple(frame)

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
        # What may as well not happen keeps nobody from acting.
        return Followed(verdict.consistent or not effects, following)
