"""Columns of few values that another column decides: bins and codes."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from p2c._learn.relations.candidate import (
    MOST_BY_CHANCE,
    WHOLE,
    Find,
    Judged,
    agreement,
    by_chance,
    number_text,
    quoted,
    recognizes,
)
from p2c._learn.relations.relation import RelationKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from p2c._learn.relations.columns import DataColumn, DataTable, Floats

MOST_LEVELS = 30
"""Maximum number of distinct values in a column that is decided by another one."""
MOST_CODES = 30
"""Maximum number of distinct values in a column that decides value by value."""
SCREENED = 0.9
"""Least share of the screened rows for a pair to be judged on all rows."""


def find_steps(table: DataTable, *, threshold: float) -> Iterator[Find]:
    """Yield the columns of few values that another column decides."""
    for target in table.columns:
        if not 2 <= target.distinct <= MOST_LEVELS:
            continue
        for source in table.columns:
            if source is target or source.distinct < target.distinct:
                continue
            find = None
            if source.distinct <= MOST_CODES:
                find = _code(target, source, table, threshold)
            if find is None and source.is_number and source.distinct >= 2 * target.distinct:
                find = _bins(target, source, table, threshold)
            if find is not None:
                yield find


def _code(
    target: DataColumn, source: DataColumn, table: DataTable, threshold: float
) -> Find | None:
    """Return the equation that maps values of the source to the target."""
    actual, inputs = target.values[table.screened], source.values[table.screened]
    if _most_right(actual, inputs, source.levels, target.levels) < SCREENED:
        return None
    meant = [_most_frequent(target, source.values == level) for level in source.levels]
    predicted = _looked_up(source, meant)
    judged = agreement(target, predicted, WHOLE)
    if not _is_sure(target, judged, predicted, threshold):
        return None
    text = _code_text(target, source, meant)
    if target.is_number and source.is_number and meant == source.levels.tolist():
        return Find(RelationKind.COPY, target, (source,), source.name, 0, judged)
    return Find(RelationKind.CODE, target, (source,), text, 2, judged)


def _most_right(actual: Floats, inputs: Floats, sources: Floats, levels: Floats) -> float:
    """Return the greatest share of rows that a map from value to value gets right."""
    valid = np.isfinite(actual) & np.isfinite(inputs)
    if not valid.any():
        return 0.0
    rows = np.searchsorted(sources, inputs[valid])
    columns = np.searchsorted(levels, actual[valid])
    counts = np.zeros((len(sources), len(levels)))
    np.add.at(counts, (rows, columns), 1)
    return float(counts.max(axis=1).sum() / valid.sum())


def _most_frequent(column: DataColumn, rows: Floats) -> float:
    values = column.values[rows.astype(np.bool_)]
    values = values[np.isfinite(values)]
    if not len(values):
        return column.mode
    levels, counts = np.unique(values, return_counts=True)
    return float(levels[np.argmax(counts)])


def _looked_up(source: DataColumn, meant: Sequence[float]) -> Floats:
    present = np.isfinite(source.values)
    places = np.searchsorted(source.levels, np.where(present, source.values, source.levels[0]))
    return np.where(present, np.array(meant)[places], np.nan)


def _is_sure(target: DataColumn, judged: Judged, predicted: Floats, threshold: float) -> bool:
    """Tell whether every value is recognized, and shuffled ones would not be."""
    exact = replace(judged, holds=judged.valid & (target.values == predicted))
    if not recognizes(target, exact, predicted, threshold):
        return False
    return target.distinct == 2 or by_chance(target, predicted, exact) <= MOST_BY_CHANCE * 2


def _bins(
    target: DataColumn, source: DataColumn, table: DataTable, threshold: float
) -> Find | None:
    """Return the equation that maps intervals of the source to the target."""
    actual, inputs = target.values[table.screened], source.values[table.screened]
    valid = np.isfinite(actual) & np.isfinite(inputs)
    order = np.argsort(inputs[valid], kind="stable")
    steps = np.count_nonzero(np.diff(actual[valid][order]))
    if not len(order) or steps > target.distinct + 2 * (1 - threshold) * len(order):
        return None
    cuts = _cuts(target, source)
    if cuts is None:
        return None
    levels, limits = cuts
    present = np.isfinite(source.values)
    places = np.searchsorted(limits, np.where(present, source.values, 0.0), side="right")
    predicted = np.where(present, np.array(levels)[places], np.nan)
    judged = agreement(target, predicted, WHOLE)
    if not _is_sure(target, judged, predicted, threshold):
        return None
    text = _bins_text(target, source, levels, limits)
    return Find(RelationKind.BINS, target, (source,), text, 2, judged)


def _cuts(target: DataColumn, source: DataColumn) -> tuple[list[float], list[float]] | None:
    """Return the values of the target by intervals of the source, and the limits."""
    valid = np.isfinite(target.values) & np.isfinite(source.values)
    groups = []
    for level in target.levels:
        own = np.sort(source.values[valid & (target.values == level)])
        if len(own):
            groups.append((float(np.median(own)), float(level), own))
    groups.sort(key=lambda each: each[0])
    limits = []
    for (_, _, low), (_, _, high) in pairwise(groups):
        places = np.unique(np.concatenate([low, high]))
        missed = np.searchsorted(high, places, side="left")
        beyond = len(low) - np.searchsorted(low, places, side="left")
        best = int(np.argmin(missed + beyond))
        limits.append(
            _plain_between(float(places[best - 1]) if best else None, float(places[best]))
        )
    if len(groups) < 2 or any(a >= b for a, b in pairwise(limits)):
        return None
    return [level for _, level, _ in groups], limits


def _plain_between(below: float | None, at: float) -> float:
    """Return the number with the fewest digits above one number and up to another."""
    if below is None:
        return at
    for digits in range(-9, 7):
        rounded = float(np.ceil(round(below * 10.0**digits, 9) + 1e-9) / 10.0**digits)
        if below < rounded <= at:
            return rounded
    return at


def _bins_text(
    target: DataColumn, source: DataColumn, levels: list[float], limits: list[float]
) -> str:
    if target.words is None:
        text = number_text(levels[-1])
        for level, limit in zip(levels[-2::-1], limits[::-1], strict=True):
            text = f"if({source.name} < {number_text(limit)}, {number_text(level)}, {text})"
        return text
    lines = []
    for place, level in enumerate(levels):
        tests = [] if place == 0 else [f"N>={number_text(limits[place - 1])}"]
        tests += [] if place == len(limits) else [f"N<{number_text(limits[place])}"]
        word = quoted(target.words[int(level)])
        lines.append(f"{target.name}(X,{word}) :- {source.name}(X,N), {', '.join(tests)}.")
    return "\n".join(lines)


def _code_text(target: DataColumn, source: DataColumn, meant: Sequence[float]) -> str:
    values = [_value_text(source, level) for level in source.levels]
    if target.words is not None:
        return "\n".join(
            f"{target.name}(X,{quoted(target.words[int(said)])}) :- {source.name}(X,{value})."
            for value, said in zip(values, meant, strict=True)
        )
    groups: dict[float, list[str]] = {}
    for value, said in zip(values, meant, strict=True):
        groups.setdefault(said, []).append(value)
    usual = max(groups, key=lambda said: len(groups[said]))
    text = number_text(usual)
    for said in sorted(groups, reverse=True):
        if said != usual:
            tests = " or ".join(f"{source.name} = {value}" for value in groups[said])
            text = f"if({tests}, {number_text(said)}, {text})"
    return text


def _value_text(column: DataColumn, level: float) -> str:
    return number_text(level) if column.words is None else quoted(column.words[int(level)])
