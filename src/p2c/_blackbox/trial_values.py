"""The values worth trying on each feature when a model, not a rule, decides: a few, spread as the data are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from p2c._learn.tables.domains import is_number
from p2c._rules.cells import every_test
from p2c._spec.feature import exact

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from p2c._rules.theory import Theory
    from p2c._spec.feature import Feature, Value

    TrialValues = Mapping[str, tuple[Value, ...]]

PARTS = 8
"""Into how many parts the rows, and the distinct values, of a number are cut."""
FINE_PARTS = 1_000
"""Into how many parts a number is cut where it is looked at closely: as good as all values, for a model made of trees flips at any."""
MOST_VALUES = 40
"""How many values of a category are tried, the frequent ones first."""


def sample_values(table: pd.DataFrame, *, parts: int = PARTS) -> dict[str, tuple[Value, ...]]:
    """Return quantiles of each number, over rows and over distinct values, and the frequent values of each category."""
    return {str(name): _samples(column.dropna(), parts) for name, column in table.items()}


def _samples(column: pd.Series, parts: int) -> tuple[Value, ...]:
    if not is_number(column):
        frequent = column.value_counts().index[:MOST_VALUES]
        return tuple(sorted(str(value) for value in frequent))
    values = column.to_numpy(dtype=np.float64)
    shares = np.arange(parts + 1) / parts
    by_row = np.quantile(values, shares, method="nearest")
    by_value = np.quantile(np.unique(values), shares, method="nearest")
    return tuple(np.unique(np.concatenate([by_row, by_value])).tolist())


def choose_values(
    theory: Theory, samples: Mapping[str, Sequence[Value]], *, whole: int = 0
) -> TrialValues:
    """Return the values to try of each feature that a person may set: the samples, and what lies beside every constant in rules.

    `samples` holds values of the data, such as quantiles; of a category without any, and of a feature of at most
    `whole` values, all are tried.
    """
    constants: dict[str, set[int | float]] = {name: set() for name in theory.feature}
    for test in every_test(theory):
        if not isinstance(test.constant, str) and theory.feature[test.feature].kind.is_number:
            constants[test.feature].add(test.constant)
    return {
        feature.name: _every_value(feature)
        if feature.domain.size <= whole
        else _spread(feature, samples.get(feature.name, ()), constants[feature.name])
        for feature in theory.features
        if feature.action.is_direct
    }


def between(feature: Feature, start: Value, end: Value, *, count: int) -> tuple[Value, ...]:
    """Return up to `count` values strictly between two values of an ordered feature, evenly spread from the start on.

    >>> from p2c._spec.feature import Feature, Grid, Kind
    >>> between(Feature("age", Kind.INT, Grid(0, 99, 1)), 10, 50, count=3)
    (20, 30, 40)
    """
    if start is None or end is None or not feature.has_order:
        return ()
    first, last = _place(feature, start), _place(feature, end)
    width = last - first
    places = dict.fromkeys(first + width * each // (count + 1) for each in range(1, count + 1))
    inside = [feature.domain.value(place) for place in places if place not in (first, last)]
    return tuple(value for value in inside if value != start)


def thinned(values: Sequence[Value], most: int) -> tuple[Value, ...]:
    """Return at most so many of the values, evenly spread.

    >>> thinned([1, 2, 3, 4, 5], 3)
    (1, 3, 5)
    """
    step = -(-len(values) // most) or 1
    return tuple(values[::step])


def _place(feature: Feature, value: str | int | float) -> int:
    if not feature.kind.is_number:
        return feature.places[value]
    assert not isinstance(value, str)
    return min(feature.domain.first_place_from(exact(value)), feature.domain.size - 1)


def _every_value(feature: Feature) -> tuple[Value, ...]:
    return tuple(feature.domain.value(place) for place in range(feature.domain.size))


def _spread(
    feature: Feature, samples: Sequence[Value], constants: set[int | float]
) -> tuple[Value, ...]:
    domain = feature.domain
    if not feature.kind.is_number:
        known = [value for value in samples if value in feature.places]
        return tuple(known) or _every_value(feature)
    places = {0, domain.size - 1}
    places |= {_place(feature, value) for value in samples if value is not None}
    for constant in constants:
        after, past = (
            domain.first_place_from(exact(constant)),
            domain.first_place_past(exact(constant)),
        )
        places |= {after - 1, after, past}
    return tuple(domain.value(place) for place in sorted(places) if 0 <= place < domain.size)
