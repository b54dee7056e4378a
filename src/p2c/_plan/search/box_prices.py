"""What a yes costs in a box at least: direct actions priced to the leaves of the model that they lead to.

What a feature costs that only the person changes is known from the options that are left to it. What effects change costs
nothing by itself, but somebody has to set it off: a region that only comes into reach with options of some effort costs
that much at least, whatever else is done.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from p2c._plan.compiled.axis import OFF
from p2c._plan.compiled.bitsets import bits, numbers

if TYPE_CHECKING:
    from p2c._learn.model.priced_leaves import PricedLeaves, Prices
    from p2c._plan.search.options import Choice, Options
    from p2c._plan.search.propagation import End
    from p2c._plan.search.relaxed_reach import RelaxedReach

BITS = 40
"""Efforts are counted in units so large that all of them together have no more bits."""


class BoxPrice(NamedTuple):
    """What each leaf costs in a box, but for the `rest`: what goes into features that the model does not read or that are governed."""

    keys: tuple[int, ...]
    """What is left to each feature that the model reads and only the person changes: options, and perhaps the own value."""
    sums: Prices
    """What these features cost."""
    needed: Prices | None
    """What effects need in all; nothing where the model reads no governed feature."""
    rest: int

    @property
    def prices(self) -> Prices:
        """Return what each leaf costs at least."""
        if self.needed is None:
            return self.sums
        return np.maximum(self.sums, self.needed - self.rest)


class BoxPrices:
    """The prices of one person's boxes."""

    def __init__(self, options: Options, reach: RelaxedReach, leaves: PricedLeaves) -> None:
        self._options, self._reach, self.leaves = options, reach, leaves
        dearest: dict[int, int] = {}
        for option in options.listed:
            dearest[option.axis] = max(dearest.get(option.axis, 0), option.effort)
        self._unit = max(1, sum(dearest.values()) >> BITS)
        read = list(enumerate(options.space.model_axes))
        self.places = {index: place for place, index in read if index not in reach.position}
        """The features that the model reads and only the person changes, with their places in the model."""
        self.governed = {
            index: reach.position[index] for _, index in read if index in reach.position
        }
        """The governed features that the model reads, with their places among all governed ones."""
        self._known: dict[tuple[int, int], Prices | None] = {}
        self._known_needed: dict[tuple[int, ...], Prices | None] = {}

    def of(self, end: End, choice: Choice, past: BoxPrice | None) -> BoxPrice | None:
        """Return the prices of a box with its cheapest choice; None where the model was not read for a value in it."""
        keys = tuple([self._key(end, index) for index in self.places])
        sums = self._sums(keys, past)
        if sums is None:
            return None
        needed = None
        if self.governed:
            needed = self._needed(end)
            if needed is None:
                return None
        spent = [self._options.listed[number] for number in choice.chosen]
        rest = sum(each.effort for each in spent if each.axis not in self.places) // self._unit
        return BoxPrice(keys, sums, needed, rest)

    def _key(self, end: End, index: int) -> int:
        taken = end.taken.get(index)
        if taken is not None:
            return taken << 1
        return (self._reach.on_axis.get(index, 0) & end.left) << 1 | (index not in end.moved)

    def _sums(self, keys: tuple[int, ...], past: BoxPrice | None) -> Prices | None:
        sums = self.leaves.nothing() if past is None else past.sums
        for number, index in enumerate(self.places):
            if past is None or keys[number] != past.keys[number]:
                now = self.at(index, keys[number])
                if now is None:
                    return None
                sums = sums + now
                if past is not None:
                    before = self.at(index, past.keys[number])
                    assert before is not None, "a box that is priced has no value without a cell"
                    sums -= before
        return sums

    def at(self, index: int, key: int) -> Prices | None:
        """Return what a feature makes each leaf cost; None where the model was not read for a value of it."""
        if (index, key) not in self._known:
            transitions = self._reach.transitions
            costs: dict[int, int] = {}
            if key & 1:
                costs[transitions.model_cell(index, transitions.person.places[index])] = 0
            options = key >> 1
            for bit, cell, cost in self._cells[index]:
                if options & bit:
                    costs.setdefault(cell, cost)
            known = None if -1 in costs else self.leaves.of(self.places[index], costs)
            self._known[index, key] = known
        return self._known[index, key]

    @cached_property
    def _cells(self) -> dict[int, list[tuple[int, int, int]]]:
        """Return the options on each feature that only the person changes: the bit, the model's cell, and the cost."""
        found: dict[int, list[tuple[int, int, int]]] = {index: [] for index in self.places}
        cell = self._options.space.model_cell
        for number, option in enumerate(self._options.listed):
            if option.axis in found:
                one = 1 << number, cell(option.axis, option.end), option.effort // self._unit
                found[option.axis].append(one)
        return found

    def _needed(self, end: End) -> Prices | None:
        """Return what effects need for each leaf, whatever else is done."""
        few = self._telling(end)
        key = (few, *(end.regions[position] for position in self.governed.values()))
        if key not in self._known_needed:
            found: Prices | None = self.leaves.nothing()
            for index, position in self.governed.items():
                each = self._region_prices(index, end.regions[position], few)
                found = None if found is None or each is None else np.maximum(found, each)
            self._known_needed[key] = found
        return self._known_needed[key]

    def _region_prices(self, index: int, regions: int, few: int) -> Prices | None:
        transitions, places = self._reach.transitions, self._options.space.axes[index].regions
        needs = self._needs(few)[self.governed[index]]
        costs: dict[int, int] = {}
        for bit in bits(regions & sum(needs)):
            number = bit.bit_length() - 1
            place = places[number][0] if number < len(places) else OFF
            cell, effort = transitions.model_cell(index, place), needs[bit] // self._unit
            costs[cell] = min(costs.get(cell, effort), effort)
        if -1 in costs:
            return None
        return self.leaves.of(self._options.space.model_places[index], costs)

    def nearest_regions(self, end: End) -> dict[int, int]:
        """Return for each governed feature that may end in several regions the one that needs least."""
        found, needs = {}, self._needs(self._telling(end))
        for index, position in self.governed.items():
            left = end.regions[position] & sum(needs[position])
            if left & (left - 1):
                found[index] = min(bits(left), key=needs[position].__getitem__)
        return found

    @cached_property
    def _alike(self) -> list[int]:
        """Return the options that can set off effects, in sets of those that do the same."""
        reach, found = self._reach, dict[tuple[int, int], int]()
        for number, option in enumerate(reach.options):
            if option.axis in self._options.space.stirring:
                key = option.axis, reach.ends[number]
                found[key] = found.get(key, 0) | 1 << number
        return list(found.values())

    def _telling(self, end: End) -> int:
        """Return the cheapest of the options left that can set off effects, of each kind."""
        left = end.left
        for axis, taken in end.taken.items():
            left = left & ~self._options.by_axis[axis] | taken
        found = 0
        for alike in self._alike:
            some = left & alike
            found |= some & -some
        return found

    def regions(self, end: End) -> list[int]:
        """Return the regions that governed features may come to stand in by what is left of the options."""
        return [sum(needs) for needs in self._needs(self._telling(end))]

    @cached_property
    def _known_needs(self) -> dict[int, list[dict[int, int]]]:
        return {}

    def _needs(self, few: int) -> list[dict[int, int]]:
        """Return for each governed feature the regions within reach, with the effort of options that each does not do without."""
        if few not in self._known_needs:
            self._known_needs[few] = self._find_needs(few)
        return self._known_needs[few]

    def _find_needs(self, few: int) -> list[dict[int, int]]:
        reach = self._reach
        may_of, must_of, regions = list(reach.own), list(reach.own), list(reach.start)
        found: list[dict[int, int]] = [{} for _ in regions]

        def note(effort: int) -> None:
            reach.look(may_of, must_of, regions)
            for known, reached in zip(found, regions, strict=True):
                for bit in bits(reached):
                    known.setdefault(bit, effort)

        note(0)
        for number in numbers(few):
            reach.let(number, may_of, must_of, regions)
            note(reach.options[number].effort)
        return found

    def least(self, price: BoxPrice, effort: int) -> int | None:
        """Return the least effort from some on for which the model may say yes in a box; None where it never does."""
        start = effort // self._unit
        found = self.leaves.least(price.prices, start - price.rest)
        if found is None:
            return None
        return effort if found + price.rest <= start else (found + price.rest) * self._unit

    def gaps(
        self, end: End, price: BoxPrice, effort: int, others: dict[int, int]
    ) -> dict[int, float]:
        """Return how near acceptance a box comes for some effort when a feature has only something else left, for each.

        What is left of a feature is its options and perhaps its own value, or the regions of a governed one.
        """
        most = effort // self._unit - price.rest
        within = np.flatnonzero(price.prices <= most)
        sums, cases = price.sums[within], []
        for index, key in others.items():
            if index in self.places:
                now, then = self._priced(index, price), self._of_some(index, key)
                cases.append(sums - now[within] + then[within] <= most)
            else:
                costs = self._region_prices(index, key, self._telling(end))
                assert costs is not None
                cases.append(costs[within] <= most + price.rest)
        told = self.leaves.gaps(within, np.array(cases))
        return dict(zip(others, told, strict=True))

    def spent(self, price: BoxPrice, effort: int, index: int) -> int:
        """Return how much of some effort goes into one feature at least, if the box has a state that is accepted for it."""
        within = np.flatnonzero(price.prices <= effort // self._unit - price.rest)
        return self.leaves.share(within, self._priced(index, price)) * self._unit

    def _priced(self, index: int, price: BoxPrice) -> Prices:
        return self._of_some(index, price.keys[list(self.places).index(index)])

    def _of_some(self, index: int, key: int) -> Prices:
        found = self.at(index, key)
        assert found is not None, "a box that is priced has no value without a cell"
        return found
