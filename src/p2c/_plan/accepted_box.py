"""Boxes of states that a parsed model accepts everywhere."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from p2c._plan.compiled.bitsets import mask_of
from p2c._spec.feature import exact

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from p2c._rules.theory import ParsedModel
    from p2c._spec.feature import Feature, Value

Places = range | tuple[int, ...]
"""Places in the domain of a feature."""


class Undecided(Exception):
    """No exact answer within the limit, or by the parsed form of the model."""


@dataclass(frozen=True)
class AcceptedBox:
    """A parsed model, to be asked about boxes.

    Attributes:
        features: The features by name.
        model: The model.
        look: Called for every part of a box that is looked at; it may raise `Undecided`.
    """

    features: Mapping[str, Feature]
    model: ParsedModel
    look: Callable[[], None]
    _ends: dict[tuple[str, Places], dict[Value, int]] = field(default_factory=dict)

    def accepted(self, state: Mapping[str, Value], box: Mapping[str, Places]) -> bool:
        """Tell whether the model accepts a state with any values of a box.

        Args:
            state: The values of the other features.
            box: By feature, the places of its values.

        Raises:
            Undecided: The model was not read for a value of the box, or blends scores.
        """
        wide = {name: box[name] for name in self.model.reads if len(box.get(name, ())) > 1}
        narrow = {name: each[0] for name, each in box.items() if name not in wide}
        values = {name: self.features[name].domain.value(at) for name, at in narrow.items()}
        state = {**state, **values}
        if not wide:
            return self.model.accepts(state)
        if self.model.is_blend:
            raise Undecided
        return self._weighed(state, wide) if self.model.lined else self._by_cells(state, wide)

    def _by_cells(self, state: Mapping[str, Value], box: Mapping[str, Places]) -> bool:
        samples = [self._samples(name, state, box) for name in self.model.reads]

        def accepts(cells: tuple[int, ...]) -> bool:
            values = (each[cell] for each, cell in zip(samples, cells, strict=True))
            reached = {**state, **dict(zip(self.model.reads, values, strict=True))}
            return self.model.accepts_cells(cells, lambda: reached)

        return not self.model.refuses_some([mask_of(each) for each in samples], accepts, self.look)

    def _samples(
        self, name: str, state: Mapping[str, Value], box: Mapping[str, Places]
    ) -> dict[int, Value]:
        """Return a value of each cell of a box."""
        values = self._ends_of(name, box[name]) if name in box else None
        if values is None:
            values = {state[name]: self.model.cell(name, state[name])}
        if -1 in values.values():
            raise Undecided
        return {cell: value for value, cell in values.items()}

    def _ends_of(self, name: str, places: Places) -> dict[Value, int]:
        """Return the cells of a set of places, by their first and last values."""
        key = name, places
        if key not in self._ends:
            feature, chosen = self.features[name], set(places)
            if feature.kind.is_number:
                low, high = places[0], places[-1]
                past = map(feature.domain.first_place_past, map(exact, self.model.cuts(feature)))
                starts = {each for each in past if low < each <= high}
                chosen = {low, high, *starts, *(each - 1 for each in starts)}
            values = [feature.domain.value(place) for place in sorted(chosen)]
            self._ends[key] = {value: self.model.cell(name, value) for value in values}
        return self._ends[key]

    def _weighed(self, state: Mapping[str, Value], box: Mapping[str, Places]) -> bool:
        """Split a box until the model is sure of every part, or refuses a state."""
        waiting = [dict(box)]
        while waiting:
            self.look()
            part = waiting.pop()
            cells = [mask_of(self._samples(name, state, part)) for name in self.model.reads]
            ends = {
                name: list(self._ends_of(name, part[name])) if name in part else [state[name]]
                for name in self.model.reads
            }
            worst = self.model.doubt(cells, ends)
            if worst is None:
                continue
            if not self.model.accepts({**state, **worst}):
                return False
            name = max(part, key=lambda each: len(part[each]))
            half = len(part[name]) // 2
            if half:
                waiting += [{**part, name: part[name][:half]}, {**part, name: part[name][half:]}]
        return True
