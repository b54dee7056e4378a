"""One approved rule as the rule language has it: a causal rule, the helpers that it brings, and its law."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from p2c.domain.spec import read_spec
from p2c.errors import ProblemError, ReviewError, RuleError
from p2c.rules.bind import build_theory
from p2c.rules.parse import parse
from p2c.rules.render import render, render_atom
from p2c.rules.syntax import PERSON, Atom, Program, Rule, Variable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from p2c.domain.feature import Law
    from p2c.rules.theory import Theory

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
        | ({"causal": laws[name]} if name in laws else {})
        for name, keys in features.items()
    }
    anything = Atom(next(iter(domains)), (PERSON, Variable("_")))
    text = "\n".join(each.text for each in proposals)
    return build_theory(
        read_spec({"goal": render_atom(anything), "rules": text, "features": domains})
    )
