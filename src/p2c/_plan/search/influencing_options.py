"""The options that can make themselves felt: on what lies upstream of a feature, where its rules can notice them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from p2c._plan.compiled.bitsets import numbers

if TYPE_CHECKING:
    from p2c._plan.compiled.person import Places
    from p2c._plan.search.options import Options


@dataclass(frozen=True)
class InfluencingOptions:
    """What lies upstream of features, for one person."""

    all: Options
    restless: list[Places]
    """States that hold up what would happen elsewhere, as far as they are known (`ends.py`)."""
    _known: dict[int, int] = field(default_factory=dict)

    def options(self, index: int) -> int:
        """Return the options on what lies upstream of a governed feature that its rules can notice."""
        if self.restless:
            # What goes round downstream may keep a person from acting: then nothing that stirs can be left out.
            return self.all.stirring_mask
        known = self._known.get(index)
        if known is None:
            known = self._known[index] = self._find(index)
        return known

    def _find(self, index: int) -> int:
        space, transitions = self.all.space, self.all.transitions
        name = space.axes[index].feature.name
        above = {name, *space.theory.upstream[name]}
        rules = sum(
            each.rules for each in space.governed if space.axes[each.index].feature.name in above
        )
        rules |= space.decision_bits
        mask = 0
        for axis_name in above:
            axis = space.index[axis_name]
            if axis in space.governed_axes:
                mask |= self.all.by_axis.get(axis, 0)
                continue
            own = transitions.body(axis, transitions.person.places[axis])
            for number in numbers(self.all.by_axis.get(axis, 0)):
                trail = self.all.listed[number].trail
                if any((own ^ transitions.body(axis, place)) & rules for place in trail):
                    mask |= 1 << number
        return mask

    def reading(self, reads: frozenset[int]) -> int:
        """Return the options on some features and on what lies upstream of them."""
        mask = 0
        for index in reads:
            mask |= self.all.by_axis.get(index, 0) | self.options(index)
        return mask
