"""Approved causal rules into a problem; rules that no expert has answered stay out, and say so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from p2c._learn.causal.candidate import ReviewVerdict
from p2c._learn.causal.contradictions import (
    refuse_contradictions,
    refuse_deadlocks,
    refuse_overlaps,
)
from p2c._learn.causal.review import Review
from p2c._learn.relations.relation import Relation
from p2c._rules.bind import build_theory
from p2c._rules.parse import parse
from p2c._rules.satisfy import Formulas
from p2c._spec.spec import read_spec
from p2c.errors import Fault, ProblemError, ReviewError, counted, first_few

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from p2c._learn.causal.contradictions import Proposal
    from p2c._learn.causal.review import Approved
    from p2c._rules.syntax import Program
    from p2c._rules.theory import Classifier


def approved_rules(review: Review) -> Approved:
    """Return the approved rules and relations, once every rule is answered.

    Relations may be open: answers say so where it matters.
    """
    pending = [each.id for each in review.pending() if not isinstance(each, Relation)]
    if pending:
        count = f"{counted(len(pending), 'rule')} {'is' if len(pending) == 1 else 'are'}"
        message = (
            f"{review.path}: {count} not reviewed: {first_few(pending)}: answer with p2c review"
        )
        raise ReviewError(message, rules=pending)
    approved = review.approved()
    refuse_deadlocks(approved.rules, review.features)
    return approved


def with_causal_rules(
    problem: Mapping[str, Any], review: Review, *, model: Classifier | None = None
) -> dict[str, Any]:
    """Return a problem with the approved rules added to its own and the law of every effect set.

    The problem's rules stay first. What it says of an effect otherwise (`action`, `weight`, …) is kept. A model may decide in
    the place of rules. Equations of approved relations become keys of their features, open relations the key `relations`.
    """
    approved = approved_rules(review)
    if problem.get("rules") is None:
        message = "expected the rules themselves: load the problem, which reads 'rules_file'"
        raise ProblemError([Fault("rules", message)])
    spec = read_spec({key: value for key, value in problem.items() if key != "rules_file"})
    own = parse(spec.rules or "")
    features = {name: dict(keys) for name, keys in problem["features"].items()}
    _refuse_rejected(own, review)
    for proposal in approved.rules:
        _refuse_unknown(proposal, features)
    refuse_contradictions(approved.rules, features)
    refuse_deadlocks(approved.rules, features)
    _refuse_clashes(own, approved, {n: f.law or spec.law for n, f in spec.features.items()})
    for name, law in approved.laws.items():
        features[name]["law"] = law.value
    for name, expression in approved.declared.equations.items():
        _refuse_absent(name, features)
        features[name] = computed_keys(features[name], expression)
    merged = {key: value for key, value in problem.items() if key != "rules_file"}
    merged["features"] = features
    merged |= open_relations(problem, review)
    if approved.text:
        merged["rules"] = f"{(spec.rules or '').rstrip()}\n\n{approved.text}\n"
    theory = build_theory(read_spec(merged), model=model)
    refuse_overlaps(Formulas(theory), {each.main: each.id for each in approved.rules})
    return merged


COMPUTED = frozenset(
    {"type", "label", "unit", "unit_one", "phrase", "advice", "names", "languages"}
)
"""The keys of a feature that it keeps when an equation computes it."""


def computed_keys(keys: Mapping[str, Any], expression: str) -> dict[str, Any]:
    """Return the keys of a feature that an equation computes from now on.

    The limits and the grid that data suggested are dropped, for they would clip and round the computed value.
    """
    kept = {key: value for key, value in keys.items() if key in COMPUTED}
    return kept | {"equation": expression}


def open_relations(problem: Mapping[str, Any], review: Review) -> dict[str, Any]:
    """Return the key `relations` of a problem: the relations without an answer."""
    answered = review.verdicts()
    kept = {
        id_: each for id_, each in (problem.get("relations") or {}).items() if id_ not in answered
    }
    features = set(problem["features"])
    fresh = {
        each.id: relation_keys(each)
        for each in review.open_relations()
        if features.issuperset(each.features)
    }
    return {"relations": kept | fresh} if kept or fresh or "relations" in problem else {}


def relation_keys(relation: Relation) -> dict[str, Any]:
    """Return a relation as a problem keeps it until an expert has answered."""
    counts = {"rows": relation.rows, "holds": relation.holds} if relation.rows else {}
    return {"text": relation.text, "features": list(relation.features), **counts}


def with_causes(
    problem: dict[str, Any], causal: str | Review | None, *, model: Classifier | None = None
) -> dict[str, Any]:
    """Return a problem with what follows from what: rules as text before its own, or those that a review approved."""
    if isinstance(causal, Review):
        return with_causal_rules(problem, causal, model=model)
    return problem | {"rules": f"{causal.rstrip()}\n{problem['rules']}"} if causal else problem


def _refuse_rejected(own: Program, review: Review) -> None:
    """Refuse a problem that already holds a rule which an expert rejected."""
    for answer in review.verdicts().values():
        if answer.verdict is ReviewVerdict.REJECTED:
            candidate = review.candidates[answer.rule]
            if isinstance(candidate, Relation):
                continue
            main = parse(candidate.rule).rules[0]
            if main in own.rules:
                message = f"{answer.rule}: the problem holds this rule, which {answer.by} rejected: {answer.why}"
                raise ReviewError(message, rules=[answer.rule])


def _refuse_unknown(proposal: Proposal, features: Mapping[str, Any]) -> None:
    for name in (proposal.feature, *proposal.causes):
        if name not in features:
            message = f"the problem has no feature '{name}', of which the rule speaks"
            raise ReviewError(f"{proposal.id}: {message}", rules=[proposal.id])


def _refuse_absent(name: str, features: Mapping[str, Any]) -> None:
    if name not in features:
        message = f"the problem has no feature '{name}', which an approved relation computes"
        raise ReviewError(message)


def _refuse_clashes(own: Program, approved: Approved, laws: Mapping[str, Any]) -> None:
    """Refuse a helper that the problem defines too, and a law other than that of the problem's own rules."""
    heads = {rule.head.predicate for rule in own.rules if rule.head}
    for proposal in approved.rules:
        shared: Sequence[str] = sorted(proposal.helper_names & heads)
        if shared:
            message = f"{proposal.id}: the problem defines {shared[0]} too: rename it in the rule"
            raise ReviewError(message, rules=[proposal.id])
        own_law = laws[proposal.feature]
        if proposal.feature in heads and own_law is not proposal.law:
            message = (
                f"{proposal.id}: the problem has rules of its own for '{proposal.feature}' under the"
                f" law '{own_law.value}', and this one was approved as '{proposal.law.value}'"
            )
            raise ReviewError(message, rules=[proposal.id])
