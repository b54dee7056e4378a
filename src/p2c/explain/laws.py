"""The laws of a problem read back in words: what each makes of its rules, which values none names, and who breaks it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from p2c.domain.feature import Law
from p2c.explain.phrases import ENGLISH
from p2c.explain.rules import body_words, law_words
from p2c.explain.sentences import as_sentence, filled, label_words, value_words
from p2c.rules.evaluate import clause_fires, in_head
from p2c.rules.meaning import FeatureException, abduce, landmarks, unheaded

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from p2c.domain.feature import Feature, Value
    from p2c.domain.row import State
    from p2c.explain.phrases import Phrases
    from p2c.rules.theory import Clause, Theory


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
    said = [law_words(theory, each, feature.law, phrases).text for each in theory.rules_of[name]]
    left = unnamed_words(theory, feature, phrases)
    frame = "unfired_if" if feature.law is Law.IF else "unfired" if left else "unfired_none"
    rest = filled(phrases.rules[frame], label=label_words(feature), values=left)
    return (*said, as_sentence(rest, phrases))


def unnamed_words(theory: Theory, feature: Feature, phrases: Phrases = ENGLISH) -> str:
    """Return the values that no rule of a feature names, numbers as ranges; nothing where there is none."""
    runs: list[list[str | int | float]] = []
    joined = False
    for value in landmarks(theory, feature):
        free = unheaded(theory, feature.name, value)
        if free and joined and feature.kind.is_number:
            runs[-1][1:] = [value]
        elif free:
            runs.append([value])
        joined = free
    spans = [" – ".join(value_words(feature, each, phrases) for each in run) for run in runs]
    return ", ".join(spans)


def loses_its_rule(theory: Theory, name: str, value: Value, state: Mapping[str, Value]) -> bool:
    """Tell whether a value goes because rules name it and none of these applies, whatever others say."""
    naming = [each for each in theory.rules_of[name] if in_head(theory, each, value)]
    applies = any(clause_fires(theory, each, state) for each in naming)
    return theory.feature[name].law is Law.ONLY_IF and bool(naming) and not applies


def only_where(theory: Theory, name: str, value: Value, phrases: Phrases = ENGLISH) -> str:
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
            if not isinstance(found, FeatureException):
                counts["", (found.constraint,), True] += 1
            elif found.fired and theory.feature[found.feature].law is not Law.ONLY_IF:
                counts[found.feature, found.fired, True] += 1
            else:
                rules = theory.rules_of[found.feature]
                naming = tuple(each for each in rules if in_head(theory, each, found.value))
                counts[found.feature, naming, False] += 1
    return tuple(Breach(*key, count) for key, count in counts.most_common())
