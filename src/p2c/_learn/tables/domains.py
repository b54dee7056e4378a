"""From a table to the features of a problem: the type, the bounds and the values of every column.

`tidy_frame` first makes the columns what rules can speak of, so that what is learned from the table and the features
that are described from it fit each other.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from p2c._learn.foldse.columns import NUMERIC_OBJECTS, check_names
from p2c._learn.foldse.literals import predicate_name
from p2c._learn.tables.special import special_codes
from p2c._spec.feature import exact
from p2c.errors import Fault, ProblemError, check_word

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from numpy.typing import NDArray

    from p2c._spec.feature import Value

Scale: TypeAlias = Literal["range", "std", "mad"]
FeatureKeys: TypeAlias = dict[str, Any]
"""The keys of one `[features.…]` table."""

MOST_DECIMALS = 6
LIMITS = frozenset({"min", "max", "step"})
"""The keys of a range, in the place of `values`."""
PLAIN_STEP = 0.01
"""From which step on decimals are those of people, as cents are."""
ROUND_TARGETS = 500
"""How many targets at least a float has whose decimals nobody would say."""


def domain_from_frame(
    frame: pd.DataFrame,
    *,
    scale: Scale = "range",
    rounded: bool = False,
    special: Mapping[str, Collection[float]] | None = None,
) -> dict[str, FeatureKeys]:
    """Return the `features` of a problem: ints, floats with the decimals that they have, and categories.

    An ordered categorical becomes an ordinal. `scale` is what a difference is divided by: the range, the standard
    deviation, or the median absolute deviation from the median. Where that is zero, the next one stands in for it:
    the standard deviation for the median deviation, the range for the standard deviation. Where numbers are `rounded`,
    floats with more than two decimals get a grid that people would use, within their range. Numbers that are `special`
    codes, by name, are out of the range; None for codes as `special_codes` finds them.

    >>> domain_from_frame(pd.DataFrame({"Age": [20, 60], "Sex": ["M", "F"]}))
    {'age': {'type': 'int', 'min': 20, 'max': 60}, 'sex': {'type': 'category', 'values': ['F', 'M']}}
    """
    check_word("scale: no scale", scale, SPREADS)
    found = {
        str(name): _feature(column, scale, None if special is None else special.get(str(name), ()))
        for name, column in tidy_frame(frame).items()
    }
    return {name: _at_round_numbers(keys) if rounded else keys for name, keys in found.items()}


def said_over(described: FeatureKeys, said: Mapping[str, Any]) -> FeatureKeys:
    """Return the keys of a feature as somebody says them, with what the table says besides.

    >>> said_over({"type": "int", "min": 0, "max": 9}, {"values": [0, 2], "weight": 2})
    {'type': 'int', 'values': [0, 2], 'weight': 2}
    """
    other = set(LIMITS) if "values" in said else {"values"} if said.keys() & LIMITS else set()
    return {key: each for key, each in described.items() if key not in other} | dict(said)


def tidy_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the table as rules know it: predicates as names, and in a column either numbers or text.

    Truth values, dates and columns that mix numbers with text become text; an empty text is a missing value.
    """
    names = [predicate_name(str(name)) for name in frame.columns]
    if "" in names:
        raise ProblemError([Fault("columns", "a column has an empty name: give it one")])
    try:
        check_names([str(name) for name in frame.columns], target="")
    except ValueError as error:
        raise ProblemError([Fault("columns", str(error))]) from None
    columns = [_tidy(frame.iloc[:, place]) for place in range(len(names))]
    return pd.DataFrame(dict(zip(names, columns, strict=True)), index=frame.index)


def is_number(column: pd.Series) -> bool:
    """Tell whether a tidy column holds numbers."""
    return pd.api.types.is_numeric_dtype(column.dtype)


def plain_value(cell: Any) -> Value:
    """Return a cell of a tidy column as a row has it: text, a number, whole where it can be, or None."""
    if isinstance(cell, str):
        return cell
    if pd.isna(cell):
        return None
    return int(cell) if float(cell).is_integer() else float(cell)


def _tidy(column: pd.Series) -> pd.Series:
    if isinstance(column.dtype, pd.CategoricalDtype):
        words = [str(each) for each in column.cat.categories]
        return column.cat.rename_categories(words).cat.remove_unused_categories()
    numeric = pd.api.types.is_numeric_dtype(column.dtype)
    if numeric and not pd.api.types.is_bool_dtype(column.dtype):
        return column
    cells = column.to_numpy(dtype=object)
    missing = pd.isna(cells)
    if pd.api.types.infer_dtype(cells, skipna=True) in NUMERIC_OBJECTS:
        return pd.Series(np.where(missing, np.nan, cells).astype(np.float64), index=column.index)
    texts = [
        None if gone or cell == "" else str(cell) for cell, gone in zip(cells, missing, strict=True)
    ]
    return pd.Series(np.array(texts, dtype=object), index=column.index, dtype=object)


def _feature(column: pd.Series, scale: Scale, special: Collection[float] | None) -> FeatureKeys:
    known = column.dropna()
    if known.empty:
        raise ProblemError([Fault(f"column '{column.name}'", "it holds no value: leave it out")])
    if is_number(column):
        return _number(known, scale, special)
    if isinstance(column.dtype, pd.CategoricalDtype):
        kind = "ordinal" if column.dtype.ordered else "category"
        return {"type": kind, "values": [str(each) for each in column.dtype.categories]}
    return {"type": "category", "values": sorted(set(known))}


def _number(column: pd.Series, scale: Scale, special: Collection[float] | None) -> FeatureKeys:
    values = column.to_numpy(dtype=np.float64)
    if not np.isfinite(values).all():
        raise ProblemError(
            [Fault(f"column '{column.name}'", "it holds infinity: a bound is finite")]
        )
    codes = special_codes(values) if special is None else special
    ordinary = values[~np.isin(values, list(codes))]
    values = ordinary if len(ordinary) else values
    decimals = _decimals(values)
    plain = int if decimals == 0 else float
    keys: FeatureKeys = {
        "type": "int" if decimals == 0 else "float",
        "min": plain(values.min()),
        "max": plain(values.max()),
    }
    if decimals:
        keys["step"] = float(f"1e-{decimals}")
    spread = SPREADS[scale](values)
    if spread is not None:
        keys["scale"] = spread
    return keys


def _at_round_numbers(keys: FeatureKeys) -> FeatureKeys:
    """Return a float with targets at tenths, hundredths, … of a unit, at least a few hundred of them, the least and the most inside its range.

    >>> _at_round_numbers({"type": "float", "min": 1.0123456789, "max": 98.6543210987})
    {'scale': 97.6419754198, 'type': 'float', 'min': 1.1, 'max': 98.6, 'step': 0.1}
    """
    width = exact(keys["max"]) - exact(keys["min"]) if keys["type"] == "float" else Fraction(0)
    fine = keys.get("step", 0.0)
    if not width or fine >= PLAIN_STEP:
        return keys
    power = math.floor(math.log10(width / ROUND_TARGETS))
    step = exact(float(f"1e{min(power, 0)}"))
    if step <= exact(fine):
        return keys
    low, high = math.ceil(exact(keys["min"]) / step), math.floor(exact(keys["max"]) / step)
    own = {"scale": float(width)} | keys
    return own | {"min": float(low * step), "max": float(high * step), "step": float(step)}


def _decimals(values: NDArray[np.float64]) -> int | None:
    """Return the fewest decimals that write every value, None where more than six are needed."""
    for count in range(MOST_DECIMALS + 1):
        if (np.round(values, count) == values).all():
            return count
    return None


def _deviation(values: NDArray[np.float64]) -> float | None:
    spread = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
    return float(f"{spread:.6g}") or None


def _median_deviation(values: NDArray[np.float64]) -> float | None:
    spread = float(np.median(np.abs(values - np.median(values))))
    return float(f"{spread:.6g}") or _deviation(values)


SPREADS: dict[Scale, Callable[[NDArray[np.float64]], float | None]] = {
    "range": lambda _: None,
    "std": _deviation,
    "mad": _median_deviation,
}
