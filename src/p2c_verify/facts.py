"""Three-valued laws, constraints, exceptions and goal over a set of states.

A set of states is one value set per feature. On single states every truth is decided, so the same code replays plans.

Sound because `Feature.within` says YES or NO only if every value of the set agrees, and "and", "or" and "not" of bounds
are bounds; a statement that depends on another one is at worst MAYBE. No reason to close a box relies on MAYBE.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

from p2c_verify.forest import Forest
from p2c_verify.problem import Body, Cause, Condition, Problem, Rule, Test
from p2c_verify.values import MAYBE, NO, YES, Sets, Spans, require


def conjunction(truths: Iterable[int]) -> int:
    """Return the least truth, reading no further than the first NO."""
    least = YES
    for truth in truths:
        least = min(least, truth)
        if least == NO:
            break
    return least


class Judge:
    """The person's question: the problem, the model, the initial exceptions."""

    def __init__(self, problem: Problem, forest: Forest | None, initial: Sets) -> None:
        self.problem, self.forest, self.initial = problem, forest, initial
        self.excused: dict[int, Sequence[int]] = {}
        """The fired rules of each endogenous feature that is inconsistent at the start."""
        self.broken: tuple[Rule, ...] = ()
        start = self.facts(initial)
        require(start.is_decided, "the model's answers leave open what holds in the initial state")
        violated = zip(problem.causes, start.fired, start.laws, strict=True)
        self.excused = {cause.feature: fired for cause, fired, law in violated if law == NO}
        limits = problem.constraints
        self.broken = tuple(each for each in limits if start.respected(each) == NO)
        refused = problem.strict and (self.excused or self.broken)
        require(not refused, "the row breaks a law or constraint, which `strict` refuses")

    def facts(self, sets: Sets) -> Facts:
        """Return the facts of a set of states."""
        return Facts(self, sets)


class Facts:
    """The truth of conditions, laws and constraints over one set of states."""

    def __init__(self, judge: Judge, sets: Sets) -> None:
        self.judge, self.problem, self.sets = judge, judge.problem, sets
        self._decided: dict[str | None, int] = {}
        # Callees come first, so a long chain of decisions needs no deep call stack.
        for each in self.problem.decisions if len(self.problem.decisions) > 100 else ():
            self._decide(each)

    def condition(self, condition: Condition) -> int:
        """Return the truth of one condition."""
        if isinstance(condition, Test):
            return self._within(condition.feature, condition.wanted)
        truth = self._decide(condition.decision)
        return YES - truth if condition.negated else truth

    def _decide(self, decision: str | None) -> int:
        """Return the truth of a decision; `None` is the decision of the model."""
        if decision not in self._decided:
            truths = map(self.body, self.problem.decisions.get(decision, ()))
            self._decided[decision] = (
                self.accepted() if decision is None else max(truths, default=NO)
            )
        return self._decided[decision]

    def _within(self, feature: int, wanted: Spans) -> int:
        return self.problem.features[feature].within(self.sets[feature], wanted)

    def accepted(self) -> int:
        """Return the truth of `accepted(X)`."""
        assert self.judge.forest is not None
        return self.judge.forest.accepted(self.sets)

    def body(self, body: Body) -> int:
        """Return the truth of a conjunction."""
        return conjunction(map(self.condition, body))

    @cached_property
    def fired(self) -> list[list[int]]:
        """Return for each endogenous feature the truth of its rules' bodies."""
        return [[self.body(rule.body) for rule in cause.rules] for cause in self.problem.causes]

    @cached_property
    def laws(self) -> list[int]:
        """Return the truth of "its law or its exception holds" by endogenous feature."""
        return list(map(self._obeyed, self.problem.causes, self.fired))

    def _obeyed(self, cause: Cause, fired: Sequence[int]) -> int:
        silent, unheaded = YES - max(fired, default=NO), self._within(cause.feature, cause.unheaded)
        other = {"iff": min(silent, unheaded), "if": silent, "only_if": unheaded}[cause.law]
        heads = [self._within(cause.feature, rule.head) for rule in cause.rules]
        truth = max([other, *map(min, fired, heads)])
        if cause.feature in self.judge.excused:
            pairs = zip(self.judge.excused[cause.feature], fired, strict=True)
            same = [fires if was == YES else YES - fires for was, fires in pairs]
            truth = max(truth, min([self._unchanged(cause.feature), *same]))
        return truth

    def _unchanged(self, feature: int) -> int:
        return self._within(feature, self.judge.initial[feature])

    def respected(self, constraint: Rule) -> int:
        """Return the truth of "the constraint is not broken, or its exception holds"."""
        truth = YES - self.body(constraint.body)
        if constraint in self.judge.broken:
            kept = map(self._unchanged, self.problem.reads([constraint.body]))
            truth = max(truth, conjunction(kept))
        return truth

    @cached_property
    def consistent(self) -> int:
        """Return the truth of "every law and constraint is obeyed, exceptions included"."""
        limits = map(self.respected, self.problem.constraints)
        return min(conjunction(self.laws), conjunction(limits))

    @cached_property
    def final(self) -> int:
        """Return the truth of "the state is consistent and meets the goal"."""
        truth = self.body(self.problem.goal)
        return min(truth, self.consistent) if truth else NO

    @property
    def is_decided(self) -> bool:
        """Tell whether it is known which rules fire and which laws and constraints hold."""
        limits = map(self.respected, self.problem.constraints)
        fired = (truth for truths in self.fired for truth in truths)
        return MAYBE not in [*self.laws, *limits, *fired]
