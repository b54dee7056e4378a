"""Car Evaluation: all 1,728 combinations of six properties of a car, each with a verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from p2c.datasets.archive import raw_lines

if TYPE_CHECKING:
    from p2c.datasets.archive import Row

COLUMNS = ("buying", "maint", "doors", "persons", "lug_boot", "safety", "label")


def read_cars() -> list[Row]:
    """Read `car.data`; doors and persons stay words, for they mix '2' with 'more'."""
    return [dict(zip(COLUMNS, line.split(","), strict=True)) for line in raw_lines("car.data")]
