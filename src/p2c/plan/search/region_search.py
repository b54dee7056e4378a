"""Branch and bound over the regions of effect-relevant features, where a parsed model decides.

A *region* of an effect-relevant feature is a set of its actions that no causal rule and no constraint tells apart; the first
region of a feature also holds to leave it unchanged. A node leaves some regions of each feature open. It is bounded by the
model's own compiled search (`CheapestCells`) over the actions of these regions, each endogenous feature having every cell of
the delete-relaxed reachability. A leaf has one region of each feature: all its plans bring about the same effects, so the
states in which these come to rest are found once, and for each of them the compiled search tells the cheapest accepted points.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, reduce
from operator import and_, or_
from typing import TYPE_CHECKING, NamedTuple

from p2c.plan.compiled.bitsets import mask_of, numbers
from p2c.plan.search.best_first import Key
from p2c.plan.search.cheapest_points import (
    PointLead,
    by_cell,
    cheapest_cells,
    made_span,
    span_of,
    unit_of,
)
from p2c.plan.search.relaxed_reach import Prospect

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from p2c.plan.search.best_first import Lead, Limits
    from p2c.plan.search.box_search import BoxSearch
    from p2c.plan.search.cheapest_points import Span
    from p2c.plan.search.options import Option, Options
    from p2c.plan.search.relaxed_reach import RelaxedReach

Open = tuple[int, ...]
"""The open regions of each effect-relevant feature, as a mask by number."""


class Region(NamedTuple):
    """Actions on one feature that no causal rule and no constraint tells apart."""

    options: tuple[int, ...]
    """The numbers of the actions, cheapest first."""
    stays: bool
    """Whether to leave the feature unchanged belongs to it."""
    body: int
    """The rules whose tests on the feature pass; 0 if the action may set an endogenous feature anywhere."""


@dataclass(frozen=True)
class RegionSearch:
    """The plans of one person that set off an effect or may break a constraint."""

    search: BoxSearch
    reach: RelaxedReach
    calm: list[Span]
    """What is open to the person in each feature that the model reads, without any effect."""

    @property
    def options(self) -> Options:
        """Return the person's actions."""
        return self.search.options

    @cached_property
    def regions(self) -> dict[int, tuple[Region, ...]]:
        """Return the regions of each feature with more than one, by cost; the one in which it may stay comes first."""
        space = self.options.space
        found = {
            axis: self._regions(axis) for axis in self.options.settable if axis in space.stirring
        }
        return {axis: regions for axis, regions in found.items() if len(regions) > 1}

    def _regions(self, axis: int) -> tuple[Region, ...]:
        options = self.options
        noticing, bodies = options.space.noticing, options.transitions.bodies[axis]
        unnoticed: list[int] = []
        noticed: dict[int, list[int]] = {}
        for number in numbers(options.by_axis.get(axis, 0)):
            option = options.listed[number]
            if options.is_calm(option):
                unnoticed.append(number)
            else:
                seen = 0 if axis in self.reach.position else bodies[option.end] & noticing
                noticed.setdefault(seen, []).append(number)
        own = Region(tuple(unnoticed), True, self.reach.own[axis])
        return (own, *(Region(tuple(some), False, body) for body, some in noticed.items()))

    def leads(self) -> Iterator[Lead]:
        """Yield the node in which every region is open."""
        if self.regions:
            everything = tuple((1 << len(each)) - 1 for each in self.regions.values())
            yield from self.node(everything, 0)

    def node(self, open_: Open, least: int) -> Iterator[RegionLead]:
        """Yield a node that takes at least some effort, unless no plan comes of it."""
        if all(each == 1 for each in open_):
            # Plans without effects are searched apart.
            return
        ends = self._ends(open_)
        if ends is None:
            return
        base = sum(self._base(axis, mask) for axis, mask in zip(self.regions, open_, strict=True))
        spans = self._spans(open_, ends)
        if spans is None:
            yield RegionLead(self, open_, max(base, least), base, None)
            return
        cells = cheapest_cells(self.options.space, spans)
        if cells.bound is not None:
            bound = max(base + self._unit * cells.bound, least)
            yield RegionLead(self, open_, bound, base, spans)

    @cached_property
    def _unit(self) -> int:
        return unit_of(self.options.transitions.person)

    def _base(self, axis: int, mask: int) -> int:
        """Return the least effort of the open regions of a feature."""
        regions, listed = self.regions[axis], self.options.listed
        if mask & 1:
            return 0
        return min(listed[regions[number].options[0]].effort for number in numbers(mask))

    def _ends(self, open_: Open) -> list[int] | None:
        """Return the regions in which endogenous features may end; None if some law or constraint is surely broken.

        Sound because delete-relaxed reachability holds every region that an endogenous feature ever comes to, and at the end
        each law allows its value given the rules that may and that must fire there. Each feature ends in one of its open
        regions, so a rule may fire if its tests pass in one of them, and must if they pass in all.
        """
        reach = self.reach
        some: list[int] = []
        may_end: dict[int, int] = {}
        must_end: dict[int, int] = {}
        for (axis, regions), mask in zip(self.regions.items(), open_, strict=True):
            left = [regions[number] for number in numbers(mask)]
            some += [each.options[0] for each in left if not each.stays]
            if axis not in reach.position:
                may_end[axis] = reduce(or_, (each.body for each in left))
                must_end[axis] = reduce(and_, (each.body for each in left))
        way = reach.on_the_way(tuple(sorted(some)))
        may_of, must_of = way.may_of[:], way.must_of[:]
        for axis, may in may_end.items():
            may_of[axis], must_of[axis] = may, must_end[axis]
        rest = reach.at_rest(Prospect(way.may, way.must, may_of, must_of, way.regions[:]))
        if 0 in rest.regions or rest.must & self._enforced:
            return None
        return rest.regions

    @cached_property
    def _enforced(self) -> int:
        """Return the constraints without an exception."""
        excused = sum(bit for bit, _ in self.options.transitions.excused_constraints)
        return self.options.space.constraints & ~excused

    def _spans(self, open_: Open, ends: list[int]) -> list[Span] | None:
        """Return the cells open to each feature that the model reads; None if the model was not read for one of them."""
        spans, places = list(self.calm), self.options.space.model_places
        for axis, mask in zip(self.regions, open_, strict=True):
            if axis in places:
                spans[places[axis]] = self._span(axis, mask)
        for axis, position in self.reach.position.items():
            if axis in places:
                cells = self.reach.model_regions(position, ends[position])
                if cells is None:
                    return None
                spans[places[axis]] = self._cells_span(cells)
        return spans if all(each.is_known for each in spans) else None

    @cached_property
    def _known_spans(self) -> dict[tuple[int, int], Span]:
        return {}

    def _span(self, axis: int, mask: int) -> Span:
        known = self._known_spans.get((axis, mask))
        if known is None:
            regions, listed = self.regions[axis], self.options.listed
            some = [listed[n] for number in numbers(mask) for n in regions[number].options]
            if mask & 1:
                known = span_of(self.options, axis, some)
            else:
                known = made_span(by_cell(self.options, some), self._unit)
            self._known_spans[axis, mask] = known
        return known

    def _cells_span(self, cells: int) -> Span:
        known = self._known_spans.get((-1, cells))
        if known is None:
            known = self._known_spans[-1, cells] = made_span(
                dict.fromkeys(numbers(cells)), self._unit
            )
        return known

    def parts(self, open_: Open, least: int) -> Iterator[Lead]:
        """Yield the two parts of a node that is no leaf."""
        place = next(n for n, mask in enumerate(open_) if mask & (mask - 1))
        mask = open_[place]
        kept = mask & -mask
        for part in (kept, mask ^ kept):
            yield from self.node((*open_[:place], part, *open_[place + 1 :]), least)

    def leaf(self, lead: RegionLead, limits: Limits) -> Iterator[Lead]:
        """Yield the points of a leaf, for each state in which endogenous features come to rest."""
        taken = [
            regions[mask.bit_length() - 1]
            for regions, mask in zip(self.regions.values(), lead.open, strict=True)
        ]
        forced = [
            axis for axis, region in zip(self.regions, taken, strict=True) if not region.stays
        ]
        if lead.spans is None or any(axis in self.reach.position for axis in forced):
            yield from self._boxes(taken, forced)
            return
        chosen = tuple(sorted(each.options[0] for each in taken if not each.stays))
        places = self.options.space.model_places
        unread = tuple(
            self.options.listed[region.options[0]]
            for axis, region in zip(self.regions, taken, strict=True)
            if axis not in places and not region.stays
        )
        for cells, rests in self._rests(chosen, limits).items():
            spans = list(lead.spans)
            for axis, cell in cells:
                spans[places[axis]] = self._cells_span(1 << cell)
            search = cheapest_cells(self.options.space, spans)
            if search.bound is not None:
                yield PointLead(self.search, spans, self._unit, search, lead.base, unread, rests)

    def _boxes(self, taken: list[Region], forced: list[int]) -> Iterator[Lead]:
        """Yield the box of all actions of a leaf."""
        left = (1 << len(self.options.listed)) - 1
        for axis, region in zip(self.regions, taken, strict=True):
            left &= ~self.options.by_axis[axis] | mask_of(region.options)
        yield from self.search.within(left, frozenset(forced))

    def _rests(
        self, chosen: tuple[int, ...], limits: Limits
    ) -> dict[tuple[tuple[int, int], ...], list[int]]:
        """Return the regions in which endogenous features come to rest, by the model's cells of the features it reads."""
        transitions, reach = self.options.transitions, self.reach
        read = [axis for axis in reach.position if axis in self.options.space.model_places]
        found: dict[tuple[tuple[int, int], ...], list[int]] = {}
        for places in self.search.ends(chosen, limits):
            if not transitions.suits(places):
                continue
            cells = tuple((axis, transitions.model_cell(axis, places[axis])) for axis in read)
            regions = [reach.region(n, places[axis]) for axis, n in reach.position.items()]
            before = found.get(cells, regions)
            found[cells] = list(map(or_, before, regions))
        return found


class RegionLead(NamedTuple):
    """A node of the branch and bound."""

    regions: RegionSearch
    open: Open
    least: int
    """The least effort of its plans."""
    base: int
    """The least effort of its actions, whether the model accepts their end or not."""
    spans: list[Span] | None
    """The cells that are open to each feature that the model reads; None if the model was not read for one."""

    @property
    def key(self) -> Key:
        """Return what no plan of the node can beat."""
        return Key(effort=self.least, length=0, way=0, sequence=())

    @property
    def known(self) -> None:
        """Return nothing: plans come of leaves."""

    def follow(self, limits: Limits) -> Iterable[Lead]:
        """Return the parts of the node, or the points of a leaf."""
        if any(mask & (mask - 1) for mask in self.open):
            return self.regions.parts(self.open, self.least)
        return self.regions.leaf(self, limits)
