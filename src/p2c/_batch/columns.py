"""Check the columns of the input against the features of the problem."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyarrow as pa
from pyarrow import types

from p2c._batch.persons import TEXT
from p2c.errors import P2CError, and_more, suggestion

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence, Set

    from p2c._batch import Options
    from p2c._batch.source import InputFile
    from p2c._spec.feature import Feature

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
