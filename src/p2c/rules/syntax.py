"""The syntax tree of the rule language: what FOLD-SE prints and s(CASP) reads.

A position is kept on every literal and rule for error messages and never takes part in comparison, so two programs
are equal when they say the same, wherever it stands.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple


class Position(NamedTuple):
    """A place in rule text; line and column count from one."""

    line: int
    column: int


NOWHERE = Position(0, 0)


class Comparator(Enum):
    """The six comparisons, named by their text."""

    EQ = "="
    NE = "\\="
    LT = "<"
    LE = "=<"
    GT = ">"
    GE = ">="

    @property
    def mirrored(self) -> Comparator:
        """Return the comparison that holds with its two sides exchanged."""
        return MIRRORED[self]


MIRRORED = {
    Comparator.EQ: Comparator.EQ,
    Comparator.NE: Comparator.NE,
    Comparator.LT: Comparator.GT,
    Comparator.LE: Comparator.GE,
    Comparator.GT: Comparator.LT,
    Comparator.GE: Comparator.LE,
}


@dataclass(frozen=True, slots=True)
class Variable:
    """A logic variable such as `X` or `N1`."""

    name: str


@dataclass(frozen=True, slots=True)
class Constant:
    """An atom such as `'good'` (a string) or a number."""

    value: str | int | float


Term = Variable | Constant


@dataclass(frozen=True, slots=True)
class Atom:
    """A predicate applied to terms: `age(X,N)`, `label(X,'good')`."""

    predicate: str
    arguments: tuple[Term, ...]
    at: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison of two terms: `N=<5`."""

    left: Term
    comparator: Comparator
    right: Term
    at: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Not:
    """Negation as failure of an atom or a comparison."""

    inner: Atom | Comparison
    at: Position = field(default=NOWHERE, compare=False, repr=False)


Literal = Atom | Comparison | Not


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule `head :- body.`; without a head it is a constraint, without a body a fact."""

    head: Atom | None
    body: tuple[Literal, ...]
    at: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Program:
    """Rules in the order in which they were written."""

    rules: tuple[Rule, ...]
