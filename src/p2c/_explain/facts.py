"""What a claim rests on, as plain facts about the person: no rule, no variable, no name that a rule made up; and caveats.

Every leaf of a proof is a fact that is true of the person, however deep it stands and whatever is negated above it. So
the leaves, one after the other, are an honest reason in words that need no logic. What an answer rests on besides its rules
are values that are not known, and what the rules themselves were learned from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from p2c._explain.phrases import ENGLISH
from p2c._explain.sentences import (
    compared_words,
    filled,
    label_words,
    number_words,
    relation_of,
    statement_words,
)
from p2c._markup import clean
from p2c._rules.proof import Compared
from p2c._rules.syntax import Comparator

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from p2c._explain.phrases import Phrases
    from p2c._rules.proof import ProofNode
    from p2c._rules.theory import Theory
    from p2c._spec.feature import Value
    from p2c._spec.spec import SourceSpec


MOST_FACTS = 8
"""How many facts one reason tells before it only counts the others."""


def facts(theory: Theory, nodes: Iterable[ProofNode], phrases: Phrases) -> tuple[str, ...]:
    """Return what some claims rest on, as clauses that say how each value stands to what is asked.

    The values that a feature does not have share a clause.
    """
    grouped: dict[object, tuple[Comparator, list[Compared]]] = {}
    for claim, relation in _leaves(nodes):
        is_other = relation is Comparator.NE and claim.value is not None
        key = claim.test.feature if is_other else (claim, relation)
        grouped.setdefault(key, (relation, []))[1].append(claim)
    told = (
        compared_words(theory, claims, relation, phrases) for relation, claims in grouped.values()
    )
    return _first_few(told, phrases)


def circumstances(theory: Theory, nodes: Iterable[ProofNode], phrases: Phrases) -> tuple[str, ...]:
    """Return what some claims rest on, as clauses that only say which values there are."""
    known = ((theory.feature[claim.test.feature], claim.value) for claim, _ in _leaves(nodes))
    return _first_few((statement_words(*each, phrases) for each in known), phrases)


def _leaves(nodes: Iterable[ProofNode]) -> Iterator[tuple[Compared, Comparator]]:
    for leaf in (each for node in nodes for each in node.leaves()):
        if isinstance(leaf.claim, Compared):
            yield leaf.claim, relation_of(leaf.claim, holds=leaf.holds)


def _first_few(clauses: Iterable[str], phrases: Phrases) -> tuple[str, ...]:
    told = list(dict.fromkeys(clauses))
    if len(told) > MOST_FACTS:
        told = [*told[:MOST_FACTS], more_words(len(told) - MOST_FACTS, phrases)]
    return tuple(told) or (phrases.always,)


def more_words(count: int, phrases: Phrases) -> str:
    """Return the clause that counts what is left out."""
    return phrases.one_more_fact if count == 1 else filled(phrases.more_facts, count=str(count))


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
