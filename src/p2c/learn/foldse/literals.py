"""What FOLD-SE learns: literals over the features of a row, rules of them, exceptions to those."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Relation(Enum):
    """The three tests of a value; with their negations, the six kinds of literal."""

    AT_MOST = "=<"
    ABOVE = ">"
    EQUAL = "="


@dataclass(frozen=True, slots=True)
class LearnedLiteral:
    """A test of one feature, or its negation.

    A number is never equal to a string and neither at most nor above one, so the negations hold there: on a feature
    that mixes both, `not(=<5)` and `>5` are two literals. A missing value is the string ''.

    >>> LearnedLiteral("age", Relation.AT_MOST, 27.0).complement().holds("")
    True
    """

    feature: str
    relation: Relation
    value: float | str
    negated: bool = False

    def complement(self) -> LearnedLiteral:
        """Return the literal that holds exactly where this one fails."""
        return LearnedLiteral(self.feature, self.relation, self.value, not self.negated)

    def holds(self, value: float | str) -> bool:
        """Tell whether the literal holds of one value."""
        return self._plain_holds(value) != self.negated

    def _plain_holds(self, value: float | str) -> bool:
        if self.relation is Relation.EQUAL:
            return value == self.value
        if isinstance(value, str) or isinstance(self.value, str):
            return False
        return value <= self.value if self.relation is Relation.AT_MOST else value > self.value


@dataclass(frozen=True, slots=True)
class LearnedRule:
    """A default: it holds where all its literals hold and none of its exceptions does.

    `label` is the class that the rule concludes, None for an exception.
    """

    literals: tuple[LearnedLiteral, ...]
    exceptions: tuple[LearnedRule, ...] = ()
    label: object = None


@dataclass(frozen=True, slots=True)
class Quality:
    """How a rule fared on the training rows.

    `support` counts the rows it decides, `precision` is the share of them that have its label, `recall` the share of
    its label's rows that it decides. The rules of two classes are alternatives, and each decides every row it covers;
    those of several classes are read in order, and each decides what the ones above it leave. Rows with weights are
    not counted but weighed.
    """

    support: float
    precision: float
    recall: float
