"""What rules say of a state, with no solver: the reference meaning of bodies, decisions and goals.

A missing value makes every comparison with it false, so its negation holds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from p2c._rules.theory import ACCEPTED, Call, Relation, Test
from p2c._spec.expression import evaluate

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from p2c._rules.theory import Clause, Condition, Decision, Theory
    from p2c._spec.feature import Feature, Value

    Known = dict[Decision, bool]
    """The decisions of one state that are settled already."""


def goal_holds(theory: Theory, state: Mapping[str, Value], known: Known | None = None) -> bool:
    """Tell whether the goal query succeeds, given what is known of the state; consistency is asked elsewhere."""
    return body_holds(theory, theory.goal, state, known)


def body_holds(
    theory: Theory,
    body: tuple[Condition, ...],
    state: Mapping[str, Value],
    known: Known | None = None,
) -> bool:
    """Tell whether every condition of a body holds; `known` is kept from one question about a state to the next."""
    if theory.model is not None:  # it may have to be asked, so what costs nothing comes first
        body = tuple(sorted(body, key=lambda each: isinstance(each, Call)))
    return all(condition_holds(theory, condition, state, known) for condition in body)


def condition_holds(
    theory: Theory, condition: Condition, state: Mapping[str, Value], known: Known | None = None
) -> bool:
    """Tell whether one condition holds, a negated one by failure of what it negates."""
    match condition:
        case Test(feature=name):
            plain = passes(theory.feature[name], state[name], condition)
        case Relation():
            plain = relation_holds(condition, state)
        case Call(decision=decision):
            plain = decision_holds(theory, decision, state, known)
    return plain is not condition.negated


def relation_holds(relation: Relation, state: Mapping[str, Value]) -> bool:
    """Tell whether both sides are defined and compare as written, before negation."""
    left, right = evaluate(relation.left, state), evaluate(relation.right, state)
    if left is None or right is None:
        return False
    return relation.comparator.passes(0 if left == right else -1 if left < right else 1)


def decision_holds(
    theory: Theory, decision: Decision, state: Mapping[str, Value], known: Known | None = None
) -> bool:
    """Tell whether some rule of a decision fires, with a stack of its own, for decisions nest to any depth."""
    known = {} if known is None else known
    stack = [] if decision in known else [_settling(theory, decision, state, known)]
    while stack:
        needed = next(stack[-1], None)
        if needed is None:
            stack.pop()
        else:
            stack.append(_settling(theory, needed, state, known))
    return known[decision]


def _settling(
    theory: Theory, decision: Decision, state: Mapping[str, Value], known: Known
) -> Iterator[Decision]:
    """Yield each decision that has to be known first, and then make this one known."""
    if decision == ACCEPTED and theory.model is not None:
        known[decision] = theory.model.accepts(state)
        return
    for clause in theory.rules_for[decision]:
        for condition in clause.body:
            if isinstance(condition, Call) and condition.decision not in known:
                yield condition.decision
            if not condition_holds(theory, condition, state, known):
                break
        else:
            known[decision] = True
            return
    known[decision] = False


def clause_fires(
    theory: Theory, clause: Clause, state: Mapping[str, Value], known: Known | None = None
) -> bool:
    """Tell whether the body of a rule holds."""
    return body_holds(theory, clause.body, state, known)


def in_head(theory: Theory, clause: Clause, value: Value) -> bool:
    """Tell whether a value is in the set that a causal rule's head names; a missing one never is."""
    return value is not None and all(
        passes(theory.feature[test.feature], value, test) is not test.negated
        for test in clause.head
    )


def passes(feature: Feature, value: Value, test: Test) -> bool:
    """Tell whether a value compares with the constant of a test, before negation."""
    if value is None:
        return False
    if not feature.has_order:
        return test.comparator.passes(0 if value == test.constant else 1)
    own, constant = feature.order(value), feature.order(test.constant)
    return test.comparator.passes(0 if own == constant else -1 if own < constant else 1)
