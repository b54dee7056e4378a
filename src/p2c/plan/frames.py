"""Data frames in and out: any eager frame that narwhals reads, and the same kind back, a chunk at a time."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

from p2c.errors import Fault, RowError, suggestion
from p2c.plan.table import plan_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from p2c.plan.encode import Column
    from p2c.plan.space import Space

CHUNK = 250_000
"""How many rows are planned at a time."""
LONG = 20_000
"""From how many rows on progress is shown."""


def plan_frame(
    space: Space, frame: Any, *, details: bool = True, progress: bool | None = None
) -> Any:
    """Return a frame of the same kind and row order: status, cost, end state, actions, steps and message."""
    table = nw.from_native(frame, eager_only=True)
    names = [axis.feature.name for axis in space.axes]
    absent = [name for name in names if name not in table.columns]
    if absent:
        raise RowError(
            [Fault(name, f"no such column; {suggestion(name, table.columns)}") for name in absent]
        )
    chunks = [
        plan_rows(space, columns, details=details).columns()
        for columns in _chunks(table, names, progress=progress)
    ]
    whole = {key: _joined([chunk[key] for chunk in chunks]) for key in chunks[0]}
    answer = nw.from_dict(whole, backend=table.implementation)
    index = nw.maybe_get_index(table)
    return nw.to_native(
        answer if index is None else nw.maybe_set_index(answer, index=_series(index))
    )


def _series(index: Any) -> Any:
    return nw.from_native(index.to_series().reset_index(drop=True), series_only=True)


def _chunks(
    table: nw.DataFrame[Any], names: list[str], *, progress: bool | None
) -> Iterator[dict[str, Column]]:
    shown = sys.stderr.isatty() and len(table) >= LONG if progress is None else progress
    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), disable=not shown) as bar:
        task = bar.add_task("planning", total=len(table))
        for begin in range(0, max(len(table), 1), CHUNK):
            part = table[begin : begin + CHUNK]
            yield {name: part[name].to_numpy() for name in names}
            bar.advance(task, len(part))


def _joined(parts: list[Column]) -> Column:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
