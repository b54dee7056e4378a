"""Features and sets of their values, as integers.

Numbers are multiplied by one common denominator, so comparisons are exact; the values of a category or an ordinal are
their ranks. `MISSING` is the missing value. It lies below all others, so a comparison is a range above it, and what
negation as failure says of a missing value is the complement of that range. A computed number is multiplied by 10**400
as well, so every double is an integer.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

FAR = 10**1000
"""An integer above every value."""
MISSING = -FAR
FINE = 10**400
NO, MAYBE, YES = 0, 1, 2
"""Truth over a set of states: false in all, undecided, true in all.

"And" is `min`, "or" is `max`.
"""

Span = tuple[int, int]
"""A closed interval: a single value, or the admissible values of a wider one."""
Spans = tuple[Span, ...]
"""The values that a feature may have in a set of states; spans may overlap."""
Sets = tuple[Spans, ...]
"""A set of states: the product of one value set per feature."""
ALL: Spans = ((MISSING, FAR),)
KNOWN: Spans = ((MISSING + 1, FAR),)


class VerifyError(Exception):
    """A document is malformed, or a claim could not be verified."""


def require(truth: bool, fault: str) -> None:
    """Refuse the document with a fault unless a statement is true."""
    if not truth:
        raise VerifyError(fault)


def choice(value: Any, choices: str) -> str:
    """Return one of several words."""
    require(value in choices.split(), f"expected one of {choices}, found {value!r}")
    return str(value)


def exact(raw: Any, scale: int) -> int:
    """Return a number times a scale, which must be an integer."""
    value = raw * scale if type(raw) in (int, Fraction) else None
    whole = value is not None and value.denominator == 1 and abs(value) < FAR
    require(whole, f"{raw!r} is not a number of this problem or row")
    return int(raw * scale)


def intersect(one: Spans, other: Spans) -> Spans:
    """Return the values in both."""
    pairs = ((max(a[0], b[0]), min(a[1], b[1])) for a in one for b in other)
    return tuple(sorted((low, high) for low, high in pairs if low <= high))


def union(one: Spans, other: Iterable[Span]) -> Spans:
    """Return the values in either."""
    return tuple(sorted({*one, *other}))


def complement(spans: Spans) -> Spans:
    """Return the values in none of the spans."""
    outside = ALL
    for low, high in spans:
        outside = intersect(outside, ((MISSING, low - 1), (high + 1, FAR)))
    return outside


def compared(operator: str, value: int) -> Spans:
    """Return the values that compare so with a value."""
    low = {"<": MISSING + 1, "=<": MISSING + 1, ">": value + 1}.get(operator, value)
    high = {"<": value - 1, ">": FAR, ">=": FAR}.get(operator, value)
    return intersect(complement(((low, high),)), KNOWN) if operator == "\\=" else ((low, high),)


def truth(values: Spans, wanted: Spans, passing: Spans) -> int:
    """Return the truth of "a value of these spans lies in the wanted spans"."""
    return MAYBE + bool(passing) - any(each not in intersect((each,), wanted) for each in values)


def replaced(sets: tuple[Any, ...], place: int, spans: Any) -> tuple[Any, ...]:
    """Return a tuple of which one part is another."""
    return (*sets[:place], spans, *sets[place + 1 :])


def is_single(spans: Spans) -> bool:
    """Tell whether a set holds one value."""
    return len(spans) == 1 and spans[0][0] == spans[0][1]


class Feature:
    """A feature with ascending admissible `points`; `unit` is a distance of 1.

    A computed feature has no domain, so its points are None. The problem's own action leads effects; the person's `action`
    and `targets` may be narrower, and then an effect that leads elsewhere ends the path.
    """

    def __init__(self, index: int, data: Mapping[str, Any], own: Any, scale: int) -> None:
        self.index, self.name, domain = index, str(data["name"]), data["domain"]
        self.kind = choice(data["type"], "int float category ordinal")
        actions = "free up down fixed effect"
        self.action = choice(data["action"], actions)
        self.effect_action = choice(data.get("effect_action", self.action), actions)
        self.is_settable = self.action in ("free", "up", "down")
        self.scale = scale if domain else scale * FINE
        self.labels = tuple[Any, ...]()
        self.points: Sequence[int] | None = None
        if self.kind in ("category", "ordinal"):
            self.scale, self.labels = 1, tuple(domain["values"])
            self.points = range(len(self.labels))
            if self.kind == "category" and isinstance(own, str) and own not in self.labels:
                self.labels += (own,)  # a value that only a model reads; nothing can change to it
        elif domain and "values" in domain:
            self.points = [exact(each, scale) for each in domain["values"]]
            ascend = self.points == sorted(set(self.points))
            require(ascend, f"{self.name}: values do not ascend")
        elif domain:
            start, stop, step = (exact(domain[key], scale) for key in ("start", "stop", "step"))
            self.points = range(start, stop + 1, max(step, 0))
        self.weight = Fraction(data["weight"])
        self.unit = exact(Fraction(data["divisor"]), self.scale)
        require(self.weight >= 0 and self.unit > 0, f"{self.name}: negative weight or divisor")
        require(len(set(self.labels)) == len(self.labels), f"{self.name}: a value is repeated")
        self.unit = 1 if self.kind == "category" else self.unit
        moves: Mapping[Any, Any] | None = data.get("moves")
        self.moves: list[Spans] | None = None
        if moves is not None:
            require(moves.keys() <= set(map(str, self.labels)), f"{self.name}: another value moves")
            ends = (sorted(map(self.read, moves.get(str(each), ()))) for each in self.labels)
            self.moves = [tuple((end, end) for end in each) for each in ends]
        pairs = data.get("targets")
        self.targets = ALL
        if pairs is not None:
            self.targets = tuple((self.read(low), self.read(high)) for low, high in pairs)

    @property
    def is_whole(self) -> bool:
        """Tell whether every admissible number is whole."""
        if self.points is None:
            return self.kind == "int"
        steps = self.points[:2] if isinstance(self.points, range) else self.points
        return math.gcd(*steps) % self.scale == 0

    def read(self, raw: Any) -> int:
        """Return the integer of a value in JSON."""
        if raw is None:
            return MISSING
        return self.labels.index(raw) if self.labels else exact(raw, self.scale)

    def write(self, value: int) -> Any:
        """Return the value as it stands in JSON, numbers as integers or fractions."""
        if value == MISSING:
            return None
        if self.labels:
            return self.labels[value]
        number = Fraction(value, self.scale)
        return int(number) if number.denominator == 1 else number

    def admissible(self, spans: Iterable[Span]) -> Spans:
        """Return the admissible part of spans: single labels, nonempty number spans."""
        inside: list[Span] = []
        for low, high in spans:
            if self.points is None:
                inside.append((low, high))
                continue
            first, last = bisect_left(self.points, low), bisect_right(self.points, high)
            if self.labels:
                inside += [(rank, rank) for rank in range(first, last)]
            elif first < last:
                inside.append((self.points[first], self.points[last - 1]))
        return tuple(inside)

    def passing(self, values: Spans, wanted: Spans) -> Spans:
        """Return the values of these spans that lie in the wanted spans."""
        kept: list[Span] = []
        for low, high in values:
            inside = intersect(((low, high),), wanted)
            kept += inside if low == high else self.admissible(inside)
        return tuple(sorted({*kept}))

    def within(self, values: Spans, wanted: Spans) -> int:
        """Return the truth of "a value of these spans lies in the wanted spans"."""
        return truth(values, wanted, self.passing(values, wanted))

    def permitted(self, value: int) -> Spans:
        """Return the values in which a change may end, direct or by an effect."""
        return intersect(self._led(value, self.action), self.targets)

    def _led(self, value: int, action: str) -> Spans:
        """Return the values that an action and the moves let a change end in."""
        if value == MISSING:
            return () if action == "fixed" else ALL
        below, above = (MISSING, value - 1), (value + 1, FAR)
        ends = {"up": (above,), "down": (below,), "fixed": ()}.get(action, (below, above))
        return ends if self.moves is None else intersect(ends, self.moves[value])

    def length(self, start: Span, end: Span) -> int:
        """Return the least length of a change from one span into another."""
        if start[0] == MISSING or self.kind == "category":
            return self.unit
        return max(end[0] - start[1], start[0] - end[1], 0)

    def nearest(self, values: Spans, allowed: Spans) -> set[Span]:
        """Return the nearest allowed values to which effects lead from other values."""
        nearest: set[Span] = set()
        action = self.effect_action
        for low, high in values:
            if low < high:  # numbers: from each side an end of an allowed span, or there is none
                spans = self.admissible(allowed) if action != "fixed" else ()
                up, down = action != "down", action != "up"
                nearest |= {(first, first) for first, _ in spans if up and low < first}
                nearest |= {(last, last) for _, last in spans if down and last < high}
            elif not intersect(((low, low),), allowed):
                ends = self.admissible(intersect(allowed, self._led(low, action)))
                if low != MISSING and self.kind != "category":
                    far = min((self.length((low, low), end) for end in ends), default=0)
                    ends = intersect(ends, ((low - far, low - far), (low + far, low + far)))
                nearest.update(ends)
        return nearest
