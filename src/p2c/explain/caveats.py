"""What an answer rests on besides its rules: values that are not known, and where the rules themselves come from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from p2c.explain.phrases import ENGLISH
from p2c.explain.sentences import filled, label_words, number_words
from p2c.markup import clean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p2c.domain.feature import Value
    from p2c.domain.spec import SourceSpec
    from p2c.explain.catalogue import Phrases
    from p2c.rules.theory import Theory


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
