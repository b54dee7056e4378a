"""One-hot groups of a table as categories, and back to columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from p2c.errors import P2CError, shown, suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

NONE = "none"
"""The value of a category that stands for a group with no column set."""


@dataclass(frozen=True)
class OneHotGroup:
    """Columns of 0 and 1 that stand for one category.

    Attributes:
        name: The category, which takes the place of the columns.
        columns: The columns.
        values: The value of the category for each column.
        optional: Whether a row may set no column.
    """

    name: str
    columns: tuple[str, ...]
    values: tuple[str, ...]
    optional: bool

    @property
    def all_values(self) -> tuple[str, ...]:
        """Return the values of the category."""
        return (*self.values, self.none) if self.optional else self.values

    @property
    def none(self) -> str:
        """Return the value that stands for no column."""
        return f"{NONE}_set" if NONE in self.values else NONE


def group_of(name: str, columns: Sequence[str], *, optional: bool) -> OneHotGroup:
    """Return a group whose values are the distinct ends of its columns' names.

    >>> group_of("home", ["home_own", "home_rent"], optional=False).values
    ('own', 'rent')
    """
    least, most = min(map(str, columns)), max(map(str, columns))
    alike = takewhile(lambda pair: pair[0] == pair[1], zip(least, most, strict=False))
    common = "".join(letter for letter, _ in alike)
    end = max(common.rfind(mark) for mark in "_.=: ") + 1
    values = tuple(str(each)[end:] or str(each) for each in columns)
    return OneHotGroup(name, tuple(columns), values, optional)


@dataclass(frozen=True)
class Grouping:
    """The groups of a table.

    Attributes:
        groups: The one-hot groups.
        columns: The model's own columns, in its order.
        kinds: The type of each column of a group.
    """

    groups: tuple[OneHotGroup, ...]
    columns: tuple[str, ...]
    kinds: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @cached_property
    def members(self) -> dict[str, OneHotGroup]:
        """Return the group of each column."""
        return {column: group for group in self.groups for column in group.columns}

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Return the columns with each group as one, in the place of its first column."""
        named = (self.members[each].name if each in self.members else each for each in self.columns)
        return tuple(dict.fromkeys(named))

    def collapse(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return rows with each group as one column; rows that have it already stay.

        A row that sets two columns of a group, or none where one must be set, has no value there.
        """
        made = frame
        for group in self.groups:
            if group.name in made.columns or not set(group.columns) <= set(made.columns):
                continue
            place = min(list(made.columns).index(each) for each in group.columns)
            words = _words(group, made[list(group.columns)])
            made = made.drop(columns=list(group.columns))
            made.insert(place, group.name, pd.Series(words, index=made.index, dtype=object))
        return made

    def collapse_row(self, row: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return one person's row with each group as one value.

        Raises:
            P2CError: The row sets several columns of a group, or none where one must be set.
        """
        cells = dict(row.items())
        for group in self.groups:
            if group.name in cells or not any(each in cells for each in group.columns):
                continue
            own = {each: cells.pop(each, None) for each in group.columns}
            cells[group.name] = _word(group, own)
        return cells

    def expand(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return rows in the model's own columns."""
        columns = {name: self._column(name, frame) for name in self.columns}
        return pd.DataFrame(columns, index=frame.index)

    def _column(self, name: str, frame: pd.DataFrame) -> pd.Series:
        group = self.members.get(name)
        if group is None:
            return frame[name]
        word = group.values[group.columns.index(name)]
        return (frame[group.name] == word).astype(self.kinds.get(name, np.int64))

    def expand_row(self, row: Mapping[Any, Any]) -> dict[Any, Any]:
        """Return one row in the model's own columns, other keys aside."""
        expanded = self.expand(pd.DataFrame([dict(row)]))
        plain = {name: row[name] for name in self.columns if name not in self.members}
        cells = {name: expanded[name].tolist()[0] for name in self.members}
        return {name: plain[name] if name in plain else cells[name] for name in self.columns}


def _words(group: OneHotGroup, columns: pd.DataFrame) -> list[str | None]:
    table = columns.to_numpy(dtype=np.float64, na_value=np.nan)
    total = table.sum(axis=1)
    words = np.array([*group.values], dtype=object)[np.nan_to_num(table).argmax(axis=1)]
    plain = np.isin(table, (0.0, 1.0)).all(axis=1)
    words = np.where(plain & (total == 1), words, None)
    if group.optional:
        words = np.where(plain & (total == 0), group.none, words)
    return [None if each is None else str(each) for each in words]


def _word(group: OneHotGroup, cells: Mapping[str, Any]) -> str | None:
    """Return the value of a group in one row."""
    if any(each is None or pd.isna(each) for each in cells.values()):
        absent = [name for name, each in cells.items() if each is None or pd.isna(each)]
        if len(absent) == len(cells):
            return None
        raise P2CError(f"'{group.name}': expected 0 or 1 for {absent[0]}, found nothing")
    for name, each in cells.items():
        if each not in (0, 1):
            raise P2CError(f"'{group.name}': expected 0 or 1 for {name}, found {shown(each)}")
    chosen = [word for word, each in zip(group.values, cells.values(), strict=True) if each]
    if len(chosen) == 1:
        return chosen[0]
    if not chosen and group.optional:
        return group.none
    least = "at most one" if group.optional else "exactly one"
    names = ", ".join(group.columns)
    raise P2CError(f"'{group.name}': expected {least} of {names} to be 1, found {len(chosen)}")


def grouping_of(
    frame: pd.DataFrame, groups: Mapping[str, Iterable[Any]], columns: Sequence[Any]
) -> Grouping | None:
    """Return the groups of a table, checked against its rows.

    Args:
        frame: Rows of the table.
        groups: The columns of each group by its name.
        columns: The model's own columns, in its order.

    Returns:
        The groups; None if there are none.

    Raises:
        P2CError: A column is not in the table, in two groups, or holds other values than 0 and 1, or rows set several.
    """
    made: list[OneHotGroup] = []
    taken: dict[str, str] = {}
    for name, members in groups.items():
        listed = [members] if isinstance(members, str) else list(members)
        if not isinstance(name, str) or len(listed) < 2:
            raise P2CError(f"groups: expected a name and two columns or more, found {shown(name)}")
        for each in listed:
            if each not in frame.columns:
                hint = suggestion(str(each), map(str, frame.columns))
                raise P2CError(f"groups: no column is called {each!r}; {hint}")
            if each in taken:
                raise P2CError(f"groups: {each!r} is in {taken[each]!r} and in {name!r}")
            taken[each] = name
        if name in frame.columns:
            raise P2CError(
                f"groups: the table has a column called {name!r} too: choose another name"
            )
        made.append(_checked(name, frame[listed]))
    kinds = {each: frame[each].dtype for each in taken}
    return Grouping(tuple(made), tuple(columns), kinds) if made else None


MOST_ODD = 0.01
"""Maximum share of rows that do not set one column of a group."""


def _checked(name: str, columns: pd.DataFrame) -> OneHotGroup:
    table = columns.to_numpy(dtype=np.float64, na_value=np.nan)
    whole = table[np.isfinite(table).all(axis=1)]
    odd = [each for at, each in enumerate(columns) if not np.isin(whole[:, at], (0.0, 1.0)).all()]
    if odd:
        raise P2CError(f"groups: {name!r}: expected 0 or 1 in the column {odd[0]!r}")
    total = whole.sum(axis=1)
    several, nothing = (total > 1).mean(), (total == 0).mean()
    if several > MOST_ODD:
        names = ", ".join(map(str, columns))
        raise P2CError(
            f"groups: {name!r}: {several:.1%} of the rows set several of {names}: it is no one-hot group"
        )
    return group_of(name, [str(each) for each in columns], optional=bool(nothing > MOST_ODD))
