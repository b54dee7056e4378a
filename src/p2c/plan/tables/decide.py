"""Decisions for a whole table: rows that the rules see alike are decided once, by the reference meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from p2c.errors import Fault, RowError
from p2c.plan.compiled.axis import OFF
from p2c.plan.tables.encode import ASTRAY, encode
from p2c.plan.tables.table import combined, count_codes, grouped, neighbours, regions_of
from p2c.rules.evaluate import goal_holds

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from p2c.domain.row import State
    from p2c.plan.compiled.space import Space
    from p2c.plan.tables.encode import Coded, Column, Whole

    ReadRow = Callable[[Mapping[str, Any]], State]


def decide_rows(
    space: Space, columns: Mapping[str, Column | Coded], read_row: ReadRow, first: int = 1
) -> Column:
    """Return for each row whether the goal holds; a row that does not fit is refused by its number, counted from `first`."""
    size = len(next(iter(columns.values())))
    axes = space.axes
    places = {index: encode(axis, columns[axis.feature.name]) for index, axis in enumerate(axes)}
    near = neighbours(space, columns, places)
    # What a model says hangs on more than the cells that rules cut.
    alone = np.full(size, space.theory.model is not None)
    alone |= np.minimum.reduce(list(near.values())) <= ASTRAY
    holds = np.zeros(size, dtype=bool)
    for rows in _classes(space, near, np.flatnonzero(~alone)):
        at = {index: int(near[index][rows[0]]) for index in near}
        state = {
            axes[index].feature.name: None
            if place == OFF
            else axes[index].feature.domain.value(place)
            for index, place in at.items()
        }
        holds[rows] = goal_holds(space.theory, state)
    for row in np.flatnonzero(alone):
        own = {name: column[row] for name, column in columns.items()}
        try:
            holds[row] = goal_holds(space.theory, read_row(own))
        except RowError as error:
            place = f"row {first + int(row)}"
            faults = [Fault(f"{place}, {each.place}", each.message) for each in error.faults]
            raise RowError(faults) from None
    return holds


def _classes(space: Space, near: Mapping[int, Whole], rows: Whole) -> list[Whole]:
    """Return the rows whose values lie in the same regions together."""
    if not len(rows):
        return []
    read = [space.index[name] for name in space.theory.reads(space.theory.goal)]
    codes = [
        (regions_of(space.axes[index], near[index][rows]) + 1, count_codes(space.axes[index]))
        for index in read
    ]
    return list(grouped(combined(codes, rows), rows))
