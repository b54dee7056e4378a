"""Three-valued laws, exceptions, equations and goal over a set of states.

A set of states is one value set per feature. On single states every truth is decided, so the same code replays plans.

Sound because `Feature.within` says YES or NO only if every value of the set agrees, intervals contain all values, and
"and", "or" and "not" of bounds are bounds; a statement that depends on another one is at worst MAYBE. No reason to close a
box relies on MAYBE.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from itertools import chain
from typing import Any

from p2c_verify.arithmetic import NOTHING, Interval, applied
from p2c_verify.forest import Forest
from p2c_verify.problem import Cause, Equation, Formula, Problem, Rule, combined
from p2c_verify.values import KNOWN, MAYBE, MISSING, NO, YES, Sets, Spans
from p2c_verify.values import compared, complement, intersect, replaced, require, truth, union

NEGLIGIBLE = Fraction(1, 10**12)
"""Relative size of a residual that counts as the rounding of doubles."""
TOLERANCE = Fraction(1, 10**9)
"""Relative tolerance of rows without residual, and of stated costs."""
UNSET: Spans = ((MISSING, MISSING),)


class Judge:
    """The person's question: the problem, the model, the start and exceptions."""

    def __init__(self, problem: Problem, forest: Forest | None, row: Mapping[str, Any]) -> None:
        self.problem, self.forest = problem, forest
        given = (each.read(row.get(each.name)) for each in problem.features)
        self.initial: Sets = tuple(((value, value),) for value in given)
        self.contradicted: list[tuple[Equation, int]] = []
        """The equations that the row contradicts, with their values."""
        for equation in problem.equations:
            self._start(equation, equation.feature.name not in row)
        self.laws = [self._law(each) for each in problem.causes]
        self.laws += [combined("not", [each.body]) for each in problem.constraints]
        """The laws of features, then the constraints; with exceptions if broken."""
        self.kept = [combined("sign", [each], KNOWN) for each in problem.arithmetic]
        """The statements that keep expressions defined."""
        start = self.start = self.facts(self.initial)
        require(start.is_decided, "it is left open what holds in the initial state")
        parts: list[Cause | Rule] = [*problem.causes, *problem.constraints]
        pairs = list(zip(parts, self.laws, strict=True))
        self.broken = [each for each, law in pairs if start.truth(law) == NO]
        refused = problem.strict and (self.broken or self.contradicted)
        require(not refused, "the row breaks what `strict` does not excuse")
        self.laws = [self._excepted(law, each, start) for each, law in pairs]
        self.kept = [each for each in self.kept if start.truth(each) == YES]
        self.kept += [self._held(each) for each in problem.equations if each.first.defined]
        self.consistent = combined("all", self.laws + self.kept)
        self.final = combined("all", [problem.goal, self.consistent])

    def _start(self, equation: Equation, omitted: bool) -> None:
        """Set the start of an equation, and fill in the value that a row omits."""
        feature, raw = equation.feature, self.facts(self.initial).interval(equation.raw)
        require(raw.low >= raw.high, f"{feature.name} is out of range at the start")
        ((own, _),), due = self.initial[feature.index], MISSING
        if raw.defined:
            due = equation.value(raw.low)
        if omitted:
            self.initial = replaced(self.initial, feature.index, ((due, due),))
        elif own != MISSING and not equation.keeps_residual:
            size = max(feature.scale, abs(own), abs(due))
            if due == MISSING or abs(own - due) > TOLERANCE * size:
                self.contradicted.append((equation, due))
        elif own != MISSING and raw.defined:
            residual = Fraction(own, feature.scale) - raw.low
            if abs(residual) > NEGLIGIBLE * max(abs(residual + raw.low), abs(raw.low)):
                equation.residual = residual
        equation.first = raw

    def _held(self, equation: Equation) -> Formula:
        """Return the statement that a computed feature has a value, or its first one."""
        shift = Formula("number", number=-equation.first.low)
        same = combined("sign", [combined("+", [equation.raw, shift])], compared("=", 0))
        return combined("any", [self.problem.test(equation.feature.index, KNOWN), same])

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

    def _excepted(self, law: Formula, part: Cause | Rule, start: Facts) -> Formula:
        """Return a law, if broken, or its exception: unchanged features, rules as before."""
        if part not in self.broken:
            return law
        kept = part.body.reads if isinstance(part, Rule) else {part.feature}
        same = [self.problem.test(place, self.initial[place]) for place in kept]
        bodies = [] if isinstance(part, Rule) else [rule.body for rule in part.rules]
        same += [each if start.truth(each) == YES else combined("not", [each]) for each in bodies]
        return combined("any", [law, combined("all", same)])

    def facts(self, sets: Sets) -> Facts:
        """Return the facts of a set of states."""
        return Facts(self, sets)

    def recomputed(self, sets: Sets) -> Sets:
        """Return states with every computed feature at its computed value.

        Sound because clipping and rounding are monotone, and the initial value is among them if the raw one may be.
        """
        for equation in self.problem.equations:
            raw, place = Facts(self, sets).interval(equation.raw), equation.feature.index
            spans = self.initial[place] if raw.joined(equation.first) == raw else ()
            if raw != equation.first:
                spans = union(spans, UNSET if raw.defined < YES else ())
                low, high = (equation.value(each + equation.residual) for each in raw[:2])
                unlimited = raw.low != raw.high and MISSING in (low, high)
                found = (*UNSET, *KNOWN) if unlimited else ((low, high),)
                spans = union(spans, found if raw.defined else ())
            sets = replaced(sets, place, spans)
        return sets

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
                if (formula, due) in done or formula.kind == "sign":
                    continue
                done.add((formula, due))
                if formula.kind == "test":
                    place, passing = formula.feature, self.problem.features[formula.feature].passing
                    wanted = formula.wanted if due else complement(formula.wanted)
                    kept[place] = passing(kept[place], wanted)
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
        """Return the truth of a statement."""
        if formula not in self._known:
            self._known[formula] = self._truth(formula)
        return self._known[formula]

    def _truth(self, formula: Formula) -> int:
        match formula.kind:
            case "test":
                feature = self.problem.features[formula.feature]
                return feature.within(self.sets[formula.feature], formula.wanted)
            case "sign":
                signs = self.interval(formula.parts[0]).signs
                return truth(signs, formula.wanted, intersect(signs, formula.wanted))
            case "accepted":
                return self.accepted()
            case "not":
                return YES - self.truth(formula.parts[0])
        truths, decisive = set[int](), NO if formula.kind == "all" else YES
        for each in formula.parts:
            truths.add(self.truth(each))
            if decisive in truths:
                return decisive
        return MAYBE if MAYBE in truths else YES - decisive

    def interval(self, expression: Formula) -> Interval:
        """Return an interval with every value of an expression."""
        match expression.kind:
            case "number":
                return Interval(expression.number, expression.number)
            case "value":
                scale = self.problem.features[expression.feature].scale
                spans = self.sets[expression.feature]
                numbers = [end for span in spans for end in span if end != MISSING]
                if not numbers:
                    return NOTHING
                defined = MAYBE if UNSET[0] in spans else YES
                return Interval(
                    Fraction(min(numbers), scale), Fraction(max(numbers), scale), defined
                )
            case "if":
                truth = self.truth(expression.parts[0])
                then, otherwise = (self.interval(each) for each in expression.parts[1:])
                return {YES: then, NO: otherwise, MAYBE: then.joined(otherwise)}[truth]
        return applied(expression.kind, [self.interval(each) for each in expression.parts])

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
        laws = zip(self.problem.causes, self.judge.laws, strict=False)
        return [self.truth(each) for _, each in laws]

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
        laws = map(self.truth, self.judge.laws + self.judge.kept)
        return MAYBE not in chain(laws, *self.fired)
