"""Search the regions of effect-relevant features by branch and bound.

It serves problems in which a parsed model decides.

A *region* of an effect-relevant feature is a set of its actions that no causal rule and no constraint tells apart; the first
region of a feature also holds to leave it unchanged. A node leaves some regions of each feature open. It is bounded by the
model's own compiled search (`CheapestCells`) over the actions of these regions, each endogenous feature having every cell of
the delete-relaxed reachability. A leaf has one region of each feature: all its plans bring about the same effects, so the
states in which these come to rest are found once, and for each of them the compiled search tells the cheapest accepted points.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import accumulate
from operator import and_, ne, or_
from typing import TYPE_CHECKING, NamedTuple

from p2c._plan.compiled.bitsets import mask_of, numbers
from p2c._plan.search.best_first import Key
from p2c._plan.search.cheapest_points import (
    PointLead,
    by_cell,
    cheapest_cells,
    made_span,
    next_point,
    options_of,
    ordered,
    span_of,
    unit_of,
)
from p2c._plan.search.relaxed_reach import Prospect

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from p2c._learn.model.cheapest_cells import CheapestCells
    from p2c._plan.search.action_sets import ActionSets, OrderLead
    from p2c._plan.search.best_first import Lead, Limits
    from p2c._plan.search.cheapest_points import Span
    from p2c._plan.search.options import Option, Options
    from p2c._plan.search.relaxed_reach import RelaxedReach

Open = tuple[int, ...]
"""The open regions of each effect-relevant feature, as a mask by number."""


class Region(NamedTuple):
    """Actions on one feature that no causal rule and no constraint tells apart."""

    options: tuple[int, ...]
    """The numbers of the actions, cheapest first."""
    stays: bool
    """Whether to leave the feature unchanged belongs to it."""
    body: int
    """The rules whose tests on the feature pass.

    It is 0 if the action may set an endogenous feature anywhere.
    """


@dataclass(frozen=True)
class RegionSearch:
    """The plans of one person that set off an effect or may break a constraint."""

    search: ActionSets
    boxes: Callable[[int, frozenset[int]], Iterable[Lead]]
    """Begins the search by boxes where the compiled search does not apply.

    It takes the mask of the open actions and the features that a plan must change.
    """
    reach: RelaxedReach
    calm: list[Span]
    """The cells of each feature that the model reads, reachable without effects."""

    @property
    def options(self) -> Options:
        """Return the person's actions."""
        return self.search.options

    @cached_property
    def regions(self) -> dict[int, tuple[Region, ...]]:
        """Return the regions of each feature that has several.

        The region in which the feature may stay comes first, the others by cost.
        """
        space = self.options.space
        divided = {
            axis: self._regions(axis) for axis in self.options.settable if axis in space.stirring
        }
        return {axis: regions for axis, regions in divided.items() if len(regions) > 1}

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
        while True:
            if all(each == 1 for each in open_):
                # Plans without effects are searched apart.
                return
            rest = self._rest(open_)
            if rest is None:
                return
            narrowed = self._narrowed(open_, rest)
            if narrowed is None:
                return
            if narrowed == open_:
                break
            open_ = narrowed
        base = sum(self._base(axis, mask) for axis, mask in zip(self.regions, open_, strict=True))
        spans = self._spans(open_, rest.regions)
        if spans is None:
            yield RegionLead(self, open_, max(base, least), base, None)
            return
        cells = cheapest_cells(self.options.space, spans)
        if cells.bound is not None:
            bound = max(base + self.unit * cells.bound, least)
            yield RegionLead(self, open_, bound, base, spans)

    @cached_property
    def unit(self) -> int:
        """Return the effort that counts as one in the model's own search."""
        return unit_of(self.options.transitions.person)

    def _base(self, axis: int, mask: int) -> int:
        """Return the least effort of the open regions of a feature."""
        regions, listed = self.regions[axis], self.options.listed
        if mask & 1:
            return 0
        return min(listed[regions[number].options[0]].effort for number in numbers(mask))

    def _rest(self, open_: Open) -> Prospect | None:
        """Return the final regions of endogenous features.

        The result is None if a law or a constraint is surely broken.

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
        return None if 0 in rest.regions or rest.must & self._enforced(open_) else rest

    def _narrowed(self, open_: Open, rest: Prospect) -> Open | None:
        """Return the open regions after unit propagation of the constraints.

        The result is None if a feature has no region left.

        Sound because a constraint without calls is broken if all its tests pass. Where those on all other features pass in
        every open region, the regions of a feature in which its own tests pass as well are no end of a plan.
        """
        plain = self._enforced(open_) & ~self.reach.calling
        excused = self._excused
        before = list(accumulate(rest.must_of, and_, initial=-1))
        after = list(accumulate(reversed(rest.must_of), and_, initial=-1))[::-1]
        narrowed = []
        for (axis, regions), mask in zip(self.regions.items(), open_, strict=True):
            left, others = mask, before[axis] & after[axis + 1]
            if mask & (mask - 1) and axis not in self.reach.position:
                moved = sum(bit for bit, axes in excused if axis in axes) & ~self.reach.calling
                for number in numbers(mask):
                    barring = plain | moved if number else plain
                    if others & regions[number].body & barring:
                        left &= ~(1 << number)
            if not left:
                return None
            narrowed.append(left)
        return tuple(narrowed)

    @cached_property
    def _excused(self) -> list[tuple[int, frozenset[int]]]:
        """Return the constraints that have an exception.

        With each come the exogenous features that end the exception when they are set.
        """
        settable = frozenset(self.regions) - self.reach.position.keys()
        excused = self.options.transitions.excused_constraints
        return [(bit, reads & settable) for bit, reads in excused]

    def _enforced(self, open_: Open) -> int:
        """Return the constraints that no plan of a node may break.

        A constraint whose exception the node ends is among them.
        """
        moved = {axis for axis, mask in zip(self.regions, open_, strict=True) if not mask & 1}
        kept = sum(bit for bit, axes in self._excused if not axes & moved)
        return self.options.space.constraints & ~kept

    def _spans(self, open_: Open, ends: list[int]) -> list[Span] | None:
        """Return the open cells of each feature that the model reads.

        The result is None if the model was not parsed for one of the cells.
        """
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
        span = self._known_spans.get((axis, mask))
        if span is None:
            regions, listed = self.regions[axis], self.options.listed
            some = [listed[n] for number in numbers(mask) for n in regions[number].options]
            if mask & 1:
                span = span_of(self.options, axis, some)
            else:
                span = made_span(by_cell(self.options, some), self.unit)
            self._known_spans[axis, mask] = span
        return span

    def _cells_span(self, cells: int) -> Span:
        span = self._known_spans.get((-1, cells))
        if span is None:
            span = self._known_spans[-1, cells] = made_span(
                dict.fromkeys(numbers(cells)), self.unit
            )
        return span

    def undecided(self, open_: Open) -> dict[int, int]:
        """Return the features with several open regions, with the first of these."""
        return {
            axis: (mask & -mask).bit_length() - 1
            for axis, mask in zip(self.regions, open_, strict=True)
            if mask & (mask - 1)
        }

    def parts(self, node: RegionLead, axis: int, number: int) -> Iterator[Lead]:
        """Split a node: a feature has one open region in a part, the rest in the other."""
        place = list(self.regions).index(axis)
        mask = node.open[place]
        for part in (1 << number, mask & ~(1 << number)):
            yield from self.node((*node.open[:place], part, *node.open[place + 1 :]), node.least)

    def at_point(
        self, node: RegionLead, spans: list[Span], point: list[int], limits: Limits
    ) -> tuple[list[OrderLead], tuple[int, int] | None]:
        """Return the plan of a point's actions, and the split of the node if it needs one.

        A split is the feature and the region to branch on.

        Sound because the point stands for the cheapest actions of the node that lead to its cells. If they are a plan, another
        plan of the node with these cells is dearer or takes a tied action of another region, which the parts are searched for.
        """
        options = options_of(spans, point)
        taken = self._taken(node.open, options)
        undecided = self.undecided(node.open)
        rests = self._rests(self._chosen(taken), limits)
        cells = tuple(int(spans[place].cells[point[place]]) for place in self._read.values())
        if cells not in rests.by_cells or any(taken[axis] for axis in self._set):
            axis = self._culprit(undecided, rests, cells)
            return [], (axis, taken[axis])
        leads: list[OrderLead] = []
        if any(taken.values()):
            # Plans without effects are searched apart.
            chosen = [*self._unread(taken), *options]
            regions = [reduce(or_, each) for each in zip(*rests.by_cells.values(), strict=True)]
            leads += ordered(self.search, chosen, regions, limits)
        tied = (axis for axis in undecided if self._is_tied(axis, node, spans, point, taken[axis]))
        return leads, next(((axis, taken[axis]) for axis in tied), None)

    @cached_property
    def _read(self) -> dict[int, int]:
        """Return the endogenous features that the model reads, with their places in it."""
        places = self.options.space.model_places
        return {axis: places[axis] for axis in self.reach.position if axis in places}

    @cached_property
    def _set(self) -> list[int]:
        """Return the endogenous features that may be set as well."""
        return [axis for axis in self.regions if axis in self.reach.position]

    @cached_property
    def _region_of(self) -> dict[tuple[int, int], int]:
        """Return the region of each action, by its feature and end."""
        listed = self.options.listed
        return {
            (axis, listed[number].end): place
            for axis, regions in self.regions.items()
            for place, region in enumerate(regions)
            for number in region.options
        }

    def _taken(self, open_: Open, options: list[Option]) -> dict[int, int]:
        """Return the region of each feature after the actions of a point.

        For a feature that the model does not read it is the cheapest open region.
        """
        ends = {each.axis: each.end for each in options}
        places = self.options.space.model_places
        taken = {}
        for axis, mask in zip(self.regions, open_, strict=True):
            if axis in ends:
                taken[axis] = self._region_of[axis, ends[axis]]
            elif axis in places and axis not in self.reach.position:
                taken[axis] = 0
            else:
                taken[axis] = (mask & -mask).bit_length() - 1
        return taken

    def _chosen(self, taken: dict[int, int]) -> tuple[int, ...]:
        """Return one action for each feature that leaves its first region."""
        regions = self.regions
        return tuple(sorted(regions[axis][n].options[0] for axis, n in taken.items() if n))

    def _unread(self, taken: dict[int, int]) -> list[Option]:
        """Return the cheapest actions on features that the model does not read."""
        places, listed = self.options.space.model_places, self.options.listed
        return [
            listed[self.regions[axis][number].options[0]]
            for axis, number in taken.items()
            if number and axis not in places
        ]

    def _is_tied(
        self, axis: int, node: RegionLead, spans: list[Span], point: list[int], taken: int
    ) -> bool:
        """Tell whether another open region has an equal action for a point.

        An equal action takes the same effort and may replace the action of the point.

        Of cells that no leaf of the model tells apart its search tells the cheapest only: that is to stay, where it is open.
        """
        listed, place = self.options.listed, self.options.space.model_places.get(axis)
        mask = node.open[list(self.regions).index(axis)]
        others = [
            listed[n]
            for number in numbers(mask & ~(1 << taken))
            for n in self.regions[axis][number].options
        ]
        if place is None or axis in self.reach.position:
            own = self.regions[axis][taken]
            least = 0 if own.stays else listed[own.options[0]].effort
            return any(each.effort == least for each in others)
        option = spans[place].options[point[place]]
        if option is None:
            return False
        cell = self.options.transitions.model_cell
        return any(
            each.effort == option.effort
            and (not mask & 1 or cell(axis, each.end) == cell(axis, option.end))
            for each in others
        )

    def _culprit(self, undecided: dict[int, int], rests: Rests, cells: tuple[int, ...]) -> int:
        """Return a feature to branch on where effects do not lead to some cells."""
        if rests.by_cells:
            nearest = min(rests.by_cells, key=lambda each: sum(map(ne, each, cells)))
            apart = zip(self._read, nearest, cells, strict=True)
            blamed = frozenset().union(*(self._above[axis] for axis, a, b in apart if a != b))
        else:
            blamed = rests.blamed
        return next((axis for axis in undecided if axis in blamed), next(iter(undecided)))

    @cached_property
    def _above(self) -> dict[int, frozenset[int]]:
        """Return all features that each endogenous feature depends on, and itself."""
        space = self.options.space
        upstream = space.theory.upstream
        return {
            axis: frozenset(space.index[name] for name in upstream[space.axes[axis].feature.name])
            | {axis}
            for axis in self.reach.position
        }

    def leaf(self, node: RegionLead, limits: Limits) -> Iterator[Lead]:
        """Yield the points of a leaf for each resting state of endogenous features."""
        taken = {
            axis: mask.bit_length() - 1 for axis, mask in zip(self.regions, node.open, strict=True)
        }
        if node.spans is None or any(taken[axis] for axis in self._set):
            yield from self._boxes(taken)
            return
        unread = tuple(self._unread(taken))
        for cells, regions in self._rests(self._chosen(taken), limits).by_cells.items():
            spans = list(node.spans)
            for place, cell in zip(self._read.values(), cells, strict=True):
                spans[place] = self._cells_span(1 << cell)
            search = cheapest_cells(self.options.space, spans)
            if search.bound is not None:
                yield PointLead(self.search, spans, self.unit, search, node.base, unread, regions)

    def _boxes(self, taken: dict[int, int]) -> Iterator[Lead]:
        """Yield the box of all actions of a leaf."""
        left = (1 << len(self.options.listed)) - 1
        for axis, number in taken.items():
            left &= ~self.options.by_axis[axis] | mask_of(self.regions[axis][number].options)
        forced = frozenset(axis for axis, number in taken.items() if number)
        yield from self.boxes(left, forced)

    def _rests(self, chosen: tuple[int, ...], limits: Limits) -> Rests:
        """Return the resting states after the effects of actions, from a cache."""
        rests = self._known_rests.get(chosen)
        if rests is None:
            rests = self._known_rests[chosen] = self._find_rests(chosen, limits)
        return rests

    @cached_property
    def _known_rests(self) -> dict[tuple[int, ...], Rests]:
        return {}

    def _find_rests(self, chosen: tuple[int, ...], limits: Limits) -> Rests:
        transitions, reach = self.options.transitions, self.reach
        by_cells: dict[tuple[int, ...], list[int]] = {}
        blamed: set[int] = set()
        for places in self.search.ends(chosen, limits):
            if not transitions.suits(places):
                verdict = transitions.judge(places)
                blamed.update(*(self._above[each.index] for each in verdict.violated))
                for bit, reads in self.options.space.constraint_bits:
                    if verdict.breached & bit:
                        blamed.update(reads, *(self._above.get(axis, ()) for axis in reads))
                continue
            cells = tuple(transitions.model_cell(axis, places[axis]) for axis in self._read)
            regions = [reach.region(n, places[axis]) for axis, n in reach.position.items()]
            by_cells[cells] = list(map(or_, by_cells.get(cells, regions), regions))
        return Rests(by_cells, frozenset(blamed))


class Rests(NamedTuple):
    """The resting states after the effects of actions."""

    by_cells: dict[tuple[int, ...], list[int]]
    """The regions of endogenous features, by the cells that the model reads."""
    blamed: frozenset[int]
    """The features on which it depends that other states are inconsistent."""


class RegionLead(NamedTuple):
    """A node of the branch and bound."""

    regions: RegionSearch
    open: Open
    least: int
    """The least effort of its plans that were not found yet."""
    base: int
    """The least effort of its actions, whether the model accepts their end or not."""
    spans: list[Span] | None
    """The open cells of each feature that the model reads.

    It is None if the model was not parsed for one of the cells.
    """
    cells: CheapestCells | None = None
    """The model's own search among these cells, once it has begun."""

    @property
    def key(self) -> Key:
        """Return a lower bound on the keys of the plans of the node."""
        return Key(effort=self.least, length=0, way=0, sequence=())

    @property
    def known(self) -> None:
        """Return None: each plan is yielded as a lead of its own."""

    def follow(self, limits: Limits) -> Iterable[Lead]:
        """Yield the points of a leaf, or the next plan of an inner node.

        The plan of an inner node is followed by the rest of the node or by its parts.
        """
        undecided = self.regions.undecided(self.open)
        if not undecided:
            yield from self.regions.leaf(self, limits)
            return
        if self.spans is None:
            yield from self.regions.parts(self, *next(iter(undecided.items())))
            return
        cells = self.cells or cheapest_cells(self.regions.options.space, self.spans)
        point = next_point(cells, limits)
        if point is not None:
            leads, branch = self.regions.at_point(self, self.spans, point, limits)
            yield from leads
            if branch is not None:
                yield from self.regions.parts(self, *branch)
                return
        if cells.bound is not None:
            least = max(self.least, self.base + self.regions.unit * cells.bound)
            yield self._replace(least=least, cells=cells)
