"""Sets of direct actions where a model weighs numbers: boxes of what is open to each feature, bounded by a relaxation.

A box says for each feature which options are open, and of a number that is weighed which part of each. `relaxation` tells the
least price at which the features of a box may add what the model asks for; no plan of the box is cheaper. The choice next to
it is tried, and the box is split: where the relaxation goes part of the way, between the two parts; else the choice that
was tried is set apart. What would be dearer than the best plan so far goes at once.

What governed features add depends on the choice. Until all that can stir them is settled, they count with the best that they
may come to; from then on, with what they do come to.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from p2c._plan.compiled.axis import OFF
from p2c._plan.compiled.bitsets import mask_of, numbers
from p2c._plan.search.action_sets import ActionSets, contains_one
from p2c._plan.search.best_first import Key
from p2c._plan.search.courses import WAY_SHARE, Survey
from p2c._plan.search.line_boxes import ArrivedLead, LineLead
from p2c._plan.search.line_deals import LineDeals
from p2c._plan.search.options import Choice
from p2c._plan.search.propagation import DeadEnd
from p2c._plan.search.relaxation import NEARLY, STAY, STAYING, Stretch
from p2c._plan.search.weighed_points import weighed_leads
from p2c._rules.theory import ACCEPTED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from p2c._plan.compiled.space import Space
    from p2c._plan.search.best_first import Arrival, Lead, Limits
    from p2c._plan.search.courses import Gains, SpanOptions
    from p2c._plan.search.propagation import End
    from p2c._plan.search.relaxation import Opens, Steps


@dataclass(frozen=True)
class LineSearch(ActionSets):
    """What is searched by boxes of one person's options and their places."""

    options: SpanOptions
    best: list[float] = field(default_factory=list)
    """The price of the best plan so far."""
    tried: dict[tuple[int, ...], bool] = field(default_factory=dict)
    """Which choices were put in order, and whether they arrived."""

    @cached_property
    def survey(self) -> Survey:
        """Return what the options come to."""
        return Survey(self.options)

    @cached_property
    def deals(self) -> LineDeals:
        """Return what bounds a box."""
        return LineDeals(self.survey)

    @cached_property
    def is_plain(self) -> bool:
        """Tell whether rules have no say, and no part of the model reads two features at once."""
        return not self._propagation.has_rules and self.survey.model.is_separate

    @cached_property
    def foretells(self) -> bool:
        """Tell whether what rules say is known from the options, whichever of their places is taken."""
        theory = self.options.space.theory
        bodies = [clause.body for _, clauses in theory.causes for clause in clauses]
        bodies += [clause.body for clause in theory.constraints]
        return all(decision != ACCEPTED for decision, _ in theory.called(bodies))

    @cached_property
    def ruled(self) -> tuple[int, ...]:
        """Return the features that may be set whose options rules tell apart, those that stir others first."""
        reach, space = self._reach, self.options.space
        found = [
            axis
            for axis in self.options.by_axis
            if axis in reach.moves_of
            or len({reach.own[axis], *(body for _, body in reach.ways[axis])}) > 1
        ]
        return tuple(sorted(found, key=lambda axis: (axis not in space.stirring, axis)))

    def leads(self) -> Iterator[Lead]:
        """Yield the points of a knapsack where it is one, else the box of everything."""
        points = weighed_leads(self)
        if points is not None:
            yield from points
            return
        box: Opens = {}
        for axis, options in self.options.by_axis.items():
            courses = [self.survey.course(axis, number) for number in numbers(options)]
            if self.is_plain and self.first_only:
                courses = list(filter(self.survey.may_help, courses))
            box[axis] = (STAYING, *(Stretch(each.number, 0, each.last) for each in courses))
        if self.is_plain:
            yield from self.boxed(box, None, self.survey.nothing)
            return
        end = self._propagation.of((), (1 << len(self.options.listed)) - 1)
        synced = None if end is None else _synced(box, end)
        if synced is not None:
            yield from self.boxed(synced, end, None)

    def boxed(
        self, box: Opens, end: End | None, known: Gains | None, most: float = math.inf
    ) -> Iterator[LineLead]:
        """Yield a box, if a plan may come of it; `known` is what governed features add where that is known.

        `most` is the price above which nothing is left in the box.
        """
        needed = self._needed(end, known)
        relaxed = self.deals.relaxed(box, needed)
        if relaxed is None or self.is_beaten(relaxed.price):
            return
        if self.of_a_kind and contains_one(taken_mask(box), self.closed):
            return
        yield LineLead(self, self._key(relaxed.price), box, end, relaxed, needed, known, most)

    @property
    def of_a_kind(self) -> bool:
        """Tell whether of the ends that rules and tables cannot tell apart only the best is wanted."""
        return not self.every and not self.first_only

    def narrowed(self, lead: LineLead, left: Opens, most: float = math.inf) -> Iterator[LineLead]:
        """Yield the part of a box in which no more is left to some features, if a plan may come of it."""
        box = {**lead.box, **left}
        if lead.end is None:
            yield from self.boxed(box, None, lead.gains, most)
            return
        try:
            end = _ended(lead.end, lead.box, left)
        except DeadEnd:
            return
        synced = box if end is lead.end else _synced(box, end)
        if synced is not None:
            yield from self.boxed(synced, end, lead.gains, most)

    def is_beaten(self, price: float) -> bool:
        """Tell whether a price is above that of the best plan so far, where only that is wanted."""
        return bool(self.best) and price * (1 - NEARLY) > self.best[0]

    def _key(self, price: float) -> Key:
        """Return what no plan at some price or above can beat."""
        low, per_way = price * (1 - NEARLY), self.survey.per_way
        effort = max(math.ceil(low - WAY_SHARE), 0)
        return self.key(effort, int((low - effort) / per_way) if per_way and low > effort else 0)

    def key(self, effort: int, way: int) -> Key:
        """Return what no plan of some effort and way can beat; the effort tells the number of actions."""
        prices = self.options.transitions.person.prices
        by_cost = prices.per_cost > 1
        length = effort % prices.per_cost if by_cost else effort // prices.per_action
        return Key(effort, length, way, ())

    def _needed(self, end: End | None, known: Gains | None) -> Gains:
        """Return what the features that may be set must add to each margin."""
        if end is None:
            return self._asked_of_plain
        asked = self.asked
        if not self.survey.model.is_separate:
            asked = self.survey.model.needed(end.boxes, self.size, self._floors)
        if known is None:
            known = self._hoped(tuple(end.regions))
        return tuple(a - b - c for a, b, c in zip(asked, self._still, known, strict=True))

    @cached_property
    def _asked_of_plain(self) -> Gains:
        return tuple(a - b for a, b in zip(self.asked, self._still, strict=True))

    @cached_property
    def asked(self) -> Gains:
        """Return what all gains must add up to at least."""
        return self.survey.model.needed(None, self.size, self._floors)

    @cached_property
    def _floors(self) -> Gains | None:
        """Return the least margins of every accepted state in the person's reach."""
        axes = self.options.space.model_axes
        return self.survey.model.floors(lambda: [self._reached(axis) for axis in axes])

    def _reached(self, axis: int) -> list[Gains]:
        """Return gains of a feature between which all others lie."""
        space, own = self.options.space, self.options.transitions.person.places[axis]
        gains = [self.survey.gain(axis, own)]
        if axis in self.options.by_axis or axis in space.governed_axes:
            table = self.survey.table(axis)
            if table is not None:
                return [*gains, *map(tuple, table.values.tolist())]
            ends = {place for cell in space.axes[axis].cells for place in (cell[0], cell[-1])}
            gains += [self.survey.gain(axis, place) for place in sorted(ends)]
        return gains

    @cached_property
    def size(self) -> float:
        """Return how large the sum of what weighed numbers add can be."""
        space, places = self.options.space, self.options.transitions.person.places
        known, size = space.kept(_sizes), 0.0
        for axis in space.weighed_axes:
            if axis not in known:
                last = space.axes[axis].size - 1
                ends = (0, last) if axis in space.lined_axes else range(last + 1)
                known[axis] = self._most_at(axis, *ends)
            # What lies between two ends adds no more than both of them, tables aside.
            own = self._most_at(axis, OFF) if places[axis] == OFF else 0.0
            size += max(known[axis], own)
        return size

    def _most_at(self, axis: int, *places: int) -> float:
        told = [abs(gain) for place in places for gain in self.survey.gain(axis, place)]
        return max((each for each in told if math.isfinite(each)), default=0.0)

    @cached_property
    def _still(self) -> Gains:
        """Return what the features add that nobody changes."""
        space = self.options.space
        still = [
            self.survey.course(axis, STAY).gains
            for axis in space.model_axes
            if axis not in self.options.by_axis and axis not in space.governed_axes
        ]
        return _total(self.survey.nothing, still)

    @cached_property
    def _known_hopes(self) -> dict[tuple[int, ...], Gains]:
        return {}

    def _hoped(self, regions: tuple[int, ...]) -> Gains:
        """Return the most that governed features can add, each in some regions."""
        known = self._known_hopes.get(regions)
        if known is None:
            found = [
                self._most_in(axis, regions[position])
                for position, axis, _ in self._reach.governed
                if axis in self.options.space.model_places
            ]
            known = self._known_hopes[regions] = _total(self.survey.nothing, found)
        return known

    def _most_in(self, axis: int, regions: int) -> Gains:
        places, survey = self.options.space.axes[axis].regions, self.survey
        told = []
        for number in numbers(regions):
            if number < len(places):
                told += [survey.gain(axis, places[number][end]) for end in (0, -1)]
            else:
                told.append(survey.gain(axis, self.options.transitions.person.places[axis]))
        return tuple(map(max, zip(*told, strict=True)))

    def foretold(self, box: Opens, limits: Limits) -> Gains | None:
        """Return the most that governed features come to add once all that rules see is settled; None if rules forbid it."""
        space = self.options.space
        chosen = [box[axis][0].number for axis in self.ruled if box[axis][0].number != STAY]
        told = []
        for places in self.ends(tuple(sorted(chosen)), limits):
            if self.options.transitions.suits(places):
                read = [axis for axis in space.model_axes if axis in space.governed_axes]
                gains = [self.survey.gain(axis, places[axis]) for axis in read]
                told.append(_total(self.survey.nothing, gains))
        return tuple(map(max, zip(*told, strict=True))) if told else None

    def chosen(self, at: Steps) -> tuple[int, ...]:
        """Return the options that take features to some steps, by number."""
        found = []
        for axis, (number, step) in at.items():
            if number != STAY:
                places = self.survey.course(axis, number).places
                found.append(self.options.at(number, places[step]) if places[1:] else number)
        return tuple(sorted(found))

    def arrive(self, lead: LineLead, at: Steps, limits: Limits) -> Iterator[Lead]:
        """Yield the best order of a choice that was not tried before, if it arrives and may be the best."""
        chosen = self.chosen(at)
        choice = Choice(sum(self.options.listed[number].effort for number in chosen), chosen, 0)
        if chosen in self.tried or self.is_beaten(float(choice.effort)):
            return
        regions = [] if lead.end is None else list(lead.end.regions)
        paths = self.orders(choice, regions, limits)
        arrival = next(paths, None)
        self.tried[chosen] = arrival is not None
        if arrival is not None:
            self.arrived.append(mask_of(chosen))
            self._note(arrival)
            kind = mask_of(number for number, _ in at.values() if number != STAY)
            yield ArrivedLead(self, arrival.key, arrival, paths, kind)

    def _note(self, arrival: Arrival) -> None:
        if self.first_only:
            governed = self.options.space.governed_axes
            way = WAY_SHARE if governed else arrival.way * self.survey.per_way
            price = arrival.effort + way
            self.best[:] = [min(price, *self.best)] if self.best else [price]


def _sizes(_: Space) -> dict[int, float]:
    return {}


def taken_mask(box: Opens) -> int:
    """Return the options that every choice of a box takes."""
    settled = (open_[0].number for open_ in box.values() if len(open_) == 1)
    return mask_of(number for number in settled if number != STAY)


def _ended(past: End, box: Opens, left: Opens) -> End:
    """Return what a part of a box may end with, in which no more is left to some features."""
    gone = 0
    chosen: list[int] = []
    moved: list[int] = []
    for axis, open_ in left.items():
        kept, known = ({each.number for each in some} for some in (open_, box[axis]))
        if kept == known:
            continue
        gone |= mask_of(number for number in known - kept if number != STAY)
        if STAY in known - kept:
            moved.append(axis)
        if len(kept) == 1 and STAY not in kept:
            chosen += kept
    if not (chosen or gone or moved):
        return past
    end = past.narrowed(tuple(chosen), past.left & ~gone | mask_of(chosen))
    for axis in moved:
        end.leave_own(axis)
    end.settle()
    return end


def _synced(box: Opens, end: End) -> Opens | None:
    """Return a box without what can no longer be ended with; None where a feature has nothing left."""
    left = end.left | sum(end.taken.values())
    found: Opens = {}
    for axis, open_ in box.items():
        stays = axis not in end.moved
        kept = tuple(
            [each for each in open_ if (stays if each.number == STAY else left >> each.number & 1)]
        )
        if not kept:
            return None
        found[axis] = kept
    return found


def _total(nothing: Gains, gains: Iterable[Gains]) -> Gains:
    return tuple(map(sum, zip(nothing, *gains, strict=True)))
