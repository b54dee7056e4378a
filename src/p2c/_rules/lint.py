"""What looks wrong with a problem although it can be read: rules without effect, goals out of reach, names unused.

Every finding is proved. Where a proof would take too long (`satisfy.Effort`), nothing is said.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING

from p2c._rules.binder import render_decision
from p2c._rules.cells import every_test
from p2c._rules.evaluate import in_head
from p2c._rules.meaning import candidate_values
from p2c._rules.render import render_atom, render_rule, render_term
from p2c._rules.satisfy import Effort, Formulas, Holds, satisfiable
from p2c._rules.syntax import Atom, Comparator, Constant, Variable, bare
from p2c._rules.variables import ANY, variables
from p2c._spec.feature import Action, is_raw_name, missing_words
from p2c._spec.spec import Effects, Exceptions
from p2c.errors import first_few, nearest_word

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

    from p2c._rules.satisfy import Part
    from p2c._rules.syntax import Literal
    from p2c._rules.theory import Clause, Theory


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
    RAW_NAME = "raw_name"
    MISSING_WORDS = "missing_words"
    NOT_FOUND = "not_found"


MESSAGES = {
    "line": "line {line}: {message}",
    "never_fires": "this rule can never fire, for no state meets its body: loosen a condition or drop the rule",
    "empty_head": "the head of this rule names no admissible value of '{feature}': correct its constants",
    "implied": "this rule says nothing beyond line {lines}: drop it",
    "implied_together": "this rule says nothing beyond lines {lines} together: drop it",
    "unused_variable": "{literal} tests nothing, for its variable is never compared: compare it or drop {literal}",
    "unused_variable_goal": "goal: {literal} tests nothing, for its variable is never compared: compare it or drop {literal}",
    "unused_decision": "nothing uses {decision}, neither the goal nor a causal rule nor a constraint: use it or drop its rules",
    "misspelt_head": "nothing uses {decision}, neither the goal nor a causal rule nor a constraint: use it or drop its rules, did you mean '{name}'?",
    "causal_cycle": "the causal rules go in a circle, {features}: check that this feedback is meant",
    "unchangeable_fixed": "'{feature}' is fixed, so its causal rules never change it: make its action 'effect' or drop them",
    "unchangeable": "nothing can change '{feature}', for nothing can change what its causal rules read: free one of its causes",
    "unread_feature": "features.{feature}: no rule reads this feature: read it in a rule or leave it out",
    "unmentioned_values": "features.{feature}.values: no rule mentions {values}: check the spelling, or leave them if the rules treat them alike",
    "goal_never_met": "goal: no state meets '{goal}': correct the goal or the rules that it calls",
    "goal_breaks_rules": "goal: no state that obeys the causal rules and constraints meets '{goal}': correct the goal or those rules",
    "goal_breaks_rules_unless_excused": "goal: no state that obeys the causal rules and constraints meets '{goal}', but for people who break those at the start: correct the goal or those rules",
    "raw_name": "features.{feature}: this name is no word that a letter can use: give the feature a label",
    "missing_words": "features.{feature}.languages.{language}: no words for {keys}: letters in '{language}' would mix two languages",
    "not_found": "{place}: nothing of this kind is found: drop it",
    "not_found_near": "{place}: nothing of this kind is found: drop it; did you mean '{name}'?",
    "not_found_known": "{place}: nothing of this kind is found: drop it; known: {names}",
    "more": "and {count} more of the kind {kind}",
}
"""The English messages of findings; catalogues of phrases have the same keys."""
MOST_SHOWN = 10
"""Maximum number of findings of one kind in a summary."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A suspicious part of a problem: place, fault and remedy in one line.

    Attributes:
        kind: The kind, under which a problem accepts findings.
        text: The key of the message in `MESSAGES`.
        facts: The words that the message is filled in with, by name.
        line: The line of the rules; None for other places.
        about: The feature, the rule or the literal, as a problem names it to accept the finding.
        reason: Why the problem accepts it; empty if it does not.
    """

    kind: Concern
    text: str
    facts: Mapping[str, str]
    line: int | None = None
    about: str = ""
    reason: str = ""

    @property
    def message(self) -> str:
        """Return the message in English."""
        return self.message_in(MESSAGES)

    def message_in(self, messages: Mapping[str, str]) -> str:
        """Return the message in the words of a language."""
        message = messages[self.text].format(**self.facts)
        return messages["line"].format(line=self.line, message=message) if self.line else message

    def __str__(self) -> str:
        return self.message


def summarized(findings: Sequence[Finding]) -> Iterator[Finding]:
    """Yield the first findings of each kind, and at its end the number of the others.

    A problem of 3,000 columns that no rule reads has as many findings of one kind.
    """
    counts = Counter((each.kind, bool(each.reason)) for each in findings)
    shown: Counter[tuple[Concern, bool]] = Counter()
    for finding in findings:
        key = finding.kind, bool(finding.reason)
        shown[key] += 1
        if shown[key] <= MOST_SHOWN:
            yield finding
        elif shown[key] == counts[key]:
            facts = {"count": f"{counts[key] - MOST_SHOWN:,}", "kind": finding.kind.value}
            yield Finding(finding.kind, "more", facts, reason=finding.reason)


def _about(kind: Concern, clause: Clause, text: str = "", **facts: str) -> Finding:
    """Return a finding about a rule."""
    return Finding(kind, text or kind.value, facts, clause.rule.at.line, render_rule(clause.rule))


def lint(
    theory: Theory, accepted: Mapping[str, Mapping[str, str]] | None = None
) -> tuple[Finding, ...]:
    """Return the findings: those about rules in the order of their lines, then the others.

    `accepted` gives a reason for what is known, by kind and what it is about; what it names and is not found, is a finding.
    """
    formulas = Formulas(theory)
    dead = _never_firing(theory, formulas)
    found = [
        *_dead_rules(theory, dead),
        *_implied_rules(theory, formulas, dead),
        *_unused_variables(theory),
        *_unused_decisions(theory),
        *_causal_cycles(theory),
        *_unchangeable(theory),
        *_unread_features(theory),
        *_unmentioned_values(theory),
        *_goal_never_met(theory, formulas),
        *_raw_names(theory),
        *_missing_words(theory),
    ]
    told = sorted(found, key=lambda each: (each.line is None, each.line or 0))
    reasons = {
        (kind, name): why for kind, each in (accepted or {}).items() for name, why in each.items()
    }
    return (
        *(replace(each, reason=reasons.get((each.kind.value, each.about), "")) for each in told),
        *_not_found(found, reasons),
    )


def _not_found(found: list[Finding], accepted: Iterable[tuple[str, str]]) -> Iterator[Finding]:
    """Report what is accepted although nobody finds it, and what there is to accept in its place."""
    known = {(each.kind.value, each.about) for each in found}
    for kind, name in accepted:
        if (kind, name) not in known:
            names = [about for each, about in known if each == kind]
            word, words = (name, names) if names else (kind, {each for each, _ in known})
            facts = {
                "place": f"lint.accept.{kind}.{name}",
                "name": nearest_word(word, words),
                "names": first_few((f"'{each}'" for each in sorted(words)), most=8),
            }
            text = (
                "not_found_near" if facts["name"] else "not_found_known" if words else "not_found"
            )
            yield Finding(Concern.NOT_FOUND, text, facts)


def misspelt_heads(theory: Theory) -> tuple[Finding, ...]:
    """Return the findings of rules that have no say, and would have one if their heads were spelt as a feature."""
    return tuple(each for each in _unused_decisions(theory) if each.kind is Concern.MISSPELT_HEAD)


def _unused_variables(theory: Theory) -> Iterator[Finding]:
    for rule in theory.program.rules:
        for atom in _uncompared(rule.body):
            yield _unused(atom, "unused_variable", atom.at.line)
    for atom in _uncompared(theory.query):
        yield _unused(atom, "unused_variable_goal", None)


def _unused(atom: Atom, text: str, line: int | None) -> Finding:
    shown = render_atom(atom)
    return Finding(Concern.UNUSED_VARIABLE, text, {"literal": shown}, line, shown)


def _uncompared(body: tuple[Literal, ...]) -> Iterator[Atom]:
    """Return the atoms of a body that bind a variable which no comparison uses."""
    inner = list(map(bare, body))
    comparisons = [each for each in inner if not isinstance(each, Atom)]
    compared = set(variables(comparisons))
    for atom in inner:
        if isinstance(atom, Atom) and len(atom.arguments) == 2:
            term = atom.arguments[1]
            if isinstance(term, Variable) and term.name != ANY and term.name not in compared:
                yield atom


def _unused_decisions(theory: Theory) -> Iterator[Finding]:
    used = dict(theory.called(theory.bodies))
    for decision, clauses in theory.decisions:
        if decision not in used:
            name = nearest_word(decision.predicate, theory.feature)
            kind = Concern.MISSPELT_HEAD if name else Concern.UNUSED_DECISION
            yield _about(kind, clauses[0], decision=render_decision(decision), name=name)


def _causal_cycles(theory: Theory) -> Iterator[Finding]:
    """Report each set of features that cause one another, by a shortest way round."""
    seen: set[str] = set()
    for name, clauses in theory.causes:
        if name in seen or name not in theory.upstream[name]:
            continue
        seen |= {each for each in theory.upstream[name] if name in theory.upstream[each]}
        shown = " <- ".join(_way_round(theory, name))
        yield _about(Concern.CAUSAL_CYCLE, clauses[0], features=shown)


def _way_round(theory: Theory, name: str) -> list[str]:
    ways = [[name]]
    for way in ways:
        for parent in sorted(theory.parents.get(way[-1], ())):
            if parent == name:
                return [*way, name]
            if all(parent not in each for each in ways):
                ways.append([*way, parent])
    raise AssertionError(f"{name} is upstream of itself")


def _unchangeable(theory: Theory) -> Iterator[Finding]:
    """Report governed features that neither a person nor a cause can change."""
    changeable = {feature.name for feature in theory.features if feature.action.is_direct}
    effects = [each for each in theory.features if each.action is Action.EFFECT]
    if theory.effects is Effects.SUPPORTED:
        changeable |= {each.name for each in effects if each.equation is None}
    for _ in effects:
        changeable |= {e.name for e in effects if theory.parents[e.name] & changeable}
    for name, clauses in theory.causes:
        if theory.feature[name].action is Action.FIXED:
            yield _about(Concern.UNCHANGEABLE, clauses[0], "unchangeable_fixed", feature=name)
        elif name not in changeable:
            yield _about(Concern.UNCHANGEABLE, clauses[0], feature=name)


def _unread_features(theory: Theory) -> Iterator[Finding]:
    bodies = [theory.goal, *(clause.body for clause in theory.clauses)]
    read = frozenset().union(*map(theory.reads, bodies))
    for feature in reversed(theory.computed):
        if feature.name in read and feature.equation is not None:
            read |= feature.equation.reads
    for feature in theory.features:
        if feature.name not in read:
            yield _of_feature(Concern.UNREAD_FEATURE, feature.name)


def _of_feature(kind: Concern, name: str, **facts: str) -> Finding:
    """Return a finding about a feature."""
    return Finding(kind, kind.value, {"feature": name, **facts}, about=name)


def _unmentioned_values(theory: Theory) -> Iterator[Finding]:
    """Report the categories that no rule names; the values of an ordinal may be meant by their order."""
    mentioned: dict[str, set[str | int | float]] = {}
    ordered = set()
    for test in every_test(theory):
        mentioned.setdefault(test.feature, set()).add(test.constant)
        if test.comparator not in (Comparator.EQ, Comparator.NE):
            ordered.add(test.feature)
    for name, constants in mentioned.items():
        feature = theory.feature[name]
        if feature.kind.is_number or name in ordered:
            continue
        missing = [value for value in feature.places if value not in constants]
        if len(missing) > 1:  # a single one is what the others are not
            few = first_few((render_term(Constant(value)) for value in missing), most=8)
            yield _of_feature(Concern.UNMENTIONED_VALUES, name, values=few)


def _raw_names(theory: Theory) -> Iterator[Finding]:
    """Report raw column names in a problem that has words for other features."""
    if any(each.label or each.phrase for each in theory.features):
        for feature in filter(is_raw_name, theory.features):
            yield _of_feature(Concern.RAW_NAME, feature.name)


def _missing_words(theory: Theory) -> Iterator[Finding]:
    """Report features without words in a language in which others have theirs."""
    spoken = dict.fromkeys(name for each in theory.features for name, _ in each.languages)
    for language in spoken:
        for feature in theory.features:
            missing = missing_words(feature, language) if language != theory.language else []
            if missing:
                keys = first_few(missing)
                yield _of_feature(Concern.MISSING_WORDS, feature.name, language=language, keys=keys)


def _never_firing(theory: Theory, formulas: Formulas) -> frozenset[Clause]:
    """Return the rules whose bodies hold in no state."""
    effort = Effort()
    return frozenset(
        clause
        for clause in theory.clauses
        if satisfiable(formulas, formulas.parts(clause.body), effort) is False
    )


def _dead_rules(theory: Theory, dead: Set[Clause]) -> Iterator[Finding]:
    """Report the rules that never fire, and causal rules whose head names no value."""
    for clause in theory.clauses:
        if clause in dead:
            yield _about(Concern.NEVER_FIRES, clause)
    for name, clauses in theory.causes:
        values = candidate_values(theory, theory.feature[name])
        for clause in clauses:
            if not any(in_head(theory, clause, value) for value in values):
                yield _about(Concern.EMPTY_HEAD, clause, feature=name)


def _implied_rules(theory: Theory, formulas: Formulas, dead: Set[Clause]) -> Iterator[Finding]:
    """Report the rules that fire only where others with the same head fire too."""
    effort = Effort()
    groups = [clauses for _, clauses in (*theory.decisions, *theory.causes)]
    for clauses in (*groups, theory.constraints):
        for same in _by_head(formulas, [each for each in clauses if each not in dead]):
            kept = list(same)
            for clause in reversed(same):
                if effort.left <= 0:
                    return
                others = [each for each in kept if each is not clause]
                by = _implying(formulas, clause, others, effort)
                if by:
                    kept = others
                    text = "implied" if len(by) == 1 else "implied_together"
                    lines = first_few(str(each.rule.at.line) for each in by)
                    yield _about(Concern.IMPLIED, clause, text, lines=lines)


def _goal_never_met(theory: Theory, formulas: Formulas) -> Iterator[Finding]:
    """Report a goal that no state meets, or none that obeys the rules."""
    goal = formulas.parts(theory.goal)
    if satisfiable(formulas, goal, Effort()) is False:
        text = "goal_never_met"
    elif satisfiable(formulas, (*goal, *formulas.consistency()), Effort()) is False:
        is_excused = theory.exceptions is Exceptions.ABDUCE
        text = "goal_breaks_rules_unless_excused" if is_excused else "goal_breaks_rules"
    else:
        return
    yield Finding(Concern.GOAL_NEVER_MET, text, {"goal": theory.goal_text}, about="goal")


def _by_head(formulas: Formulas, clauses: list[Clause]) -> list[list[Clause]]:
    groups: dict[int, list[Clause]] = {}
    for clause in clauses:
        groups.setdefault(formulas.head(clause) if clause.head else -1, []).append(clause)
    return list(groups.values())


def _implying(
    formulas: Formulas, clause: Clause, others: list[Clause], effort: Effort
) -> list[Clause]:
    """Return the other rules that make a rule superfluous; none if it is needed."""
    body = formulas.parts(clause.body)
    if not others or not _excludes(formulas, body, others, effort):
        return []
    for other in others:
        if _excludes(formulas, body, [other], effort):
            return [other]
    return others


def _excludes(
    formulas: Formulas, body: tuple[Part, ...], others: list[Clause], effort: Effort
) -> bool:
    """Tell whether a body is proved to hold nowhere without one of the others."""
    number = formulas.add(formulas.parts(other.body) for other in others)
    return satisfiable(formulas, (*body, Holds(number, negated=True)), effort) is False
