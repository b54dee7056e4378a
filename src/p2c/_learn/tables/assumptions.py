"""Who may change what, where nobody has said so: what is assumed of each column, why, and how to say otherwise."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from p2c._learn.tables.look import ID_NAME, USELESS, ColumnKind, Why

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from p2c._learn.tables.look import ColumnLook, TableLook
    from p2c._learn.tables.special import Codes

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
