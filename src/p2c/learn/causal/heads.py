"""What a causal rule may conclude of a feature: a value, any other value, or a range of numbers."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from p2c.learn.tables.domains import is_number
from p2c.rules.syntax import (
    PERSON,
    Atom,
    Comparator,
    Comparison,
    Constant,
    Literal,
    Variable,
    bare,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from p2c.learn.foldse.columns import Mask
    from p2c.rules.syntax import Program


@dataclass(frozen=True, slots=True)
class Named:
    """One value of a category."""

    value: str


@dataclass(frozen=True, slots=True)
class Other:
    """Every value of a category but one."""

    value: str


@dataclass(frozen=True, slots=True)
class Range:
    """The numbers from `low` on and below `high`; None is no bound."""

    low: float | None
    high: float | None


Head = Named | Other | Range


def possible_heads(
    column: pd.Series, *, cuts: Sequence[float] | None, bins: int, complements: bool
) -> list[Head]:
    """Return what rules may conclude of a tidy column."""
    if is_number(column):
        numbers = column.dropna().to_numpy(dtype=np.float64)
        inner = (
            quantile_cuts(numbers, bins) if cuts is None else sorted({float(cut) for cut in cuts})
        )
        if not inner:
            return []
        return [Range(low, high) for low, high in pairwise([None, *inner, None])]
    values = sorted({str(value) for value in column.dropna()})
    heads: list[Head] = [Named(value) for value in values]
    if complements and len(values) > 2:
        heads += [Other(value) for value in values]
    return heads


def quantile_cuts(numbers: NDArray[np.float64], bins: int) -> list[float]:
    """Return where to cut numbers into about equal parts; a number that fills a part has it to itself.

    >>> quantile_cuts(np.array([0.0] * 9 + [5.0, 6.0, 8.0, 9.0]), 4)
    [5.0]
    >>> quantile_cuts(np.arange(8.0), 4)
    [2.0, 4.0, 6.0]
    """
    distinct, counts = np.unique(numbers, return_counts=True)
    if len(distinct) <= bins:
        return [float(each) for each in distinct[1:]]
    cuts: set[float] = set()
    for quantile in np.quantile(numbers, np.arange(1, bins) / bins, method="higher"):
        place = int(np.searchsorted(distinct, quantile))
        cuts.add(float(distinct[place]))
        if counts[place] * bins >= len(numbers) and place + 1 < len(distinct):
            cuts.add(float(distinct[place + 1]))
    return sorted(cuts - {float(distinct[0])})


def cuts_of(program: Program, frame: pd.DataFrame) -> dict[str, list[float]]:
    """Return where a program cuts the numbers of a tidy frame, so that ranges meet the thresholds of a decision."""
    cuts: dict[str, set[float]] = {}
    for rule in program.rules:
        inner = list(map(bare, rule.body))
        owners = {
            each.arguments[1]: each.predicate
            for each in inner
            if isinstance(each, Atom) and len(each.arguments) == 2
        }
        for each in inner:
            if isinstance(each, Comparison) and (owner := owners.get(each.left)) in frame:
                assert owner is not None
                cuts.setdefault(owner, set()).update(_cut(each, frame[owner]))
    return {name: sorted(found) for name, found in cuts.items()}


def _cut(comparison: Comparison, column: pd.Series) -> list[float]:
    if not isinstance(comparison.right, Constant) or not is_number(column):
        return []
    threshold = float(comparison.right.value)
    numbers = column.dropna()
    above = comparison.comparator in (Comparator.LE, Comparator.GT)
    past = numbers[numbers > threshold] if above else numbers[numbers >= threshold]
    return [float(past.min())] if len(past) else []


def head_holds(head: Head, column: pd.Series) -> Mask:
    """Tell for each row of a tidy column whether its value is in the head; a missing one never is."""
    known = column.notna().to_numpy()
    match head:
        case Named(value):
            return np.asarray(known & (column.to_numpy(dtype=object) == value))
        case Other(value):
            return np.asarray(known & (column.to_numpy(dtype=object) != value))
        case Range(low, high):
            numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
            inside = known if low is None else known & (numbers >= low)
            return np.asarray(inside if high is None else inside & (numbers < high))


def write_head(feature: str, head: Head) -> tuple[Atom, tuple[Literal, ...]]:
    """Return the head of a rule and the comparisons that restrict its variable."""
    match head:
        case Named(value):
            return Atom(feature, (PERSON, Constant(value))), ()
        case Other(value):
            variable = Variable("V")
            other = Comparison(variable, Comparator.NE, Constant(value))
            return Atom(feature, (PERSON, variable)), (other,)
        case Range(low, high):
            variable = Variable("N")
            bounds = [(Comparator.GE, low), (Comparator.LT, high)]
            tests = [
                Comparison(variable, sign, Constant(_shortest(bound)))
                for sign, bound in bounds
                if bound is not None
            ]
            return Atom(feature, (PERSON, variable)), tuple(tests)


def _shortest(number: float) -> int | float:
    return int(number) if number.is_integer() else number
