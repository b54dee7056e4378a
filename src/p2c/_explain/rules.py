"""A rule in words for somebody who knows the matter and not the rule language, and what each law makes of it.

    marital_status(X,'Married-civ-spouse') :- relationship(X,'Husband').

    If relationship is Husband, then marital status is Married-civ-spouse.

Exceptions and other decisions that a rule calls are told in its place, in brackets; where that would put brackets into
brackets, they are named and told in sentences of their own, down to `DEEPEST` levels, below which they are only named. The laws of a problem are read back: which values no rule names, and who breaks a law.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from p2c._explain.phrases import ENGLISH
from p2c._explain.sentences import (
    as_sentence,
    decision_words,
    filled,
    label_words,
    relation_words,
    value_words,
)
from p2c._rules.binder import decision_of
from p2c._rules.evaluate import clause_fires, in_head
from p2c._rules.meaning import (
    ConstraintException,
    EquationException,
    abduce,
    candidate_values,
    unheaded,
)
from p2c._rules.syntax import Comparator
from p2c._rules.theory import Call, Relation, Test
from p2c._spec.feature import Law

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from p2c._explain.phrases import Phrases
    from p2c._rules.theory import Clause, Condition, Decision, Theory
    from p2c._spec.feature import Feature, Value
    from p2c._spec.row import State

DEEPEST = 4
FOLLOWING = (Law.IFF, Law.IF)
"""The laws under which a rule that applies decides the value."""
UNFIRED = {0: "unfired_none", 1: "unfired_one"}
"""What is said where no rule applies, by how many values or ranges of them no rule names."""
LEAVING = (Law.IFF, Law.ONLY_IF)
"""The laws under which a value that rules name needs a rule that applies."""


@dataclass(frozen=True, slots=True)
class LawWords:
    """What a law says of one rule, and for its effect an example of somebody whom it changes or leaves alone."""

    law: Law
    text: str
    examples: tuple[str, ...]


def rule_words(theory: Theory, clause: Clause, phrases: Phrases) -> str:
    """Return a rule as a sentence, and one for each rule of what it only names; one that is not causal leads to a decision."""
    told = _Words(theory, phrases, named={})
    said: list[str] = []
    clauses: tuple[Clause, ...] = (clause,)
    for _ in range(DEEPEST + 1):
        before = len(told.named or ())
        said += map(told.sentence, clauses)
        new = list(told.named or ())[before:]
        clauses = tuple(each for decision in new for each in theory.rules_for[decision])
    return " ".join(said)


def body_words(theory: Theory, clause: Clause, phrases: Phrases) -> str:
    """Return what a rule asks for, as a clause."""
    return _Words(theory, phrases).body(clause.body)


def condition_words(theory: Theory, test: Test, phrases: Phrases) -> str:
    """Return what a test asks for, as a clause."""
    return _Words(theory, phrases).tests([test])


def law_words(
    theory: Theory, clause: Clause, law: Law, phrases: Phrases = ENGLISH, *, others: bool = True
) -> LawWords:
    """Return what a law makes of a causal rule: a sentence, and an example on each side of it.

    `others` is false where no other rule of the feature leads to any of the same values, and none is to come.
    """
    told = _Words(theory, phrases)
    feature = theory.feature[clause.head[0].feature]
    known = [value for value in candidate_values(theory, feature) if value is not None]
    inside = [value for value in known if in_head(theory, clause, value)]
    outside = [value for value in known if value not in inside]
    words = {
        "label": label_words(feature),
        "others": filled(phrases.rules["others"], label=label_words(feature)) if others else "",
        "body": told.body(clause.body) if clause.body else phrases.rules["anything"],
        "head": told.head(clause),
        "inside": value_words(feature, inside[0], phrases) if inside else "",
        "outside": value_words(feature, outside[0], phrases) if outside else "",
    }
    frames = [
        (outside, "follows" if law in FOLLOWING else "rests"),
        (inside, "leaves" if law in LEAVING else "remains"),
    ]
    examples = [filled(phrases.rules[frame], **words) for values, frame in frames if values]
    return LawWords(
        law,
        as_sentence(filled(phrases.rules[law.value], **words), phrases),
        tuple(as_sentence(each, phrases) for each in examples),
    )


class _Words:
    """Puts the conditions of rules into one language; `named` gathers what is told elsewhere, where it may be."""

    def __init__(
        self, theory: Theory, phrases: Phrases, named: dict[Decision, None] | None = None
    ) -> None:
        self.theory = theory
        self.phrases = phrases
        self.frames = phrases.rules
        self.named = named

    def sentence(self, clause: Clause) -> str:
        frame = self.frames["rule" if clause.body else "fact"]
        words = filled(frame, body=self.body(clause.body), head=self.head(clause))
        return as_sentence(words, self.phrases)

    def head(self, clause: Clause) -> str:
        if clause.head:
            return self.tests(clause.head, known=True)
        assert clause.rule.head is not None
        return filled(
            self.frames["decides"],
            decision=decision_words(decision_of(clause.rule.head), self.phrases),
        )

    def body(self, body: Sequence[Condition], depth: int = 0) -> str:
        """Return the conditions of a body, tests of one feature side by side and exceptions in brackets."""
        parts: list[str] = []
        exceptions: list[str] = []
        for name, group in groupby(
            body, lambda each: each.feature if isinstance(each, Test) else ""
        ):
            if name:
                parts.append(self.tests([each for each in group if isinstance(each, Test)]))
                continue
            for call in group:
                if isinstance(call, Relation):
                    parts.append(relation_words(self.theory, call, self.phrases))
                    continue
                assert isinstance(call, Call)
                told = self.call(call, depth)
                (exceptions if call.negated else parts).append(told)
        conditions = self.frames["and"].join(parts)
        if not exceptions:
            return conditions or self.frames["anything"]
        frame = self.frames["unless" if conditions else "not_so"]
        without = self.frames["or"].join(exceptions)
        return filled(frame, conditions=conditions, exceptions=without)

    def call(self, call: Call, depth: int) -> str:
        clauses = self.theory.rules_for.get(call.decision, ())
        name = filled(self.frames["decides"], decision=decision_words(call.decision, self.phrases))
        if depth >= DEEPEST or not clauses:
            return name
        nested = any(isinstance(each, Call) for clause in clauses for each in clause.body)
        ways = (
            []
            if self.named is not None and nested
            else [self.body(clause.body, depth + 1) for clause in clauses]
        )
        told = self.frames["or"].join(ways)
        if self.named is not None and (nested or "(" in told):
            self.named[call.decision] = None
            return name
        several = len(ways) > 1 and not call.negated
        return filled(self.frames["either"], ways=told) if several else told

    def tests(self, tests: Sequence[Test], *, known: bool = False) -> str:
        """Return what some tests ask of one feature; a value that is not known passes where all are negated."""
        feature = self.theory.feature[tests[0].feature]
        if _asks_for_nothing(tests):
            what = self.frames["unknown"]
        else:
            told = [self.asked(each) for each in sorted(tests, key=_is_named, reverse=True)]
            what = self.frames["and"].join(dict.fromkeys(told))
            plain = known or not all(each.negated for each in tests)
            if not plain and any(each.comparator is not Comparator.EQ for each in tests):
                what = filled(self.frames["or_unknown"], what=what)
        return filled(self.frames["is"], label=label_words(feature), what=what)

    def asked(self, test: Test) -> str:
        comparator = test.comparator.opposite if test.negated else test.comparator
        constant = value_words(self.theory.feature[test.feature], test.constant, self.phrases)
        return filled(self.frames[comparator.value], constant=constant)


def _is_named(test: Test) -> bool:
    """Tell whether a test names the value, which is said before what it is not."""
    return test.comparator is (Comparator.NE if test.negated else Comparator.EQ)


def _asks_for_nothing(tests: Sequence[Test]) -> bool:
    """Tell whether a comparison has to fail and the contrary one too, which only a missing value does."""
    failing = {(each.comparator, each.constant) for each in tests if each.negated}
    return any((comparator.opposite, constant) in failing for comparator, constant in failing)


@dataclass(frozen=True, slots=True)
class Breach:
    """How many rows are exceptions to the same rules, which are those of one feature, or a constraint where it is empty.

    `applies` tells whether the rules apply and the value is another, or the value is theirs and none applies.
    """

    feature: str
    rules: tuple[Clause, ...]
    applies: bool
    rows: int


def read_law(theory: Theory, name: str, phrases: Phrases = ENGLISH) -> tuple[str, ...]:
    """Return what the law of a feature says: a sentence for each rule, then what holds where none applies."""
    feature = theory.feature[name]
    said = [
        law_words(theory, each, feature.law, phrases, others=_has_company(theory, each)).text
        for each in theory.rules_of[name]
    ]
    left = unnamed_words(theory, feature, phrases)
    frame = "unfired_if" if feature.law is Law.IF else UNFIRED.get(len(left), "unfired")
    rest = filled(phrases.rules[frame], label=label_words(feature), values=", ".join(left))
    return (*said, as_sentence(rest, phrases))


def read_constraint(theory: Theory, clause: Clause, phrases: Phrases = ENGLISH) -> str:
    """Return what may never be, as a sentence."""
    body = body_words(theory, clause, phrases)
    return as_sentence(filled(phrases.rules["never"], body=body), phrases)


def _has_company(theory: Theory, clause: Clause) -> bool:
    """Tell whether another rule of the feature leads to one of the same values."""
    name = clause.head[0].feature
    others = [each for each in theory.rules_of[name] if each is not clause]
    return any(
        in_head(theory, clause, value) and any(in_head(theory, each, value) for each in others)
        for value in candidate_values(theory, theory.feature[name])
    )


def unnamed_words(theory: Theory, feature: Feature, phrases: Phrases) -> tuple[str, ...]:
    """Return the values that no rule of a feature names, numbers as ranges."""
    runs: list[list[str | int | float]] = []
    joined = False
    for value in candidate_values(theory, feature):
        free = unheaded(theory, feature.name, value)
        if free and joined and feature.kind.is_number:
            runs[-1][1:] = [value]
        elif free:
            runs.append([value])
        joined = free
    return tuple(" – ".join(value_words(feature, each, phrases) for each in run) for run in runs)


def loses_its_rule(theory: Theory, name: str, value: Value, state: Mapping[str, Value]) -> bool:
    """Tell whether a value goes because rules name it and none of these applies, whatever others say."""
    naming = [each for each in theory.rules_of[name] if in_head(theory, each, value)]
    applies = any(clause_fires(theory, each, state) for each in naming)
    return theory.feature[name].law is Law.ONLY_IF and bool(naming) and not applies


def only_where(theory: Theory, name: str, value: Value, phrases: Phrases) -> str:
    """Return the clause that says where alone the rules let a feature have a value that they name."""
    feature = theory.feature[name]
    naming = [each for each in theory.rules_of[name] if in_head(theory, each, value)]
    ways = phrases.rules["or"].join(body_words(theory, each, phrases) for each in naming)
    words = {"label": label_words(feature), "value": value_words(feature, value, phrases)}
    return filled(phrases.because_only, body=ways, **words)


def breaches(theory: Theory, rows: Iterable[State]) -> tuple[Breach, ...]:
    """Return who among some people is an exception to what, the most frequent first."""
    counts: Counter[tuple[str, tuple[Clause, ...], bool]] = Counter()
    for row in rows:
        for found in abduce(theory, row):
            if isinstance(found, EquationException):
                continue
            if isinstance(found, ConstraintException):
                counts["", (found.constraint,), True] += 1
            elif found.fired and theory.feature[found.feature].law is not Law.ONLY_IF:
                counts[found.feature, found.fired, True] += 1
            else:
                rules = theory.rules_of[found.feature]
                naming = tuple(each for each in rules if in_head(theory, each, found.value))
                counts[found.feature, naming, False] += 1
    return tuple(Breach(*key, count) for key, count in counts.most_common())
