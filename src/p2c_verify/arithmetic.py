"""Operations on intervals of exact rational numbers; a point is an exact number.

Sound because each operation is monotone in every operand, or linear in it, as long as no divisor is 0 (`abs` on either side
of 0), so it is least and greatest at corners of the operands' intervals. The functions of doubles are monotone but for
errors in their last bits, for which their bounds leave room.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from typing import Any, NamedTuple

from p2c_verify.values import FAR, MAYBE, MISSING, NO, YES, Spans

Function = Callable[..., Any]
DOUBLES: dict[str, Function] = {"log": math.log, "log1p": math.log1p, "exp": math.exp}
DOUBLES["sqrt"] = math.sqrt
UNARY: dict[str, Function] = {"neg": operator.neg, "abs": abs, "floor": math.floor}
UNARY |= {"ceil": math.ceil, "round": round}
BINARY: dict[str, Function] = {"+": operator.add, "*": operator.mul, "/": operator.truediv}
BINARY |= {"min": min, "max": max}
ARITY = {**dict.fromkeys([*DOUBLES, *UNARY], 1), **dict.fromkeys(BINARY, 2)}
ROOM = Fraction(1, 2**48)
"""Relative error for which the bounds of functions of doubles leave room."""


class Interval(NamedTuple):
    """The values of an expression, and the truth of "it is defined"."""

    low: Fraction
    high: Fraction
    defined: int = YES

    @property
    def signs(self) -> Spans:
        """Return the signs of the values; MISSING where there may be none."""
        low, high = ((each > 0) - (each < 0) for each in self[:2])
        signs: Spans = ((low, high),) if self.defined else ()
        return signs if self.defined == YES else ((MISSING, MISSING), *signs)

    def joined(self, other: Interval) -> Interval:
        """Return an interval that contains this one and another."""
        defined = self.defined if self.defined == other.defined else MAYBE
        return Interval(min(self.low, other.low), max(self.high, other.high), defined)


NOTHING = Interval(Fraction(FAR), Fraction(-FAR), NO)
ANYTHING = Interval(Fraction(-FAR), Fraction(FAR), MAYBE)


def applied(kind: str, operands: Sequence[Interval]) -> Interval:
    """Return an interval with the values of an operation on intervals."""
    defined = min(each.defined for each in operands)
    ends = [sorted({each.low, each.high}) for each in operands]
    if defined == NO:
        return NOTHING
    unlimited = any(max(-low, high) >= FAR for low, high, _ in operands)
    if unlimited or (kind == "/" and ends[1][0] < 0 < ends[1][-1]):
        return ANYTHING
    try:
        corners = [Fraction(_function(kind)(*each)) for each in product(*ends)]
    except (ValueError, ArithmeticError):  # undefined at a corner
        return NOTHING if defined == YES and all(len(each) == 1 for each in ends) else ANYTHING
    low, high = min(corners), max(corners)
    if kind == "abs" and ends[0][0] < 0 < ends[0][-1]:
        low = Fraction(0)
    if kind in DOUBLES and len(ends[0]) > 1:
        room = max(abs(low), abs(high)) * ROOM + Fraction(1, 2**1000)
        low, high = low - room, high + room
    return Interval(low, high, defined) if max(-low, high) < FAR else ANYTHING


def _function(kind: str) -> Function:
    if kind not in DOUBLES:
        return {**UNARY, **BINARY}[kind]
    return lambda operand: repr(DOUBLES[kind](float(operand)))
