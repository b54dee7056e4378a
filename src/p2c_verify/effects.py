"""Causal actions over sets of states.

`outcomes` lists the value sets that an endogenous feature may take by an effect. On a single state with decided rules it
is exact; otherwise it contains every outcome of every state in the set.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from p2c_verify.facts import NO, YES, Facts, Judge
from p2c_verify.problem import (
    FAR,
    Cause,
    Feature,
    Problem,
    Span,
    Spans,
    ValueSet,
    intersect,
    union,
)


def permitted(feature: Feature, value: int | None) -> Spans:
    """Return the values that a change from one value may end in, whoever makes it."""
    if feature.action == "fixed":
        return ()
    if value is None:
        return ((-FAR, FAR),)
    if feature.moves is not None:
        spans: Spans = tuple((end, end) for end in sorted(feature.moves[value]) if end != value)
    else:
        spans = ((-FAR, value - 1), (value + 1, FAR))
    if feature.action == "up":
        return intersect(spans, ((value + 1, FAR),))
    return intersect(spans, ((-FAR, value - 1),)) if feature.action == "down" else spans


def single(values: ValueSet) -> bool:
    """Tell whether a set holds one value."""
    spans, missing = values
    return not spans if missing else len(spans) == 1 and spans[0][0] == spans[0][1]


def points(feature: Feature, spans: Spans) -> Iterator[Span]:
    """Yield listed values one by one, spans of numbers as they are."""
    for low, high in spans:
        if feature.listed:
            yield from ((value, value) for value in range(low, high + 1))
        else:
            yield low, high


def nearest(feature: Feature, current: ValueSet, allowed: Spans) -> list[Span]:
    """Return the nearest permitted values in the allowed spans, from every value of a set."""
    found: set[Span] = set()
    if current.missing and feature.action != "fixed":
        found.update(points(feature, feature.snap(allowed)))
    for low, high in points(feature, current.spans):
        if low == high:
            found.update(_nearest_to(feature, low, allowed))
        else:
            for first, last in feature.snap(allowed):
                if low < first and feature.action not in ("down", "fixed"):
                    found.add((first, first))
                if high > last and feature.action not in ("up", "fixed"):
                    found.add((last, last))
    return sorted(found)


def _nearest_to(feature: Feature, value: int, allowed: Spans) -> Iterator[Span]:
    if any(low <= value <= high for low, high in allowed):
        return  # the value is allowed: there is no effect
    spans = feature.snap(intersect(allowed, permitted(feature, value)))
    if feature.kind == "category":
        yield from points(feature, spans)
        return
    ends = {min(max(value, low), high) for low, high in spans}
    least = min((abs(end - value) for end in ends), default=0)
    yield from ((end, end) for end in ends if abs(end - value) == least)


class Effects:
    """The causal actions of one problem."""

    def __init__(self, problem: Problem, judge: Judge) -> None:
        self.problem, self.judge = problem, judge

    def allowed(self, cause: Cause, fired: Sequence[int]) -> tuple[list[Spans], bool]:
        """Return the sets of which a violated feature takes a nearest value, and whether there is exactly one set."""
        silent = all(each & NO for each in fired)
        unheaded = cause.law == "only_if" or (cause.law == "iff" and silent)
        if YES | NO in fired:
            parts = [
                rule.head for rule, fires in zip(cause.rules, fired, strict=True) if fires & YES
            ]
            return ([*parts, cause.unheaded] if unheaded else parts), False
        spans: Spans = cause.unheaded if unheaded else ()
        for rule, fires in zip(cause.rules, fired, strict=True):
            if fires == YES:
                spans = union(spans, rule.head)
        return [spans], True

    def triggered(self, facts: Facts) -> tuple[list[tuple[Cause, Span]], bool]:
        """Return the effects of an inconsistent state, and whether one of them is certain to exist."""
        laws = {
            cause.feature: self.judge.obeyed(facts, cause, facts.fired(cause))
            for cause in self.problem.causes
        }
        violated = {feature for feature, truth in laws.items() if truth == NO}
        found, certain = [], False
        for cause in self.problem.causes:
            if not laws[cause.feature] & NO or self._blocked(cause.feature, violated):
                continue
            current = facts.sets[cause.feature]
            parts, exact = self.allowed(cause, facts.fired(cause))
            feature = self.problem.features[cause.feature]
            outcomes = [(cause, end) for part in parts for end in nearest(feature, current, part)]
            found += outcomes
            # Certain: the feature is violated, no feature above it may be, and one value decides where it goes.
            sure = laws[cause.feature] == NO and exact and single(current)
            if (
                sure
                and outcomes
                and not self._blocked(
                    cause.feature, {each for each, truth in laws.items() if truth & NO}
                )
            ):
                certain = True
        return found, certain

    def _blocked(self, feature: int, violated: set[int]) -> bool:
        above = self.problem.upstream
        return any(
            other != feature and other in above[feature] and feature not in above[other]
            for other in violated
        )

    def supported(self, facts: Facts) -> list[tuple[Cause, Span]]:
        """Return the effects that fired rules support in a consistent state."""
        if not self.problem.supported:
            return []
        found = []
        for cause in self.problem.causes:
            feature, current = self.problem.features[cause.feature], facts.sets[cause.feature]
            for rule, fires in zip(cause.rules, facts.fired(cause), strict=True):
                if fires & YES and facts.headed(cause, rule.head) & NO:
                    found += [(cause, end) for end in nearest(feature, current, rule.head)]
        return found

    def reachable(self, sets: Sequence[ValueSet]) -> list[ValueSet]:
        """Return one round of the delete relaxation: every effect that may happen adds its values."""
        facts = self.judge.facts(sets)
        grown = list(sets)
        for cause in self.problem.causes:
            fired = facts.fired(cause)
            feature, current = self.problem.features[cause.feature], sets[cause.feature]
            parts: list[Spans] = []
            if self.judge.obeyed(facts, cause, fired) & NO:
                parts += self._every_part(cause, fired)
            if self.problem.supported:
                parts += [
                    rule.head for rule, fires in zip(cause.rules, fired, strict=True) if fires & YES
                ]
            ends = {end for part in parts for end in nearest(feature, current, part)}
            spans, missing = grown[cause.feature]
            grown[cause.feature] = ValueSet(union(spans, tuple(sorted(ends))), missing)
        return grown

    @staticmethod
    def _every_part(cause: Cause, fired: Sequence[int]) -> list[Spans]:
        """Return the sets that allow a value under any combination of rules that may fire."""
        parts = [rule.head for rule, fires in zip(cause.rules, fired, strict=True) if fires & YES]
        silent = all(each & NO for each in fired)
        if cause.law == "only_if" or (cause.law == "iff" and silent):
            parts.append(cause.unheaded)
        return parts
