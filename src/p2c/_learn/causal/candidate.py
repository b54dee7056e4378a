"""Causal rules that data suggest, with the evidence for and against each: questions to an expert, not yet rules.

As far as candidates say, they also draw who causes whom: one arrow for each pair of features that a rule connects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from pydantic import StrictStr, model_validator
from pydantic.dataclasses import dataclass

from p2c._learn.tables.example import Count, Example  # noqa: TC001 - pydantic needs them at run time
from p2c._spec.feature import Law
from p2c.errors import counted

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST_ROWS = 10**15
"""More than any table has; the shares of larger counts could not be written."""
CONVINCING = 0.9
"""The share of rows, nine in ten, from which on a direction of a rule is suggested as a law."""
HALVED = 0.5
"""What part of the misses of a blind guess may be left, for nine in ten is no feat where nearly every row has the head."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the rows say of a rule.

    Of `rows`, the body holds in `support`, the head in `heads`, both in `hits`. In `covered` rows the body of this rule
    or of another candidate with the same head holds, in `explained` of these the head does. `examples` are the first
    rows with the body and without the head.
    """

    rows: Count
    support: Count
    heads: Count
    hits: Count
    covered: Count
    explained: Count
    examples: tuple[Example, ...] = ()

    @model_validator(mode="after")
    def _of_one_table(self) -> Self:
        possible = self.hits <= min(self.support, self.heads)
        possible &= self.explained <= min(self.covered, self.heads)
        if (
            not possible
            or not max(self.support, self.heads, self.covered) <= self.rows <= MOST_ROWS
        ):
            raise ValueError("'evidence', whose counts cannot be those of one table")
        return self

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
        return _broken(law, self.counterexamples, self.heads - self.hits)

    def exceptions_together(self, law: Law) -> int:
        """Return how many rows break the law where every candidate for the same head is a rule too."""
        return _broken(law, self.covered - self.explained, self.heads - self.explained)


def _broken(law: Law, missed: int, unexplained: int) -> int:
    return {Law.IF: missed, Law.ONLY_IF: unexplained, Law.IFF: missed + unexplained}[law]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One proposed rule: `rule` is its text with its exceptions, one rule a line; `causes` is what it reads.

    `law` is what the evidence suggests, None where neither direction convinces and an expert has to say.
    """

    id: StrictStr
    feature: StrictStr
    rule: StrictStr
    causes: tuple[StrictStr, ...]
    evidence: Evidence
    law: Law | None

    @property
    def text(self) -> str:
        """Return the rule, by the name that relations have for their text."""
        return self.rule


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


def render_graph(candidates: Iterable[Candidate]) -> str:
    """Write who causes whom: below each effect its causes, one arrow a line, with the best P(head|body) of its candidates.

    Where others draw an arrow the other way round too, it has two heads: data alone seldom tell a cause from its effect.
    """
    arrows: dict[tuple[str, str], list[float]] = {}
    for each in candidates:
        for cause in each.causes:
            arrows.setdefault((each.feature, cause), []).append(each.evidence.precision)
    lines: dict[str, list[str]] = {}
    for effect, cause in sorted(
        arrows, key=lambda arrow: (arrow[0], -len(arrows[arrow]), arrow[1])
    ):
        shares = arrows[effect, cause]
        mutual = (cause, effect) in arrows
        both = "; the other way round too" if mutual else ""
        told = f"{counted(len(shares), 'rule')}, P(head|body) up to {max(shares):.1%}{both}"
        lines.setdefault(effect, [effect]).append(f"  {'<->' if mutual else '<-'} {cause}: {told}")
    return "\n".join(line for group in lines.values() for line in group)
