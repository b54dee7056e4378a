"""Sets of direct actions by boxes: where a model decides, many small changes may add up, and no single reason names one.

A box says for each feature which direct actions are still open, to leave it as it is among them. Its cheapest choice takes
the cheapest of each; what a yes costs within the box at least (`box_prices`) is mostly more, and the box waits until that is
the least of all. Then its cheapest choice is tried if it may be accepted, and the box is split at the feature whose cheapest
action would leave the least hope: that no more is spent on it than is surely too little, against that more is.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from p2c._plan.compiled.bitsets import mask_of, numbers
from p2c._plan.search.action_sets import ActionSets, OrderLead, choice_key, contains_one
from p2c._plan.search.best_first import Key
from p2c._plan.search.box_prices import BoxPrices
from p2c._plan.search.calm_points import CalmLead
from p2c._plan.search.cheapest_points import open_spans, point_leads
from p2c._plan.search.options import Choice
from p2c._plan.search.propagation import DeadEnd, Propagation
from p2c._plan.search.region_search import RegionSearch

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from p2c._plan.search.best_first import Arrival, Lead, Limits
    from p2c._plan.search.box_prices import BoxPrice
    from p2c._plan.search.propagation import End


@dataclass(frozen=True)
class BoxSearch(ActionSets):
    """The search of one person's plans by boxes of options."""

    def leads(self) -> Iterator[Lead]:
        """Yield the first nodes: regions if only cells and the best plan matter.

        Otherwise the search begins with the box of everything.
        """
        spans = open_spans(self)
        if spans is None:
            yield from self.boxes()
            return
        regions = RegionSearch(self, self.within, self._reach, spans)
        points = list(point_leads(self, spans))
        yield from (CalmLead(each, regions.leads) for each in points) if points else regions.leads()

    def boxes(self) -> Iterator[BoxLead]:
        """Yield the box of everything."""
        if self._everything is not None:
            yield from self.boxed(self._everything, frozenset(), None)

    def within(self, left: int, forced: frozenset[int]) -> Iterator[BoxLead]:
        """Yield the box of open options whose plans act on the `forced` features."""
        if self._everything is None:
            return
        end = self._propagation.of((), left)
        if end is not None:
            yield from self.boxed(end, forced, None)

    @cached_property
    def _propagation(self) -> Propagation:
        return Propagation(self._reach, self.first_only, judging=False)

    @cached_property
    def _everything(self) -> End | None:
        return self._propagation.of((), (1 << len(self.options.listed)) - 1)

    @cached_property
    def prices(self) -> BoxPrices:
        """Return what boxes cost."""
        model, widest = self.options.space.theory.parsed, self._everything
        assert model is not None
        assert widest is not None
        return BoxPrices(self.options, self._reach, model.priced(widest.boxes))

    def boxed(self, end: End, forced: frozenset[int], before: BoxLead | None) -> Iterator[BoxLead]:
        """Yield a box, if a plan may come of it; `forced` are the features that do not stay as they are."""
        choice = self.cheapest(end, forced)
        if choice is None or contains_one(sum(end.taken.values()), self.closed):
            return
        price = self.prices.of(end, choice, before and before.price)
        effort = choice.effort
        if price is not None:
            least = self.prices.least(price, effort)
            if least is None:
                return
            effort = least
        tried = effort > choice.effort or (
            before is not None and before.tried and before.choice == choice
        )
        yield BoxLead(self, self._key(choice, effort), choice, end, forced, price, tried)

    def _key(self, choice: Choice, effort: int) -> Key:
        if effort <= choice.effort:
            return choice_key(self.options, choice.chosen, effort)
        way = sum(self.options.listed[number].way for number in choice.chosen)
        return Key(effort, len(choice.chosen), way, ())

    def cheapest(self, end: End, forced: frozenset[int]) -> Choice | None:
        """Return the cheapest choice of a box: to stay where that is open, else the cheapest action that is."""
        chosen: list[int] = []
        for axis, options in self.options.by_axis.items():
            taken = end.taken.get(axis)
            if taken is not None:
                chosen.append(taken.bit_length() - 1)
            elif axis in forced or axis in end.moved:
                left = options & end.left
                if not left:
                    return None
                chosen.append((left & -left).bit_length() - 1)
        effort = sum(self.options.listed[number].effort for number in chosen)
        return Choice(effort, tuple(sorted(chosen)), 0)


class BoxLead(NamedTuple):
    """A box, by what it costs at least."""

    search: BoxSearch
    key: Key
    choice: Choice
    end: End
    forced: frozenset[int]
    price: BoxPrice | None
    """The cost of the model's leaves in the box.

    It is None if the model was not parsed for one of the values.
    """
    tried: bool
    """Whether the cheapest choice is known: it was tried, or is surely refused."""

    @property
    def known(self) -> None:
        """Return nothing: whether a choice arrives is seen when it is put in order."""

    def follow(self, limits: Limits) -> Iterable[Lead | Arrival]:
        """Yield the orders of the cheapest choice, and the two parts of the box."""
        if not self.tried:
            tried = self._replace(tried=True)
            found = list(self._ordered(limits))
            yield from found
            if found:
                yield tried
            else:
                yield from tried.follow(limits)
            return
        axes = [axis for axis in self.search.options.by_axis if self._open(axis)]
        if self.price is None:
            if axes:
                yield from self._parts(axes[0], self._cheapest(axes[0]))
        else:
            yield from self._split(axes, self.price)

    def _ordered(self, limits: Limits) -> Iterator[Lead | Arrival]:
        search, choice = self.search, self.choice
        paths = search.orders(choice, list(self.end.regions), limits)
        arrival = next(paths, None)
        if arrival is not None:
            mask = mask_of(choice.chosen)
            search.arrived.append(mask)
            if arrival.effort == choice.effort and not search.every:
                search.closed.append(mask)
            yield OrderLead(search, arrival.key, arrival, paths)

    def _stays(self, axis: int) -> bool:
        return axis not in self.forced and axis not in self.end.moved

    def _open(self, axis: int) -> int:
        if axis in self.end.taken:
            return 0
        options = self.search.options.by_axis[axis] & self.end.left
        return options if self._stays(axis) or options & (options - 1) else 0

    def _split(self, axes: list[int], price: BoxPrice) -> Iterator[Lead]:
        """Yield the parts of the box by the feature whose cheapest action, or nearest region, leaves the least hope."""
        prices = self.search.prices
        acted = [axis for axis in axes if axis in self.search.options.space.governed_axes]
        if acted:
            # What can be set and changes by itself as well is known best once it is known whether it is set.
            yield from self._parts(acted[0], self._cheapest(acted[0]))
            return
        others = {
            axis: self._cheapest(axis) << 1 | self._stays(axis)
            for axis in axes
            if axis in prices.places
        }
        others |= prices.nearest_regions(self.end)
        if not others:
            if axes:
                yield from self._parts(axes[0], self._cheapest(axes[0]))
            return
        told = prices.gaps(self.end, price, self.key.effort, others)
        gap, axis = min((gap, axis) for axis, gap in told.items())
        if axis in prices.governed:
            yield from self._rested(axis, others[axis])
        else:
            yield from self._parts(axis, self._too_cheap(axis, gap < 0))

    def _rested(self, axis: int, region: int) -> Iterator[Lead]:
        """Yield the part of the box in which a governed feature ends in a region, and the one in which it does not."""
        position = self.search.prices.governed[axis]
        for regions in (region, self.end.regions[position] & ~region):
            within = list(self.end.regions)
            within[position] = regions
            yield from self._part(self.end.left, self.forced, within=within)

    def _parts(self, axis: int, cheap: int) -> Iterator[Lead]:
        """Yield the part of the box in which a feature stays, if it may, or takes one of some options, and the other."""
        own, forced = self._stays(axis), self.forced | {axis}
        dear = self._open(axis) & ~cheap
        yield from self._part(self.end.left & ~dear, self.forced if own else forced, axis)
        yield from self._part(self.end.left & ~cheap, forced, axis)

    def _cheapest(self, axis: int) -> int:
        """Return the cheapest of a feature's options where it cannot stay."""
        options = self._open(axis)
        return 0 if self._stays(axis) else options & -options

    def _too_cheap(self, axis: int, needed: bool) -> int:
        """Return the options of a feature that cost less than must be spent on it; else the cheaper half."""
        prices, listed = self.search.prices, self.search.options.listed
        assert self.price is not None
        options = list(numbers(self._open(axis)))
        cheapest = self._cheapest(axis)
        if needed:
            spent = prices.spent(self.price, self.key.effort, axis)
            below = [number for number in options if listed[number].effort < spent]
        else:
            left = self.key.effort - self.choice.effort
            spent = listed[options[0]].effort if cheapest else 0
            below = [number for number in options if listed[number].effort - spent <= left]
            below = below[: len(below) // 2]
        cheap = mask_of(below)
        return cheap | cheapest if cheap != self._open(axis) else cheapest

    def _part(
        self,
        left: int,
        forced: frozenset[int],
        axis: int | None = None,
        *,
        within: list[int] | None = None,
    ) -> Iterator[Lead]:
        """Yield the part of the box in which no more is left, or governed features end within some regions."""
        chosen: tuple[int, ...] = ()
        if axis is not None and axis in forced:
            options = self.search.options.by_axis[axis] & left
            if options & (options - 1) == 0:
                chosen = (options.bit_length() - 1,)
        try:
            part = self.end.narrowed(chosen, left)
            if axis is not None and axis in forced and self._stays(axis) and not chosen:
                part.leave_own(axis)
            part.within(within or self.search.prices.regions(part))
            part.settle()
        except DeadEnd:
            return
        yield from self.search.boxed(part, forced, self)
