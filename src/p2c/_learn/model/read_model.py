"""A read model as the judge of states: what `accepted(X)` means, where it cuts features, and what it surely refuses."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from p2c._learn.model.alone import AloneParts
from p2c._learn.model.leaves import TINY, Leaves
from p2c._learn.model.votes import Votes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from p2c._learn.model.additive import AdditiveScore
    from p2c._learn.model.affordable import Forest
    from p2c._learn.model.arrays import Floats
    from p2c._learn.model.cheapest_cells import CheapestCells
    from p2c._learn.model.priced_leaves import PricedLeaves
    from p2c._spec.feature import Feature, Value

    Ask = Callable[[Mapping[str, Value]], bool]

KEPT = 1_000_000
"""How many rows of cells are remembered with the model's decision."""
KEPT_SUMS = 50_000
"""How many are remembered with their margins."""


@dataclass(frozen=True, eq=False)
class ReadModel:
    """A model that was read, with a way to ask it about what the reading leaves open.

    A state that is closer to the border than the model's own rounding, or that has a value which the model was not read
    for, is settled by asking; all others by the sum.
    """

    opaque: ClassVar[str] = ""
    score: AdditiveScore
    ask: Ask
    _known: dict[tuple[int, ...], bool] = field(default_factory=dict)
    _gains: dict[tuple[str, Value], tuple[float, ...] | None] = field(default_factory=dict)
    _sums: dict[tuple[int, ...], np.ndarray] = field(default_factory=dict)

    def warm(self) -> None:
        """Prepare the leaves and the compiled search, before any time limit begins."""
        self.leaves  # noqa: B018 - the first use pays for it
        if not self.score.lines and self.is_compiled:
            self._forest  # noqa: B018 - the first use pays for it

    @cached_property
    def leaves(self) -> Leaves:
        """Return the parts of the model that see cells only, to bound."""
        return Leaves.of(self.score)

    @cached_property
    def lined(self) -> frozenset[str]:
        """Return the numbers that lines or curves read."""
        return frozenset(self.score.axes[line.axis].feature for line in self.score.lines)

    @cached_property
    def _alone(self) -> AloneParts:
        return AloneParts(self.score)

    @property
    def margins(self) -> int:
        """Return how many margins, and mixes of two, must be reached."""
        return self._alone.margins

    @property
    def is_separate(self) -> bool:
        """Tell whether every part of the model reads a single feature."""
        return self._alone.rest is None

    def gain(self, name: str, value: Value) -> tuple[float, ...] | None:
        """Return what a value adds by itself to each margin; None where the model was not read for it."""
        known = self._gains.get((name, value), ())
        if known == ():
            if len(self._gains) > KEPT:
                self._gains.clear()
            cell = self.cell(name, value)
            known = self._gains[name, value] = (
                None if cell < 0 else self._alone.gain(name, cell, value)
            )
        return known

    def gains(self, name: str, numbers: Floats) -> Floats:
        """Return the gains of numbers of a feature, by number and margin.

        Curves have no mixes of margins.
        """
        return self._alone.gains(name, numbers)

    def keep_gain(self, name: str, value: Value, gain: tuple[float, ...]) -> None:
        """Keep the gain of a value, so that no transformer runs for it again."""
        if math.isfinite(gain[0]):
            self._gains[name, value] = gain

    def is_straight(self, name: str) -> bool:
        """Tell whether no curve reads a number."""
        return self._alone.is_straight(name)

    def floors(
        self, reach: Callable[[], Sequence[Sequence[tuple[float, ...]]]]
    ) -> tuple[float, ...] | None:
        """Return the margins of every accepted state of a person; None without a blend."""
        return None if self.score.blend is None else self._alone.floors(reach())

    def needed(
        self,
        boxes: Sequence[int] | None,
        size: float,
        floors: tuple[float, ...] | None = None,
    ) -> tuple[float, ...]:
        """Return what gains add up to at least in a state that may be accepted, rounding allowed for."""
        return self._alone.needed(boxes, size, floors)

    def settled(self, total: float, size: float) -> bool | None:
        """Tell whether gains that add up to so much suffice for the one margin; None where rounding might decide."""
        return self._alone.settled(total, size)

    @cached_property
    def reads(self) -> tuple[str, ...]:
        """Return the features that the model reads, in the order of its axes."""
        return tuple(axis.feature for axis in self.score.axes)

    @cached_property
    def _slack(self) -> float:
        return float(self.score.slack()[0])

    @property
    def is_blend(self) -> bool:
        """Tell whether several scores are blended, so that no margin decides alone."""
        return self.score.blend is not None

    @cached_property
    def _surely_from(self) -> np.ndarray:
        return self.score.accepted_from + self._slack

    @cached_property
    def _surely_below(self) -> np.ndarray:
        return self.score.refused_below - self._slack

    def cell(self, name: str, value: Value) -> int:
        """Return the cell of a value; -1 where the model was not read for it."""
        return self.score.axes[self.score.places[name]].cell(value)

    def cuts(self, feature: Feature) -> tuple[float, ...]:
        """Return the numbers after which the model cuts a number."""
        place = self.score.places.get(feature.name)
        uppers = None if place is None else self.score.axes[place].uppers
        return (
            () if uppers is None else tuple(float(each) for each in uppers if math.isfinite(each))
        )

    def beyond(self, ends: Mapping[str, Sequence[Value]]) -> dict[str, float]:
        """Return how far from zero each line decides alone; nothing where a curve reads the number too, or no line does."""
        return self._alone.beyond(ends)

    def marks(self, feature: Feature) -> tuple[int, ...]:
        """Return for each listed value of a feature what the model takes it for; each for itself where it is weighed as a number."""
        if feature.name not in self.score.places:
            return ()
        if feature.name in self.lined:
            return tuple(range(len(feature.places)))
        return tuple(self.cell(feature.name, value) for value in feature.places)

    def accepts(self, state: Mapping[str, Value]) -> bool:
        """Tell whether the model gives the desired class to a state."""
        cells = tuple(self.cell(name, state[name]) for name in self.reads)
        return self.accepts_cells(cells, lambda: state)

    def accepts_cells(
        self, cells: tuple[int, ...], state: Callable[[], Mapping[str, Value]]
    ) -> bool:
        """Tell whether the model gives the desired class to a state, from its cells; the state itself is needed where it is weighed or the model is asked."""
        if -1 in cells:
            return self.ask(state())
        if self.score.lines:
            return self._weighs(cells, state())
        known = self._known.get(cells)
        if known is None:
            known = self._decided(self._by_cells(cells), self._slack)
            if known is None:
                return self.ask(state())
            if len(self._known) > KEPT:
                self._known.clear()
            self._known[cells] = known
        return known

    def _weighs(self, cells: tuple[int, ...], state: Mapping[str, Value]) -> bool:
        told = self._adds_up(state) if self.margins == 1 and self.is_separate else None
        if told is not None:
            return told
        weighed, size = self._alone.weighed(state)
        margins = self._by_cells(cells) + weighed
        known = self._decided(margins, self.score.rounding * (self.score.magnitude + size))
        return self.ask(state) if known is None else known

    def _decided(self, margins: np.ndarray, slack: float) -> bool | None:
        """Tell whether margins suffice; None where rounding might decide."""
        if self.score.blend is not None:
            return self.score.blend.decide(margins, slack)
        if (margins >= self.score.accepted_from + slack).all():
            return True
        return False if (margins < self.score.refused_below - slack).any() else None

    def _adds_up(self, state: Mapping[str, Value]) -> bool | None:
        """Tell whether the model gives the desired class, from what each value adds by itself; None where that is too near the border for sums in any order."""
        total = size = 0.0
        for name in self.reads:
            gain = self.gain(name, state[name])
            if gain is None:
                return None
            total += gain[0]
            size += abs(gain[0])
        return self._alone.settled(total, size)

    def _by_cells(self, cells: tuple[int, ...]) -> np.ndarray:
        """Return what the parts add that see cells only; remembered."""
        known = self._sums.get(cells)
        if known is None:
            if len(self._sums) > KEPT_SUMS:
                self._sums.clear()
            known = self._sums[cells] = self.leaves.score(cells)
        return known

    def surely_refuses(self, boxes: Sequence[int]) -> bool:
        """Tell whether no state of a box is accepted; a box is the open cells of each axis, as bits.

        Of a model that weighs numbers nothing is told here: `needed` and `gain` bound it.
        """
        if self.score.lines:
            return False
        most = self.leaves.most(boxes)
        if (most < self._surely_below).any():
            return True
        return self.score.blend is not None and bool(self.score.blend.gap(most, self._slack) < 0)

    def refuses_some(
        self,
        boxes: Sequence[int],
        accepts: Callable[[tuple[int, ...]], bool],
        tick: Callable[[], None],
    ) -> bool:
        """Tell whether a point of a box is refused, if no number is weighed.

        Sound because a refused point has a margin below that from which on the model surely accepts, and the search
        for the greatest negative of a margin looks at every point that has one.

        Args:
            boxes: The open cells of each axis, as bits.
            accepts: Judges one point.
            tick: Called for each part of the box.
        """
        return any(
            each.accepted(tuple(boxes), lambda cells: not accepts(cells), tick) is not None
            for each in self._refusals
        )

    @cached_property
    def _refusals(self) -> tuple[Votes, ...]:
        """Return the search for a point that may miss each margin."""
        return tuple(
            Votes(_negative(self.leaves, margin), -self._surely_from[margin : margin + 1])
            for margin in range(self.score.margins)
        )

    def doubt(
        self, boxes: Sequence[int], ends: Mapping[str, Sequence[Value]]
    ) -> dict[str, Value] | None:
        """Return the values of a box that come out worst.

        None if every state is surely accepted.

        Sound because each feature adds at least the least of its gains at the ends of its cells, between which no line
        and no curve turns, and the parts that read several features add at least their least within the box.

        Args:
            boxes: The open cells of each axis, as bits.
            ends: The values at both ends of each open cell, for every axis.
        """
        gains = {name: [self.gain(name, each) for each in values] for name, values in ends.items()}
        if any(each is None for told in gains.values() for each in told):
            return {name: values[0] for name, values in ends.items()}
        size = sum(max(abs(x) for gain in told for x in gain or ()) for told in gains.values())
        least, slack = self._least_of_rest(boxes), self._alone.slack(size)
        worst: dict[str, Value] | None = None
        furthest = 0.0
        for margin in range(self.score.margins):
            total = float(least[margin])
            chosen: dict[str, Value] = {}
            for name, values in ends.items():
                own = [gain[margin] for gain in gains[name] if gain is not None]
                chosen[name] = values[own.index(min(own))]
                total += min(own)
            gap = total - float(self.score.accepted_from[margin]) - slack
            if not gap >= 0 and not gap >= furthest:
                worst, furthest = chosen, gap
        return worst

    def _least_of_rest(self, boxes: Sequence[int]) -> np.ndarray:
        """Return the least of bias and parts of several features within a box."""
        rest = self._negative_rest
        return self.score.bias if rest is None else -rest.most(boxes)

    @cached_property
    def _negative_rest(self) -> Leaves | None:
        rest = self._alone.rest
        return rest and replace(rest, bias=-rest.bias, values=-rest.values)

    def gaps(self, boxes: Sequence[int], narrowed: Sequence[tuple[int, int]]) -> list[float]:
        """Return how near the border the best state of a box stays when one axis has other cells; below 0 it is refused."""
        most = self.leaves.most_with(boxes, narrowed)
        least = (most - self._surely_below).min(axis=1)
        if self.score.blend is not None:
            least = np.minimum(least, self.score.blend.gap(most, self._slack))
        return [float(each) for each in least]

    @cached_property
    def is_compiled(self) -> bool:
        """Compile the search of `cheapest`; return False without numba.

        It takes as long for every model: its leaves are not looked at yet.
        """
        if find_spec("numba") is None:
            return False
        from p2c._learn.model.cheapest_cells import compile_search

        compile_search()
        return True

    def cheapest(
        self, cells: Sequence[NDArray[np.int64]], costs: Sequence[NDArray[np.int64]]
    ) -> CheapestCells:
        """Return a search for points that may be accepted, cheapest first, among the open cells of each feature."""
        from p2c._learn.model.cheapest_cells import CheapestCells

        border = self._border
        if self.score.blend is not None:
            boxes = [sum(1 << cell for cell in own.tolist()) for own in cells]
            border = self.leaves.border(self._below_within(boxes))
        return CheapestCells(self._forest, cells, costs, border)

    def _below_within(self, boxes: Sequence[int] | None) -> np.ndarray:
        """Return the margins below which no state of a box is accepted."""
        blend = self.score.blend
        if blend is None or boxes is None:
            return self._surely_below
        ends = np.stack([self.leaves.least(boxes), self.leaves.most(boxes)], axis=1)[1:]
        spare = self._slack + TINY * self.leaves.size
        floors = blend.floors_within(ends + np.array([-spare, spare]))
        return np.asarray(np.maximum(floors - self._slack, self._surely_below))

    @cached_property
    def _forest(self) -> Forest:
        from p2c._learn.model.cheapest_cells import forest_of

        return forest_of(self.leaves)

    @cached_property
    def _border(self) -> np.ndarray:
        return self.leaves.border(self._surely_below)

    def priced(self, boxes: Sequence[int] | None) -> PricedLeaves:
        """Return the leaves within a box, to bound what a yes costs there."""
        from p2c._learn.model.priced_leaves import PricedLeaves

        return PricedLeaves(self.leaves, self._below_within(boxes), boxes)

    @cached_property
    def votes(self) -> Votes:
        """Return what finds an accepted point of a box, for a model that sees cells only."""
        return Votes(self.leaves, self._surely_below)

    def score_of(self, state: Mapping[str, Value]) -> tuple[float, float] | None:
        """Return the margin of a state that is nearest to its border and the border; None where that is not known."""
        cells = tuple(self.cell(name, state[name]) for name in self.reads)
        if -1 in cells:
            return None
        margins = self._by_cells(cells)
        if self.score.lines:
            margins = margins + self._alone.weighed(state)[0]
        blend = self.score.blend
        if blend is not None:
            return float(blend.bounds(margins[None, :], np.zeros(1))[0][0]), blend.high
        place = int(np.argmin(margins - self.score.accepted_from))
        return float(margins[place]), float(self.score.accepted_from[place])


def _negative(leaves: Leaves, margin: int) -> Leaves:
    """Return the leaves with the negatives of one margin."""
    own = slice(margin, margin + 1)
    return replace(leaves, bias=-leaves.bias[own], values=-leaves.values[:, own])
