"""Three-valued laws, constraints, exceptions and goal over a set of states.

A set of states is one value set per feature. On single states every truth is decided, so the same code replays plans.

Sound because `Feature.within` says YES or NO only if every value of the set agrees, and "and", "or" and "not" of bounds
are bounds; a statement that depends on another one is at worst MAYBE. No reason to close a box relies on MAYBE.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from p2c_verify.forest import Forest
from p2c_verify.problem import Cause, Formula, Problem, Rule, combined
from p2c_verify.values import MAYBE, NO, YES, Sets, complement, require


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
        causes, limits = problem.causes, problem.constraints
        self.laws = [self._law(each) for each in causes]
        self.limits = [combined("not", [each.body]) for each in limits]
        start = self.facts(initial)
        require(start.is_decided, "the model's answers leave open what holds in the initial state")
        violated = zip(causes, start.fired, start.laws, strict=True)
        self.excused = {cause.feature: fired for cause, fired, law in violated if law == NO}
        """The fired rules of each endogenous feature that is inconsistent at the start."""
        self.broken = [
            each for each, law in zip(limits, self.limits, strict=True) if start.truth(law) == NO
        ]
        refused = problem.strict and (self.excused or self.broken)
        require(not refused, "the row breaks a law or constraint, which `strict` refuses")
        self.laws = [
            self._excepted(law, {each.feature}, each.rules, self.excused.get(each.feature))
            for each, law in zip(causes, self.laws, strict=True)
        ]
        self.limits = [
            self._excepted(law, each.body.reads, (), [] if each in self.broken else None)
            for each, law in zip(limits, self.limits, strict=True)
        ]
        self.consistent = combined("all", self.laws + self.limits)
        self.final = combined("all", [problem.goal, *self.laws, *self.limits])

    def _law(self, cause: Cause) -> Formula:
        """Return the law of an endogenous feature over the fired heads and other values."""
        test = self.problem.test
        silent = combined("not", [combined("any", [rule.body for rule in cause.rules])])
        unheaded = test(cause.feature, cause.unheaded)
        added = {"iff": [silent, unheaded], "if": [silent], "only_if": [unheaded]}[cause.law]
        fired = [
            combined("all", [test(cause.feature, rule.head), rule.body]) for rule in cause.rules
        ]
        return combined("any", [*fired, combined("all", added)])

    def _excepted(
        self, law: Formula, kept: Iterable[int], rules: Iterable[Rule], fired: Iterable[int] | None
    ) -> Formula:
        """Return a law or its exception: unchanged features, rules that fire as before."""
        if fired is None:
            return law
        same = [self.problem.test(place, self.initial[place]) for place in kept]
        pairs = zip(rules, fired, strict=True)
        same += [rule.body if was == YES else combined("not", [rule.body]) for rule, was in pairs]
        return combined("any", [law, combined("all", same)])

    def facts(self, sets: Sets) -> Facts:
        """Return the facts of a set of states."""
        return Facts(self, sets)

    def narrowed(self, sets: Sets) -> Sets | None:
        """Return the states that may be final, None if there are none.

        Unit propagation over the goal, the laws and the constraints. Sound because each statement on the stack has the
        demanded truth in every final state of the set: the parts of a true conjunction are true, and where all parts of a
        false one but one are true, that one is false; "any" is the dual. A test then keeps the values that pass it.
        """
        kept, before = list(sets), Sets()
        while before != tuple(kept):
            before, waiting, done = tuple(kept), [(self.final, YES)], set[tuple[Formula, int]]()
            facts = self.facts(before)
            while waiting:
                formula, due = waiting.pop()
                if facts.truth(formula) == YES - due:
                    return None
                if (formula, due) in done:
                    continue
                done.add((formula, due))
                if formula.kind == "test":
                    place, wanted = formula.feature, formula.wanted
                    passing = self.problem.features[place].passing
                    kept[place] = passing(kept[place], wanted if due else complement(wanted))
                    if not kept[place]:
                        return None
                elif formula.kind == "not":
                    waiting.append((formula.parts[0], YES - due))
                elif (formula.kind == "all") == (due == YES):
                    waiting += [(part, due) for part in formula.parts]
                else:
                    open_ = [part for part in formula.parts if facts.truth(part) != YES - due]
                    waiting += [(part, due) for part in open_ if len(open_) == 1]
        return before


class Facts:
    """The truth of formulas over one set of states."""

    def __init__(self, judge: Judge, sets: Sets) -> None:
        self.judge, self.problem, self.sets = judge, judge.problem, sets
        self._known: dict[Formula, int] = {}
        # Callees come first, so a long chain of decisions needs no deep call stack.
        for each in self.problem.decisions.values() if len(self.problem.decisions) > 100 else ():
            self.truth(each)

    def truth(self, formula: Formula) -> int:
        """Return the truth of a formula."""
        if formula not in self._known:
            self._known[formula] = self._truth(formula)
        return self._known[formula]

    def _truth(self, formula: Formula) -> int:
        match formula.kind:
            case "test":
                feature = self.problem.features[formula.feature]
                return feature.within(self.sets[formula.feature], formula.wanted)
            case "accepted":
                return self.accepted()
            case "not":
                return YES - self.truth(formula.parts[0])
            case "all":
                return conjunction(map(self.truth, formula.parts))
            case _:  # "any": not all parts are false
                return YES - conjunction(YES - self.truth(each) for each in formula.parts)

    def accepted(self) -> int:
        """Return the truth of `accepted(X)`."""
        assert self.judge.forest is not None
        return self.judge.forest.accepted(self.sets)

    @cached_property
    def fired(self) -> list[list[int]]:
        """Return for each endogenous feature the truth of its rules' bodies."""
        return [[self.truth(rule.body) for rule in cause.rules] for cause in self.problem.causes]

    @cached_property
    def laws(self) -> list[int]:
        """Return the truth of "its law or its exception holds" by endogenous feature."""
        return [self.truth(each) for each in self.judge.laws]

    @property
    def consistent(self) -> int:
        """Return the truth of "every law and constraint is obeyed, exceptions included"."""
        return self.truth(self.judge.consistent)

    @property
    def final(self) -> int:
        """Return the truth of "the state is consistent and meets the goal"."""
        return self.truth(self.judge.final)

    @property
    def is_decided(self) -> bool:
        """Tell whether it is known which rules fire and which laws and constraints hold."""
        fired = (truth for truths in self.fired for truth in truths)
        return MAYBE not in [*self.laws, *map(self.truth, self.judge.limits), *fired]
