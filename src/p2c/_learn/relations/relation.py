"""Relation: a candidate with the rows for and against it."""

from __future__ import annotations

import dataclasses
import re
from enum import Enum
from hashlib import sha256
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import BeforeValidator, Field, StrictStr, model_validator
from pydantic.dataclasses import dataclass

from p2c._rules.parse import parse
from p2c._spec.feature import Value  # noqa: TC001 - pydantic needs it at run time
from p2c.errors import ReviewError, RuleError, shorten, suggestion

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable


Count = Annotated[int, Field(strict=True, ge=0)]


def _pairs(values: Any) -> Any:
    """Return the values of a row as pairs; a review file has them as an object."""
    if not isinstance(values, dict):
        return values
    for each in values.values():
        if isinstance(each, bool) or not isinstance(each, str | int | float | None):
            raise ValueError(f"'values', which hold no {type(each).__name__}")
    return tuple(values.items())


@dataclass(frozen=True, slots=True)
class Example:
    """A row of the data, counted from 1, with the values that matter to a candidate."""

    row: Count
    values: Annotated[tuple[tuple[str, Value], ...], BeforeValidator(_pairs)]


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


GROUP = re.compile(r"([a-z_]\w*)\s*:\s*([a-z_]\w*(?:\s*,\s*[a-z_]\w*)+)")
EQUATION = re.compile(r"([a-z_]\w*)\s*=(?!<)\s*(\S.*)")


@dataclasses.dataclass(frozen=True, slots=True)
class Declared:
    """Statements of a problem that come from relations.

    Attributes:
        equations: The expression of each computed feature.
        rules: Constraints and causal rules, one a line.
        groups: The columns of each one-hot group.
    """

    equations: dict[str, str]
    rules: str
    groups: dict[str, tuple[str, ...]]

    @property
    def heads(self) -> tuple[str, ...]:
        """Return the features that the equations and rules determine."""
        heads = (rule.head.predicate for rule in parse(self.rules).rules if rule.head)
        return (*self.equations, *dict.fromkeys(heads))


def read_declared(id_: str, text: str, features: Collection[str]) -> Declared:
    """Read the text of a relation.

    Args:
        id_: The id of the candidate, for errors.
        text: Lines such as `dti = debt / income`, `:- low(X,A), high(X,B), A > B.` or `home: home_own, home_rent`.
        features: The names that the text may use.

    Raises:
        ReviewError: A line is none of these, or names no feature.
    """
    equations: dict[str, str] = {}
    groups: dict[str, tuple[str, ...]] = {}
    rules: list[str] = []
    for line in filter(None, map(str.strip, text.splitlines())):
        if line.endswith("."):
            rules.append(line)
        elif match := EQUATION.fullmatch(line):
            equations[match[1]] = match[2]
        elif match := GROUP.fullmatch(line):
            groups[match[1]] = tuple(re.split(r"\s*,\s*", match[2]))
        else:
            raise _refusal(
                id_,
                f"expected an equation 'a = b / c', a rule that ends in a full stop or a group"
                f" 'name: a, b', found '{shorten(line, 60)}'",
            )
    if not (equations or groups or rules):
        raise _refusal(id_, "expected an equation, a rule or a group, found an empty text")
    try:
        parse("\n".join(rules))
    except RuleError as error:
        raise _refusal(id_, str(error)) from error
    declared = Declared(equations, "\n".join(rules), groups)
    members = (each for columns in groups.values() for each in columns)
    for name in (*equations, *members):
        if name not in features:
            raise _refusal(id_, f"no feature '{name}'; {suggestion(name, features)}")
    return declared


def merged(parts: Iterable[tuple[str, Declared]]) -> Declared:
    """Return all that several relations declare.

    Args:
        parts: The id and the content of each relation.

    Raises:
        ReviewError: Two of them have an equation for the same feature, or a group of the same name.
    """
    equations: dict[str, str] = {}
    groups: dict[str, tuple[str, ...]] = {}
    rules: list[str] = []
    for id_, each in parts:
        for name, expression in each.equations.items():
            if equations.setdefault(name, expression) != expression:
                raise _refusal(id_, f"another approved relation has an equation for '{name}'")
        for name, columns in each.groups.items():
            if groups.setdefault(name, columns) != columns:
                raise _refusal(id_, f"another approved relation has a group '{name}'")
        rules += [line for line in each.rules.splitlines() if line not in rules]
    return Declared(equations, "\n".join(rules), groups)


def _refusal(id_: str, message: str) -> ReviewError:
    return ReviewError(f"{id_}: {message}", rules=[id_])
