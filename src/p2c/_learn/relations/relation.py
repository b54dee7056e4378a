"""Relation: a candidate with the rows for and against it."""

from __future__ import annotations

from enum import Enum
from hashlib import sha256
from typing import Self

from pydantic import StrictStr, model_validator
from pydantic.dataclasses import dataclass

from p2c._learn.tables.example import Count, Example  # noqa: TC001 - pydantic needs them at run time


class RelationKind(Enum):
    """Kinds of relations between columns."""

    COPY = "copy"
    LINEAR = "linear"
    CURVE = "curve"
    BINS = "bins"
    CODE = "code"
    SUM = "sum"
    PRODUCT = "product"
    RATIO = "ratio"
    ORDER = "order"
    GROUP = "group"
    CLOCK = "clock"
    EFFECT = "effect"


@dataclass(frozen=True, slots=True)
class Relation:
    """A candidate relation between columns.

    Attributes:
        id: Name of the candidate; its last part is a digest of the text.
        kind: What the relation says.
        features: The columns of the relation; in an equation the computed one comes first.
        text: What a problem states once the relation is approved: equations `a = b / c`, rules, or a group `name: a, b`.
        rows: Number of rows on which the relation was judged. It is 0 where only names of columns or a graph suggest it.
        holds: Number of these rows on which it holds.
        examples: First rows on which it does not hold.
    """

    id: StrictStr
    kind: RelationKind
    features: tuple[StrictStr, ...]
    text: StrictStr
    rows: Count
    holds: Count
    examples: tuple[Example, ...] = ()

    @model_validator(mode="after")
    def _of_one_table(self) -> Self:
        if self.holds > self.rows:
            raise ValueError("'holds', which is greater than 'rows'")
        if not self.features:
            raise ValueError("'features', which is empty")
        return self

    @property
    def feature(self) -> str:
        """Return the first column, which an equation computes."""
        return self.features[0]

    @property
    def share(self) -> float | None:
        """Return the share of rows on which the relation holds.

        Returns:
            A share from 0 to 1; None where no row was judged.
        """
        return self.holds / self.rows if self.rows else None

    @property
    def counterexamples(self) -> int:
        """Return the number of rows on which the relation does not hold."""
        return self.rows - self.holds

    @property
    def counts(self) -> str:
        """Return the counts as one line."""
        if self.kind is RelationKind.EFFECT:
            return "drawn in the graph; weights by linear regression"
        if not self.rows:
            return "suggested by the names of the columns"
        return f"holds on {self.holds:,} of {self.rows:,} rows"

    def __str__(self) -> str:
        return f"{self.id}: {'; '.join(self.text.splitlines())} ({self.counts})"


def relation_id(feature: str, text: str) -> str:
    """Return the id of a candidate.

    Args:
        feature: The column that the id begins with.
        text: The text of the relation, which decides the id.
    """
    return f"{feature}-{sha256(text.encode()).hexdigest()[:8]}"
