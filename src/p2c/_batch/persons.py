"""The distinct people of a table: rows with equal features are one person.

Numbers and texts go between numpy and pyarrow by the memory that they lie in: pyarrow's own ways from and to Python, such
as `pa.array` and `to_numpy`, load pandas where it is installed, which takes as long as planning for a million people.

"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from p2c._plan.tables.encode import WIDEST, Coded
from p2c._spec.row import read_cell
from p2c.errors import P2CError, and_more, suggestion

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set

    from p2c._batch import Options
    from p2c._batch.source import InputFile
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


DIGITS = 15
"""How many digits of a decimal number a float holds exactly."""


@dataclass(frozen=True)
class Columns:
    """The features to read, the columns to copy with their types, and unused columns."""

    features: tuple[str, ...]
    kept: pa.Schema
    spare: tuple[str, ...]
    aliases: Mapping[str, str] = field(default_factory=dict)
    """The model's column of a feature, a second name that a file may use."""

    def name_in(self, feature: str, inside: Collection[str]) -> str:
        """Return the name of a feature or column in a file."""
        other = self.aliases.get(feature, feature)
        return other if feature not in inside and other in inside else feature


def check_columns(
    files: Sequence[InputFile],
    features: Sequence[Feature],
    options: Options,
    *,
    taken: Sequence[str],
    aliases: Mapping[str, str] | None = None,
) -> Columns:
    """Return the columns to read, or raise with all faults of all files.

    `taken` are the names of the answer's own columns, which nothing carried through may have; `aliases` says what a
    feature may be called in a file instead.
    """
    schemas = [_schema(file, aliases or {}) for file in files]
    faults: dict[str, list[str]] = defaultdict(list)
    for file, schema in zip(files, schemas, strict=True):
        for fault in _faults(file, schema, features):
            faults[fault].append(file.name)
    names = {feature.name for feature in features}
    every = dict.fromkeys(name for schema in schemas for name in schema.names)
    wanted = [name for name in every if name not in names] if options.keep_all else []
    keep = tuple(dict.fromkeys((*options.keep, *wanted)))
    for fault, where in _kept_faults(keep, files, schemas, taken, set(options.keep)):
        faults[fault].append(where)
    if faults:
        told = [_placed(fault, where) for fault, where in faults.items()]
        raise P2CError(and_more(told, separator="; "))
    kept = pa.schema([schemas[0].field(name).remove_metadata() for name in keep])
    read = names | set(keep)
    spare = tuple(name for name in every if name not in read)
    return Columns(tuple(feature.name for feature in features), kept, spare, aliases or {})


def _schema(file: InputFile, aliases: Mapping[str, str]) -> pa.Schema:
    """Return the columns of a file and of its folder names, named by features."""
    schema = file.reader.schema(file.path)
    known = {column: name for name, column in aliases.items() if name not in schema.names}
    schema = pa.schema([each.with_name(known.get(each.name, each.name)) for each in schema])
    for key, _ in file.keys:
        if key not in schema.names:
            schema = schema.append(pa.field(key, pa.string(), metadata=TEXT))
    return schema


def _faults(file: InputFile, schema: pa.Schema, features: Sequence[Feature]) -> Iterator[str]:
    spare = set(schema.names) - {feature.name for feature in features}
    for feature in features:
        times = schema.names.count(feature.name)
        if times == 0:
            if feature.equation is not None:
                continue
            hint = f"; {suggestion(feature.name, spare)}" if spare else ""
            yield f"{feature.name}: no such column{hint}"
        elif times > 1:
            yield f"{feature.name}: the column stands there {times} times"
        elif not (file.reader.is_text or schema.field(feature.name).metadata == TEXT):
            found = schema.field(feature.name).type
            if not fits(feature, found):
                yield f"{feature.name}: expected {expected(feature)}, found {found}"


def fits(feature: Feature, found: pa.DataType) -> bool:
    """Tell whether a column of a type can hold the feature's values."""
    if types.is_dictionary(found):
        return fits(feature, found.value_type)
    if types.is_null(found):
        return True
    if types.is_decimal(found):
        return feature.kind.is_number and found.precision <= DIGITS
    number = types.is_integer(found) or types.is_floating(found)
    if feature.kind.is_number:
        return bool(number)
    text = types.is_string(found) or types.is_large_string(found)
    kinds = {type(value) for value in feature.places}
    return bool(text and str in kinds) or bool(number and kinds & {int, float})


def expected(feature: Feature) -> str:
    """Return the expected content of a feature's column in words."""
    if feature.kind.is_number:
        return "numbers"
    kinds = {"text" if isinstance(value, str) else "numbers" for value in feature.places}
    return " or ".join(sorted(kinds, reverse=True))


def _kept_faults(
    keep: Sequence[str],
    files: Sequence[InputFile],
    schemas: Sequence[pa.Schema],
    taken: Sequence[str],
    typed: Set[str],
) -> Iterator[tuple[str, str]]:
    """Yield the faults of columns to carry through, with the file of each.

    Only names that were typed may be misspelt.
    """
    first: dict[str, pa.DataType] = {}
    kept = set(keep)
    for file, schema in zip(files, schemas, strict=True):
        types_of: dict[str, list[pa.DataType]] = defaultdict(list)
        for each in schema:
            types_of[each.name].append(each.type)
        for name in keep:
            kinds = types_of.get(name, [])
            if len(kinds) != 1:
                hint = f"; {suggestion(name, types_of)}" if name in typed else ""
                yield f"{name}: cannot be kept, no such column{hint}", file.name
            elif kinds[0] != first.setdefault(name, kinds[0]):
                yield (
                    f"{name}: cannot be kept, expected {first[name]} as in the first file,"
                    f" found {kinds[0]}",
                    file.name,
                )
    for name in (each for each in taken if each in kept):
        yield f"{name}: cannot be kept, the answer has a column of this name", files[0].name


def _placed(fault: str, files: list[str]) -> str:
    more = f" and {len(files) - 1} more" if len(files) > 1 else ""
    return f"{fault} ({files[0]}{more})"
