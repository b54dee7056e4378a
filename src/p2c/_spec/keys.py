"""The types of a feature's keys: each checked by one function, so that a wrong one is one fault that says what is right.

A union of types would report its fault once for every branch.
"""

from __future__ import annotations

from enum import Enum
from numbers import Integral, Real
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AfterValidator, BeforeValidator, PlainValidator, StrictStr, WithJsonSchema
from pydantic_core import PydanticCustomError

from p2c._spec.feature import is_finite

if TYPE_CHECKING:
    from collections.abc import Callable


def _refuse(expected: str) -> PydanticCustomError:
    return PydanticCustomError("p2c", f"expected {expected}")


def _number(raw: Any, expected: str = "a number") -> int | float:
    if isinstance(raw, bool) or not isinstance(raw, Real):
        raise _refuse(expected)
    if not is_finite(raw):
        raise _refuse("a number within the range of a float")
    return int(raw) if isinstance(raw, Integral) else float(raw)


def _value(raw: Any, *, expected: str = "a name or a number") -> str | int | float:
    return raw if isinstance(raw, str) else _number(raw, expected)


def _label(raw: Any) -> str | int | float | bool:
    return (
        raw
        if isinstance(raw, bool)
        else _value(raw, expected="a class: a name, a number, true or false")
    )


def _where(expected: str, fits: Callable[[float], bool]) -> Callable[[Any], int | float]:
    """Return what checks that a number fits, and says what is expected."""

    def check(raw: Any) -> int | float:
        number = _number(raw, expected)
        if not fits(number):
            raise _refuse(expected)
        return number

    return check


_scaled = _where("'range' or a number above 0", lambda number: number > 0)


def _scale(raw: Any) -> str | int | float:
    return "range" if isinstance(raw, str) and raw == "range" else _scaled(raw)


def _objectives(raw: Any) -> str | list[str]:
    raw = raw.value if isinstance(raw, Enum) else raw
    if isinstance(raw, str):
        return raw
    if isinstance(raw, list | tuple) and raw and all(isinstance(each, str) for each in raw):
        return [str(each) for each in raw]
    raise _refuse("cost, actions, the name of a resource, or a list of these")


def _reason(raw: Any) -> str:
    if not isinstance(raw, str) or not raw.strip():
        raise _refuse("the reason why this is known")
    return raw


def _move_start(raw: Any) -> Any:
    return str(raw) if isinstance(raw, int | float) and not isinstance(raw, bool) else raw


NUMBER, VALUE = {"type": "number"}, {"type": ["string", "number"]}
SpecNumber = Annotated[int | float, PlainValidator(_number), WithJsonSchema(NUMBER)]
SpecValue = Annotated[str | int | float, PlainValidator(_value), WithJsonSchema(VALUE)]
LABEL = {"type": ["string", "number", "boolean"]}
Label = Annotated[str | int | float | bool, PlainValidator(_label), WithJsonSchema(LABEL)]
ABOVE_ZERO = {**NUMBER, "exclusiveMinimum": 0}
Positive = Annotated[
    int | float,
    PlainValidator(_where("a number above 0", lambda n: n > 0)),
    WithJsonSchema(ABOVE_ZERO),
]
Weight = Annotated[
    int | float,
    PlainValidator(_where("a number, 0 or more", lambda n: n >= 0)),
    WithJsonSchema({**NUMBER, "minimum": 0}),
]
Whole = Annotated[
    int,
    PlainValidator(_where("a whole number, 0 or more", lambda n: n >= 0 and n == int(n))),
    AfterValidator(int),
    WithJsonSchema({"type": "integer", "minimum": 0}),
]
SHARE = {"type": "number", "minimum": 0, "maximum": 1}
Share = Annotated[
    float,
    PlainValidator(_where("a share from 0 to 1", lambda n: 0 <= n <= 1)),
    AfterValidator(float),
    WithJsonSchema(SHARE),
]
Count = Annotated[
    int,
    PlainValidator(_where("a whole number above 0", lambda n: n >= 1 and n == int(n))),
    AfterValidator(int),
    WithJsonSchema({"type": "integer", "minimum": 1}),
]
Scale = Annotated[
    str | int | float,
    PlainValidator(_scale),
    WithJsonSchema({"anyOf": [{"const": "range"}, ABOVE_ZERO]}),
]
Reason = Annotated[str, PlainValidator(_reason), WithJsonSchema({"type": "string"})]
TEXT = {"type": "string"}
Objectives = Annotated[
    str | list[str],
    PlainValidator(_objectives),
    WithJsonSchema({"anyOf": [TEXT, {"type": "array", "items": TEXT, "minItems": 1}]}),
]
MoveStart = Annotated[StrictStr, BeforeValidator(_move_start)]
