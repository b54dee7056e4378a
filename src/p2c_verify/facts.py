"""Three-valued evaluation: what rules, laws and constraints may say of a set of states.

A set of states is one value set per feature. A truth value is two bits: `NO` if the statement may be false in a state of
the set, `YES` if it may be true. Both bits: undecided. On single states every value is decided, so the same code replays
plans.
"""

from __future__ import annotations

from collections.abc import Sequence

from p2c_verify.forest import Forest
from p2c_verify.problem import (
    Body,
    Call,
    Cause,
    Condition,
    Constraint,
    Feature,
    Problem,
    Spans,
    Test,
    ValueSet,
    satisfying,
)

NO, YES = 1, 2
Sets = Sequence[ValueSet]


def conjunction(one: int, other: int) -> int:
    """Return the truth of "both"."""
    return ((one | other) & NO) | (one & other & YES)


def disjunction(one: int, other: int) -> int:
    """Return the truth of "either"."""
    return (one & other & NO) | ((one | other) & YES)


def negation(truth: int) -> int:
    """Return the truth of "not"."""
    return ((truth & NO) << 1) | (truth >> 1)


def within(feature: Feature, spans: Spans, wanted: Spans) -> int:
    """Return the truth of "the value lies in the wanted spans" for a value in some spans."""
    truth = 0
    for low, high in spans:
        inside = next((each for each in wanted if each[0] <= low and high <= each[1]), None)
        if inside is not None:
            truth |= YES
            continue
        truth |= NO
        for least, most in wanted:
            first, last = max(low, least), min(high, most)
            if first <= last and (low == high or feature.snap(((first, last),))):
                truth |= YES
    return truth


class Facts:
    """The truth of conditions, laws and constraints over one set of states."""

    def __init__(self, problem: Problem, forest: Forest | None, sets: Sets) -> None:
        self.problem, self.forest, self.sets = problem, forest, sets
        self._decided: list[int] | None = None
        self._accepted = 0
        self._tests: dict[Test, int] = {}

    def condition(self, condition: Condition) -> int:
        """Return the truth of one condition."""
        if isinstance(condition, Call):
            return self._call(condition)
        truth = self._tests.get(condition)
        if truth is None:
            feature = self.problem.features[condition.feature]
            spans, missing = self.sets[condition.feature]
            truth = within(feature, spans, satisfying(condition))
            if missing:  # a comparison with a missing value is false
                truth |= YES if condition.negated else NO
            self._tests[condition] = truth
        return truth

    def body(self, body: Body) -> int:
        """Return the truth of a conjunction."""
        truth = YES
        for each in body:
            truth = conjunction(truth, self.condition(each))
            if truth == NO:
                break
        return truth

    def _call(self, call: Call) -> int:
        if call.decision is None:
            truth = self.accepted()
        else:
            if self._decided is None:
                self._decided = []
                for rules in self.problem.decisions:
                    self._decided.append(self._any(rules))
            truth = self._decided[call.decision]
        return negation(truth) if call.negated else truth

    def accepted(self) -> int:
        """Return the truth of `accepted(X)`."""
        if not self._accepted:
            assert self.forest is not None
            self._accepted = self.forest.accepted(self.sets)
        return self._accepted

    def _any(self, rules: Sequence[Body]) -> int:
        truth = NO
        for body in rules:
            truth = disjunction(truth, self.body(body))
            if truth == YES:
                break
        return truth

    def fired(self, cause: Cause) -> tuple[int, ...]:
        """Return the truth of each body of an endogenous feature's rules."""
        return tuple(self.body(rule.body) for rule in cause.rules)

    def headed(self, cause: Cause, head: Spans) -> int:
        """Return the truth of "the value is in this head"; a missing value is in no head."""
        spans, missing = self.sets[cause.feature]
        return within(self.problem.features[cause.feature], spans, head) | (NO if missing else 0)

    def lawful(self, cause: Cause, fired: Sequence[int]) -> int:
        """Return the truth of "the law allows the value", exceptions aside (contract, section 2)."""
        backed = silent = YES
        backed = NO
        for rule, fires in zip(cause.rules, fired, strict=True):
            backed = disjunction(backed, conjunction(fires, self.headed(cause, rule.head)))
            silent = conjunction(silent, negation(fires))
        spans, missing = self.sets[cause.feature]
        feature = self.problem.features[cause.feature]
        unheaded = within(feature, spans, cause.unheaded) | (YES if missing else 0)
        match cause.law:
            case "iff":
                other = conjunction(silent, unheaded)
            case "if":
                other = silent
            case _:
                other = unheaded
        return disjunction(backed, other)


class Judge:
    """Consistency and the goal for one person: laws and constraints with the exceptions of the initial state."""

    def __init__(self, problem: Problem, forest: Forest | None, initial: Sets) -> None:
        self.problem, self.forest, self.initial = problem, forest, initial
        start = self.facts(initial)
        self.excused: dict[int, tuple[int, ...]] = {}
        for cause in problem.causes:
            fired = start.fired(cause)
            if start.lawful(cause, fired) == NO:
                self.excused[cause.feature] = fired
        self.broken = tuple(each for each in problem.constraints if start.body(each.body) == YES)

    def facts(self, sets: Sets) -> Facts:
        """Return the facts of a set of states."""
        return Facts(self.problem, self.forest, sets)

    def _unchanged(self, sets: Sets, feature: int) -> int:
        """Return the truth of "the feature has its initial value"."""
        own, now = self.initial[feature], sets[feature]
        if own == now:
            return YES if own.missing or own.spans[0][0] == own.spans[0][1] else YES | NO
        if own.missing:
            return YES | NO if now.missing else NO
        value = own.spans[0][0]
        inside = any(low <= value <= high for low, high in now.spans)
        return YES | NO if inside else NO

    def obeyed(self, facts: Facts, cause: Cause, fired: Sequence[int]) -> int:
        """Return the truth of "the law holds or its exception does"."""
        truth = facts.lawful(cause, fired)
        before = self.excused.get(cause.feature)
        if before is None or truth == YES:
            return truth
        kept = self._unchanged(facts.sets, cause.feature)
        for was, fires in zip(before, fired, strict=True):
            kept = conjunction(kept, fires if was == YES else negation(fires))
        return disjunction(truth, kept)

    def respected(self, facts: Facts, constraint: Constraint) -> int:
        """Return the truth of "the constraint is not broken, or tolerated as an exception"."""
        truth = negation(facts.body(constraint.body))
        if constraint not in self.broken or truth == YES:
            return truth
        kept = YES
        for feature in constraint.reads:
            kept = conjunction(kept, self._unchanged(facts.sets, feature))
        return disjunction(truth, kept)

    def consistent(self, facts: Facts) -> int:
        """Return the truth of "every law and constraint is obeyed, exceptions included"."""
        truth = YES
        for cause in self.problem.causes:
            truth = conjunction(truth, self.obeyed(facts, cause, facts.fired(cause)))
            if truth == NO:
                return NO
        for constraint in self.problem.constraints:
            truth = conjunction(truth, self.respected(facts, constraint))
            if truth == NO:
                return NO
        return truth

    def final(self, facts: Facts) -> int:
        """Return the truth of "the state is consistent and meets the goal"."""
        truth = facts.body(self.problem.goal)
        return NO if truth == NO else conjunction(truth, self.consistent(facts))
