"""A proof in sentences for the person it is about: no rule text, no variables, only the features' own words.

A feature speaks through keys of the problem. `label` is its name in running text; without one, underscores in
the feature's name become blanks. `unit` follows a number. `names` are words for single values. `phrase` says that the feature has a value, as a clause with
the places `{label}` and `{value}`, such as `"you owe {value}"`; a phrase without `{value}` has the value put after it,
and a feature without a phrase takes the catalogue's, `"your value for {label} is {value}"`.

Each sentence states a fact that is true of the person: "Your bank balance is 40,000 dollars, which is below 60,000
dollars." A sentence that is explained by others stands before them, one level higher.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING

from p2c._explain.phrases import ENGLISH, LANGUAGES
from p2c._markup import clean
from p2c._rules.proof import DEEPEST, MOST, Applied, Compared, Decided, Query, Related
from p2c._spec.expression import renamed, text_of
from p2c._spec.feature import exact, in_language

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from p2c._explain.phrases import Phrases
    from p2c._rules.proof import Proof, ProofNode
    from p2c._rules.syntax import Comparator
    from p2c._rules.theory import Decision, Relation, Theory
    from p2c._spec.feature import Feature, Value

FOLDSE_EXCEPTION = re.compile(r"ab(\d+)")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence; those that explain it follow, one level deeper."""

    text: str
    depth: int = 0


def explain_proof(
    theory: Theory, proof: Proof, *, phrases: Phrases = ENGLISH
) -> tuple[Sentence, ...]:
    """Return the sentences of a proof, the verdict first, then its reasons."""
    return tuple(_Speaker(theory, phrases).verdict(proof.root))


def to_text(sentences: Iterable[Sentence]) -> str:
    """Return sentences as lines, a list where they give reasons."""
    return "\n".join(
        f"{'  ' * (each.depth - 1)}- {each.text}" if each.depth else each.text for each in sentences
    )


class _Speaker:
    """Puts the nodes of a proof into one language."""

    def __init__(self, theory: Theory, phrases: Phrases) -> None:
        self.theory = theory
        self.phrases = phrases

    def verdict(self, root: ProofNode) -> Iterator[Sentence]:
        parts = root.children if isinstance(root.claim, Query) else (root,)
        frame = self.phrases.goal_met if root.holds else self.phrases.goal_missed
        yield Sentence(self.sentence(frame.replace("{reason}", self.clauses(parts))))
        yield from self.reasons(parts)

    def reasons(self, nodes: Iterable[ProofNode]) -> Iterator[Sentence]:
        """Yield what explains the decisions among some nodes: a sentence for each of their rules, and its own below.

        Decisions nest to any depth; past `DEEPEST` levels or `MOST` sentences, the rest is said to be left out.
        """
        waiting = [(rule, 1) for rule in _rules(nodes)][::-1]
        told = 0
        while waiting:
            rule, depth = waiting.pop()
            told += 1
            yield Sentence(self.sentence(self.clauses(rule.children)), depth)
            below = [(each, depth + 1) for each in _rules(rule.children)]
            if below and (depth >= DEEPEST or told >= MOST):
                yield Sentence(self.sentence(self.phrases.left_out), depth + 1)
            else:
                waiting += reversed(below)

    def clauses(self, nodes: tuple[ProofNode, ...]) -> str:
        told = dict.fromkeys(self.clause(node) for node in nodes)
        return self.phrases.conjunction.join(told) or self.phrases.always

    def clause(self, node: ProofNode) -> str:
        plain = _plain(node)
        match plain.claim:
            case Compared() as claim:
                relation = relation_of(claim, holds=plain.holds)
                return compared_words(self.theory, [claim], relation, self.phrases)
            case Related(relation):
                stated = relation
                if not plain.holds:
                    stated = replace(relation, negated=not relation.negated)
                return relation_words(self.theory, stated, self.phrases)
            case Decided(call):
                frame = self.phrases.applies if plain.holds else self.phrases.applies_not
                return frame.replace("{decision}", decision_words(call.decision, self.phrases))
            case Applied() | Query():
                return self.clauses(plain.children)

    def sentence(self, clause: str) -> str:
        return as_sentence(clause, self.phrases)


def as_sentence(clause: str, phrases: Phrases) -> str:
    """Return a clause with a capital at its start and a full stop at its end, safe to show."""
    plain = clean(clause).strip()
    return f"{plain[:1].upper()}{plain[1:]}{phrases.full_stop}"


def _rules(nodes: Iterable[ProofNode]) -> list[ProofNode]:
    """Return the rules behind the decisions among some nodes."""
    return [rule for node in nodes for rule in _plain(node).children]


def _plain(node: ProofNode) -> ProofNode:
    """Return what a negated decision negates: its truth says the same of the person."""
    match node.claim:
        case Decided(call) if call.negated:
            return node.children[0]
        case _:
            return node


def relation_of(claim: Compared, *, holds: bool) -> Comparator:
    """Return how the person's value stands to the constant of a claim that holds or fails."""
    test = claim.test
    return test.comparator.opposite if holds is test.negated else test.comparator


def compared_words(
    theory: Theory, claims: Sequence[Compared], relation: Comparator, phrases: Phrases
) -> str:
    """Return the clause that says how the person's value of a feature stands to the constants of some claims."""
    test, value = claims[0].test, claims[0].value
    feature = theory.feature[test.feature]
    constants = dict.fromkeys(value_words(feature, each.test.constant, phrases) for each in claims)
    if value is None:
        frame = phrases.unknown_relations[test.comparator.value]
    elif value == test.constant and relation.value in phrases.reached:
        frame = phrases.reached[relation.value]
    else:
        frame = phrases.relations[relation.value]
    statement = statement_words(feature, value, phrases)
    return filled(frame, statement=statement, constant=phrases.disjunction.join(constants))


def relation_words(theory: Theory, relation: Relation, phrases: Phrases) -> str:
    """Return an arithmetic comparison with the features' names in running text.

    A negated comparison is written as its opposite; missing values are spoken of elsewhere.
    """
    comparator = relation.comparator.opposite if relation.negated else relation.comparator
    labels = {
        each: label_words(in_language(theory.feature[each], phrases.language))
        for each in relation.reads
    }
    left, right = (
        text_of(renamed(side, labels)).replace('"', "") for side in (relation.left, relation.right)
    )
    return f"{left} {SIGNS.get(comparator.value, comparator.value)} {right}"


SHARE = "1=100%"
"""The unit of a share that people read as percent."""
SIGNS = {"=<": "≤", ">=": "≥", "\\=": "≠"}
"""Comparisons as people write them, where that differs from rules."""


def statement_words(feature: Feature, value: Value, phrases: Phrases) -> str:
    """Return the clause that says that a feature has a value, or that it is not known."""
    if value is None:
        return filled(phrases.unknown_statement, label=label_words(feature))
    return stated_words(feature, value_words(feature, value, phrases), phrases)


def stated_words(feature: Feature, value: str, phrases: Phrases = ENGLISH) -> str:
    """Return the clause that says that a feature has a value which is in words already."""
    frame = feature.phrase or phrases.statement
    if "{value}" not in frame:
        frame = f"{frame.rstrip()} {{value}}"
    return filled(frame, label=label_words(feature), value=value)


def label_words(feature: Feature) -> str:
    """Return a feature's name in running text."""
    return feature.label or feature.name.replace("_", " ")


def value_words(feature: Feature, value: Value, phrases: Phrases = ENGLISH) -> str:
    """Return a value as people write it: 40000 as `40,000 dollars`, `no_account` as `no account`.

    >>> from p2c._spec.feature import Feature, Grid, Kind
    >>> value_words(Feature("debt", Kind.INT, Grid(0, 9999, 1), unit="dollars"), 5000)
    '5,000 dollars'
    """
    if value is None:
        return phrases.unknown
    name = feature.named.get(_plain_text(value))
    if name:
        return name
    if isinstance(value, str):
        return value.replace("_", " ")
    if feature.unit == SHARE:
        return percent_words(value, phrases)
    number = number_words(value, phrases)
    unit = unit_of_one(feature, phrases) if value == 1 else feature.unit
    return filled(phrases.with_unit, value=number, unit=unit) if unit else number


def percent_words(share: float, phrases: Phrases) -> str:
    """Return a share as percent: 0.45 as 45%."""
    percent = float(exact(share) * 100)
    return filled(phrases.percent, share=number_words(rounded(percent), phrases))


def unit_of_one(feature: Feature, phrases: Phrases) -> str:
    """Return the unit as it follows the number 1: `hour per week` for `hours per week`.

    A problem without words in the reader's language lends its own, so the other catalogues are asked as well.
    """
    if feature.unit_one:
        return feature.unit_one
    first, *rest = feature.unit.split(" ")
    known = (each.units_of_one for each in (phrases, *LANGUAGES.values()))
    one = next((units[first] for units in known if first in units), first)
    return " ".join([one, *rest])


def _plain_text(value: Value) -> str:
    """Return a value as the problem's `names` write it: 13 also where a rule says 13.0."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def number_words(number: float, phrases: Phrases = ENGLISH) -> str:
    """Return a number with its thousands set apart and no needless zeros.

    >>> number_words(6849.0), number_words(0.25), number_words(-1234567)
    ('6,849', '0.25', '-1,234,567')
    """
    whole, _, rest = f"{Decimal(str(number)):,f}".partition(".")
    rest = rest.rstrip("0")
    return whole.replace(",", phrases.thousands) + (f"{phrases.decimal}{rest}" if rest else "")


def rounded(number: float, *, digits: int = 6) -> float:
    """Return a number with as many digits as people want to read."""
    return float(f"{number:.{digits}g}")


def decision_words(decision: Decision, phrases: Phrases = ENGLISH) -> str:
    """Return a decision's name in running text; the exceptions that FOLD-SE invents get a number."""
    invented = FOLDSE_EXCEPTION.fullmatch(decision.predicate)
    if invented:
        return filled(phrases.exception, number=invented[1])
    name = decision.predicate.replace("_", " ")
    if not decision.arguments:
        return filled(phrases.decision, name=name)
    arguments = ", ".join(
        each if isinstance(each, str) else number_words(each, phrases)
        for each in decision.arguments
    )
    return filled(phrases.decision_with, name=name, arguments=arguments)


def filled(frame: str, **words: str) -> str:
    """Fill the places of a frame in one pass; braces that name no place stay as they are."""
    return re.sub(r"\{(\w+)\}", lambda match: words.get(match[1], match[0]), frame)
