"""Who causes whom, as far as candidates say: one arrow for each pair of features that a rule connects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from p2c.learn.causal.candidate import Candidate


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
