"""The syntax tree of the rule language: what FOLD-SE prints and s(CASP) reads.

A position is kept on every literal and rule for error messages and never takes part in comparison, so two programs
are equal when they say the same, wherever it stands.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from p2c._spec.expression import Expression


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

    def passes(self, side: int) -> bool:
        """Tell whether it holds of what stands below its constant (-1), at it (0) or above it (1)."""
        return side in SIDES[self.value]

    @property
    def mirrored(self) -> Comparator:
        """Return the comparison that holds with its two sides exchanged."""
        return Comparator(MIRRORED.get(self.value, self.value))

    @property
    def opposite(self) -> Comparator:
        """Return the comparison that holds of just the known values of which this one fails."""
        return Comparator(OPPOSITE[self.value])


SIDES = {"=": (0,), "\\=": (-1, 1), "<": (-1,), "=<": (-1, 0), ">": (1,), ">=": (0, 1)}
MIRRORED = {"<": ">", "=<": ">=", ">": "<", ">=": "=<"}
OPPOSITE = {"=": "\\=", "\\=": "=", "<": ">=", "=<": ">", ">": "=<", ">=": "<"}


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
class Arithmetic:
    """A comparison of two expressions over variables: `D > 0.4*I`."""

    left: Expression
    comparator: Comparator
    right: Expression
    at: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Not:
    """Negation as failure of an atom or a comparison."""

    inner: Atom | Comparison | Arithmetic
    at: Position = field(default=NOWHERE, compare=False, repr=False)


Literal = Atom | Comparison | Arithmetic | Not
PERSON = Variable("X")
"""The variable that stands for the person in rules that are written here."""


def bare(literal: Literal) -> Atom | Comparison | Arithmetic:
    """Return what a literal says, its negation aside."""
    return literal.inner if isinstance(literal, Not) else literal


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
