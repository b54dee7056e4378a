"""Data frames in and out: any eager frame that narwhals reads, and the same kind back, a chunk at a time.

Dask's are planned for partition by partition, when somebody asks for the answers and not before. Decisions are made once for
all rows that the rules see alike, by the reference meaning.
"""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
from narwhals.exceptions import NarwhalsError
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

from p2c._plan.tables.cells import value_type
from p2c._plan.tables.encode import ASTRAY, Coded
from p2c._plan.tables.table import by_regions, neighbours, places_of, plan_rows, state_at
from p2c._rules.evaluate import goal_holds
from p2c._spec.row import refuse_absent
from p2c.errors import Fault, P2CError, RowError, one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from p2c._plan.compiled.space import Space
    from p2c._plan.tables.encode import Column
    from p2c._plan.tables.table import Solver
    from p2c._spec.feature import Feature
    from p2c._spec.row import State

    ReadRow = Callable[[Mapping[str, Any]], State]


CHUNK = 250_000
"""How many rows are planned at a time."""
LONG = 20_000
"""From how many rows on progress is shown."""
TYPES = {str: nw.String(), int: nw.Int64(), float: nw.Float64(), bool: nw.Boolean()}
PANDAS = {str: "string", int: "Int64", float: "float64"}
"""The pandas types that hold missing values too, so that every partition has the same."""


def plan_frame(
    space: Space, frame: Any, *, solver: Solver, details: bool = True, progress: bool | None = None
) -> Any:
    """Return a frame of the same kind and row order.

    Its columns are status, cost, end state, actions, steps, exceptions, the features whose values are unknown, and message.
    """
    table, names = _opened(space, frame)
    chunks = [
        plan_rows(space, columns, details=details, solver=solver).columns()
        for columns in _chunks(table, names, progress=progress)
    ]
    whole = {key: _joined([chunk[key] for chunk in chunks]) for key in chunks[0]}
    if table.implementation.is_pandas_like():
        pandas = nw.get_native_namespace(table)
        columns = {key: _categorical(pandas, column) for key, column in whole.items()}
        return pandas.DataFrame(columns, index=nw.maybe_get_index(table))
    return _native(table, whole, space.theory.feature)


def like(frame: Any, found: Any, features: Mapping[str, Feature]) -> Any:
    """Return a pandas table of answers as the kind of frame that was given."""
    given = nw.from_native(frame, pass_through=True, eager_only=True)
    if not isinstance(given, nw.DataFrame) or given.implementation.is_pandas_like():
        return found
    return _native(given, {str(name): found[name] for name in found.columns}, features)


def _native(
    table: nw.DataFrame[Any], columns: Mapping[str, Any], features: Mapping[str, Feature]
) -> Any:
    """Return columns of answers as the kind of frame that a table is."""
    kinds = {key: answer_type(key, features) for key in columns}
    plain = {
        key: [_typed(each, kinds[key]) for each in column.tolist()]
        for key, column in columns.items()
    }
    types = {key: TYPES[kind] for key, kind in kinds.items()}
    return nw.to_native(nw.from_dict(plain, types, backend=table.implementation))


def _typed(value: Any, kind: type[Any]) -> Any:
    """Return a value as its column holds it; None for a missing one."""
    missing = value is None or (isinstance(value, float) and math.isnan(value))
    return None if missing else kind(value)


def decide_frame(space: Space, frame: Any, read_row: ReadRow) -> Any:
    """Return for each row whether the goal holds, as a column of the frame's kind."""
    table, names = _opened(space, frame)
    parts = _chunks(table, names, progress=False)
    holds = np.concatenate(
        [
            decide_rows(space, columns, read_row, first=1 + number * CHUNK)
            for number, columns in enumerate(parts)
        ]
    )
    if table.implementation.is_pandas_like():
        pandas = nw.get_native_namespace(table)
        return pandas.Series(holds, index=nw.maybe_get_index(table), name="accepted")
    column = nw.new_series("accepted", holds.tolist(), nw.Boolean, backend=table.implementation)
    return nw.to_native(column)


def _opened(space: Space, frame: Any) -> tuple[nw.DataFrame[Any], list[str]]:
    """Return a frame that can be read, and its columns that are features; all of them are needed."""
    table = table_of(frame)
    features = space.theory.features
    refuse_absent([each.name for each in features if each.equation is None], table.columns)
    present = set(table.columns)
    return table, [each.name for each in features if each.name in present]


def answer_type(key: str, features: Mapping[str, Feature]) -> type[Any]:
    """Return what a column of the answer holds."""
    if key.startswith("end_"):
        return value_type(features[key.removeprefix("end_")])
    return {"cost": float, "verified": bool, "optimal": bool}.get(key, str)


def table_of(frame: Any) -> nw.DataFrame[Any]:
    """Return a frame of any kind as a table; refuse what is none."""
    try:
        return nw.from_native(frame, eager_only=True)
    except (TypeError, NarwhalsError) as error:
        reason = one_line(error)
        raise P2CError(
            f"expected a pandas, polars or pyarrow table, found a {type(frame).__name__}: {reason}"
        ) from None


def _chunks(
    table: nw.DataFrame[Any], names: list[str], *, progress: bool | None
) -> Iterator[dict[str, Column | Coded]]:
    with bar(shown=len(table) >= LONG, wanted=progress) as watch:
        task = watch.add_task("planning", total=len(table))
        for begin in range(0, max(len(table), 1), CHUNK):
            part = table[begin : begin + CHUNK]
            yield {name: _column(part[name]) for name in names}
            watch.advance(task, len(part))


def bar(*, shown: bool, wanted: bool | None) -> Progress:
    """Return a progress bar: as it is wanted, else where it is worth showing and somebody looks."""
    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    visible = (sys.stderr.isatty() and shown) if wanted is None else wanted
    return Progress(*columns, console=Console(stderr=True), disable=not visible)


def _column(series: nw.Series[Any]) -> Column | Coded:
    """Return a column as an array, or as numbers where the frame can tell different texts apart quickly."""
    native = series.to_native()
    if series.dtype in (nw.String, nw.Categorical) and hasattr(native, "factorize"):
        numbers, values = native.factorize()
        return Coded(numbers, list(values))
    return series.to_numpy()


def _categorical(pandas: Any, column: Column | Coded) -> Any:
    if isinstance(column, Coded):
        return pandas.Categorical.from_codes(column.numbers, categories=list(column.values))
    return column


def _joined(parts: list[Column | Coded]) -> Column | Coded:
    if isinstance(parts[0], Coded):
        return _joined_codes([part for part in parts if isinstance(part, Coded)])
    return np.concatenate([part for part in parts if not isinstance(part, Coded)])


def _joined_codes(parts: list[Coded]) -> Coded:
    known: dict[Any, int] = {}
    numbers = []
    for part in parts:
        table = [known.setdefault(value, len(known)) for value in part.values]
        same = table == list(range(len(table)))
        renumbered = np.array([*table, -1], dtype=np.int64)
        numbers.append(part.numbers if same else renumbered[part.numbers])
    return Coded(np.concatenate(numbers), tuple(known))


def plan_lazily(space: Space, frame: Any, plan: Callable[[Any], Any]) -> Any:
    """Return a lazy frame of the answers; what is wrong with the columns is raised at once."""
    empty = plan(frame._meta)
    types = {key: PANDAS[answer_type(key, space.theory.feature)] for key in empty.columns}
    return frame.map_partitions(_planned, plan, types, meta=empty.astype(types))


def _planned(part: Any, plan: Callable[[Any], Any], types: dict[str, str]) -> Any:
    return plan(part).astype(types)


def decide_rows(
    space: Space, columns: Mapping[str, Column | Coded], read_row: ReadRow, first: int = 1
) -> Column:
    """Return for each row whether the goal holds; a row that does not fit is refused by its number, counted from `first`."""
    size = len(next(iter(columns.values())))
    if space.theory.is_arithmetic:
        return _decide_each(space, columns, read_row, first)
    places = places_of(space, columns)
    near = neighbours(space, columns, places)
    # What a model says hangs on more than the cells that rules cut.
    alone = np.full(size, space.theory.model is not None)
    alone |= np.minimum.reduce(list(near.values())) <= ASTRAY
    holds = np.zeros(size, dtype=bool)
    read = [space.index[name] for name in space.theory.reads(space.theory.goal)]
    for rows in by_regions(space, near, read, np.flatnonzero(~alone)):
        holds[rows] = goal_holds(space.theory, state_at(space, near, int(rows[0])))
    for row in np.flatnonzero(alone):
        holds[row] = _decide_row(space, columns, read_row, int(row), first)
    return holds


def _decide_each(
    space: Space, columns: Mapping[str, Column | Coded], read_row: ReadRow, first: int
) -> Column:
    """Return for each row whether the goal holds, row by row."""
    size = len(next(iter(columns.values())))
    rows = (_decide_row(space, columns, read_row, row, first) for row in range(size))
    return np.fromiter(rows, dtype=bool, count=size)


def _decide_row(
    space: Space, columns: Mapping[str, Column | Coded], read_row: ReadRow, row: int, first: int
) -> bool:
    own = {name: column[row] for name, column in columns.items()}
    try:
        return goal_holds(space.theory, read_row(own))
    except RowError as error:
        place = f"row {first + row}"
        faults = [Fault(f"{place}, {each.place}", each.message) for each in error.faults]
        raise RowError(faults) from None
