"""Why the rules say what they say of one row: a tree of what was tried, what held and what failed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from p2c.learn.foldse.literals import LearnedLiteral, LearnedRule, Relation
from p2c.learn.foldse.text import predicate_name
from p2c.rules.render import quote

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

WORDS = {
    (Relation.EQUAL, False): "is {}",
    (Relation.EQUAL, True): "is not {}",
    (Relation.AT_MOST, False): "is at most {}",
    (Relation.AT_MOST, True): "is not at most {}",
    (Relation.ABOVE, False): "is above {}",
    (Relation.ABOVE, True): "is not above {}",
}


@dataclass(frozen=True, slots=True)
class LiteralProof:
    """One literal beside the value that it was tried on."""

    literal: LearnedLiteral
    value: float | str
    holds: bool


@dataclass(frozen=True, slots=True)
class RuleProof:
    """One rule or exception, with every literal and exception of it."""

    rule: LearnedRule
    holds: bool
    literals: tuple[LiteralProof, ...]
    exceptions: tuple[RuleProof, ...]


@dataclass(frozen=True, slots=True)
class PredictionProof:
    """A prediction and the rules tried for it: the last one holds, or all failed and the label is the default."""

    label: object
    rules: tuple[RuleProof, ...]

    @property
    def by_default(self) -> bool:
        """Tell whether no rule held."""
        return not any(rule.holds for rule in self.rules)

    def __str__(self) -> str:
        reason = "no rule holds" if self.by_default else "a rule holds"
        lines = [f"{self.label}, because {reason}"]
        for rule in self.rules:
            lines += _rule_lines(rule, f"rule for {rule.rule.label}", depth=1)
        return "\n".join(lines)


def prove(
    rules: Sequence[LearnedRule], row: Mapping[str, float | str], *, default: object
) -> PredictionProof:
    """Try the rules in order until one holds of the row."""
    tried: list[RuleProof] = []
    for rule in rules:
        tried.append(prove_rule(rule, row))
        if tried[-1].holds:
            return PredictionProof(rule.label, tuple(tried))
    return PredictionProof(default, tuple(tried))


def prove_rule(rule: LearnedRule, row: Mapping[str, float | str]) -> RuleProof:
    """Try one rule, literal by literal and exception by exception."""
    literals = tuple(
        LiteralProof(each, row[each.feature], each.holds(row[each.feature]))
        for each in rule.literals
    )
    exceptions = tuple(prove_rule(each, row) for each in rule.exceptions)
    holds = all(each.holds for each in literals) and not any(each.holds for each in exceptions)
    return RuleProof(rule, holds, literals, exceptions)


def _rule_lines(proof: RuleProof, name: str, *, depth: int) -> Iterator[str]:
    indent = "  " * depth
    yield f"{indent}{name} {_verdict(proof.holds)}"
    for each in proof.literals:
        words = WORDS[each.literal.relation, each.literal.negated]
        test = f"{predicate_name(each.literal.feature)} {words.format(_shown(each.literal.value))}"
        yield f"{indent}  {test}: {_verdict(each.holds)}, it is {_shown(each.value)}"
    for exception in proof.exceptions:
        yield from _rule_lines(exception, "exception", depth=depth + 1)


def _verdict(holds: bool) -> str:
    return "holds" if holds else "fails"


def _shown(value: float | str) -> str:
    if isinstance(value, float):
        return str(round(value, 3))
    return quote(value) if value else "missing"
