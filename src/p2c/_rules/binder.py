"""Look up what rules name and check how they use it, one rule at a time."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from p2c._rules.render import quote, render_atom, render_literal, render_term
from p2c._rules.syntax import (
    PERSON,
    Arithmetic,
    Atom,
    Comparator,
    Comparison,
    Constant,
    Not,
    Rule,
    Variable,
    bare,
)
from p2c._rules.theory import Call, Clause, Condition, Decision, Relation, Test
from p2c._rules.variables import (
    ANY,
    compared_name,
    example,
    lone_variable,
    named_decision,
    unrestricted,
    variables,
)
from p2c._spec.expression import Name, names, renamed
from p2c._spec.feature import Feature, Kind
from p2c.errors import RuleError, and_more, suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from p2c._rules.syntax import Literal, Program, Term
    from p2c._spec.expression import Expression

ORDERED = {Comparator.LT, Comparator.LE, Comparator.GT, Comparator.GE}

Owners = dict[str, Feature | None]
"""The feature that each variable of a body stands for; None where a fault was reported already."""


def decision_of(atom: Atom) -> Decision:
    """Return the decision that an atom names; its first argument is the person."""
    values = [term.value for term in atom.arguments[1:] if isinstance(term, Constant)]
    return Decision(atom.predicate, tuple(values))


def render_decision(decision: Decision) -> str:
    """Write a decision as an atom about `X`."""
    constants = tuple(Constant(value) for value in decision.arguments)
    return render_atom(Atom(decision.predicate, (PERSON, *constants)))


class Binder:
    """Looks up what rules name; a fault is kept and binding goes on, so that all are found at once."""

    def __init__(
        self,
        features: Mapping[str, Feature],
        program: Program,
        text: str,
        *,
        names: Iterable[str] = (),
        given: Iterable[Decision] = (),
    ) -> None:
        self.features = features
        # The features that may have been meant, also those in which something else is wrong.
        self.names = {*features, *names}
        self.program = program
        self.text = text
        self.errors: list[RuleError] = []
        self.given = frozenset(given)
        heads = [rule.head for rule in program.rules if rule.head]
        self.known = {decision_of(head) for head in heads if head.predicate not in features}
        self.known |= self.given
        self.predicates = {each.predicate for each in self.known}

    def fail(self, problem: str, node: Rule | Literal) -> None:
        """Keep one fault at the place of a node."""
        line, column = node.at
        self.errors.append(RuleError(problem, line=line, column=column, source=self.text))

    def clause(self, rule: Rule) -> Clause:
        """Bind one rule."""
        if rule.head and decision_of(rule.head) in self.given:
            shown = render_decision(decision_of(rule.head))
            self.fail(f"{shown} is the model's own decision and has no rules", rule)
        head = rule.head
        if head is None or head.predicate not in self.features:
            if head is not None:
                self._check_decision_head(head)
            return Clause(rule, self.body(rule.body, head=head))
        feature = self.features[head.predicate]
        if len(head.arguments) != 2:
            self.fail(f"a feature has two arguments, as in {feature.name}(X,'value')", head)
            return Clause(rule, self.body(rule.body, head=head))
        self._check_person(head, head.arguments[0], head)
        term = head.arguments[1]
        if isinstance(term, Constant):
            test = self._test(feature, Comparator.EQ, term.value, literal=head)
            return Clause(rule, self.body(rule.body, head=head), (test,) if test else ())
        return self._set_clause(rule, feature, term)

    def _set_clause(self, rule: Rule, feature: Feature, variable: Variable) -> Clause:
        """Bind a causal rule whose head variable is restricted by comparisons in the body."""
        assert rule.head is not None
        if variable == rule.head.arguments[0]:
            self.fail(f"the variable {variable.name} is the person, not a value", rule)
            return Clause(rule, ())
        restricting = [each for each in rule.body if variable.name in _variables_compared(each)]
        computing = [each for each in restricting if isinstance(bare(each), Arithmetic)]
        if computing:
            self.fail(
                f"the head variable {variable.name} is compared with constants only;"
                f" give {feature.name} an 'equation' for a computed value",
                computing[0],
            )
            return Clause(rule, ())
        rest = tuple(each for each in rule.body if each not in restricting)
        if any(_reads_variable(each, variable.name) for each in rest):
            self.fail(
                f"the head variable {variable.name} may only be compared with constants,"
                " not read from another feature",
                rule,
            )
        elif not restricting:
            self.fail(unrestricted(rule.head, feature), rule)
        tests = [self._comparison(each, {variable.name: feature}) for each in restricting]
        head = tuple(test for test in tests if isinstance(test, Test))
        return Clause(rule, self.body(rest, head=rule.head, beside=restricting), head)

    def body(
        self, literals: Iterable[Literal], *, head: Atom | None, beside: Iterable[Literal] = ()
    ) -> tuple[Condition, ...]:
        """Bind the literals of a body or a query; those beside them are of the same rule and bound already."""
        literals = tuple(literals)
        person = head.arguments[0] if head else None
        # Whatever is wrong with a head is reported there; its variables need no second fault.
        own = head.arguments[1:] if head else ()
        owners: Owners = {term.name: None for term in own if isinstance(term, Variable)}
        times = Counter(variables([*literals, *beside, *([head] if head else [])]))
        for literal in literals:
            atom = bare(literal)
            if isinstance(atom, Atom):
                person = person or atom.arguments[0]
                self._check_person(atom, person, literal)
                self._bind_variables(atom, literal, owners, times)
        found = [self._condition(literal, owners) for literal in literals]
        return tuple(condition for condition in found if condition is not None)

    def _check_person(self, atom: Atom, person: Term, literal: Literal) -> None:
        first = atom.arguments[0]
        if not isinstance(first, Variable):
            self.fail(
                "the first argument is the person, a variable such as X,"
                f" found {render_term(first)}",
                literal,
            )
        elif isinstance(person, Variable) and first != person:
            self.fail(
                f"one rule speaks of one person: expected {person.name}, found {first.name}",
                literal,
            )

    def _bind_variables(
        self, atom: Atom, literal: Literal, owners: Owners, times: Counter[str]
    ) -> None:
        feature = self.features.get(atom.predicate)
        if feature is None or len(atom.arguments) != 2:
            # A fault that `_condition` reports; its variables need no second one.
            owners.update({t.name: None for t in atom.arguments[1:] if isinstance(t, Variable)})
            return
        term = atom.arguments[1]
        if not isinstance(term, Variable):
            return
        name = term.name
        negated = isinstance(literal, Not)
        if (negated and name == ANY) or (times[name] == 1 and name != ANY):
            self.fail(lone_variable(atom, feature, negated=negated), literal)
            owners[name] = None
        elif negated:
            self.fail(
                f"the variable {name} is unsafe under not:"
                f" write {render_atom(atom)}, not({example(feature, name)})",
                literal,
            )
            owners.setdefault(name, None)
        elif term == atom.arguments[0]:
            self.fail(f"the variable {name} is the person, not a value", literal)
            owners[name] = None
        elif name != ANY and (other := owners.setdefault(name, feature)) not in (feature, None):
            assert other is not None
            other_name = f"{name}2"
            self.fail(
                f"the variable {name} already stands for {other.name}: give each feature its own"
                f" variable and compare the two, as in {name} = {other_name}",
                literal,
            )

    def _condition(self, literal: Literal, owners: Owners) -> Condition | None:
        atom = bare(literal)
        if isinstance(atom, Arithmetic):
            return self._arithmetic(literal, atom, owners)
        if isinstance(atom, Comparison):
            return self._comparison(literal, owners)
        negated = isinstance(literal, Not)
        feature = self.features.get(atom.predicate)
        if feature is None:
            return self._call(atom, literal, negated=negated)
        if len(atom.arguments) != 2:
            self.fail(f"a feature has two arguments, as in {feature.name}(X,N)", literal)
            return None
        term = atom.arguments[1]
        if isinstance(term, Variable):
            return None
        return self._test(feature, Comparator.EQ, term.value, negated=negated, literal=literal)

    def _call(self, atom: Atom, literal: Literal, *, negated: bool) -> Call | None:
        decision = decision_of(atom)
        constants = len(decision.arguments) == len(atom.arguments) - 1
        if constants and decision in self.known:
            return Call(decision, negated, literal)
        if decision.predicate not in self.predicates:
            hint = suggestion(atom.predicate, {*self.features, *self.predicates})
            self.fail(f"unknown feature or decision {quote(atom.predicate)}; {hint}", literal)
        else:
            same = {each for each in self.known if each.predicate == decision.predicate}
            defined = f"defined: {and_more(sorted(map(render_decision, same)))}"
            if constants:
                self.fail(f"no rule defines {render_atom(atom)}; {defined}", literal)
            else:
                hint = named_decision(atom, (each.arguments for each in same)) or defined
                shown = render_atom(atom)
                self.fail(f"a decision takes constants only, found {shown}; {hint}", literal)
        return None

    def _arithmetic(
        self, literal: Literal, comparison: Arithmetic, owners: Mapping[str, Feature | None]
    ) -> Relation | None:
        """Bind a comparison of expressions: every variable stands for a numeric feature."""
        used = dict.fromkeys((*names(comparison.left), *names(comparison.right)))
        if not used:
            self.fail(
                "a comparison of constants says nothing of the person: use a variable", literal
            )
            return None
        features: dict[str, str] = {}
        for name in used:
            feature = self._owner(name, literal, owners)
            if feature is None:
                continue
            if feature.kind.is_number:
                features[name] = feature.name
            else:
                self.fail(f"{name} stands for {feature.name}, which is no number", literal)
        if len(features) < len(used):
            return None
        left, right = renamed(comparison.left, features), renamed(comparison.right, features)
        return Relation(left, comparison.comparator, right, isinstance(literal, Not), literal)

    def _owner(
        self, name: str, literal: Literal, owners: Mapping[str, Feature | None]
    ) -> Feature | None:
        """Return the feature of a variable; report a variable without one."""
        if name == ANY:
            self.fail("'_' is any value and cannot be compared: give it a name such as N", literal)
        elif name not in owners:
            self.fail(
                f"the variable {name} is unsafe: no feature in this rule gives it a value,"
                f" as {next(iter(self.features), 'age')}(X,{name}) would",
                literal,
            )
        return owners.get(name)

    def _comparison(
        self, literal: Literal, owners: Mapping[str, Feature | None]
    ) -> Test | Relation | None:
        negated = isinstance(literal, Not)
        comparison = bare(literal)
        assert isinstance(comparison, Comparison)
        left, comparator, right = comparison.left, comparison.comparator, comparison.right
        if isinstance(left, Constant) and isinstance(right, Variable):
            left, comparator, right = right, comparator.mirrored, left
        compared = _compared_features(comparison, owners)
        if compared is not None:
            one, other = compared
            return Relation(one, comparator, other, negated, literal)
        if not (isinstance(left, Variable) and isinstance(right, Constant)):
            shown = render_literal(comparison)
            hint = compared_name(comparison, owners)
            self.fail(f"expected a variable compared with a constant, found {shown}{hint}", literal)
            return None
        feature = self._owner(left.name, literal, owners)
        if feature is None:
            return None
        return self._test(feature, comparator, right.value, negated=negated, literal=literal)

    def _test(
        self,
        feature: Feature,
        comparator: Comparator,
        constant: str | int | float,
        *,
        negated: bool = False,
        literal: Literal,
    ) -> Test | None:
        inner = bare(literal)
        problem = _mismatch(feature, comparator, constant, named=isinstance(inner, Atom))
        if problem:
            self.fail(problem, literal)
            return None
        return Test(feature.name, comparator, constant, negated, literal)

    def _check_decision_head(self, head: Atom) -> None:
        self._check_person(head, head.arguments[0], head)
        if any(isinstance(term, Variable) for term in head.arguments[1:]):
            self.fail(
                f"{quote(head.predicate)} is no feature, so its further arguments are constants;"
                f" {suggestion(head.predicate, self.names)}",
                head,
            )


def _compared_features(
    comparison: Comparison, owners: Mapping[str, Feature | None]
) -> tuple[Expression, Expression] | None:
    """Return both sides where a comparison is one of two numeric features."""
    sides = [
        owners.get(each.name)
        for each in (comparison.left, comparison.right)
        if isinstance(each, Variable)
    ]
    one, other = sides if len(sides) == 2 else (None, None)
    if one is None or other is None or not (one.kind.is_number and other.kind.is_number):
        return None
    return Name(one.name), Name(other.name)


def _variables_compared(literal: Literal) -> set[str]:
    inner = bare(literal)
    if isinstance(inner, Arithmetic):
        return {*names(inner.left), *names(inner.right)}
    if not isinstance(inner, Comparison):
        return set()
    return {each.name for each in (inner.left, inner.right) if isinstance(each, Variable)}


def _reads_variable(literal: Literal, name: str) -> bool:
    inner = bare(literal)
    return isinstance(inner, Atom) and Variable(name) in inner.arguments[1:]


def _mismatch(
    feature: Feature, comparator: Comparator, constant: str | int | float, *, named: bool
) -> str:
    """Say what is wrong with comparing a feature with a constant, or nothing."""
    if feature.kind.is_number:
        return _number_mismatch(feature, constant) if named or isinstance(constant, str) else ""
    if feature.kind is Kind.CATEGORY and comparator in ORDERED:
        return (
            f"'{comparator.value}' needs an order, and {feature.name} is a category:"
            " use = or \\=, or make it an ordinal"
        )
    if constant in feature.places:
        return ""
    shown = render_term(Constant(constant))
    alike = [each for each in feature.places if str(each) == str(constant)]
    if alike:
        return f"{shown} is not a value of {feature.name}; write {render_term(Constant(alike[0]))}"
    hint = suggestion(str(constant), [str(each) for each in feature.places])
    return f"{shown} is not a value of {feature.name}; {hint}"


def _number_mismatch(feature: Feature, constant: str | int | float) -> str:
    if isinstance(constant, str):
        return f"{feature.name} is a number, found {quote(constant)}"
    if feature.kind is Kind.INT and constant != int(constant):
        return f"{feature.name} is a whole number, found {constant}"
    if not feature.minimum <= constant <= feature.maximum:
        span = f"{feature.minimum} to {feature.maximum}"
        return f"{constant} is outside the range of {feature.name}, {span}"
    return ""
