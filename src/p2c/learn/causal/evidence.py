"""What data say of a rule that a person has written: its evidence, by the reference meaning of rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from p2c.domain.feature import Law
from p2c.errors import ReviewError, suggestion
from p2c.learn.causal.candidate import Evidence, Example
from p2c.learn.causal.proposal import read_proposal, theory_of
from p2c.learn.tables.domains import plain_value, tidy_frame
from p2c.rules.evaluate import clause_fires, in_head

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    import pandas as pd

    from p2c.domain.feature import Value
    from p2c.learn.causal.proposal import Proposal
    from p2c.learn.causal.review import Review


def measure(review: Review, rule_id: str, text: str, frame: pd.DataFrame) -> Evidence:
    """Return what the rows of a table say of a text that may stand in the place of a candidate."""
    proposal = read_proposal(rule_id, text, Law.IFF, review.features)
    return weigh(proposal, frame, review.features)


def weigh(
    proposal: Proposal,
    frame: pd.DataFrame,
    features: Mapping[str, Mapping[str, Any]],
    *,
    examples: int = 3,
) -> Evidence:
    """Count where the body and the head of one rule hold in a table; there are no other rules beside it."""
    theory = theory_of([proposal], features)
    (clause,) = theory.rules_of[proposal.feature]
    names = (proposal.feature, *proposal.causes)
    known: dict[tuple[Value, ...], tuple[bool, bool]] = {}
    support = heads = hits = 0
    shown: list[Example] = []
    table = tidy_frame(frame)
    for name in names:
        if name not in table:
            message = f"the data have no column '{name}'; {suggestion(name, table.columns)}"
            raise ReviewError(f"{proposal.id}: {message}", rules=[proposal.id])
    table = table[list(names)]
    for row, cells in enumerate(table.itertuples(index=False, name=None), start=1):
        values = tuple(map(plain_value, cells))
        if values not in known:
            state = dict(zip(names, values, strict=True))
            known[values] = clause_fires(theory, clause, state), in_head(theory, clause, values[0])
        body, head = known[values]
        support, heads, hits = support + body, heads + head, hits + (body and head)
        if body and not head and len(shown) < examples:
            shown.append(Example(row, tuple(zip(names, values, strict=True))))
    return Evidence(len(table), support, heads, hits, support, hits, tuple(shown))
