"""A problem's rules as a formula for an SMT solver (pysmt with z3), and the least distance by bisection.

A category is the place of its value in the domain, a number is itself. Nothing here is planning: a formula speaks of one
state, or of a state before and after interventions that all happen at once.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from pysmt import shortcuts as smt
from pysmt.typing import INT

from benchmarks.peers.protocol import Answer
from p2c._rules.syntax import Comparator
from p2c._rules.theory import Relation, Test
from p2c._spec.feature import Action, Grid, Kind, exact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from benchmarks.peers.protocol import Finder
    from benchmarks.world import State
    from p2c._rules.theory import Clause, Condition, Theory
    from p2c._spec.feature import Feature, Value

    Terms = Mapping[str, Any]

EPSILON = Fraction(1, 10**9)
"""Bisection stops when no answer can be this much cheaper."""

COMPARE: dict[Comparator, Callable[[Any, Any], Any]] = {
    Comparator.EQ: smt.Equals,
    Comparator.NE: lambda left, right: smt.Not(smt.Equals(left, right)),
    Comparator.LT: smt.LT,
    Comparator.LE: smt.LE,
    Comparator.GT: smt.GT,
    Comparator.GE: smt.GE,
}


def symbols(theory: Theory, mark: str = "") -> dict[str, Any]:
    """Return a whole-number variable for each feature."""
    for feature in theory.features:
        if feature.kind is Kind.FLOAT:
            raise ValueError(f"{feature.name}: floats are not supported, whole numbers are")
    return {feature.name: smt.Symbol(f"{mark}{feature.name}", INT) for feature in theory.features}


def code(feature: Feature, value: Value) -> int:
    """Return the whole number that stands for a value."""
    assert value is not None
    return int(feature.order(value))


def value(feature: Feature, number: int) -> str | int | float:
    """Return the value that a whole number stands for."""
    return feature.domain.value(number) if feature.is_listed else number


def in_domain(feature: Feature, term: Any) -> Any:
    """Say that a term is one of the feature's values."""
    match feature.domain:
        case Grid(int() as start, stop, 1):
            return smt.And(smt.GE(term, smt.Int(start)), smt.LE(term, smt.Int(int(stop))))
        case _ if feature.is_listed:
            return smt.And(smt.GE(term, smt.Int(0)), smt.LE(term, smt.Int(feature.domain.size - 1)))
        case domain:
            numbers = [int(domain.value(place)) for place in range(domain.size)]
            return smt.Or(smt.Equals(term, smt.Int(number)) for number in numbers)


def permitted(feature: Feature, term: Any, own: Value) -> Any:
    """Say that a term keeps to what is fixed, rises only or falls only; who sets an effect is not asked."""
    start = smt.Int(code(feature, own))
    match feature.action:
        case Action.FIXED:
            return smt.Equals(term, start)
        case Action.UP:
            return smt.GE(term, start)
        case Action.DOWN:
            return smt.LE(term, start)
        case _:
            return smt.TRUE()


def holds(theory: Theory, body: Iterable[Condition], terms: Terms) -> Any:
    """Say that every condition of a body holds."""
    return smt.And([_condition(theory, condition, terms) for condition in body])


def _condition(theory: Theory, condition: Condition, terms: Terms) -> Any:
    if isinstance(condition, Test):
        plain = _test(theory.feature[condition.feature], condition, terms[condition.feature])
    elif isinstance(condition, Relation):
        raise NotImplementedError("comparisons of expressions are not encoded")
    else:
        clauses = theory.rules_for[condition.decision]
        plain = smt.Or([holds(theory, clause.body, terms) for clause in clauses])
    return smt.Not(plain) if condition.negated else plain


def _test(feature: Feature, test: Test, term: Any) -> Any:
    if feature.is_listed:
        constant = feature.order(test.constant)
    else:
        assert not isinstance(test.constant, str)
        constant = exact(test.constant)
    return COMPARE[test.comparator](smt.ToReal(term), smt.Real(constant))


def fires(
    theory: Theory, feature: str, fired: frozenset[Clause] | set[Clause], terms: Terms
) -> Any:
    """Say that just these causal rules of a feature fire."""
    return smt.And(
        [
            smt.Iff(
                holds(theory, clause.body, terms),
                smt.TRUE() if clause in fired else smt.Not(smt.TRUE()),
            )
            for clause in theory.rules_of[feature]
        ]
    )


def distance(feature: Feature, term: Any, own: Value) -> Any:
    """Return the contract's distance of a term from a person's value, times the weight, as a term."""
    start, weight = code(feature, own), exact(feature.weight)
    if feature.kind is Kind.CATEGORY:
        return smt.Ite(smt.Equals(term, smt.Int(start)), smt.Real(0), smt.Real(weight))
    up = smt.Plus(smt.ToReal(term), smt.Real(Fraction(-start)))
    unit = smt.Real(weight / feature.divisor)
    return smt.Ite(
        smt.GE(term, smt.Int(start)),
        smt.Times(up, unit),
        smt.Times(smt.Times(smt.Real(-1), up), unit),
    )


def wanted(theory: Theory, terms: Terms) -> Any:
    """Say that a state has a value of each feature's domain and meets the goal."""
    domains = [in_domain(feature, terms[feature.name]) for feature in theory.features]
    return smt.And(holds(theory, theory.goal, terms), *domains)


def nearest(theory: Theory, *obeys: Callable[[Terms, State], Any]) -> Finder:
    """Return the search for the nearest wanted state that the person's start permits and that obeys what else is asked."""
    terms = symbols(theory)
    fixed = wanted(theory, terms)

    def find(person: State) -> Answer:
        triples = [(each, terms[each.name], person[each.name]) for each in theory.features]
        rest = [permitted(*triple) for triple in triples]
        rest += [obeyed(terms, person) for obeyed in obeys]
        cost = smt.Plus([distance(*triple) for triple in triples])
        return answer(theory, smt.And(fixed, *rest), cost, terms)

    return find


def answer(theory: Theory, formula: Any, cost: Any, terms: Terms) -> Answer:
    """Return the state of least cost that a formula permits, or the proof that there is none."""
    found = cheapest(formula, cost, terms)
    return Answer(None if found is None else state(theory, found), proved=True)


def cheapest(formula: Any, cost: Any, read: Mapping[str, Any]) -> dict[str, int] | None:
    """Return the values of some variables in a model of least cost, or None where there is no model at all."""
    with smt.Solver(name="z3") as solver:
        solver.add_assertion(formula)
        if not solver.solve():
            return None
        low = Fraction(-1)
        high, best = _model(solver, cost, read)
        while high - low > EPSILON:
            # The first question is whether anything cheaper exists, which mostly ends it.
            middle = high - EPSILON if low < 0 else (low + high) / 2
            solver.push()
            solver.add_assertion(smt.LE(cost, smt.Real(middle)))
            if solver.solve():
                high, best = _model(solver, cost, read)
                low = max(low, Fraction(0))
            else:
                low = middle
            solver.pop()
        return best


def _model(solver: Any, cost: Any, read: Mapping[str, Any]) -> tuple[Fraction, dict[str, int]]:
    found = {name: int(solver.get_value(term).constant_value()) for name, term in read.items()}
    return Fraction(solver.get_value(cost).constant_value()), found


def state(theory: Theory, numbers: Mapping[str, int]) -> State:
    """Return the state that whole numbers stand for."""
    return {feature.name: value(feature, numbers[feature.name]) for feature in theory.features}
