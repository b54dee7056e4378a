"""What a claim rests on, as plain facts about the person: no rule, no variable, no name that a rule made up; and caveats.

Every leaf of a proof is a fact that is true of the person, however deep it stands and whatever is negated above it. So
the leaves, one after the other, are an honest reason in words that need no logic. What an answer rests on besides its rules
are values that are not known, and what the rules themselves were learned from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from p2c.explain.phrases import ENGLISH
from p2c.explain.sentences import (
    compared_words,
    filled,
    label_words,
    number_words,
    statement_words,
    value_words,
)
from p2c.markup import clean
from p2c.rules.proof import Compared
from p2c.rules.syntax import Comparator

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from p2c.domain.feature import Value
    from p2c.domain.spec import SourceSpec
    from p2c.explain.phrases import Phrases
    from p2c.rules.proof import ProofNode
    from p2c.rules.theory import Theory


MOST_FACTS = 8
"""How many facts one reason tells before it only counts the others."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """A fact that a proof rests on."""

    claim: Compared
    holds: bool

    @property
    def other(self) -> bool:
        """Tell whether the fact is that a known value is not some other one."""
        plain = Comparator.EQ if self.holds is self.claim.test.negated else Comparator.NE
        return self.claim.value is not None and self.claim.test.comparator is plain


def facts(theory: Theory, nodes: Iterable[ProofNode], phrases: Phrases) -> tuple[str, ...]:
    """Return what some claims rest on, as clauses that say how each value stands to what is asked."""
    told = _Facts(theory, phrases)
    found = [_leaf(each) for node in nodes for each in node.leaves()]
    leaves = [each for each in found if each is not None]
    return told.distinct(told.comparisons(leaves))


def circumstances(theory: Theory, nodes: Iterable[ProofNode], phrases: Phrases) -> tuple[str, ...]:
    """Return what some claims rest on, as clauses that only say which values there are."""
    told = _Facts(theory, phrases)
    found = [_leaf(each) for node in nodes for each in node.leaves()]
    return told.distinct(told.statement(each) for each in found if each is not None)


def more_words(count: int, phrases: Phrases) -> str:
    """Return the clause that counts what is left out."""
    return phrases.one_more_fact if count == 1 else filled(phrases.more_facts, count=str(count))


def _leaf(node: ProofNode) -> Leaf | None:
    return Leaf(node.claim, node.holds) if isinstance(node.claim, Compared) else None


class _Facts:
    """Puts facts into one language."""

    def __init__(self, theory: Theory, phrases: Phrases) -> None:
        self.theory = theory
        self.phrases = phrases

    def distinct(self, clauses: Iterable[str]) -> tuple[str, ...]:
        told = list(dict.fromkeys(clauses))
        if len(told) > MOST_FACTS:
            told = [*told[:MOST_FACTS], more_words(len(told) - MOST_FACTS, self.phrases)]
        return tuple(told) or (self.phrases.always,)

    def statement(self, leaf: Leaf) -> str:
        feature = self.theory.feature[leaf.claim.test.feature]
        if leaf.claim.value is None:
            return filled(self.phrases.unknown_statement, label=label_words(feature))
        return statement_words(feature, leaf.claim.value, self.phrases)

    def comparisons(self, leaves: list[Leaf]) -> list[str]:
        """Return a clause for each fact; the values that one feature does not have share a clause."""
        clauses: list[str] = []
        grouped: set[str] = set()
        for leaf in leaves:
            name = leaf.claim.test.feature
            if not leaf.other:
                clauses.append(self.comparison(leaf))
            elif name not in grouped:
                grouped.add(name)
                same = [e for e in leaves if e.other and e.claim.test.feature == name]
                clauses.append(self.others(same))
        return clauses

    def comparison(self, leaf: Leaf) -> str:
        feature = self.theory.feature[leaf.claim.test.feature]
        return compared_words(feature, leaf.claim, holds=leaf.holds, phrases=self.phrases)

    def others(self, leaves: list[Leaf]) -> str:
        feature = self.theory.feature[leaves[0].claim.test.feature]
        constants = dict.fromkeys(
            value_words(feature, each.claim.test.constant, self.phrases) for each in leaves
        )
        return filled(
            self.phrases.relations[Comparator.NE.value],
            statement=statement_words(feature, leaves[0].claim.value, self.phrases),
            constant=self.phrases.disjunction.join(constants),
        )


def proved_by(theory: Theory, phrases: Phrases = ENGLISH) -> str:
    """Return what follows the word "proved": nothing, or by which learned rules."""
    by = rules_words(theory, phrases)
    return f" {by}" if by else ""


def rules_words(theory: Theory, phrases: Phrases = ENGLISH) -> str:
    """Say how far learned rules agree with what they were learned from; nothing where somebody wrote the rules."""
    return source_words(theory.source, phrases) if theory.source else ""


def source_words(source: SourceSpec, phrases: Phrases = ENGLISH) -> str:
    """Say how far the rules agree with what they were learned from."""
    if source.fidelity is None:
        return phrases.learned_from[source.origin.value]
    # Rules that are not always right are never shown to be.
    share = 100.0 if source.fidelity == 1 else min(round(source.fidelity * 100, 1), 99.9)
    written = filled(phrases.percent, share=number_words(share, phrases))
    return filled(phrases.agree_with[source.origin.value], share=written)


def caveats(
    theory: Theory, state: Mapping[str, Value], phrases: Phrases = ENGLISH, *, rules: bool = True
) -> tuple[str, ...]:
    """Return the sentences that an answer needs beside it; `rules` for what is to be said of learned ones."""
    told = []
    missing = theory.missing(state)
    if missing:
        labels = ", ".join(label_words(theory.feature[name]) for name in missing)
        told.append(clean(filled(phrases.rests_on_unknown, labels=labels)))
    by = rules_words(theory, phrases)
    if by and rules:
        told.append(filled(phrases.given_by, by=by))
    return tuple(told)
