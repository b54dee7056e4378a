"""What one person can afford of a model's leaves: cells in the order of their costs, and what each leaf demands of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from p2c._learn.model.compiled import NEVER, compiled, within_compiled

if TYPE_CHECKING:
    from p2c._learn.model.arrays import Floats, Ints, Mask, Shorts


class Forest(NamedTuple):
    """A model as groups of leaves, and what leaves demand: each demand is a set of cells of one feature."""

    values: Floats
    """What a leaf adds, by margin and leaf."""
    group: Ints
    """The group of each leaf; those of a group stand together."""
    first: Ints
    """Where the demands of each leaf begin in `demand`, and the end."""
    demand: Ints
    demands: Ints
    """Where the demands on each feature begin, and the end."""
    axis_of: Ints
    """The feature of each demand."""
    reached: Mask
    """By demand and cell."""


class Way(NamedTuple):
    """The leaves that one person can afford, and what cells cost: those of a feature stand from `begin` on."""

    values: Floats
    group: Ints
    first: Ints
    demand: Ints
    demands: Ints
    axis_of: Ints
    """The feature of each demand."""
    on: Ints
    """The leaves with a demand on each feature by `on_first`, each followed by the demand."""
    on_first: Ints
    following: Shorts
    """For each place in the order of cost the next from there on whose cell meets a demand; by demand, from `at` on."""
    at: Ints
    begin: Ints
    counts: Ints
    """How many cells of each feature can be afforded."""
    costs: Ints
    border: Floats


class Spans(NamedTuple):
    """The cells that are open to a person, by feature from `begin` on, in the order of their costs."""

    begin: Ints
    cells: Ints
    costs: Ints


@compiled
def opening(forest: Forest, spans: Spans) -> Ints:
    """Return what each leaf costs a person at least."""
    begin, cells, costs = spans
    least = np.empty(len(forest.reached), np.int64)
    for demand in range(len(least)):
        axis = forest.axis_of[demand]
        least[demand] = NEVER
        for place in range(begin[axis], begin[axis + 1]):
            if forest.reached[demand, cells[place]]:
                least[demand] = costs[place]
                break
    prices = np.empty(len(forest.group), np.int64)
    for leaf in range(len(prices)):
        prices[leaf] = 0
        for number in range(forest.first[leaf], forest.first[leaf + 1]):
            prices[leaf] += least[forest.demand[number]]
    return prices


@compiled
def afford(forest: Forest, spans: Spans, prices: Ints, border: Floats, limit: int) -> Way:
    """Return what a person finds who spends no more than a limit; what all points have goes off the border."""
    kept, group = _within(forest.values, forest.group, prices, limit, border)
    numbers = _used(forest.first, forest.demand, kept, len(forest.reached))
    counts = _counted(spans.begin, spans.costs, limit)
    at, axis_of, following = _follow(forest, spans, counts, numbers)
    first, demand = _demands(forest.first, forest.demand, kept, numbers)
    values = np.empty((len(border), len(kept)))
    for leaf in range(len(kept)):
        for margin in range(len(border)):
            values[margin, leaf] = forest.values[margin, kept[leaf]]
    demands = _starts(axis_of, len(counts))
    on_first, on = _by_feature(first, demand, axis_of, len(counts))
    for axis in range(len(counts)):
        if on_first[axis] == on_first[axis + 1]:
            # No leaf tells its cells apart: only the cheapest counts.
            counts[axis] = 1
    return Way(
        values, group, first, demand, demands, axis_of, on, on_first, following, at,
        spans.begin, counts, spans.costs, border,
    )  # fmt: skip


@within_compiled
def _within(
    values: Floats, group: Ints, prices: Ints, limit: int, border: Floats
) -> tuple[Ints, Ints]:
    """Return the leaves that can be afforded, with their groups; a group that has only one left goes off the border."""
    leaves = len(prices)
    kept, groups = np.empty(leaves, np.int64), np.empty(leaves, np.int64)
    count = told = before = 0
    for leaf in range(leaves):
        if prices[leaf] <= limit:
            kept[count], groups[count] = leaf, told
            count += 1
        if leaf == leaves - 1 or group[leaf + 1] != group[leaf]:
            if count == before + 1:
                count = before
                for margin in range(len(border)):
                    border[margin] -= values[margin, kept[count]]
            elif count > before:
                told += 1
            before = count
    return kept[:count], groups[:count]


@within_compiled
def _used(first: Ints, demand: Ints, kept: Ints, count: int) -> Ints:
    """Return 0 for each demand of some leaves, -1 for all others."""
    numbers = np.empty(count, np.int64)
    for number in range(count):
        numbers[number] = -1
    for leaf in kept:
        for place in range(first[leaf], first[leaf + 1]):
            numbers[demand[place]] = 0
    return numbers


@within_compiled
def _counted(begin: Ints, costs: Ints, limit: int) -> Ints:
    """Return how many cells of each feature can be afforded."""
    counts = np.empty(len(begin) - 1, np.int64)
    for axis in range(len(counts)):
        counts[axis] = 0
        for place in range(begin[axis], begin[axis + 1]):
            counts[axis] += costs[place] <= limit
    return counts


@within_compiled
def _follow(forest: Forest, spans: Spans, counts: Ints, numbers: Ints) -> tuple[Ints, Ints, Shorts]:
    """Return the table of following places for the demands in use, which are numbered anew; what all cells meet is none."""
    total = 0
    for demand in range(len(numbers)):
        total += counts[forest.axis_of[demand]] + 1 if numbers[demand] >= 0 else 0
    following = np.empty(total, np.int32)
    at, axis_of = np.empty(len(numbers), np.int64), np.empty(len(numbers), np.int64)
    told = total = 0
    for demand in range(len(numbers)):
        if numbers[demand] < 0:
            continue
        axis = forest.axis_of[demand]
        begin, count, met = spans.begin[axis], counts[axis], 0
        nearest = count
        following[total + count] = count
        for place in range(count - 1, -1, -1):
            if forest.reached[demand, spans.cells[begin + place]]:
                nearest = place
                met += 1
            following[total + place] = nearest
        numbers[demand] = -1
        if met < count:
            numbers[demand], at[told], axis_of[told] = told, total, axis
            told += 1
            total += count + 1
    return at[:told], axis_of[:told], following


@within_compiled
def _demands(first: Ints, demand: Ints, kept: Ints, numbers: Ints) -> tuple[Ints, Ints]:
    """Return where the demands of some leaves begin, and the demands, as they are numbered now."""
    starts, found = np.empty(len(kept) + 1, np.int64), np.empty(len(demand), np.int64)
    size = 0
    for leaf in range(len(kept)):
        starts[leaf] = size
        for place in range(first[kept[leaf]], first[kept[leaf] + 1]):
            if numbers[demand[place]] >= 0:
                found[size] = numbers[demand[place]]
                size += 1
    starts[len(kept)] = size
    return starts, found[:size]


@within_compiled
def _starts(of: Ints, count: int) -> Ints:
    """Return where each of some kinds begins among things that are sorted by kind, and the end."""
    starts = np.empty(count + 1, np.int64)
    for kind in range(count + 1):
        starts[kind] = 0
    for each in of:
        starts[each + 1] += 1
    for kind in range(count):
        starts[kind + 1] += starts[kind]
    return starts


@within_compiled
def _by_feature(first: Ints, demand: Ints, axis_of: Ints, features: int) -> tuple[Ints, Ints]:
    """Return where the leaves with a demand on each feature begin, and the leaves, each followed by the demand."""
    axes = np.empty(len(demand), np.int64)
    for number in range(len(demand)):
        axes[number] = axis_of[demand[number]]
    starts, place = _starts(axes, features), _starts(axes, features)
    on = np.empty(2 * len(demand), np.int64)
    for leaf in range(len(first) - 1):
        for number in range(first[leaf], first[leaf + 1]):
            axis = axes[number]
            on[2 * place[axis]], on[2 * place[axis] + 1] = leaf, demand[number]
            place[axis] += 1
    return starts, on
