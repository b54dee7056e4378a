"""Sets of direct actions by boxes: where a model decides, many small changes may add up, and no single reason names one.

A box says for each feature which direct actions are still open, to leave it as it is among them. Its cheapest choice takes
the cheapest of each; no choice in the box costs less. A box in which the model surely refuses every state is dropped. Else
its cheapest choice is tried, and the box is split at the feature whose staying would leave the least hope: that it takes
its cheapest action, against that it takes another.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from p2c.plan.search.options import Choice
from p2c.plan.search.propagation import DeadEnd
from p2c.plan.search.set_search import OrderLead, SetSearch, choice_key, contains_one, mask_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from p2c.plan.search.best_first import Arrival, Key, Lead, Limits
    from p2c.plan.search.propagation import End


@dataclass(frozen=True)
class BoxSearch(SetSearch):
    """What is searched by boxes of one person's options."""

    def leads(self) -> Iterator[Lead]:
        """Yield the box of everything."""
        everything = (1 << len(self.options.listed)) - 1
        end = self._propagation.of((), everything)
        if end is not None:
            yield from self.boxed(end, frozenset(), None)

    def boxed(self, end: End, forced: frozenset[int], tried: Choice | None) -> Iterator[BoxLead]:
        """Yield a box, if a plan may come of it; `forced` are the features that do not stay as they are."""
        choice = self.cheapest(end, forced)
        if choice is not None and not contains_one(mask_of(end.taken.values()), self.closed):
            key = choice_key(self.options, choice.chosen, choice.effort, choice.effort)
            yield BoxLead(self, key, choice, end, forced, tried == choice)

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

    def hopes(self, end: End, forced: frozenset[int]) -> list[tuple[float, int]]:
        """Return for each feature that is not settled how near acceptance the box comes if it takes its cheapest action."""
        open_axes = [
            axis
            for axis, options in self.options.by_axis.items()
            if axis not in end.taken and options & end.left
        ]
        judge, space = self.options.space.theory.model, self.options.space
        boxes = end.boxes
        told: dict[int, float] = dict.fromkeys(open_axes, math.inf)
        tried = [
            (axis, space.judged_places[axis], self._cheapest_cells(end, axis, forced))
            for axis in open_axes
            if axis in space.judged_places and axis not in space.governed_axes
        ]
        known = [(axis, place, cells) for axis, place, cells in tried if cells is not None]
        if judge is not None and boxes is not None and known:
            gaps = judge.gaps(boxes, [(place, cells) for _, place, cells in known])
            told |= {axis: gap for (axis, _, _), gap in zip(known, gaps, strict=True)}
        return sorted((gap, axis) for axis, gap in told.items())

    def _cheapest_cells(self, end: End, axis: int, forced: frozenset[int]) -> int | None:
        reach = self._reach
        if axis in forced or axis in end.moved:
            left = self.options.by_axis[axis] & end.left
            return reach.judged_options(axis, left & -left, own=False)
        return reach.judged_options(axis, 0, own=True)

    def without_cheapest(
        self, end: End, forced: frozenset[int], axes: Iterable[int]
    ) -> tuple[int, frozenset[int]]:
        """Return the options that are left, and the features that do not stay, when some do not take their cheapest action."""
        left = end.left
        for axis in axes:
            if axis in forced or axis in end.moved:
                options = self.options.by_axis[axis] & left
                left &= ~(options & -options)
            else:
                forced |= {axis}
        return left, forced


class BoxLead(NamedTuple):
    """A box, by its cheapest choice."""

    search: BoxSearch
    key: Key
    choice: Choice
    end: End
    forced: frozenset[int]
    tried: bool
    """Whether the cheapest choice was tried already, in the box that this one came of."""

    @property
    def known(self) -> None:
        """Return nothing: whether a choice arrives is seen when it is put in order."""

    def follow(self, limits: Limits) -> Iterable[Lead | Arrival]:
        """Yield the orders of the cheapest choice, and the two parts of the box."""
        search = self.search
        if not self.tried:
            yield from self._ordered(limits)
        hopes = search.hopes(self.end, self.forced)
        hopeless = [axis for gap, axis in hopes if gap < 0]
        if hopeless:
            left, forced = search.without_cheapest(self.end, self.forced, hopeless)
            yield from self._part(left, forced)
        elif hopes:
            yield from self._parts(hopes[0][1])

    def _ordered(self, limits: Limits) -> Iterator[Lead | Arrival]:
        search, choice = self.search, self.choice
        paths = search.orders(choice, list(self.end.regions), limits)
        arrival = next(paths, None)
        if arrival is not None:
            mask = mask_of(1 << number for number in choice.chosen)
            search.arrived.append(mask)
            if arrival.effort == choice.effort and not search.every:
                search.closed.append(mask)
            yield OrderLead(search, arrival.key, arrival, paths)

    def _parts(self, axis: int) -> Iterator[Lead]:
        """Yield the box in which a feature takes its cheapest action, and the one in which it takes another."""
        search, end = self.search, self.end
        options = search.options.by_axis[axis] & end.left
        if axis in self.forced or axis in end.moved:
            number = (options & -options).bit_length() - 1
            yield from self._part(end.left, self.forced, (number,))
        else:
            yield from self._part(end.left & ~options, self.forced)
        left, forced = search.without_cheapest(end, self.forced, (axis,))
        yield from self._part(left, forced)

    def _part(
        self, left: int, forced: frozenset[int], chosen: tuple[int, ...] = ()
    ) -> Iterator[Lead]:
        try:
            part = self.end.narrowed(chosen, left)
            for axis in forced - self.forced:
                part.leave_own(axis)
            part.settle()
        except DeadEnd:
            return
        yield from self.search.boxed(part, forced, self.choice)
