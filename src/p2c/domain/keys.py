"""The types of a feature's keys: each checked by one function, so that a wrong one is one fault that says what is right.

A union of types would report its fault once for every branch.
"""

from __future__ import annotations

import math
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainValidator, StrictStr, WithJsonSchema
from pydantic_core import PydanticCustomError


def _refuse(expected: str) -> PydanticCustomError:
    return PydanticCustomError("p2c", f"expected {expected}")


def _number(raw: Any, expected: str = "a number") -> int | float:
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        raise _refuse(expected)
    try:
        finite = math.isfinite(raw)
    except OverflowError:
        finite = False
    if not finite:
        raise _refuse("a number within the range of a float")
    return raw


def _value(raw: Any, *, expected: str = "a name or a number") -> str | int | float:
    return raw if isinstance(raw, str) else _number(raw, expected)


def _label(raw: Any) -> str | int | float | bool:
    return (
        raw
        if isinstance(raw, bool)
        else _value(raw, expected="a class: a name, a number, true or false")
    )


def _positive(raw: Any) -> int | float:
    number = _number(raw, "a number above 0")
    if number <= 0:
        raise _refuse("a number above 0")
    return number


def _weight(raw: Any) -> int | float:
    number = _number(raw, "a number, 0 or more")
    if number < 0:
        raise _refuse("a number, 0 or more")
    return number


def _share(raw: Any) -> float:
    number = _number(raw, "a share from 0 to 1")
    if not 0 <= number <= 1:
        raise _refuse("a share from 0 to 1")
    return float(number)


def _count(raw: Any) -> int:
    number = _number(raw, "a whole number above 0")
    if number < 1 or number != int(number):
        raise _refuse("a whole number above 0")
    return int(number)


def _scale(raw: Any) -> str | int | float:
    if raw == "range":
        return "range"
    number = _number(raw, "'range' or a number above 0")
    if number <= 0:
        raise _refuse("'range' or a number above 0")
    return number


def _reason(raw: Any) -> str:
    if not isinstance(raw, str) or not raw.strip():
        raise _refuse("the reason why this is known")
    return raw


def _move_start(raw: Any) -> Any:
    return str(raw) if isinstance(raw, int | float) and not isinstance(raw, bool) else raw


SpecNumber = Annotated[int | float, PlainValidator(_number)]
SpecValue = Annotated[str | int | float, PlainValidator(_value)]
LABEL = {"type": ["string", "number", "boolean"]}
Label = Annotated[str | int | float | bool, PlainValidator(_label), WithJsonSchema(LABEL)]
Positive = Annotated[int | float, PlainValidator(_positive)]
Weight = Annotated[int | float, PlainValidator(_weight)]
SHARE = {"type": "number", "minimum": 0, "maximum": 1}
Share = Annotated[float, PlainValidator(_share), WithJsonSchema(SHARE)]
Count = Annotated[int, PlainValidator(_count), WithJsonSchema({"type": "integer", "minimum": 1})]
Scale = Annotated[str | int | float, PlainValidator(_scale)]
Reason = Annotated[str, PlainValidator(_reason)]
MoveStart = Annotated[StrictStr, BeforeValidator(_move_start)]
