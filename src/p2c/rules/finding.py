"""Findings: what looks wrong with a problem although it can be read."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from p2c.rules.render import render_rule

if TYPE_CHECKING:
    from p2c.rules.theory import Clause


class Concern(Enum):
    """What a finding is about."""

    NEVER_FIRES = "never_fires"
    EMPTY_HEAD = "empty_head"
    IMPLIED = "implied"
    UNUSED_VARIABLE = "unused_variable"
    UNUSED_DECISION = "unused_decision"
    MISSPELT_HEAD = "misspelt_head"
    CAUSAL_CYCLE = "causal_cycle"
    UNCHANGEABLE = "unchangeable"
    UNREAD_FEATURE = "unread_feature"
    UNMENTIONED_VALUES = "unmentioned_values"
    GOAL_NEVER_MET = "goal_never_met"
    NOT_FOUND = "not_found"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to look at; the message says in one line where it is, what it is and what to do.

    `about` is the feature, the rule or the literal that it is about, as a problem names it to accept the finding; `reason`
    says why the problem accepts it.
    """

    kind: Concern
    message: str
    line: int | None = None
    about: str = ""
    reason: str = ""

    def __str__(self) -> str:
        return self.message


def about(kind: Concern, clause: Clause, message: str) -> Finding:
    """Return a finding about a rule."""
    line = clause.rule.at.line
    return Finding(kind, f"line {line}: {message}", line, render_rule(clause.rule))
