"""Dask data frames: planned for partition by partition, when somebody asks for the answers and not before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw

from p2c.plan.tables.frames import answer_type

if TYPE_CHECKING:
    from collections.abc import Callable

    from p2c.plan.compiled.space import Space

TYPES = {nw.String(): "string", nw.Int64(): "Int64", nw.Float64(): "float64"}
"""The pandas types that hold missing values too, so that every partition has the same."""


def plan_lazily(space: Space, frame: Any, plan: Callable[[Any], Any]) -> Any:
    """Return a lazy frame of the answers; what is wrong with the columns is raised at once."""
    empty = plan(frame._meta)
    types = {key: TYPES[answer_type(key, space)] for key in empty.columns}
    return frame.map_partitions(_planned, plan, types, meta=empty.astype(types))


def _planned(part: Any, plan: Callable[[Any], Any], types: dict[str, str]) -> Any:
    return plan(part).astype(types)
