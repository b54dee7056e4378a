"""What a causal rule may conclude of a feature: a value, any other value, or a range of numbers."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from p2c._learn.tables.domains import is_number
from p2c._rules.syntax import (
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

    from p2c._learn.foldse.columns import Mask
    from p2c._rules.syntax import Program

Head: TypeAlias = tuple[tuple[Comparator, str | float], ...]
"""The comparisons that a value in it passes: one category, every category but one, or the numbers between two bounds."""
PASSES = {
    Comparator.EQ: operator.eq,
    Comparator.NE: operator.ne,
    Comparator.GE: operator.ge,
    Comparator.LT: operator.lt,
}


def possible_heads(
    column: pd.Series, *, cuts: Sequence[float] | None, bins: int, complements: bool
) -> list[Head]:
    """Return what rules may conclude of a tidy column."""
    if is_number(column):
        numbers = column.dropna().to_numpy(dtype=np.float64)
        inner = (
            quantile_cuts(numbers, bins) if cuts is None else sorted({float(cut) for cut in cuts})
        )
        starts: list[Head] = [(), *(((Comparator.GE, cut),) for cut in inner)]
        stops: list[Head] = [*(((Comparator.LT, cut),) for cut in inner), ()]
        return [(*start, *stop) for start, stop in zip(starts, stops, strict=True)] if inner else []
    values = sorted({str(value) for value in column.dropna()})
    signs = [Comparator.EQ, *([Comparator.NE] if complements and len(values) > 2 else [])]
    return [((sign, value),) for sign in signs for value in values]


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
    kind = np.float64 if is_number(column) else object
    values = column.to_numpy(dtype=kind, na_value=np.nan)
    passed = [PASSES[sign](values, bound) for sign, bound in head]
    return np.asarray(np.logical_and.reduce([column.notna().to_numpy(), *passed]), dtype=bool)


def write_head(feature: str, head: Head) -> tuple[Atom, tuple[Literal, ...]]:
    """Return the head of a rule and the comparisons that restrict its variable."""
    sign, value = head[0]
    if sign is Comparator.EQ:
        return Atom(feature, (PERSON, Constant(value))), ()
    variable = Variable("V" if sign is Comparator.NE else "N")
    tests = [Comparison(variable, sign, Constant(_shortest(bound))) for sign, bound in head]
    return Atom(feature, (PERSON, variable)), tuple(tests)


def _shortest(bound: str | float) -> str | int | float:
    return int(bound) if isinstance(bound, float) and bound.is_integer() else bound
