"""Example: one row of the data, with the values that a candidate is judged by."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field
from pydantic.dataclasses import dataclass

from p2c._spec.feature import Value  # noqa: TC001 - pydantic needs it at run time

Count = Annotated[int, Field(strict=True, ge=0)]


def _pairs(values: Any) -> Any:
    """Return the values of a row as pairs; a review file has them as an object."""
    if not isinstance(values, dict):
        return values
    for each in values.values():
        if isinstance(each, bool) or not isinstance(each, str | int | float | None):
            raise ValueError(f"'values', which hold no {type(each).__name__}")
    return tuple(values.items())


@dataclass(frozen=True, slots=True)
class Example:
    """A row of the data, counted from 1, with the values that matter to a candidate."""

    row: Count
    values: Annotated[tuple[tuple[str, Value], ...], BeforeValidator(_pairs)]
