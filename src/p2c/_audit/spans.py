"""Intervals of numbers that regions of an audit are stated in."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from p2c._spec.feature import Kind, exact

if TYPE_CHECKING:
    from p2c._spec.feature import Feature, Number


class Range(NamedTuple):
    """An interval whose ends are values of a feature.

    None is an end without a limit; an open end is not part of the interval.
    """

    low: Number | None
    high: Number | None
    low_closed: bool = True
    high_closed: bool = True

    def to_dict(self) -> dict[str, Any]:
        """Return the limits that the interval sets, as JSON."""
        low = {"at_least" if self.low_closed else "above": self.low}
        high = {"at_most" if self.high_closed else "below": self.high}
        return {key: end for key, end in (low | high).items() if end is not None}


class Span(NamedTuple):
    """An interval of exact numbers, with the ends of a range."""

    low: Fraction | None
    high: Fraction | None
    low_closed: bool = True
    high_closed: bool = True

    @property
    def start(self) -> tuple[Fraction | float, bool]:
        """Return the lower end in a form that sorts, closed ends before open ones."""
        return (-math.inf, False) if self.low is None else (self.low, not self.low_closed)

    def holds(self, number: Fraction) -> bool:
        """Tell whether a number lies in the interval."""
        above = self.low is None or self.low < number or (self.low == number and self.low_closed)
        below = (
            self.high is None or number < self.high or (self.high == number and self.high_closed)
        )
        return above and below

    def up_to(self, other: Span) -> Span:
        """Return the interval from the start of this one to the end of another."""
        return Span(self.low, other.high, self.low_closed, other.high_closed)

    def gap_before(self, other: Span) -> Span:
        """Return the numbers above this interval and below another one.

        Both ends between them have a limit.
        """
        return Span(self.high, other.low, not self.high_closed, not other.low_closed)

    def in_values_of(self, feature: Feature) -> Range:
        """Return the interval with values of a feature as ends.

        Both ends of an interval of whole numbers are closed.
        """
        if feature.kind is Kind.INT:
            return Range(*_whole_ends(self))
        low, high = (None if each is None else float(each) for each in (self.low, self.high))
        return Range(low, high, self.low_closed, self.high_closed)


def sample_value(span: Span, feature: Feature) -> int | float | None:
    """Return a number in an interval that a row may have.

    Returns:
        A whole number for an int feature, a float for a float feature; None if there is none in the interval.
    """
    if feature.kind is Kind.INT:
        least, greatest = _whole_ends(span)
        if least is None or greatest is None:
            return next((each for each in (least, greatest) if each is not None), 0)
        return least if least <= greatest else None
    for number in _candidates(span):
        value = float(number)
        if span.holds(exact(value)):
            return value
    return None


def _whole_ends(span: Span) -> tuple[int | None, int | None]:
    """Return the least and the greatest whole number of an interval."""
    least = greatest = None
    if span.low is not None:
        least = math.ceil(span.low) if span.low_closed else math.floor(span.low) + 1
    if span.high is not None:
        greatest = math.floor(span.high) if span.high_closed else math.ceil(span.high) - 1
    return least, greatest


def _candidates(span: Span) -> tuple[Fraction, ...]:
    """Return numbers of which one lies in an interval unless no float does."""
    low, high = span.low, span.high
    if low is None and high is None:
        return (Fraction(0),)
    if low is None or high is None:
        end = low if high is None else high
        assert end is not None
        far = max(abs(end), Fraction(1))
        return (end + far if high is None else end - far,)
    return ((low + high) / 2, low, high)
