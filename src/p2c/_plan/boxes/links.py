"""Computed features between actions and the model.

Their cells narrow the actions that their equations read.

Sound because a value of a cell comes from a raw equation in an interval that is rounded outwards, and an operand is narrowed
only to values from which the rest of the expression, anywhere in its range, can reach that interval.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from p2c._plan.boxes.ranges import (
    INFINITE,
    Fixed,
    Interval,
    added,
    around,
    divided,
    evaluate,
    multiplied,
    number_range,
    up,
)
from p2c._spec.expression import Apply, Name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from p2c._plan.boxes.axis import Axis, Open
    from p2c._plan.boxes.ends import Ends
    from p2c._plan.boxes.ranges import Range
    from p2c._rules.theory import ParsedModel
    from p2c._spec.expression import Expression
    from p2c._spec.feature import Feature

Cells = tuple[int, int]
"""The first and the last open cell of a computed feature."""


@dataclass(frozen=True)
class Link:
    """A computed feature that the model reads, with the cuts between its cells."""

    feature: Feature
    cuts: tuple[float, ...]

    @property
    def cells(self) -> Cells:
        """Return all cells."""
        return 0, len(self.cuts)

    def values(self, cells: Cells) -> Interval:
        """Return the values of cells."""
        low, high = cells
        return Interval(
            self.cuts[low - 1] if low else -INFINITE,
            self.cuts[high] if high < len(self.cuts) else INFINITE,
        )


def links_of(ends: Ends, model: ParsedModel) -> tuple[Link, ...]:
    """Return the computed features that the model reads in order."""
    links = []
    for feature in ends.person.theory.computed:
        if feature.name in model.reads:
            cuts = tuple(sorted(model.cuts(feature)))
            middle = [model.cell(feature.name, cut) for cut in cuts]
            if middle == list(range(len(cuts))):
                links.append(Link(feature, cuts))
    return tuple(links)


def narrowed(
    ends: Ends,
    links: Sequence[Link],
    box: tuple[Open, ...],
    cells: Sequence[Cells],
    ranges: dict[str, Range],
) -> tuple[Open, ...] | None:
    """Return a box without actions that leave the cells; None if none is left."""
    wanted: dict[str, Interval] = {}
    for link, open_ in zip(links, cells, strict=True):
        if open_ == link.cells:
            continue
        own = ranges[link.feature.name]
        target = link.values(open_)
        if isinstance(own, Fixed):
            continue  # its cell is looked up exactly
        if not _meet(number_range(own), target).has_numbers:
            return None
        _narrow_inputs(ends, link, target, ranges, wanted)
    result = list(box)
    for name, interval in wanted.items():
        number = ends.axis_of.get(ends.person.index.get(name, -1))
        if number is not None:
            kept = _kept(ends.axes[number], box[number], interval)
            if kept is None:
                return None
            result[number] = kept
    return tuple(result)


def _narrow_inputs(
    ends: Ends,
    link: Link,
    target: Interval,
    ranges: dict[str, Range],
    wanted: dict[str, Interval],
) -> None:
    """Narrow the inputs of an equation without limits and grid."""
    equation, origin = link.feature.equation, ends.person.origin
    assert equation is not None
    limited = equation.low is not None or equation.high is not None or equation.step is not None
    initial = origin.initial[link.feature.name]
    if limited or initial is None or origin.raw[link.feature.name] is None:
        return
    low, high = around(origin.residual[link.feature.name])
    wide = _widened(_widened(target))
    raw = added(wide, Interval(-high, -low))
    own = origin.raw[link.feature.name]
    assert own is not None
    here = around(own)
    if target.low <= float(initial) <= up(target.high):
        # The initial value is kept while the raw equation stays, whatever the residual is.
        raw = Interval(min(raw.low, here[0]), max(raw.high, here[1]))
    _backwards(equation.expression, raw, ends, ranges, wanted)


def _widened(interval: Interval) -> Interval:
    return added(
        interval,
        Interval(
            -abs(interval.low) * 1e-15 if abs(interval.low) < INFINITE else 0.0,
            abs(interval.high) * 1e-15 if abs(interval.high) < INFINITE else 0.0,
        ),
    )


def _meet(one: Interval, other: Interval) -> Interval:
    return Interval(max(one.low, other.low), min(one.high, other.high))


def _backwards(
    expression: Expression,
    target: Interval,
    ends: Ends,
    ranges: dict[str, Range],
    wanted: dict[str, Interval],
) -> None:
    """Note the values of inputs from which an expression may reach an interval."""
    match expression:
        case Name(name):
            before = wanted.get(name, Interval(-INFINITE, INFINITE))
            wanted[name] = _meet(before, target)
        case Apply("neg", operands):
            turned = Interval(-target.high, -target.low)
            _backwards(operands[0], turned, ends, ranges, wanted)
        case Apply("/", (left, right)):
            features = ends.person.theory.feature
            over = evaluate(right, ranges, features)
            _backwards(left, multiplied(target, over), ends, ranges, wanted)
            if target.low > 0 or target.high < 0:
                above = evaluate(left, ranges, features)
                _backwards(right, divided(above, target), ends, ranges, wanted)
        case Apply("+" | "*" as sign, operands):
            features = ends.person.theory.feature
            parts = [evaluate(each, ranges, features) for each in operands]
            for place, each in enumerate(operands):
                rest = [*parts[:place], *parts[place + 1 :]]
                inner = target
                for other in rest:
                    if sign == "+":
                        inner = added(inner, Interval(-other.high, -other.low))
                    elif other.low > 0 or other.high < 0:
                        inner = divided(inner, other)
                    else:
                        inner = Interval(-INFINITE, INFINITE)
                        break
                _backwards(each, inner, ends, ranges, wanted)
        case _:
            return


def _kept(axis: Axis, open_: Open, interval: Interval) -> Open | None:
    """Return the open part of an axis in an interval; None if there is none."""
    start = axis.person.initial[axis.place]
    if axis.trails or axis.free or not isinstance(axis.targets, range) or start is None:
        return open_
    assert not isinstance(start, str)
    low, high = interval.low, interval.high
    stays = open_.stays and low <= float(start) <= high
    first, last = open_.low, open_.high
    if open_.acts:
        if low > float(axis.ends(first)):  # type: ignore[arg-type]
            first = _search(axis, first, last + 1, lambda value: value >= low)
        if first <= last and high < float(axis.ends(last)):  # type: ignore[arg-type]
            last = _search(axis, first, last + 1, lambda value: value > high) - 1
    if first > last:
        return open_._replace(stays=True, low=0, high=-1) if stays else None
    return open_._replace(stays=stays, low=first, high=last)


def _search(axis: Axis, first: int, past: int, holds: object) -> int:
    """Return the first position from `first` on whose value passes a monotone test."""
    while first < past:
        middle = (first + past) // 2
        if holds(float(axis.ends(middle))):  # type: ignore[operator, arg-type]
            past = middle
        else:
            first = middle + 1
    return first
