"""Clocks: columns that count the time since something, which pass together."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from p2c._learn.relations.columns import DataColumn, DataTable

UNIT = {"day": 365.0, "week": 52.0, "month": 12.0, "mth": 12.0, "year": 1.0, "yr": 1.0}
"""How many of a unit make a year."""
COUNTS_TIME = re.compile(
    r"(?:^|_)(?:age|tenure|seniority)(?:$|_)|since|(?:^|_)in_?file|minfile"
    r"|(?:^|_)(?:days|weeks|months|mths|years|yrs)_(?:at|in|on|with|of|as|employed|open|resident|experience)"
    r"|(?:account|credit|employment|job|customer|vehicle|oldest|newest)_?(?:age|length|tenure)"
)
NO_CLOCK = re.compile(
    r"group|band|bin|class|score|ratio|share|percent|pct|count|num(?:ber)?(?:_|$)"
)
MONTHS = re.compile(r"^m(?:ths?)?since|m(?:th)?s?_?in_?file")
FEWEST_VALUES = 10


def find_clock(table: DataTable) -> tuple[DataColumn, ...]:
    """Return the columns that count time by their names, the longest first.

    Rows of one day cannot show that columns pass together, so names alone suggest it.
    """
    columns = [
        each
        for each in table.numbers
        if each.distinct >= FEWEST_VALUES
        and float(each.levels[0]) >= 0
        and COUNTS_TIME.search(each.name)
        and not NO_CLOCK.search(each.name)
    ]
    return tuple(sorted(columns, key=lambda each: -each.levels[-1] / units_a_year(each)))


def units_a_year(column: DataColumn) -> float:
    """Return the number of units of a column in a year."""
    name = column.name
    if MONTHS.search(name):
        return UNIT["month"]
    for unit, count in UNIT.items():
        if unit in name:
            return count
    return 1.0 if column.levels[-1] <= 120 else 12.0


def clock_text(columns: tuple[DataColumn, ...]) -> str:
    """Return equations by which every column passes with the first one.

    A person keeps the difference between the two sides, which is the residual of the equation.
    """
    first, *others = columns
    lines = []
    for each in others:
        factor = units_a_year(each) / units_a_year(first)
        text = first.name
        if factor > 1:
            text = f"{factor:g} * {first.name}"
        elif factor < 1:
            text = f"{first.name} / {1 / factor:g}"
        lines.append(f"{each.name} = {text}")
    return "\n".join(lines)
