"""What looks wrong with a problem although it can be read: rules without effect, goals out of reach, names unused.

Every finding is proved. Where a proof would take too long (`satisfy.Effort`), nothing is said.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from p2c.domain.feature import Action
from p2c.domain.spec import Effects
from p2c.errors import suggestion
from p2c.rules.binder import render_decision
from p2c.rules.cells import every_test
from p2c.rules.findings import (
    Concern,
    Finding,
    about,
    dead_rules,
    goal_never_met,
    implied_rules,
    never_firing,
)
from p2c.rules.parse import parse_query
from p2c.rules.render import render_atom, render_term
from p2c.rules.satisfy import Formulas
from p2c.rules.syntax import Atom, Comparator, Comparison, Constant, Variable, bare
from p2c.rules.variables import ANY

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from p2c.rules.syntax import Literal
    from p2c.rules.theory import Theory

Findings = tuple[Finding, ...]

__all__ = ["Concern", "Finding", "lint", "misspelt_heads"]


def lint(theory: Theory, accepted: Mapping[str, Mapping[str, str]] | None = None) -> Findings:
    """Return the findings: those about rules in the order of their lines, then the others.

    `accepted` gives a reason for what is known, by kind and what it is about; what it names and is not found, is a finding.
    """
    formulas = Formulas(theory)
    dead = never_firing(theory, formulas)
    found = [
        *dead_rules(theory, dead),
        *implied_rules(theory, formulas, dead),
        *_unused_variables(theory),
        *_unused_decisions(theory),
        *_causal_cycles(theory),
        *_unchangeable(theory),
        *_unread_features(theory),
        *_unmentioned_values(theory),
        *goal_never_met(theory, formulas),
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
            same = [about for each, about in known if each == kind]
            hint = suggestion(name, same) if same else suggestion(kind, {each for each, _ in known})
            place = f"lint.accept.{kind}.{name}"
            yield Finding(
                Concern.NOT_FOUND, f"{place}: nothing of this kind is found: drop it; {hint}"
            )


def misspelt_heads(theory: Theory) -> tuple[Finding, ...]:
    """Return the findings of rules that have no say, and would have one if their heads were spelt as a feature."""
    return tuple(each for each in _unused_decisions(theory) if each.kind is Concern.MISSPELT_HEAD)


def _unused_variables(theory: Theory) -> Iterator[Finding]:
    for rule in theory.program.rules:
        for atom in _uncompared(rule.body):
            yield _unused(atom, f"line {atom.at.line}", atom.at.line)
    for atom in _uncompared(parse_query(theory.goal_text)):
        yield _unused(atom, "goal", None)


def _unused(atom: Atom, place: str, line: int | None) -> Finding:
    shown = render_atom(atom)
    message = f"{place}: {shown} tests nothing, for its variable is never compared: compare it or drop {shown}"
    return Finding(Concern.UNUSED_VARIABLE, message, line, shown)


def _uncompared(body: tuple[Literal, ...]) -> Iterator[Atom]:
    """Return the atoms of a body that bind a variable which no comparison uses."""
    inner = list(map(bare, body))
    comparisons = [each for each in inner if isinstance(each, Comparison)]
    compared = {term for each in comparisons for term in (each.left, each.right)}
    for atom in inner:
        if isinstance(atom, Atom) and len(atom.arguments) == 2:
            term = atom.arguments[1]
            if isinstance(term, Variable) and term.name != ANY and term not in compared:
                yield atom


def _unused_decisions(theory: Theory) -> Iterator[Finding]:
    used = dict(theory.called(theory.bodies))
    for decision, clauses in theory.decisions:
        if decision not in used:
            near = suggestion(decision.predicate, theory.feature)
            kind = Concern.MISSPELT_HEAD if near.startswith("did") else Concern.UNUSED_DECISION
            meant = f", {near}" if kind is Concern.MISSPELT_HEAD else ""
            message = (
                f"nothing uses {render_decision(decision)}, neither the goal nor a causal rule nor"
                f" a constraint: use it or drop its rules{meant}"
            )
            yield about(kind, clauses[0], message)


def _causal_cycles(theory: Theory) -> Iterator[Finding]:
    """Report each set of features that cause one another, by a shortest way round."""
    seen: set[str] = set()
    for name, clauses in theory.causes:
        if name in seen or name not in theory.upstream[name]:
            continue
        seen |= {each for each in theory.upstream[name] if name in theory.upstream[each]}
        shown = " <- ".join(_way_round(theory, name))
        message = f"the causal rules go in a circle, {shown}: check that this feedback is meant"
        yield about(Concern.CAUSAL_CYCLE, clauses[0], message)


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
        changeable |= {each.name for each in effects}
    for _ in effects:
        changeable |= {e.name for e in effects if theory.parents[e.name] & changeable}
    for name, clauses in theory.causes:
        if theory.feature[name].action is Action.FIXED:
            message = f"'{name}' is fixed, so its causal rules never change it: make its action 'effect' or drop them"
        elif name not in changeable:
            message = f"nothing can change '{name}', for nothing can change what its causal rules read: free one of its causes"
        else:
            continue
        yield about(Concern.UNCHANGEABLE, clauses[0], message)


def _unread_features(theory: Theory) -> Iterator[Finding]:
    groups = [clauses for _, clauses in (*theory.decisions, *theory.causes)]
    bodies = [clause.body for group in (*groups, theory.constraints) for clause in group]
    read = frozenset().union(*map(theory.reads, [*bodies, theory.goal]))
    for feature in theory.features:
        if feature.name not in read:
            message = f"features.{feature.name}: no rule reads this feature: read it in a rule or leave it out"
            yield Finding(Concern.UNREAD_FEATURE, message, about=feature.name)


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
            shown = ", ".join(render_term(Constant(value)) for value in missing[:8])
            more = ", …" if len(missing) > 8 else ""
            message = f"features.{name}.values: no rule mentions {shown}{more}: check the spelling, or leave them if the rules treat them alike"
            yield Finding(Concern.UNMENTIONED_VALUES, message, about=name)
