"""A read model as the judge of states: what `accepted(X)` means, where it cuts features, and what it surely refuses."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from p2c.learn.model.leaves import Leaves
from p2c.learn.model.priced_leaves import PricedLeaves

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from p2c.domain.feature import Feature, Value
    from p2c.learn.model.additive import AdditiveScore

    Ask = Callable[[Mapping[str, Value]], bool]

KEPT = 1_000_000
"""How many rows of cells are remembered with the model's decision."""


@dataclass(frozen=True, eq=False)
class ReadModel:
    """A model that was read, with a way to ask it about what the reading leaves open.

    A state that is closer to the border than the model's own rounding, or that has a value which the model was not read
    for, is settled by asking; all others by the sum.
    """

    score: AdditiveScore
    ask: Ask
    _known: dict[tuple[int, ...], bool] = field(default_factory=dict)

    @cached_property
    def leaves(self) -> Leaves:
        """Return the parts of the model, to bound."""
        return Leaves.of(self.score)

    @cached_property
    def reads(self) -> tuple[str, ...]:
        """Return the features that the model reads, in the order of its axes."""
        return tuple(axis.feature for axis in self.score.axes)

    @cached_property
    def _slack(self) -> float:
        return float(self.score.slack()[0])

    @cached_property
    def _surely_from(self) -> np.ndarray:
        return self.score.accepted_from + self._slack

    @cached_property
    def _surely_below(self) -> np.ndarray:
        return self.score.refused_below - self._slack

    def cell(self, name: str, value: Value) -> int:
        """Return the cell of a value; -1 where the model was not read for it."""
        axis = self.score.axes[self.score.places[name]]
        if axis.is_number:
            number = math.nan if value is None else float(value)
            return int(axis.locate([number])[0])
        return int(axis.locate([value])[0])

    def cuts(self, feature: Feature) -> tuple[float, ...]:
        """Return the numbers after which the model cuts a number."""
        place = self.score.places.get(feature.name)
        uppers = None if place is None else self.score.axes[place].uppers
        return (
            () if uppers is None else tuple(float(each) for each in uppers if math.isfinite(each))
        )

    def marks(self, feature: Feature) -> tuple[int, ...]:
        """Return for each listed value of a feature what the model takes it for."""
        if feature.name not in self.score.places:
            return ()
        return tuple(self.cell(feature.name, value) for value in feature.places)

    def accepts(self, state: Mapping[str, Value]) -> bool:
        """Tell whether the model gives the desired class to a state."""
        cells = tuple(self.cell(name, state[name]) for name in self.reads)
        return self.accepts_cells(cells, lambda: state)

    def accepts_cells(
        self, cells: tuple[int, ...], state: Callable[[], Mapping[str, Value]]
    ) -> bool:
        """Tell the same from the cells of a state, which itself is only needed where the model has to be asked."""
        if -1 in cells:
            return self.ask(state())
        known = self._known.get(cells)
        if known is None:
            margins = self.leaves.score(cells)
            if (margins >= self._surely_from).all():
                known = True
            elif (margins < self._surely_below).any():
                known = False
            else:
                return self.ask(state())
            if len(self._known) > KEPT:
                self._known.clear()
            self._known[cells] = known
        return known

    def surely_refuses(self, boxes: Sequence[int]) -> bool:
        """Tell whether no state of a box is accepted; a box is the open cells of each axis, as bits."""
        return bool((self.leaves.most(boxes) < self._surely_below).any())

    def priced(self, boxes: Sequence[int] | None) -> PricedLeaves:
        """Return the leaves within a box, to bound what a yes costs there."""
        return PricedLeaves(self.leaves, self._surely_below, boxes)

    def score_of(self, state: Mapping[str, Value]) -> tuple[float, float] | None:
        """Return the margin of a state that is nearest to its border and the border; None where that is not known."""
        cells = tuple(self.cell(name, state[name]) for name in self.reads)
        if -1 in cells:
            return None
        margins = self.leaves.score(cells)
        place = int(np.argmin(margins - self.score.accepted_from))
        return float(margins[place]), float(self.score.accepted_from[place])
