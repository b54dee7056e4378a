"""Findings: what looks wrong with a problem although it can be read; and those that take a search to prove.

These are rules that never fire, that say nothing which others do not say, and a goal that no state meets.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from p2c.domain.spec import Exceptions
from p2c.rules.evaluate import in_head
from p2c.rules.meaning import landmarks
from p2c.rules.render import render_rule
from p2c.rules.satisfy import Effort, Holds, satisfiable

if TYPE_CHECKING:
    from collections.abc import Iterator, Set

    from p2c.rules.satisfy import Formulas, Part
    from p2c.rules.theory import Clause, Theory


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


def never_firing(theory: Theory, formulas: Formulas) -> frozenset[Clause]:
    """Return the rules whose bodies hold in no state."""
    effort = Effort()
    return frozenset(
        clause
        for _, clauses in _groups(theory)
        for clause in clauses
        if satisfiable(formulas, formulas.parts(clause.body), effort) is False
    )


def dead_rules(theory: Theory, dead: Set[Clause]) -> Iterator[Finding]:
    """Report the rules that never fire, and causal rules whose head names no value."""
    for _, clauses in _groups(theory):
        for clause in clauses:
            if clause in dead:
                message = "this rule can never fire, for no state meets its body: loosen a condition or drop the rule"
                yield about(Concern.NEVER_FIRES, clause, message)
    for name, clauses in theory.causes:
        values = landmarks(theory, theory.feature[name])
        for clause in clauses:
            if not any(in_head(theory, clause, value) for value in values):
                message = f"the head of this rule names no admissible value of '{name}': correct its constants"
                yield about(Concern.EMPTY_HEAD, clause, message)


def implied_rules(theory: Theory, formulas: Formulas, dead: Set[Clause]) -> Iterator[Finding]:
    """Report the rules that fire only where others with the same head fire too."""
    effort = Effort()
    for _, clauses in _groups(theory):
        for same in _by_head(formulas, [each for each in clauses if each not in dead]):
            kept = list(same)
            for clause in reversed(same):
                if effort.left <= 0:
                    return
                others = [each for each in kept if each is not clause]
                by = _implying(formulas, clause, others, effort)
                if by:
                    kept = others
                    message = f"this rule says nothing beyond {by}: drop it"
                    yield about(Concern.IMPLIED, clause, message)


def goal_never_met(theory: Theory, formulas: Formulas) -> Iterator[Finding]:
    """Report a goal that no state meets, or none that obeys the rules."""
    goal = formulas.parts(theory.goal)
    if satisfiable(formulas, goal, Effort()) is False:
        message = f"goal: no state meets '{theory.goal_text}': correct the goal or the rules that it calls"
        yield Finding(Concern.GOAL_NEVER_MET, message, about="goal")
    elif satisfiable(formulas, (*goal, *formulas.consistency()), Effort()) is False:
        exempt = theory.exceptions is Exceptions.ABDUCE
        rest = ", but for people who break those at the start" if exempt else ""
        message = (
            f"goal: no state that obeys the causal rules and constraints meets '{theory.goal_text}'"
            f"{rest}: correct the goal or those rules"
        )
        yield Finding(Concern.GOAL_NEVER_MET, message, about="goal")


def _groups(theory: Theory) -> Iterator[tuple[object, tuple[Clause, ...]]]:
    yield from theory.decisions
    yield from theory.causes
    yield None, theory.constraints


def _by_head(formulas: Formulas, clauses: list[Clause]) -> list[list[Clause]]:
    groups: dict[int, list[Clause]] = {}
    for clause in clauses:
        groups.setdefault(formulas.head(clause) if clause.head else -1, []).append(clause)
    return list(groups.values())


def _implying(formulas: Formulas, clause: Clause, others: list[Clause], effort: Effort) -> str:
    """Return the words for the rules without which a rule says nothing new; none where it does."""
    body = formulas.parts(clause.body)
    if not others or not _excludes(formulas, body, others, effort):
        return ""
    for other in others:
        if _excludes(formulas, body, [other], effort):
            return f"line {other.rule.at.line}"
    lines = ", ".join(str(each.rule.at.line) for each in others[:5])
    return f"lines {lines}{', …' if len(others) > 5 else ''} together"


def _excludes(
    formulas: Formulas, body: tuple[Part, ...], others: list[Clause], effort: Effort
) -> bool:
    """Tell whether a body is proved to hold nowhere without one of the others."""
    number = formulas.add(formulas.parts(other.body) for other in others)
    return satisfiable(formulas, (*body, Holds(number, negated=True)), effort) is False
