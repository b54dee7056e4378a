"""What can happen next to a person: direct actions, and effects that follow by themselves.

The same definitions as in `rules/meaning.py`, on places and bit masks. Only targets that can matter are offered: of the
places of a region, the one that costs least and comes first; `Variety.POINTS` offers one for every region of every feature,
as the nearest end states need. Of a number that a model weighs, every place may matter.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property, reduce
from operator import and_, getitem
from typing import TYPE_CHECKING, NamedTuple

from p2c._plan.compiled.axis import OFF
from p2c._plan.compiled.bitsets import Remembered, bits
from p2c._spec.feature import Action
from p2c._spec.spec import Effects

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from p2c._plan.compiled.person import Person, Places
    from p2c._plan.compiled.space import Governed


class Variety(Enum):
    """Which changes are worth offering."""

    PLANS = "plans"
    POINTS = "points"


class Judgement(NamedTuple):
    """What a state is: consistent or not, at the goal or not, and what fires in it."""

    consistent: bool
    goal: bool
    fired: int
    violated: tuple[Governed, ...]
    breached: int
    """The constraints that are broken and not excused."""


class Effect(NamedTuple):
    """A governed feature takes a place by itself; `assumed` when others were as near."""

    axis: int
    place: int
    fired: int
    assumed: bool
    among: Sequence[int]
    """The places it stands for: as near as itself, and with the same future."""


@dataclass
class Ceiling:
    """What direct actions on a feature may cost at most, and the least that was kept out."""

    person: Person
    most: int = 0
    beyond: int | None = None

    def admits(self, index: int, start: int, end: int, gone: int = 0) -> bool:
        """Tell whether a direct action stays below, after some way gone on the same feature."""
        price = self.person.price(index, start, end, gone=gone)
        if price > self.most and (self.beyond is None or price < self.beyond):
            self.beyond = price
        return price <= self.most


@dataclass(frozen=True)
class Transitions:
    """The moves open to one person."""

    person: Person
    variety: Variety = Variety.PLANS
    lasting: bool = False
    """Whether nothing that breaks its law at the start may be set only to be carried off by itself in the same step."""
    ceiling: Ceiling | None = None
    within: Mapping[int, frozenset[int]] = field(default_factory=dict)
    """Of some features, the regions that a direct action may choose; of all others any that the feature permits."""

    @cached_property
    def _tables(self) -> tuple[list[Remembered], list[Remembered]]:
        """Return, for each feature, the body and the head mask of a place; the person's own one may have none."""
        person = self.person
        bodies, heads = list(person.space.bodies), list(person.space.heads)
        for index, place in enumerate(person.places):
            if place == OFF:
                body, head = person.space.off_masks(index, person.values[index])
                bodies[index] = Remembered(bodies[index].__getitem__, {OFF: body})
                heads[index] = Remembered(heads[index].__getitem__, {OFF: head})
        return bodies, heads

    @property
    def bodies(self) -> list[Remembered]:
        """Return, for each feature, the rules whose tests on it pass at a place."""
        return self._tables[0]

    def _passing(self, places: Places) -> int:
        """Return the rules whose tests on features all pass, as if the model said yes."""
        return reduce(and_, map(getitem, self.bodies, places))

    def base(self, places: Places) -> int:
        """Return the rules whose tests on features all pass, and what the model decides."""
        base = self._passing(places)
        by_model = self.person.space.model_bit
        return base if not by_model or self._accepts(places) else base & ~by_model

    def _accepts(self, places: Places) -> bool:
        person, model = self.person, self.person.space.theory.parsed
        assert model is not None
        cells = tuple([self.model_cell(index, places[index]) for index in person.space.model_axes])
        return model.accepts_cells(cells, lambda: person.state(places))

    def model_cell(self, index: int, place: int) -> int:
        """Return the model's cell of a place, be it the person's own that is not on the grid."""
        if place != OFF:
            return self.person.space.model_cell(index, place)
        return self._own_cells[index]

    @cached_property
    def _own_cells(self) -> dict[int, int]:
        space, model = self.person.space, self.person.space.theory.parsed
        assert model is not None
        values = self.person.values
        return {
            index: model.cell(space.axes[index].feature.name, values[index])
            for index in space.model_axes
        }

    def body(self, index: int, place: int) -> int:
        """Return the rules whose tests on a feature pass at a place."""
        return self._tables[0][index][place]

    def headed(self, index: int, place: int) -> int:
        """Return the causal rules whose heads hold the value at a place."""
        return self._tables[1][index][place]

    @cached_property
    def excused(self) -> dict[int, int]:
        """Return the governed features that break their law at the start, with the rules that fired for them."""
        if not self.person.space.governed:
            return {}
        places = self.person.places
        fired = self.person.space.truth(self.base(places)).fired
        return {
            each.index: fired & each.rules
            for each in self.person.space.governed
            if not each.allows(fired & each.rules, self.headed(each.index, places[each.index]))
        }

    @cached_property
    def excused_constraints(self) -> tuple[tuple[int, frozenset[int]], ...]:
        """Return the constraints broken at the start, with the features that they read."""
        space = self.person.space
        if not space.constraints:
            return ()
        fired = space.truth(self.base(self.person.places)).fired
        return tuple((bit, reads) for bit, reads in space.constraint_bits if bit & fired)

    @cached_property
    def own_matters(self) -> frozenset[int]:
        """Return the features whose own value, not just its cell, keeps an exception alive."""
        reads = [names for _, names in self.excused_constraints]
        return frozenset(self.excused).union(*reads)

    @cached_property
    def _verdicts(self) -> dict[Places, Judgement]:
        return {}

    def judge(self, places: Places) -> Judgement:
        """Tell what a state is; remembered for the next time."""
        known = self._verdicts.get(places)
        if known is None:
            known = self._verdicts[places] = self._judge(places, self.base(places))
        return known

    def suits(self, places: Places) -> bool:
        """Tell whether a state is at the goal if the model says yes to it."""
        return self._judge(places, self._passing(places)).goal

    def _judge(self, places: Places, base: int) -> Judgement:
        space = self.person.space
        heads = self._tables[1]
        fired, goal = space.truth(base)
        violated = []
        for each in space.governed:
            own, headed = fired & each.rules, heads[each.index][places[each.index]]
            if not (own or headed) or own & headed or each.allows(own, headed):
                continue
            if not self._is_excused(each, places, fired):
                violated.append(each)
        breached = self._breached(places, fired) if fired & space.constraints else 0
        consistent = not violated and not breached
        return Judgement(consistent, consistent and goal, fired, tuple(violated), breached)

    def _is_excused(self, governed: Governed, places: Places, fired: int) -> bool:
        index = governed.index
        return (
            index in self.excused
            and places[index] == self.person.places[index]
            and fired & governed.rules == self.excused[index]
        )

    def held(self, before: int, index: int, places: Places, *, direct: bool) -> int:
        """Return, as bits, what no effect may carry off until the step ends, after a move that led here.

        That is what broke its law at the start and was set in the step, where what is set has to last; else nothing.
        """
        if not self.lasting or self.judge(places).consistent:
            return 0
        return before | 1 << index if direct and index in self.excused else before

    def _breached(self, places: Places, fired: int) -> int:
        broken = fired & self.person.space.constraints
        own = self.person.places
        for bit, reads in self.excused_constraints:
            if broken & bit and all(places[index] == own[index] for index in reads):
                broken &= ~bit
        return broken

    def effects(self, places: Places, verdict: Judgement) -> list[Effect]:
        """Return the possible effects, from violated features or, if enough, fired rules.

        An effect that would end where one person lets no change end has the place that the feature has already: it
        leads nowhere, and nothing else may happen in its stead.
        """
        if not verdict.consistent:
            return [
                effect
                if self.ends(effect.axis, places[effect.axis], effect.place)
                else _barred(effect, places)
                for each in verdict.violated
                if not any(other.index in each.above for other in verdict.violated)
                for effect in self._outcomes(each, places, verdict.fired, each.rules, lawful=True)
            ]
        if self.person.space.theory.effects is Effects.TRIGGERED:
            return []
        supported = [
            effect
            for each in self.person.space.governed
            for rule in bits(verdict.fired & each.rules)
            if not rule & self.headed(each.index, places[each.index])
            for effect in self._outcomes(each, places, verdict.fired, rule, lawful=False)
        ]
        # An outcome is certain if any of the rules alone leaves no choice.
        certain = {(each.axis, each.place) for each in supported if not each.assumed}
        supported = [
            each for each in supported if self.ends(each.axis, places[each.axis], each.place)
        ]
        return [each._replace(assumed=(each.axis, each.place) not in certain) for each in supported]

    def _outcomes(
        self, governed: Governed, places: Places, fired: int, rules: int, *, lawful: bool
    ) -> list[Effect]:
        """Return the nearest places that the law allows, or that the head of one rule holds; remembered."""
        index, own_fired = governed.index, fired & governed.rules
        key = index, places[index], own_fired, 0 if lawful else rules
        known = self._known_outcomes.get(key)
        if known is None:
            known = self._known_outcomes[key] = self._find_outcomes(
                governed, places[index], own_fired, rules, lawful=lawful
            )
        return known

    def outcomes(self, governed: Governed, start: int, fired: int) -> list[Effect]:
        """Return where a governed feature goes from a place that its law does not allow, by its rules that fire."""
        return self._find_outcomes(governed, start, fired, governed.rules, lawful=True)

    @cached_property
    def _known_outcomes(self) -> dict[tuple[int, int, int, int], list[Effect]]:
        return {}

    def _find_outcomes(
        self, governed: Governed, start: int, fired: int, rules: int, *, lawful: bool
    ) -> list[Effect]:
        index = governed.index
        heads = self.person.space.head_masks[index]

        def admitted(cell: int) -> bool:
            if lawful:
                return governed.allows(fired, heads[cell])
            return bool(heads[cell] & rules)

        axis = self.person.space.axes[index]
        regions = [each for each in axis.regions if admitted(axis.cell(each[0]))]
        near, count = self._nearest(index, start, regions)
        return [Effect(index, place, fired, count > 1, among) for place, among in near]

    def _nearest(
        self, index: int, start: int, regions: Sequence[Sequence[int]]
    ) -> tuple[list[tuple[int, Sequence[int]]], int]:
        """Return the nearest permitted places that matter, and how many are as near in all."""
        axis = self.person.space.axes[index]
        feature = axis.feature
        if (feature.effect_action or feature.action) is Action.FIXED:
            return [], 0
        missing = self.person.missing(index, start)
        if missing or (feature.moves_from is None and not axis.ordered):
            count = sum(len(region) for region in regions)
            return sorted(self._representatives(index, regions)), count
        if feature.moves_from is not None:
            reachable = self.moves(index, start)
            found = [place for region in regions for place in region if place in reachable]
        else:
            found = [self._end(index, start, region) for region in regions]
        fit = [place for place in found if self.carries(index, start, place)]
        near = self._closest(index, start, fit)
        return [(place, (place,)) for place in near], len(near)

    def _end(self, index: int, start: int, region: Sequence[int]) -> int:
        """Return the place of a range nearest to a start outside it."""
        above = self.position(index, region[0]) > self.position(index, start)
        return region[0] if above else region[-1]

    def _representatives(
        self, index: int, regions: Sequence[Sequence[int]]
    ) -> list[tuple[int, Sequence[int]]]:
        """Return places of regions where all are as near: the first of each, more where it may matter which."""
        own = self.person.places[index]
        found: list[tuple[int, Sequence[int]]] = []
        by_value = self.person.space.axes[index].feature.moves_from is not None
        for region in regions:
            every = self.variety is Variety.POINTS and not isinstance(region, range)
            if every or by_value or index in self.person.space.lined_axes:
                found += [(place, (place,)) for place in region]
                continue
            if isinstance(region, range):
                found += [(region[0], region), (region[-1], region)][: len(region)]
            else:
                found.append((region[0], region))
            if index in self.own_matters and own in region:
                others = (own, *[place for place in region[:2] if place != own])
                found += [(place, (place,)) for place in others]
        return found

    def position(self, index: int, place: int) -> int:
        """Return where a place of an ordered feature stands on its line."""
        return self.person.lines[index].position(place)

    def _closest(self, index: int, start: int, found: list[int]) -> list[int]:
        if not self.person.space.axes[index].ordered:
            return sorted(found)
        here = self.position(index, start)
        least = min((abs(self.position(index, place) - here) for place in found), default=0)
        return [p for p in sorted(set(found)) if abs(self.position(index, p) - here) == least]

    def chooses(self, index: int, start: int, end: int) -> bool:
        """Tell whether a direct action may choose a place; from a missing value any."""
        missing = self.person.missing(index, start)
        return self.is_target(index, end) and (missing or self.leads(index, start, end))

    def is_target(self, index: int, place: int) -> bool:
        """Tell whether a change may end in a place."""
        return self.person.space.axes[index].is_target(place)

    def leads(self, index: int, start: int, end: int) -> bool:
        """Tell whether a change goes a way that the feature's action permits."""
        return self._goes(index, start, end, self.person.space.axes[index].feature.action)

    def carries(self, index: int, start: int, end: int) -> bool:
        """Tell whether an effect goes a way that the problem's own action permits."""
        feature = self.person.space.axes[index].feature
        return self._goes(index, start, end, feature.effect_action or feature.action)

    def ends(self, index: int, start: int, end: int) -> bool:
        """Tell whether an effect ends where one person lets a change end."""
        feature = self.person.space.axes[index].feature
        if not feature.bars_effects:
            return True
        goes = self.person.missing(index, start) or self.leads(index, start, end)
        return self.is_target(index, end) and goes and feature.action is not Action.FIXED

    def _goes(self, index: int, start: int, end: int, action: Action) -> bool:
        if action is Action.UP:
            return self.position(index, end) > self.position(index, start)
        if action is Action.DOWN:
            return self.position(index, end) < self.position(index, start)
        return True

    def moves(self, index: int, start: int) -> set[int]:
        """Return the places to which the `moves` of a feature lead from a place."""
        feature = self.person.space.axes[index].feature
        assert feature.moves_from is not None
        value = feature.domain.value(start)
        return {feature.places[end] for end in feature.moves_from.get(value, ()) if end != value}

    @cached_property
    def _targets(self) -> dict[tuple[int, int], tuple[tuple[int, Sequence[int]], ...]]:
        return {}

    def targets(self, index: int, start: int) -> tuple[tuple[int, Sequence[int]], ...]:
        """Return the places that a direct action may choose, each with the set of places it stands for."""
        known = self._targets.get((index, start))
        if known is None:
            found = self._find_targets(index, start)
            if index in self.within:
                region, some = self.person.space.axes[index].region, self.within[index]
                found = (each for each in found if region(each[0]) in some)
            known = tuple(
                each
                for each in found
                if self.is_target(index, each[0]) and self.affords(index, start, each[0])
            )
            self._targets[index, start] = known
        return known

    def affords(self, index: int, start: int, end: int, gone: int = 0) -> bool:
        """Tell whether a direct action stays below the ceiling, if there is one."""
        return self.ceiling is None or self.ceiling.admits(index, start, end, gone)

    def _find_targets(self, index: int, start: int) -> Iterator[tuple[int, Sequence[int]]]:
        axis = self.person.space.axes[index]
        missing = self.person.missing(index, start)
        singles = self._singles(index, start, missing=missing)
        if singles is not None:
            for end in singles:
                if missing or self.leads(index, start, end):
                    yield end, (end,)
            return
        own, home = self.person.places[index], self.person.homes[index]
        apart = index in self.own_matters
        if not apart and start != OFF and self.variety is Variety.PLANS:
            yield from self._edges(index, start)
            return
        for region in axis.regions:
            inside = not missing and (start if start != OFF else home) in region
            if inside and self.variety is Variety.PLANS and not (apart and start == own):
                continue
            if apart and own in region and start != own:
                if missing or self.leads(index, start, own):
                    yield own, (own,)
                if inside and self.variety is Variety.PLANS:
                    continue
            barred = {own, start} if apart else {start}
            best = self._best(index, start, region, barred, missing=missing)
            if best is not None:
                yield best, region

    def _singles(self, index: int, start: int, *, missing: bool) -> Iterable[int] | None:
        """Return the places to go to, where each stands for itself alone; None where regions do."""
        axis = self.person.space.axes[index]
        if axis.feature.moves_from is not None:
            return range(axis.size) if missing else sorted(self.moves(index, start))
        if index in self.person.space.lined_axes:
            return (place for place in range(axis.size) if place != start)
        return None

    def _edges(self, index: int, start: int) -> Iterator[tuple[int, Sequence[int]]]:
        """Yield the regions that do not hold the start, with the near end of each, or its first place where all are as far."""
        axis, even = self.person.space.axes[index], self.person.prices.even[index]
        if not axis.ordered:
            yield from ((region[0], region) for region in axis.regions if start not in region)
            return
        action = axis.feature.action
        for region in axis.regions:
            first, last = region[0], region[-1]
            if first > start:
                if action is not Action.DOWN:
                    yield first, region
            elif last < start and action is not Action.UP:
                yield (first if even else last), region

    def _best(
        self, index: int, start: int, region: Sequence[int], barred: set[int], *, missing: bool
    ) -> int | None:
        """Return the place of a region that costs least and comes first, or None if none is permitted."""
        even = missing or self.person.prices.even[index]
        if missing or not isinstance(region, range):
            return next((place for place in region if place not in barred), None)
        if even:
            return self._first_in_range(index, start, region, barred)
        here = self.position(index, start)
        nearest = self.first_from(index, region, here)
        options = range(max(nearest - 3, region[0]), min(nearest + 4, region[-1] + 1))
        fit = [p for p in options if p not in barred and self.leads(index, start, p)]
        return min(fit, key=lambda p: (abs(self.position(index, p) - here), p), default=None)

    def _first_in_range(
        self, index: int, start: int, region: range, barred: set[int]
    ) -> int | None:
        low = region[0]
        if self.person.space.axes[index].feature.action is Action.UP:
            low = max(low, self.first_from(index, region, self.position(index, start)))
        options = range(low, min(low + 4, region[-1] + 1))
        fit = [p for p in options if p not in barred and self.leads(index, start, p)]
        return min(fit, default=None)

    def first_from(self, index: int, places: range, position: int) -> int:
        """Return the first place of a range at or above a position; the place after the range if there is none."""
        low, high = places[0], places[-1] + 1
        while low < high:  # by hand, for bisect takes no range of more than 2**63 places
            middle = (low + high) // 2
            if self.position(index, middle) >= position:
                high = middle
            else:
                low = middle + 1
        return low


def _barred(effect: Effect, places: Places) -> Effect:
    """Return an effect that leaves its feature where it is."""
    return effect._replace(place=places[effect.axis])
