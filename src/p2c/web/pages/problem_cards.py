"""What the list of problems says of each: its goal, what the decision looks at, and what a person can change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from p2c.domain.feature import in_language
from p2c.explain.phrases import phrases_of
from p2c.explain.sentences import decision_words, filled, label_words, number_words, value_words
from p2c.rules.theory import Test

if TYPE_CHECKING:
    from collections.abc import Iterable

    from p2c.explain.phrases import Phrases
    from p2c.rules.theory import Condition, Theory
    from p2c.web.problem_store import Entry

MOST = 6
"""How many features are named on a card."""


@dataclass(frozen=True, slots=True)
class Card:
    """A problem in a few lines; `facts` pairs headings with what they head."""

    id: str
    name: str
    goal: str
    facts: tuple[tuple[str, str], ...]
    size: str


def card_of(entry: Entry, language: str) -> Card:
    """Return the card of a problem in a language."""
    phrases = phrases_of(language)
    words, theory = phrases.pages, entry.problem.theory
    read = theory.reads(theory.goal)
    changeable = [each.name for each in theory.features if each.action.is_direct]
    governed = [each.name for each in theory.features if each.governed]
    facts = (
        (words["card_reads"], _named(theory, read, phrases)),
        (words["card_change"], _named(theory, changeable, phrases)),
        (words["card_effect"], _named(theory, governed, phrases)),
    )
    size = filled(
        words["card_size"],
        features=number_words(len(theory.features), phrases),
        rules=number_words(len(theory.program.rules), phrases),
        people=number_words(len(entry.rows), phrases),
    )
    goal = phrases.conjunction.join(_told(theory, each, phrases) for each in theory.goal)
    told = tuple((heading, text) for heading, text in facts if text)
    return Card(entry.id, entry.problem.name, goal, told, size)


def _named(theory: Theory, names: Iterable[str], phrases: Phrases) -> str:
    chosen = set(names)
    labels = [
        label_words(in_language(each, phrases.language))
        for each in theory.features
        if each.name in chosen
    ]
    return ", ".join([*labels[:MOST], *(["…"] if len(labels) > MOST else [])])


def _told(theory: Theory, condition: Condition, phrases: Phrases) -> str:
    if isinstance(condition, Test):
        feature = in_language(theory.feature[condition.feature], phrases.language)
        sign = {"=<": "≤", ">=": "≥", "\\=": "≠"}.get(
            condition.comparator.value, condition.comparator.value
        )
        constant = value_words(feature, condition.constant, phrases)
        text = f"{label_words(feature)} {sign} {constant}"
    else:
        text = decision_words(condition.decision, phrases)
    return filled(phrases.pages["card_not"], decision=text) if condition.negated else text
