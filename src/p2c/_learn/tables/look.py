"""A look at the columns of a table before anything is learned from it: what each holds, and what surely helps nobody.

A column of ids, of dates, of one value or of none cannot be in a rule that is worth anything, so it is left out and that
is said. A column of numbers with commas would be taken for text; it is read or refused, never guessed at.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from p2c._learn.tables.domains import is_number, plain_value, tidy_frame
from p2c._learn.tables.special import special_codes
from p2c._spec.row import read_number
from p2c.errors import P2CError, and_more, counted

if TYPE_CHECKING:
    from collections.abc import Collection

    import pandas as pd

    from p2c._spec.feature import Value

FEWEST = 10
"""How many rows a table has at least, before all values being different or in a run says anything."""
SHOWN = 4
"""How many values of a category are listed."""
COMMA = re.compile(r"[+-]?(?:[0-9]{1,3}(?:\.[0-9]{3})+|[0-9]+),[0-9]+")
GROUPED = re.compile(r"[+-]?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?")
"""A number whose commas may set thousands apart."""
PLAIN = re.compile(r"[+-]?(?:[0-9]{1,3}(?:\.[0-9]{3})+|[0-9]+)")
DATE = re.compile(
    r"(?:[12][0-9]{3}[-/.][01]?[0-9][-/.][0-3]?[0-9]|[0-3]?[0-9][-/.][0-3]?[0-9][-/.](?:[12][0-9])?[0-9]{2})"
    r"(?:[T ][0-9:.+Z-]*)?"
)
DAY = re.compile(r"(?:19|20)[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])")
ID_NAME = re.compile(r"(?:.*_)?(?:id|uuid|guid|key|nr|no|number)", re.IGNORECASE)


class ColumnKind(Enum):
    """What a column holds, in words."""

    NUMBER = "number"
    CATEGORY = "category"
    CODE = "code"
    COMMA = "number with decimal commas"
    DATE = "date"
    ID = "id"
    CONSTANT = "one value only"
    EMPTY = "no value"


class Why(Enum):
    """Reasons for an assumption about a column, in words."""

    UNIQUE = "it is different in every row"
    DATE = "rules cannot count in dates"
    CONSTANT = "it is the same in every row"
    EMPTY = "it holds nothing"
    BORN_WITH = "nobody is asked to change it"
    AGE = "nobody grows younger"
    USUAL = "nothing speaks against it"
    EFFECT = "causal rules lead to it"
    GROUP = "one of its columns is set in each row, so they are one category"


USELESS = {
    ColumnKind.ID: Why.UNIQUE,
    ColumnKind.DATE: Why.DATE,
    ColumnKind.CONSTANT: Why.CONSTANT,
    ColumnKind.EMPTY: Why.EMPTY,
}
"""The kinds that are left out, and why."""


@dataclass(frozen=True, slots=True)
class ColumnLook:
    """The contents of one column: its range or most frequent values, and a note.

    `ends` are the least and the greatest number; None for a column that does not hold numbers.
    """

    name: str
    kind: ColumnKind
    span: str
    distinct: int
    missing: int
    note: str = ""
    ends: tuple[int | float, int | float] | None = None
    codes: tuple[float, ...] = ()
    """Numbers that stand for a missing value."""


@dataclass(frozen=True, slots=True)
class TableLook:
    """What every column of a table holds."""

    rows: int
    columns: tuple[ColumnLook, ...]

    def left_out(self, keep: Collection[str] = ()) -> tuple[ColumnLook, ...]:
        """Return the columns that surely help no rule, but for those to keep."""
        return tuple(
            each for each in self.columns if each.kind in USELESS and each.name not in keep
        )


def look(frame: pd.DataFrame) -> TableLook:
    """Return what the columns of a table hold, by their own names."""
    tidy = tidy_frame(frame)
    pairs = zip(frame.columns, tidy.columns, strict=True)
    return TableLook(len(frame), tuple(_look(str(name), tidy[each]) for name, each in pairs))


def refuse_commas(seen: TableLook) -> None:
    """Refuse a column of numbers with commas, which would be taken for text."""
    for each in seen.columns:
        if each.kind is not ColumnKind.COMMA:
            continue
        right = (
            "write 1236.50 with a point, or say that these are decimal commas with --decimal-comma"
        )
        if GROUPED.fullmatch(each.span.strip("'")):
            right = (
                "write 1236 where they set thousands apart; only where they are decimal commas,"
                " 1,236 for 1.236, write a point or say so with --decimal-comma"
            )
        raise P2CError(f"column '{each.name}': numbers with commas, such as {each.span}: {right}")


def with_decimal_commas(frame: pd.DataFrame, seen: TableLook) -> pd.DataFrame:
    """Return the table with its numbers with decimal commas as numbers; a dot sets thousands apart."""
    read = frame.copy()
    for each in seen.columns:
        if each.kind is ColumnKind.COMMA:
            read[each.name] = _numbers(each.name, frame[each.name])
    return read


def _numbers(name: str, cells: pd.Series) -> list[float]:
    found: list[float] = []
    for row, cell in enumerate(cells, start=1):
        if not isinstance(cell, str):
            found.append(math.nan)
        elif COMMA.fullmatch(cell) or PLAIN.fullmatch(cell):
            found.append(float(cell.replace(".", "").replace(",", ".")))
        else:
            raise P2CError(
                f"column '{name}', row {row}: expected a number with a decimal comma, found {cell[:40]!r}"
            )
    return found


def _look(name: str, column: pd.Series) -> ColumnLook:
    known = column.dropna()
    values = [plain_value(each) for each in known.unique()]
    kind = _kind(name, known, values)
    span = _span(known, values, kind)
    note = "" if is_number(column) or kind is not ColumnKind.CATEGORY else _odd_cells(known)
    ends = _ends(known) if values and is_number(known) else None
    codes = () if ends is None else special_codes(known.to_numpy(dtype=float))
    if codes:
        note = f"{and_more([f'{each:g}' for each in codes])}: a code, never a target"
    missing = len(column) - len(known)
    return ColumnLook(name, kind, span, len(values), missing, note, ends, codes)


def _ends(known: pd.Series) -> tuple[Any, Any]:
    return plain_value(known.min()), plain_value(known.max())


def _kind(name: str, known: pd.Series, values: list[Value]) -> ColumnKind:
    if not values:
        return ColumnKind.EMPTY
    if len(values) == 1:
        return ColumnKind.CONSTANT
    enough = len(known) >= FEWEST
    unique = enough and len(values) == len(known)
    if is_number(known):
        whole = all(isinstance(each, int) for each in values)
        if whole and enough and all(DAY.fullmatch(str(each)) for each in values):
            return ColumnKind.DATE
        return ColumnKind.ID if whole and unique and _counts(name, known) else ColumnKind.NUMBER
    texts = [str(each) for each in values]
    if 2 * sum(map(_has_comma, texts)) >= len(texts):
        return ColumnKind.COMMA
    if all(DATE.fullmatch(each) for each in texts):
        return ColumnKind.DATE
    if unique:
        return ColumnKind.ID
    digits = all(each.isdecimal() for each in texts)
    return (
        ColumnKind.CODE
        if digits or (enough and 2 * len(texts) > len(known))
        else ColumnKind.CATEGORY
    )


def _has_comma(text: str) -> bool:
    """Tell whether a cell is a number with commas, decimal ones or those between thousands."""
    return bool(COMMA.fullmatch(text) or GROUPED.fullmatch(text))


def _counts(name: str, known: pd.Series) -> bool:
    """Tell whether distinct integers number the rows from 0 or 1, or are an id."""
    run = int(known.min()) in (0, 1) and int(known.max()) - int(known.min()) + 1 == len(known)
    return run or bool(ID_NAME.fullmatch(name.strip().replace(" ", "_").replace("-", "_")))


def _span(known: pd.Series, values: list[Value], kind: ColumnKind) -> str:
    if not values:
        return ""
    if kind is ColumnKind.COMMA:
        # A cell that leaves no doubt about its comma comes first.
        found = [str(each) for each in values if _has_comma(str(each))]
        return repr(min(found, key=lambda each: bool(GROUPED.fullmatch(each))))
    if is_number(known):
        low, high = _ends(known)
        return str(low) if low == high else f"{low} to {high}"
    often = [str(each)[:30] for each in known.value_counts().index[:SHOWN]]
    return ", ".join(often) + (", …" if len(values) > SHOWN else "")


def _odd_cells(known: pd.Series) -> str:
    """Say which cells keep a column from being numbers, where nearly all of it is."""
    odd = [each for each in known if not isinstance(read_number(str(each)), int | float)]
    if not odd or 10 * len(odd) > len(known):
        return ""
    return f"numbers but for {odd[0][:30]!r} in {counted(len(odd), 'row')}, so it is text"
