"""How large the search space is: every combination of values, and what is left of it to the rules or to the model that decides."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from p2c._rules.render import render_rule
from p2c._rules.theory import Test

if TYPE_CHECKING:
    from p2c._plan.compiled.axis import Axis
    from p2c._plan.compiled.space import Space
    from p2c._rules.theory import Theory


@dataclass(frozen=True, slots=True)
class FeatureSize:
    """One feature's values, the cells that they are cut into, and the rules that cut."""

    feature: str
    values: int
    cells: tuple[str, ...]
    rules: tuple[str, ...]


@dataclass(frozen=True, slots=True, repr=False)
class SpaceReport:
    """The size of a problem's search space."""

    problem: str
    features: tuple[FeatureSize, ...]
    by: str = "the rules"
    """What tells states apart: the rules, the model that decides, or both."""

    def __repr__(self) -> str:
        raw, cells = (f"1e{math.log10(size):.0f}" for size in (self.raw, self.cells))
        return f"<SpaceReport {self.problem!r}: about {raw} states, {cells} to {self.by}>"

    @property
    def raw(self) -> int:
        """Return the number of states."""
        return math.prod(each.values for each in self.features)

    @property
    def cells(self) -> int:
        """Return the number of states that can be told apart."""
        return math.prod(len(each.cells) for each in self.features)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON."""
        return {
            "problem": self.problem,
            "raw": self.raw,
            "cells": self.cells,
            "features": [
                {
                    "feature": each.feature,
                    "values": each.values,
                    "cells": list(each.cells),
                    "rules": list(each.rules),
                }
                for each in self.features
            ],
        }


def measure_space(space: Space) -> SpaceReport:
    """Return the size of a space, feature by feature."""
    features = tuple(
        FeatureSize(
            axis.feature.name,
            axis.size,
            tuple(_cell_text(axis, cell) for cell in axis.cells),
            _cutting_rules(space, axis.feature.name),
        )
        for axis in space.axes
    )
    return SpaceReport(space.theory.name, features, _deciders(space.theory))


def _deciders(theory: Theory) -> str:
    if theory.model is None:
        return "the rules"
    return "the model and the rules" if theory.program.rules else "the model"


def _cell_text(axis: Axis, cell: tuple[int, ...] | range) -> str:
    domain = axis.feature.domain
    first, last = domain.value(cell[0]), domain.value(cell[-1])
    if isinstance(cell, range):
        return str(first) if cell[0] == cell[-1] else f"{first}..{last}"
    return " | ".join(str(domain.value(place)) for place in cell)


def _cutting_rules(space: Space, name: str) -> tuple[str, ...]:
    return tuple(
        render_rule(clause.rule)
        for clause in space.clauses[:-1]
        if any(
            isinstance(each, Test) and each.feature == name for each in (*clause.body, *clause.head)
        )
    )
