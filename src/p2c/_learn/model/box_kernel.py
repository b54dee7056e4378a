"""Boxes of cells searched best first in compiled code: what a yes of the model costs one person at least.

A box leaves to each feature a span of the cells that are open to the person, which stand in the order of their cost. Every leaf of
the model has the least price of a state of the box that reaches it, and each group of leaves gives at most the greatest value of
those that can be paid; the least sum at which the groups together come to the border is the key of the box. The box with the least
key is split at the feature whose cheapest cell alone would leave the least hope: into the cells that surely are too cheap, and the
rest.

It is one module, for numba compiles it anew only where this file changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from p2c._learn.model.compiled import NEVER, compiled, within_compiled

if TYPE_CHECKING:
    from p2c._learn.model.affordable import Way
    from p2c._learn.model.arrays import Floats, Ints, Mask

MORE, POINT, NONE, FULL = 0, 1, 2, 3
"""What `advance` says: it may go on, a point was found, there is no other, or there is no room for more boxes."""


@compiled
def least_sum(prices: Ints, values: Floats, group: Ints, border: Floats, start: int) -> int:
    """Return the least sum from a start on for which all margins may be reached; `NEVER` where none is enough."""
    found = start
    groups = group[-1] + 1 if len(group) else 0
    here, then = np.empty(groups), np.empty(groups)
    left = np.empty(len(prices), np.int64)
    for margin in range(len(border)):
        floor = _best(prices, values[margin], group, found, here)
        if floor > found:
            found = floor
            if found >= NEVER:
                return NEVER
            _best(prices, values[margin], group, found, here)
        missing = border[margin]
        for each in range(groups):
            missing -= here[each]
            then[each] = here[each]
        if missing > 0:
            found = _enough(prices, values[margin], group, found, missing, here, then, left)
            if found >= NEVER:
                return NEVER
    return found


@within_compiled
def _best(prices: Ints, values: Floats, group: Ints, most: int, here: Floats) -> int:
    """Put down the greatest value of the leaves of each group that cost no more; return what it takes that each has one."""
    floor = cheapest = most
    before = -1
    for leaf in range(len(prices)):
        if group[leaf] != before:
            floor = max(floor, cheapest)
            before, cheapest = group[leaf], NEVER
            here[before] = -np.inf
        if prices[leaf] <= most and values[leaf] > here[before]:
            here[before] = values[leaf]
        cheapest = min(cheapest, prices[leaf])
    return max(floor, cheapest)


@within_compiled
def _enough(
    prices: Ints, values: Floats, group: Ints, start: int, missing: float,
    now: Floats, then: Floats, left: Ints,
) -> int:  # fmt: skip
    """Return the least price above a start up to which leaves make up for a gap; `NEVER` where none does.

    As in a quick sort, the leaves are parted at one price after the other, and only one part is looked at further.
    """
    count = _waiting(prices, values, group, start, now, left)
    found = NEVER
    while count:
        a, b, c = prices[left[0]], prices[left[count // 2]], prices[left[count - 1]]
        pivot = max(min(a, b), min(max(a, b), c))
        gain = 0.0
        for number in range(count):
            leaf = left[number]
            of = group[leaf]
            if prices[leaf] <= pivot and values[leaf] > then[of]:
                gain += values[leaf] - then[of]
                then[of] = values[leaf]
        if gain >= missing:
            found = pivot
            count = _below(prices, group, pivot, now, then, left, count)
        else:
            missing -= gain
            count = _above(prices, values, group, pivot, now, then, left, count)
    return found


@within_compiled
def _waiting(prices: Ints, values: Floats, group: Ints, start: int, now: Floats, left: Ints) -> int:
    """Put down the leaves above a price that add something; return how many they are."""
    count = 0
    for leaf in range(len(prices)):
        if start < prices[leaf] < NEVER and values[leaf] > now[group[leaf]]:
            left[count] = leaf
            count += 1
    return count


@within_compiled
def _below(
    prices: Ints, group: Ints, pivot: int, now: Floats, then: Floats, left: Ints, count: int
) -> int:
    """Keep the leaves below a price, and go back to what was known before it; return how many are left."""
    kept = 0
    for number in range(count):
        leaf = left[number]
        if prices[leaf] <= pivot:
            then[group[leaf]] = now[group[leaf]]
            if prices[leaf] < pivot:
                left[kept] = leaf
                kept += 1
    return kept


@within_compiled
def _above(
    prices: Ints, values: Floats, group: Ints, pivot: int,
    now: Floats, then: Floats, left: Ints, count: int,
) -> int:  # fmt: skip
    """Keep the leaves above a price that still add something; return how many are left."""
    kept = 0
    for number in range(count):
        leaf = left[number]
        of = group[leaf]
        if prices[leaf] <= pivot:
            now[of] = then[of]
        elif values[leaf] > then[of]:
            left[kept] = leaf
            kept += 1
    return kept


@within_compiled
def _find_gaps(way: Way, prices: Ints, apart: Mask, k: int, gaps: Floats) -> None:
    """Put down how near the border a box comes for k when a feature has only its cheapest cell left, for each feature.

    The demands `apart` are those that the cheapest cells do not meet.
    """
    features = len(gaps)
    best, total = np.empty(features), np.empty(features)
    closed = np.empty(features, np.int64)
    for axis in range(features):
        gaps[axis] = np.inf
    for margin in range(len(way.border)):
        before = -1
        for axis in range(features):
            total[axis], best[axis], closed[axis] = -way.border[margin], 0.0, -1
        for leaf in range(len(prices)):
            if way.group[leaf] != before:
                before = way.group[leaf]
                for axis in range(features):
                    total[axis] += best[axis]
                    best[axis] = -np.inf
            if prices[leaf] <= k:
                for number in range(way.first[leaf], way.first[leaf + 1]):
                    if apart[way.demand[number]]:
                        closed[way.axis_of[way.demand[number]]] = leaf
                _raise(best, closed, leaf, way.values[margin, leaf])
        for axis in range(features):
            gaps[axis] = min(gaps[axis], total[axis] + best[axis])


@within_compiled
def _raise(best: Floats, closed: Ints, leaf: int, value: float) -> None:
    """Note the value of a leaf for every feature that it does not need to move."""
    for axis in range(len(best)):
        if closed[axis] != leaf and value > best[axis]:
            best[axis] = value


@within_compiled
def _may_accept(way: Way, apart: Mask) -> bool:
    """Tell whether the model may accept the cheapest point of a box, by the demands that it does not meet."""
    for margin in range(len(way.border)):
        total = -way.border[margin]
        for leaf in range(len(way.group)):
            met = True
            for number in range(way.first[leaf], way.first[leaf + 1]):
                met = met and not apart[way.demand[number]]
            if met:
                total += way.values[margin, leaf]
        if total < 0:
            return False
    return True


class Boxes(NamedTuple):
    """The boxes that wait, and a heap of them."""

    table: Ints
    """For each box the first places of its spans, the ends of the spans, the cost of its cheapest point, and whether that is known."""
    heap: Ints
    """Keys and boxes."""
    free: Ints
    counts: Ints
    """How many boxes wait, how many places are free, and how many boxes were split so far."""


class Scratch(NamedTuple):
    """Where one box is worked out: what demands cost in it and in its parts, what leaves cost, and the gaps of features."""

    told: Ints
    new: Ints
    apart: Mask
    ignored: Mask
    prices: Ints
    within: Ints
    gaps: Floats


@within_compiled
def _push(table: Ints, heap: Ints, counts: Ints, key: int, box: int) -> None:
    """Put a box into the heap; of equal keys the one whose cheapest point costs most comes first."""
    base = table.shape[1] - 2
    place = counts[0]
    counts[0] += 1
    while place:
        above = (place - 1) // 2
        other = heap[above, 0]
        if other < key or (other == key and table[heap[above, 1], base] >= table[box, base]):
            break
        heap[place, 0], heap[place, 1] = other, heap[above, 1]
        place = above
    heap[place, 0], heap[place, 1] = key, box


@within_compiled
def _pop(table: Ints, heap: Ints, counts: Ints) -> int:
    """Take the first box out of the heap."""
    base = table.shape[1] - 2
    first: int = heap[0, 1]
    counts[0] -= 1
    count = counts[0]
    key, box = heap[count, 0], heap[count, 1]
    place = 0
    while 2 * place + 1 < count:
        below = 2 * place + 1
        if below + 1 < count and (
            heap[below + 1, 0] < heap[below, 0]
            or (
                heap[below + 1, 0] == heap[below, 0]
                and table[heap[below + 1, 1], base] > table[heap[below, 1], base]
            )
        ):
            below += 1
        other = heap[below, 0]
        if key < other or (key == other and table[box, base] >= table[heap[below, 1], base]):
            break
        heap[place, 0], heap[place, 1] = other, heap[below, 1]
        place = below
    heap[place, 0], heap[place, 1] = key, box
    return first


@within_compiled
def _release(boxes: Boxes, number: int) -> None:
    """Make the place of a box free."""
    boxes.free[boxes.counts[1]] = number
    boxes.counts[1] += 1


@within_compiled
def _pay(way: Way, axis: int, low: int, high: int, told: Ints, apart: Mask) -> None:
    """Put down what the demands on a feature cost above the cheapest cell of a span, and whether that does not meet them."""
    begin = way.begin[axis]
    own = way.costs[begin + low]
    for demand in range(way.demands[axis], way.demands[axis + 1]):
        place = np.int64(way.following[way.at[demand] + low])
        told[demand] = way.costs[begin + place] - own if place < high else NEVER
        apart[demand] = place != low


@within_compiled
def _rest(way: Way, box: Ints) -> int:
    """Return what the second cheapest point of a box costs above the cheapest; `NEVER` where there is none."""
    features = len(way.counts)
    found = NEVER
    for axis in range(features):
        if box[features + axis] - box[axis] > 1:
            place = way.begin[axis] + box[axis]
            found = min(found, way.costs[place + 1] - way.costs[place])
    return found


@within_compiled
def _choose(way: Way, box: Ints, k: int, scratch: Scratch) -> tuple[int, int]:
    """Return the feature at which a box is split and the place at which its second part begins; -1 where it is one point."""
    features = len(way.counts)
    told, within, gaps = scratch.told, scratch.within, scratch.gaps
    chosen = -1
    for axis in range(features):
        if box[features + axis] - box[axis] > 1 and (chosen < 0 or gaps[axis] < gaps[chosen]):
            chosen = axis
    if chosen < 0:
        return chosen, chosen
    low, high, begin = box[chosen], box[features + chosen], way.begin[chosen]
    # What can be spent on the feature, or how much must be.
    spent = k + 1
    needed = gaps[chosen] < 0
    if needed:
        for leaf in range(len(within)):
            within[leaf] = 0 if scratch.prices[leaf] <= k else NEVER
        for each in range(way.on_first[chosen], way.on_first[chosen + 1]):
            within[way.on[2 * each]] += told[way.on[2 * each + 1]]
        # A plain 0 is a type of its own to numba, for which everything would be compiled once more.
        spent = least_sum(within, way.values, way.group, way.border, 0 * k)
    cut = low + 1
    while cut < high and way.costs[begin + cut] - way.costs[begin + low] < spent:
        cut += 1
    if not needed:
        cut = low + max(1, (cut - low) // 2)
    return chosen, cut if cut < high else low + 1


@within_compiled
def _part(
    way: Way, boxes: Boxes, scratch: Scratch, number: int, axis: int,
    low: int, high: int, key: int, limit: int,
) -> None:  # fmt: skip
    """Put the part of a box that leaves a feature some span into the queue, if it has a key within the limit."""
    table, box = boxes.table, boxes.table[number]
    features = len(way.counts)
    base, tried = 2 * features, 2 * features + 1
    _pay(way, axis, low, high, scratch.new, scratch.ignored)
    for leaf in range(len(scratch.within)):
        scratch.within[leaf] = scratch.prices[leaf]
    for each in range(way.on_first[axis], way.on_first[axis + 1]):
        demand = way.on[2 * each + 1]
        scratch.within[way.on[2 * each]] += scratch.new[demand] - scratch.told[demand]
    begin = way.begin[axis]
    own = box[base] + way.costs[begin + low] - way.costs[begin + box[axis]]
    total = own + least_sum(scratch.within, way.values, way.group, way.border, max(key - own, 0))
    if total <= limit:
        boxes.counts[1] -= 1
        part = boxes.free[boxes.counts[1]]
        for place in range(len(box)):
            table[part, place] = box[place]
        table[part, axis], table[part, features + axis], table[part, base] = low, high, own
        table[part, tried] = box[tried] and low == box[axis]
        _push(table, boxes.heap, boxes.counts, total, part)


@within_compiled
def _split(way: Way, boxes: Boxes, scratch: Scratch, number: int, key: int, limit: int) -> None:
    """Put both parts of a box into the queue."""
    box, prices = boxes.table[number], scratch.prices
    features = len(way.counts)
    k = key - box[2 * features]
    for leaf in range(len(prices)):
        prices[leaf] = 0
        for each in range(way.first[leaf], way.first[leaf + 1]):
            prices[leaf] += scratch.told[way.demand[each]]
    _find_gaps(way, prices, scratch.apart, k, scratch.gaps)
    axis, cut = _choose(way, box, k, scratch)
    if axis >= 0:
        low, high = box[axis], box[features + axis]
        _part(way, boxes, scratch, number, axis, low, cut, key, limit)
        _part(way, boxes, scratch, number, axis, cut, high, key, limit)
    _release(boxes, number)


@compiled
def advance(way: Way, boxes: Boxes, point: Ints, most: int, limit: int) -> int:
    """Split boxes, at most so many, until the cheapest point of one may be accepted; what costs over the limit is left out."""
    features, leaves, demands = len(way.counts), len(way.group), len(way.at)
    base, tried = 2 * features, 2 * features + 1
    scratch = Scratch(
        np.empty(demands, np.int64), np.empty(demands, np.int64),
        np.empty(demands, np.bool_), np.empty(demands, np.bool_),
        np.empty(leaves, np.int64), np.empty(leaves, np.int64), np.empty(features),
    )  # fmt: skip
    for _ in range(most):
        if not boxes.counts[0]:
            return NONE
        if boxes.counts[1] < 2:
            return FULL
        key = boxes.heap[0, 0]
        number = _pop(boxes.table, boxes.heap, boxes.counts)
        box = boxes.table[number]
        boxes.counts[2] += 1
        for axis in range(features):
            _pay(way, axis, box[axis], box[features + axis], scratch.told, scratch.apart)
        if key == box[base] and not box[tried]:
            box[tried] = 1
            found, rest = _may_accept(way, scratch.apart), _rest(way, box)
            if found:
                for axis in range(features):
                    point[axis] = box[axis]
            if found or rest > 0:
                if key + rest <= limit:
                    _push(boxes.table, boxes.heap, boxes.counts, key + rest, number)
                else:
                    _release(boxes, number)
                if found:
                    return POINT
                continue
        _split(way, boxes, scratch, number, key, limit)
    return MORE
