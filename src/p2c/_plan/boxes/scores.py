"""A parsed model over boxes: the cells that are open, and their bound."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from p2c._plan.boxes.ranges import INFINITE, Among, Fixed, Interval
from p2c._rules.theory import ACCEPTED

if TYPE_CHECKING:
    from p2c._plan.boxes.ends import Ends
    from p2c._plan.boxes.ranges import Range
    from p2c._rules.theory import ParsedModel, Theory
    from p2c._spec.feature import Feature


def parsed_model(theory: Theory) -> ParsedModel | None:
    """Return the parsed model that decides; None where rules or a black box decide."""
    if theory.model is None or theory.model.opaque:
        return None
    return theory.parsed


@dataclass
class Scores:
    """The verdict of a parsed model on the end states of a box."""

    ends: Ends
    model: ParsedModel
    _cells: dict[tuple[str, Range], tuple[int, ...] | None] = field(default_factory=dict)
    _known: dict[tuple[int, ...], bool] = field(default_factory=dict)

    def surely_refuses(self, ranges: dict[str, Range]) -> bool:
        """Tell whether the model refuses every end state of a box.

        Sound because the open cells of each feature contain the cells of all its values in the box; where a value has no
        cell the model is not bounded.
        """
        boxes = []
        for name in self.model.reads:
            cells = self.cells(name, ranges[name])
            if cells is None:
                return False
            boxes.append(sum(1 << cell for cell in cells))
        key = tuple(boxes)
        if key not in self._known:
            self._known[key] = self.model.surely_refuses(boxes)
        return self._known[key]

    def cells(self, name: str, range_: Range) -> tuple[int, ...] | None:
        """Return the cells of the values of a range; None if one has none."""
        key = name, range_
        if key not in self._cells:
            self._cells[key] = self._cells_of(name, range_)
        return self._cells[key]

    def _cells_of(self, name: str, range_: Range) -> tuple[int, ...] | None:
        feature: Feature = self.ends.person.theory.feature[name]
        match range_:
            case Fixed(value):
                cells = {self.model.cell(name, value)}
            case Among(places, missing):
                values: list[Any] = [feature.domain.value(place) for place in places]
                values += [None] if missing else []
                cells = {self.model.cell(name, value) for value in values}
            case Interval(low, high, missing):
                cells = {self.model.cell(name, None)} if missing else set()
                if low <= high:
                    cuts = self.model.cuts(feature)
                    first = self.model.cell(name, low if low > -INFINITE else -1e300)
                    last = self.model.cell(name, high if high < INFINITE else 1e300)
                    if min(first, last) < 0 or last < first or last - first > len(cuts):
                        return None
                    cells |= set(range(first, last + 1))
        return None if -1 in cells else tuple(sorted(cells))


def asks_model(theory: Theory) -> bool:
    """Tell whether a body asks the model."""
    return any(decision == ACCEPTED for decision, _ in theory.called(theory.bodies))
