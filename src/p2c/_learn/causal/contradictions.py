"""Rules as an expert proposes them, and whether they can hold together: proved over the domains of the features, by exact search.

A proposal is a causal rule as the rule language has it, the helpers that it brings, and its law.

Two rules of one feature contradict each other when both fire in some state and no value is in both heads, where their
law says that a fired rule decides the value (`if` and `iff`). The contract reads such rules as alternatives; an expert
who approves both has most likely overlooked the overlap, so here it is refused.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

from p2c._rules.bind import build_theory
from p2c._rules.evaluate import in_head
from p2c._rules.meaning import candidate_values
from p2c._rules.parse import parse
from p2c._rules.render import render, render_atom, render_term
from p2c._rules.satisfy import Effort, Formulas, Inside, satisfiable
from p2c._rules.syntax import PERSON, Atom, Constant, Program, Rule, Variable
from p2c._spec.feature import Law
from p2c._spec.spec import read_spec
from p2c.errors import ProblemError, ReviewError, RuleError, first_few

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from p2c._rules.satisfy import Part
    from p2c._rules.syntax import Rule
    from p2c._rules.theory import Clause

    Features = Mapping[str, Mapping[str, Any]]
    from collections.abc import Mapping

    from p2c._rules.theory import Theory


DOMAIN_KEYS = ("type", "values", "min", "max", "step", "label", "unit", "names")
"""What a rule is read against: the domain of a feature, and the words that its sentence takes from it."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A rule that is to hold: `main` is causal and reads `causes`, `helpers` define the decisions that only it uses."""

    id: str
    main: Rule
    helpers: tuple[Rule, ...]
    law: Law
    causes: tuple[str, ...] = ()

    @property
    def feature(self) -> str:
        """Return the effect."""
        assert self.main.head is not None
        return self.main.head.predicate

    @property
    def text(self) -> str:
        """Return the rules in canonical form, one a line."""
        return render(Program((self.main, *self.helpers)))

    @property
    def helper_names(self) -> frozenset[str]:
        """Return the predicates that the helpers define."""
        return frozenset(rule.head.predicate for rule in self.helpers if rule.head)


def read_proposal(
    id_: str, text: str, law: Law, features: Mapping[str, Mapping[str, Any]]
) -> Proposal:
    """Read the text of one causal rule and check it against the features."""
    try:
        rules = parse(text).rules
    except RuleError as error:
        raise ReviewError(f"{id_}: {error}", rules=[id_]) from error
    causal = [rule for rule in rules if rule.head and rule.head.predicate in features]
    helpers = tuple(rule for rule in rules if rule not in causal)
    if len(causal) != 1 or any(rule.head is None for rule in helpers):
        message = "expected one rule whose head is a feature, and no constraint"
        raise ReviewError(f"{id_}: {message}, found {len(causal)} such rules", rules=[id_])
    proposal = Proposal(id_, causal[0], helpers, law)
    try:
        theory = theory_of([proposal], features)
    except ProblemError as error:
        faults = "; ".join(each.message for each in error.faults)
        raise ReviewError(f"{id_}: {faults}", rules=[id_]) from error
    causes = theory.parents[proposal.feature]
    return replace(proposal, causes=tuple(name for name in features if name in causes))


def theory_of(proposals: Iterable[Proposal], features: Mapping[str, Mapping[str, Any]]) -> Theory:
    """Bind proposals to the domains of the features, with nothing else around them."""
    proposals = tuple(proposals)
    laws = {each.feature: each.law.value for each in proposals}
    domains = {
        name: {key: keys[key] for key in DOMAIN_KEYS if keys.get(key) is not None}
        | ({"law": laws[name]} if name in laws else {})
        for name, keys in features.items()
    }
    anything = Atom(next(iter(domains)), (PERSON, Variable("_")))
    text = "\n".join(each.text for each in proposals)
    return build_theory(
        read_spec({"goal": render_atom(anything), "rules": text, "features": domains})
    )


def refuse_contradictions(proposals: Sequence[Proposal], features: Features) -> None:
    """Raise the first reason why rules cannot stand beside each other, whatever rules may join them later."""
    if not proposals:
        return
    _refuse_shared_helpers(proposals)
    _refuse_mixed_laws(proposals)
    formulas = Formulas(theory_of(proposals, features))
    clauses = _clauses(formulas, proposals)
    for each in proposals:
        _refuse_dead(formulas, each, clauses[each.id])
    refuse_overlaps(formulas, {each.main: each.id for each in proposals})


def refuse_overlaps(formulas: Formulas, ids: Mapping[Rule, str]) -> None:
    """Raise where one of some rules, by their ids, contradicts another rule of the theory."""
    theory = formulas.theory
    for name, clauses in theory.causes:
        if theory.feature[name].law is Law.ONLY_IF:
            continue
        for pair in combinations(clauses, 2):
            if any(clause.rule in ids for clause in pair):
                _refuse_overlap(formulas, name, pair, ids)


def refuse_deadlocks(proposals: Sequence[Proposal], features: Features) -> None:
    """Raise where a rule fires in no state that obeys all the rules, with the fewest features that rule it out.

    This is asked of a finished review only: under `iff` and `only_if` another rule for a value allows more, so what is
    ruled out half way may be allowed in the end.
    """
    for each in proposals:
        if _fires(each, proposals, features):
            continue
        culprits = list(proposals)
        for name in {other.feature for other in proposals}:
            fewer = [other for other in culprits if other is each or other.feature != name]
            if not _fires(each, fewer, features):
                culprits = fewer
        message = "its body holds in no state that obeys the approved rules: correct one of them"
        raise _refusal(message, each, *(other for other in culprits if other is not each))


def _fires(proposal: Proposal, proposals: Sequence[Proposal], features: Features) -> bool:
    """Tell whether the body of a rule holds in some state that obeys the rules; yes, where this takes too long."""
    formulas = Formulas(theory_of(proposals, features))
    body = formulas.parts(_clauses(formulas, [proposal])[proposal.id].body)
    return satisfiable(formulas, (*body, *formulas.consistency()), Effort()) is not False


def _refuse_shared_helpers(proposals: Sequence[Proposal]) -> None:
    owners: dict[str, Proposal] = {}
    for each in proposals:
        for name in sorted(each.helper_names):
            owner = owners.setdefault(name, each)
            if owner.helpers != each.helpers:
                message = f"both define {name}: rename it in one of them"
                raise _refusal(message, owner, each)


def _refuse_mixed_laws(proposals: Sequence[Proposal]) -> None:
    first: dict[str, Proposal] = {}
    for each in proposals:
        other = first.setdefault(each.feature, each)
        if other.law is not each.law:
            message = (
                f"a feature has one law, and '{each.feature}' has '{other.law.value}' by the first"
                f" and '{each.law.value}' by the second: choose one of the two for both"
            )
            raise _refusal(message, other, each)


def _refuse_dead(formulas: Formulas, proposal: Proposal, clause: Clause) -> None:
    if satisfiable(formulas, formulas.parts(clause.body), Effort()) is False:
        raise _refusal("no row can satisfy its body: loosen or drop a condition", proposal)
    feature = formulas.theory.feature[proposal.feature]
    values = candidate_values(formulas.theory, feature)
    if not any(in_head(formulas.theory, clause, value) for value in values):
        message = f"its head names no admissible value of '{feature.name}': correct its constants"
        raise _refusal(message, proposal)


def _refuse_overlap(
    formulas: Formulas, name: str, pair: tuple[Clause, Clause], ids: Mapping[Rule, str]
) -> None:
    one, other = pair
    if formulas.head(one) & formulas.head(other):
        return
    both = formulas.parts((*one.body, *other.body))
    if satisfiable(formulas, both, Effort()):
        shown = _witness(formulas, both, one, other)
        named = [ids.get(each.rule, f"line {each.rule.at.line} of the problem") for each in pair]
        message = f"both fire where {shown}, and no value of '{name}' is in both heads"
        rules = [ids[each.rule] for each in pair if each.rule in ids]
        raise ReviewError(f"{', '.join(named)}: {message}: restrict one of them", rules=rules)


def _witness(formulas: Formulas, parts: tuple[Part, ...], *clauses: Clause) -> str:
    """Return the values of one state that satisfies a conjunction, those that matter to the rules."""
    theory = formulas.theory
    read = frozenset().union(*(theory.reads(clause.body) for clause in clauses))
    shown = []
    for name in (each.name for each in theory.features if each.name in read):
        cells = formulas.cells[name]
        for place, value in enumerate(cells.samples):
            fixed = (*parts, Inside(name, 1 << place))
            if satisfiable(formulas, fixed, Effort()):
                parts = fixed
                word = "unknown" if value is None else render_term(Constant(value))
                shown.append(f"{name} is {word}")
                break
    return " and ".join(shown) or "nothing is asked"


def _clauses(formulas: Formulas, proposals: Iterable[Proposal]) -> dict[str, Clause]:
    bound = {clause.rule: clause for _, clauses in formulas.theory.causes for clause in clauses}
    return {each.id: bound[each.main] for each in proposals}


def _refusal(message: str, *proposals: Proposal) -> ReviewError:
    ids = [each.id for each in proposals]
    return ReviewError(f"{first_few(ids)}: {message}", rules=ids)
