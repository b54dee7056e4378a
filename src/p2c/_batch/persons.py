"""The distinct people of a table: rows with equal features are one person.

Numbers and texts go between numpy and pyarrow by the memory that they lie in: pyarrow's own ways from and to Python, such
as `pa.array` and `to_numpy`, load pandas where it is installed, which takes as long as planning for a million people.
"""

from __future__ import annotations

from decimal import Decimal
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from p2c._plan.tables.encode import WIDEST, Coded
from p2c._spec.row import read_cell

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from p2c._plan.tables.encode import Column, Whole
    from p2c._spec.feature import Feature

TEXT = {b"p2c": b"text"}
"""The mark of a column whose cells are text, also where the feature is a number."""


class Persons(NamedTuple):
    """The person of each row of a table, and the first row of each person."""

    who: Whole
    first: Whole


def tell_apart(table: pa.Table, names: Sequence[str]) -> Persons:
    """Return the people by the values of columns, in the order of their first rows."""
    key, span = np.zeros(len(table), dtype=np.int64), 1
    for name in names:
        codes, low, count = _codes(in_one(table.column(name)))
        if span * count >= WIDEST:
            key, span = _ranked(key)
        if span * count >= WIDEST:
            (codes, count), low = _ranked(codes.astype(np.int64)), 0
        # In place: fresh memory for a million numbers takes longer than counting with them.
        key *= count
        key += codes
        key -= low
        span *= count
    who = to_numbers(to_array(key).dictionary_encode().indices)
    newest = np.maximum.accumulate(who)
    first = np.flatnonzero(newest[1:] > newest[:-1]) + 1
    return Persons(who, np.insert(first, 0, 0) if len(who) else first)


def columns_of(table: pa.Table, features: Sequence[Feature]) -> dict[str, Column | Coded]:
    """Return the features' columns as the planner takes them."""
    return {
        feature.name: _column(feature, in_one(table.column(feature.name)), table.schema)
        for feature in features
        if feature.name in table.column_names
    }


def present(table: pa.Table, names: Iterable[str]) -> list[str]:
    """Return the columns that a table has; it may lack computed features."""
    known = set(table.column_names)
    return [name for name in names if name in known]


def joined(tables: Sequence[pa.Table]) -> pa.Table:
    """Return tables of one make as one, in one piece."""
    if len(tables) == 1:
        return tables[0]
    return pa.concat_tables(tables).unify_dictionaries().combine_chunks()


def in_one(column: pa.ChunkedArray) -> pa.Array:
    """Return a column in one piece."""
    array = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    return pa.concat_arrays(array.chunks) if isinstance(array, pa.ChunkedArray) else array


def _codes(column: pa.Array) -> tuple[Whole, int, int]:
    """Return a code for each value or gap, the least code and the number of codes."""
    if types.is_integer(column.type) and len(column) > column.null_count:
        low, high = pc.min_max(column).as_py().values()
        if high - low < WIDEST and high < WIDEST and low > -WIDEST:
            return _filled(column, high + 1), low, high - low + 2
    if not types.is_dictionary(column.type):
        column = column.dictionary_encode()
    count = len(column.dictionary)
    return _filled(column.indices, count), 0, count + 1


def _filled(column: pa.Array, value: int) -> Whole:
    """Return integers with a code for missing values, in a type that holds it."""
    if column.null_count:
        column = pc.fill_null(column.cast(pa.int64()), to_array(np.array([value]))[0])
    numbers = to_numbers(column)
    return numbers if np.can_cast(numbers.dtype, np.int64) else numbers.astype(np.int64)


def _ranked(key: Whole) -> tuple[Whole, int]:
    found = to_array(key).dictionary_encode()
    return to_numbers(found.indices).astype(np.int64), len(found.dictionary)


def _column(feature: Feature, column: pa.Array, schema: pa.Schema) -> Column | Coded:
    number = types.is_integer(column.type) or types.is_floating(column.type)
    if number and feature.kind.is_number and not column.null_count:
        return to_numbers(column)
    coded = column if types.is_dictionary(column.type) else column.dictionary_encode()
    numbers = _filled(coded.indices, -1).astype(np.int64)
    values = [_plain(value) for value in coded.dictionary.to_pylist()]
    if (schema.field(feature.name).metadata or {}).get(b"p2c") == b"text":
        values = [read_cell(feature, text) for text in values]
    return Coded(numbers, values)


def _plain(value: Any) -> Any:
    return float(value) if isinstance(value, Decimal) else value


def to_numbers(array: pa.Array) -> Column:
    """Return a view of integers or floats without missing values."""
    return np.from_dlpack(array)


def to_array(numbers: Column, known: Column | None = None) -> pa.Array:
    """Return numbers as an Arrow array without a copy; unknown ones are missing."""
    kind = pa.from_numpy_dtype(numbers.dtype)
    marks = None
    if known is not None and not known.all():
        marks = pa.py_buffer(np.packbits(known, bitorder="little"))
    data = pa.py_buffer(np.ascontiguousarray(numbers))
    return pa.Array.from_buffers(kind, len(numbers), [marks, data])


def to_texts(texts: Sequence[str]) -> pa.Array:
    """Return texts without missing ones."""
    cells = [text.encode() for text in texts]
    ends = np.fromiter(accumulate(map(len, cells), initial=0), dtype=np.int32)
    return pa.StringArray.from_buffers(
        len(cells), pa.py_buffer(ends), pa.py_buffer(b"".join(cells))
    )
