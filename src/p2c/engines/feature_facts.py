"""The facts of a feature for `plan.lp`: its slots and regions, how far apart they are, and its moves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from p2c.domain.feature import Action
from p2c.engines.lengths import minimizes_actions, move_ends, move_length, routes
from p2c.engines.slots import OWN, Shape
from p2c.plan.compiled.axis import OFF

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from fractions import Fraction

    from p2c.engines.parts import Parts
    from p2c.engines.slots import Layout


def feature_facts(parts: Parts, layout: Layout) -> Iterator[str]:
    """Yield the facts of one feature."""
    index, feature = layout.index, layout.axis.feature
    yield f"region({index},off)."
    yield from (f"region({index},{number})." for number in range(len(layout.regions)))
    yield from (f"slot({index},{slot})." for slot in layout.slots)
    yield from (f"in({index},{slot},{number})." for slot, number in layout.placed.items())
    if layout.shape is Shape.PLACES:
        yield f"moves({index}). in({index},{OWN},off)."
    else:
        yield from (f"personal({index},{slot})." for slot in layout.personal)
    if layout.settable:
        yield f"settable({index})."
        yield from (f"pair({index},{start},{end})." for start, end in layout.pairs)
    if feature.governed:
        yield f"governed({index}). law({index},{feature.law.value})."
        if feature.action is not Action.FIXED:
            yield from _distances(layout)
    if layout.shape is Shape.PLACES and layout.settable:
        yield from _moves(parts, layout)


def _distances(layout: Layout) -> Iterator[str]:
    """Yield how far effects carry the feature from each region, as ranks: only their order counts."""
    index, axis = layout.index, layout.axis
    yield f"depth({index},1..{len(layout.slots)})."
    if layout.shape is Shape.ANY:
        everywhere = ["off", *map(str, range(len(layout.regions)))]
        yield from (f"far({index},{r},{slot},1)." for r in everywhere for slot in layout.slots)
        return
    if layout.shape is Shape.ENDS:
        yield f"may_be_off({index})."
    else:
        yield from (f"far({index},off,{slot},1)." for slot in layout.placed)
    for number, region in enumerate(layout.regions):
        here = axis.position(region[0])
        ends = {slot: layout.end(slot) for slot in _reached(layout, region[0])}
        far = {s: abs(axis.position(p) - here) if axis.ordered else here for s, p in ends.items()}
        yield from (f"far({index},{number},{slot},{rank})." for slot, rank in ranked(far).items())


def _reached(layout: Layout, start: int) -> list[str]:
    """Return the slots that effects may carry an ordered feature to, or one with moves."""
    if layout.shape is Shape.PLACES:
        return [f"place({end})" for end in move_ends(layout.axis, start)]
    return end_slots(layout, below=start - 1, above=start + 1)


def end_slots(layout: Layout, *, below: int, above: int) -> list[str]:
    """Return the near ends of the regions that lie below a place, or above another."""
    found = []
    for number, region in enumerate(layout.regions):
        if region[0] >= above and layout.axis.feature.action is not Action.DOWN:
            found.append(layout.low(number))
        if region[-1] <= below and layout.axis.feature.action is not Action.UP:
            found.append(layout.high(number))
    return [slot for slot in found if slot]


def ranked(distances: Mapping[str, Fraction | int]) -> dict[str, int]:
    """Return the rank of each distance, from 1."""
    ranks = {far: rank for rank, far in enumerate(sorted(set(distances.values())), start=1)}
    return {slot: ranks[far] for slot, far in distances.items()}


def _moves(parts: Parts, layout: Layout) -> Iterator[str]:
    """Yield the moves, their lengths, and the least that a way from one slot to another takes."""
    space, index = parts.space, layout.index
    timed = parts.component_of(index) is not None
    fewest = minimizes_actions(space)
    starts = {OWN: OFF, **{slot: layout.end(slot) for slot in layout.placed}}
    for slot, start in starts.items():
        for end in move_ends(layout.axis, start):
            length = move_length(space, index, start=start, end=end)
            yield f"may({index},{slot},place({end})). length({index},{slot},place({end}),{length})."
        short = routes(space, index, start, fewest=fewest and not timed)
        few = routes(space, index, start, fewest=True)
        for end, route in short.items():
            name = slot if end == start else f"place({end})"
            yield f"shortest({index},{slot},{name},{route.length})."
            yield f"fewest({index},{slot},{name},{few[end].actions})."
    yield f"longest({index},{parts.longest[index]}). most({index},{parts.most(index)})."
