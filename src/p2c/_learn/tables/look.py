"""A look at the columns of a table before anything is learned from it: what each holds, and what surely helps nobody.

A column of ids, of dates, of one value or of none cannot be in a rule that is worth anything, so it is left out and that
is said. A column of numbers with commas would be taken for text; it is read or refused, never guessed at.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeAlias

from p2c._learn.tables.domains import is_number, plain_value, tidy_frame
from p2c._learn.tables.special import special_codes
from p2c._spec.row import read_number
from p2c.errors import P2CError, and_more, counted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    import pandas as pd

    from p2c._learn.tables.special import Codes
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


ACTIONS = ("free", "up", "down", "fixed")
LEFT_OUT = "left out"
"""The `action` in an assumption about a column that helps no rule."""
Remarks: TypeAlias = dict[tuple[str, ...], str]
BORN_WITH = re.compile(
    r"(?:.*_)?(?:sex|gender|race|ethnicity|ethnic_group|nationality|native_country|birth_?place|birth_?date|religion"
    r"|geschlecht|herkunft|staatsangehoerigkeit|geburts(?:ort|datum|land))(?:_.*)?",
    re.IGNORECASE,
)
AGE = re.compile(r"(?:age|alter|age_(?:in_)?years|alter_in_jahren)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Assumption:
    """The action, weight and words of a column.

    `why` is None if a person has stated them.
    """

    column: str
    action: str
    weight: float = 1
    why: Why | None = None
    label: str = ""
    codes: tuple[float, ...] = ()
    """Numbers that stand for a missing value; no plan ends in one."""


def assume(
    seen: TableLook,
    *,
    given: Mapping[str, str] | None = None,
    weights: Mapping[str, float] | None = None,
    special: Codes | None = None,
) -> tuple[Assumption, ...]:
    """Return who may change each column, as given or as its name and values suggest.

    Args:
        seen: The columns.
        given: Actions by column.
        weights: Weights by column.
        special: Special codes by column; None for those that were found.
    """
    said, efforts = given or {}, weights or {}
    found = []
    for each in seen.columns:
        action, why = (said[each.name], None) if each.name in said else _guess(each)
        codes = each.codes if special is None else tuple(special.get(each.name, ()))
        weight = efforts.get(each.name, 1)
        found.append(Assumption(each.name, action, weight, why, codes=codes))
    return tuple(found)


def with_effects(
    assumptions: tuple[Assumption, ...], effects: Collection[str]
) -> tuple[Assumption, ...]:
    """Return what is assumed once causal rules are known: nobody sets the columns that are effects of them."""
    return tuple(
        replace(each, action="effect", why=Why.EFFECT) if each.column in effects else each
        for each in assumptions
    )


def _guess(column: ColumnLook) -> tuple[str, Why]:
    plain = re.sub(r"[^a-z0-9]+", "_", column.name.lower()).strip("_")
    counts = (
        column.kind is ColumnKind.ID and column.ends is not None and not ID_NAME.fullmatch(plain)
    )
    if (
        column.kind in USELESS and not counts
    ):  # an income may differ in every row, and so may a number
        return "fixed", USELESS[column.kind]
    if BORN_WITH.fullmatch(plain):
        return "fixed", Why.BORN_WITH
    if AGE.fullmatch(plain) and column.kind is ColumnKind.NUMBER:
        return "up", Why.AGE
    return "free", Why.USUAL


def feature_remarks(
    seen: TableLook, assumptions: Iterable[Assumption], features: Iterable[str]
) -> Remarks:
    """Return comments on the features of a problem file: contents and assumptions."""
    assumed = {each.column: each for each in assumptions}
    looks = (each for each in seen.columns if each.kind is not ColumnKind.EMPTY)
    remarks: Remarks = {}
    for name, each in zip(features, looks, strict=True):
        said = assumed.get(each.name)
        missing = f", {each.missing:,} missing" if each.missing else ""
        note = f"; {each.note}" if each.note else ""
        why = f"\nassumed {said.action}, for {said.why.value}" if said and said.why else ""
        remarks["features", name] = f"{each.kind.value}: {each.span}{missing}{note}{why}"
    return remarks


def as_edited(
    assumptions: Iterable[Assumption], actions: Mapping[str, str]
) -> tuple[Assumption, ...]:
    """Return assumptions as an edited problem has them.

    An action that differs was stated, not assumed.

    Args:
        assumptions: The assumptions before the edit.
        actions: The present action of each column.
    """
    return tuple(
        each
        if actions.get(each.column, each.action) == each.action
        else replace(each, action=actions[each.column], why=None)
        for each in assumptions
    )


def keys_of(assumptions: Iterable[Assumption]) -> dict[str, dict[str, Any]]:
    """Return the keys of each feature of which another action, effort or name is said than usual.

    Who is said to be free to change a column is so although causal rules lead to it; what is only assumed gives way to them.
    """
    usual = {"action": "free", "weight": 1, "label": ""}
    found = {
        each.column: {key: getattr(each, key) for key in usual if getattr(each, key) != usual[key]}
        | ({} if each.why else {"action": each.action})
        for each in assumptions
    }
    return {column: keys for column, keys in found.items() if keys}
