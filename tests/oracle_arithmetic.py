"""The slow planner's arithmetic, from the syntax trees alone."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from p2c._rules.syntax import Comparator
from p2c._spec.expression import Apply, Choice, Compare, Junction, Member, Name, Number
from tests.oracle_values import number, same

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from p2c._rules.theory import Relation, Theory
    from p2c._spec.expression import Condition, Expression
    from p2c._spec.feature import Feature, Value

DOUBLES = {"log": math.log, "log1p": math.log1p, "exp": math.exp, "sqrt": math.sqrt}


def value_of(expression: Expression, state: Mapping[str, Value]) -> Fraction | None:
    """Return the exact value of an expression, None where it is undefined."""
    match expression:
        case Number(value=value):
            return value
        case Name(name=name):
            own = state[name]
            assert not isinstance(own, str)
            return None if own is None else number(own)
        case Choice():
            chosen = condition_holds(expression.condition, state)
            return value_of(expression.then if chosen else expression.otherwise, state)
        case Apply(function=function, operands=operands):
            values = [value_of(each, state) for each in operands]
            if any(each is None for each in values):
                return None
            return _applied(function, [each for each in values if each is not None])


def _applied(function: str, values: list[Fraction]) -> Fraction | None:
    first = values[0]
    if function in DOUBLES:
        try:
            result = DOUBLES[function](float(first))
        except (ValueError, OverflowError):
            return None
        return number(result) if math.isfinite(result) else None
    if function == "/":
        return None if values[1] == 0 else first / values[1]
    if function == "+":
        return sum(values, Fraction(0))
    if function == "*":
        product = Fraction(1)
        for each in values:
            product *= each
        return product
    whole: dict[str, Any] = {"floor": math.floor, "ceil": math.ceil, "round": round}
    if function in whole:
        return Fraction(whole[function](first))
    plain: dict[str, Any] = {"neg": lambda: -first, "abs": lambda: abs(first)}
    several: dict[str, Any] = {"min": lambda: min(values), "max": lambda: max(values)}
    exactly: Fraction = {**plain, **several}[function]()
    return exactly


def condition_holds(condition: Condition, state: Mapping[str, Value]) -> bool:
    """Tell whether the condition of an `if` holds."""
    match condition:
        case Junction(word="not", parts=parts):
            return not condition_holds(parts[0], state)
        case Junction(word=word, parts=parts):
            result = [condition_holds(each, state) for each in parts]
            return all(result) if word == "and" else any(result)
        case Member(name=name, values=values):
            own = state[name]
            return own is not None and any(same(own, each) for each in values)
        case Compare(name=name, comparator=comparator, constant=constant):
            own = state[name]
            if own is None:
                return False
            assert not isinstance(own, str)
            assert not isinstance(constant, str)
            left = number(own)
            return {
                "=": left == constant,
                "!=": left != constant,
                "<": left < constant,
                "<=": left <= constant,
                ">": left > constant,
                ">=": left >= constant,
            }[comparator]


def relation_holds(relation: Relation, state: Mapping[str, Value]) -> bool:
    """Tell whether a comparison of expressions holds, its negation aside."""
    left, right = value_of(relation.left, state), value_of(relation.right, state)
    if left is None or right is None:
        return False
    return {
        Comparator.EQ: left == right,
        Comparator.NE: left != right,
        Comparator.LT: left < right,
        Comparator.LE: left <= right,
        Comparator.GT: left > right,
        Comparator.GE: left >= right,
    }[relation.comparator]


class Arithmetic:
    """The computed features of one person, and the sides to keep defined."""

    def __init__(
        self, theory: Theory, initial: Mapping[str, Value], omitted: Collection[str]
    ) -> None:
        self.computed = self._ordered(theory)
        self.relations = theory.relations
        state = {name: None if name in omitted else value for name, value in initial.items()}
        self.raw: dict[str, Fraction | None] = {}
        self.residual: dict[str, Fraction] = {}
        self.mismatches: list[dict[str, Any]] = []
        for each in self.computed:
            assert each.equation
            raw = self.raw[each.name] = value_of(each.equation.expression, state)
            self.residual[each.name] = Fraction(0)
            if each.name in omitted:
                state[each.name] = None if raw is None else self._final(each, raw)
                continue
            own = state[each.name]
            if own is None:
                continue
            assert not isinstance(own, str)
            if not each.equation.keeps_residual:
                self._compare(each, own, raw)
            elif raw is not None:
                apart = number(own) - raw
                if abs(apart) > Fraction(1, 10**12) * max(abs(raw), abs(number(own))):
                    self.residual[each.name] = apart
        self.initial = state
        self.sides = [
            side
            for each in self.relations
            for side in (each.left, each.right)
            if value_of(side, state) is not None
        ]

    def _ordered(self, theory: Theory) -> list[Feature]:
        """Return the computed features in the order of dependency."""
        left = [each for each in theory.features if each.equation]
        ordered = []
        while left:
            names = {each.name for each in left}
            ready = next(e for e in left if e.equation and not names & set(e.equation.reads))
            left.remove(ready)
            ordered.append(ready)
        return ordered

    def _compare(self, feature: Feature, own: float, raw: Fraction | None) -> None:
        assert feature.equation
        due = None if raw is None else self._final(feature, raw)
        if due is not None:
            one, other = number(own), number(due)
            if abs(one - other) <= Fraction(1, 10**9) * max(Fraction(1), abs(one), abs(other)):
                return
        self.mismatches.append(
            {
                "feature": feature.name,
                "equation": feature.equation.text,
                "given": own,
                "computed": due,
            }
        )

    def _final(self, feature: Feature, raw: Fraction) -> int | float | None:
        """Clip, then round to the grid, the even place where two are equally near."""
        equation = feature.equation
        assert equation
        if equation.low is not None and raw < equation.low:
            raw = equation.low
        if equation.high is not None and raw > equation.high:
            raw = equation.high
        if equation.step is not None:
            base = equation.low if equation.low is not None else Fraction(0)
            exactly, step = raw, equation.step
            below = math.floor((raw - base) / step)
            places = [below, below + 1]
            if equation.high is not None:
                places = [k for k in places if base + k * step <= equation.high]
            place = min(places, key=lambda k: (abs(base + k * step - exactly), k % 2))
            raw = base + place * step
        if equation.whole:
            return int(raw) if abs(raw) <= 2**62 else None
        try:
            return float(raw)
        except OverflowError:
            return None

    def recomputed(self, state: dict[str, Value]) -> dict[str, Value]:
        """Return a state with its computed features as their equations say."""
        for each in self.computed:
            assert each.equation
            raw = value_of(each.equation.expression, state)
            if raw == self.raw[each.name]:
                state[each.name] = self.initial[each.name]
            elif raw is None:
                state[each.name] = None
            else:
                state[each.name] = self._final(each, raw + self.residual[each.name])
        return state

    def lost(self, state: Mapping[str, Value]) -> bool:
        """Tell whether an equation or a side became undefined."""
        for each in self.computed:
            assert each.equation
            first = self.raw[each.name]
            if first is None:
                continue
            raw = value_of(each.equation.expression, state)
            if raw is None or (raw != first and state[each.name] is None):
                return True
        return any(value_of(side, state) is None for side in self.sides)
