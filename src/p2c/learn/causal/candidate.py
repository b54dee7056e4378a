"""Causal rules that data suggest, with the evidence for and against each: questions to an expert, not yet rules.

As far as candidates say, they also draw who causes whom: one arrow for each pair of features that a rule connects.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from p2c.domain.feature import Law

if TYPE_CHECKING:
    from collections.abc import Iterable

    from p2c.domain.feature import Value

CONVINCING = 0.9
"""The share of rows, nine in ten, from which on a direction of a rule is suggested as a law."""
HALVED = 0.5
"""What part of the misses of a blind guess may be left, for nine in ten is no feat where nearly every row has the head."""


@dataclass(frozen=True, slots=True)
class Example:
    """A row of the data, counted from 1, with the values that matter to a rule."""

    row: int
    values: tuple[tuple[str, Value], ...]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the rows say of a rule.

    Of `rows`, the body holds in `support`, the head in `heads`, both in `hits`. In `covered` rows the body of this rule
    or of another candidate with the same head holds, in `explained` of these the head does. `examples` are the first
    rows with the body and without the head.
    """

    rows: int
    support: int
    heads: int
    hits: int
    covered: int
    explained: int
    examples: tuple[Example, ...] = ()

    @property
    def precision(self) -> float:
        """Return P(head|body)."""
        return self.hits / max(self.support, 1)

    @property
    def recall(self) -> float:
        """Return P(body|head)."""
        return self.hits / max(self.heads, 1)

    @property
    def recall_together(self) -> float:
        """Return P(some body|head), over all candidates with the same head."""
        return self.explained / max(self.heads, 1)

    @property
    def base(self) -> float:
        """Return P(head), what a rule has to beat."""
        return self.heads / max(self.rows, 1)

    @property
    def counterexamples(self) -> int:
        """Return how many rows have the body without the head."""
        return self.support - self.hits

    def exceptions(self, law: Law) -> int:
        """Return how many rows break the law where this rule is the only one for its head.

        `if` and `iff` are broken by the body without the head, `only_if` and `iff` by the head without the body.
        """
        missed, unexplained = self.counterexamples, self.heads - self.hits
        return {Law.IF: missed, Law.ONLY_IF: unexplained, Law.IFF: missed + unexplained}[law]

    def exceptions_together(self, law: Law) -> int:
        """Return how many rows break the law where every candidate for the same head is a rule too."""
        missed, unexplained = self.covered - self.explained, self.heads - self.explained
        return {Law.IF: missed, Law.ONLY_IF: unexplained, Law.IFF: missed + unexplained}[law]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One proposed rule: `rule` is its text with its exceptions, one rule a line; `causes` is what it reads.

    `law` is what the evidence suggests, None where neither direction convinces and an expert has to say.
    """

    id: str
    feature: str
    rule: str
    causes: tuple[str, ...]
    evidence: Evidence
    law: Law | None


def suggest_law(evidence: Evidence) -> Law | None:
    """Return the law whose every direction convinces, the strongest first.

    Where the body holds, so does the head (`if`): P(head|body). Where the head holds, so does a body (`only_if`):
    P(some body|head). Both: `iff`. A direction convinces from nine rows in ten on, where it also errs at most half as
    often as a guess that knows P(head), or P(some body), alone.
    """
    sufficient = _convinces(evidence.precision, evidence.base)
    necessary = _convinces(evidence.recall_together, evidence.covered / max(evidence.rows, 1))
    if sufficient and necessary:
        return Law.IFF
    if sufficient:
        return Law.IF
    return Law.ONLY_IF if necessary else None


def _convinces(share: float, blind: float) -> bool:
    return share >= CONVINCING and 1 - share <= HALVED * (1 - blind)


@dataclass(frozen=True, slots=True)
class Edge:
    """An arrow from a cause to an effect, with the candidates that draw it and the best P(head|body) of them.

    `mutual` says that others draw it the other way round too: data alone seldom tell a cause from its effect.
    """

    cause: str
    effect: str
    rules: tuple[str, ...]
    precision: float
    mutual: bool


def causal_graph(candidates: Iterable[Candidate]) -> tuple[Edge, ...]:
    """Return the arrows, effects and their causes in the order of the candidates."""
    found: dict[tuple[str, str], list[Candidate]] = {}
    for candidate in candidates:
        for cause in candidate.causes:
            found.setdefault((cause, candidate.feature), []).append(candidate)
    return tuple(
        Edge(
            cause=cause,
            effect=effect,
            rules=tuple(each.id for each in drawn),
            precision=max(each.evidence.precision for each in drawn),
            mutual=(effect, cause) in found,
        )
        for (cause, effect), drawn in found.items()
    )


def render_graph(edges: Iterable[Edge]) -> str:
    """Write the arrows below their effects, one a line.

    >>> print(render_graph([Edge("job", "income", ("income-1",), 0.93, mutual=False)]))
    income
      <- job: 1 rule, P(head|body) up to 93.0%
    """
    lines: list[str] = []
    effect = None
    for edge in sorted(edges, key=lambda each: (each.effect, -len(each.rules), each.cause)):
        if edge.effect != effect:
            effect = edge.effect
            lines.append(effect)
        count = f"{len(edge.rules)} rule{'s' if len(edge.rules) > 1 else ''}"
        both = "; the other way round too" if edge.mutual else ""
        arrow = "<->" if edge.mutual else "<-"
        shown = f"P(head|body) up to {edge.precision:.1%}"
        lines.append(f"  {arrow} {edge.cause}: {count}, {shown}{both}")
    return "\n".join(lines)
