"""From a problem as it is written to its theory, collecting every fault with its line and column."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

from p2c._rules.binder import Binder, decision_of, render_decision
from p2c._rules.parse import parse, parse_query
from p2c._rules.syntax import PERSON, Atom, Program, Rule, bare
from p2c._rules.theory import ACCEPTED, Call, Clause, Condition, Decision, Theory
from p2c._spec.build import bind_equation, build_feature
from p2c._spec.computed import cycle_of
from p2c._spec.resources import action_faults, build_action, build_resources, objectives_of
from p2c.errors import Fault, ProblemError, RuleError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Set

    from p2c._rules.syntax import Literal
    from p2c._rules.theory import Classifier
    from p2c._spec.feature import Feature
    from p2c._spec.resources import NamedAction
    from p2c._spec.spec import ProblemSpec

NAME_TAKEN = "this is what the model's decision is called: give the feature another name, and its column in model.columns"


def build_theory(
    spec: ProblemSpec,
    *,
    source: str = "",
    model: Classifier | None = None,
    bounded: bool = True,
) -> Theory:
    """Return the theory of a problem, or raise all that is wrong with it at once.

    With a model, `accepted(X)` is a decision that no rule defines. Rows are `bounded` by the ranges of the features
    unless these come from data.
    """
    faults: list[Fault] = []
    text, place = spec.placed("rules"), spec.rules_file or "rules"
    program = _parsed(text, place, faults)
    resources = build_resources(spec, faults)
    features = _features(spec, program, faults, bounded=bounded)
    if model is not None and ACCEPTED.predicate in features:
        del features[ACCEPTED.predicate]
        faults.append(Fault(f"features.{ACCEPTED.predicate}", NAME_TAKEN))
    faulty = spec.features.keys() - features.keys()
    given = {ACCEPTED} if model is not None else set()
    binder = Binder(features, program or Program(()), text, names=spec.features, given=given)
    clauses = [
        binder.clause(rule) for rule in binder.program.rules if not _rule_names(rule, faulty)
    ]
    decisions, causes, constraints = _sorted(clauses, binder)
    if model is not None:
        decisions = (
            (ACCEPTED, (Clause(Rule(Atom(ACCEPTED.predicate, (PERSON,)), ()), ()),)),
            *decisions,
        )
    faults += [Fault(place, str(error)) for error in binder.errors]
    asked = spec.placed("goal")
    query = _query(asked, faults)
    goal: tuple[Condition, ...] = ()
    if program is not None and not _names(query, faulty):
        goal = _goal(query, binder, asked, faults)
    named = tuple(_named_actions(spec, features, binder, faulty, faults))
    if faults:
        raise ProblemError(spec.located(faults), source=source)
    theory = Theory(
        name=spec.name,
        features=tuple(features.values()),
        program=binder.program,
        decisions=decisions,
        causes=causes,
        constraints=constraints,
        goal=goal,
        query=query,
        goal_text=spec.goal,
        exceptions=spec.exceptions,
        effects=spec.effects,
        norm=spec.norm,
        objectives=objectives_of(spec),
        max_actions=spec.max_actions,
        resources=resources,
        named_actions=named,
        language=spec.language,
        source=spec.source,
        model=model,
    )
    _refuse_self_causes(theory, text, place, source)
    _refuse_cycles(theory, spec, source)
    return theory


def _parsed(text: str, place: str, faults: list[Fault]) -> Program | None:
    try:
        return parse(text)
    except RuleError as error:
        faults.append(Fault(place, str(error)))
        return None


def _features(
    spec: ProblemSpec, program: Program | None, faults: list[Fault], *, bounded: bool
) -> dict[str, Feature]:
    """Return the sound features; where the rules cannot be read, any feature may be governed."""
    heads = {rule.head.predicate for rule in program.rules if rule.head} if program else set()
    features: dict[str, Feature] = {}
    for name, keys in spec.features.items():
        governed = name in heads if program or keys.equation else True
        listed = any(name in (*each.sets, *each.adds) for each in spec.actions.values())
        feature, wrong = build_feature(
            name, keys, law=spec.law, governed=governed, listed=listed, bounded=bounded
        )
        faults += wrong
        if feature is not None:
            features[name] = feature
    sound = dict(features) if features.keys() == spec.features.keys() else {}
    for name, feature in sound.items():
        if feature.equation is not None:
            try:
                equation = bind_equation(feature.equation, sound, name, spec.resources)
                features[name] = replace(feature, equation=equation)
            except ValueError as error:
                faults.append(Fault(f"features.{name}.equation", str(error)))
                del features[name]
    return features


def _named_actions(
    spec: ProblemSpec,
    features: Mapping[str, Feature],
    rules: Binder,
    faulty: Set[str],
    faults: list[Fault],
) -> Iterator[NamedAction]:
    """Yield the named actions, and note wrong keys about them."""
    for name, keys in spec.actions.items():
        wrong_keys = list(action_faults(name, keys, spec, features))
        when: tuple[Condition, ...] = ()
        if keys.when:
            place = f"actions.{name}.when"
            wrong: list[Fault] = []
            query = _query(keys.when, wrong, place)
            if not _names(query, faulty):
                when = _goal(query, rules, keys.when, wrong, place)
            wrong_keys += wrong
        faults += wrong_keys
        if not wrong_keys and features.keys() >= {*keys.sets, *keys.adds}:
            yield build_action(name, keys, when, features)


def _rule_names(rule: Rule, predicates: Set[str]) -> bool:
    return _names((rule.head, *rule.body) if rule.head else rule.body, predicates)


def _names(literals: Iterable[Literal], predicates: Set[str]) -> bool:
    inner = map(bare, literals)
    return any(isinstance(each, Atom) and each.predicate in predicates for each in inner)


def _query(text: str, faults: list[Fault], place: str = "goal") -> tuple[Literal, ...]:
    try:
        return parse_query(text)
    except RuleError as error:
        faults.append(Fault(place, str(error)))
        return ()


def _goal(
    query: tuple[Literal, ...], rules: Binder, text: str, faults: list[Fault], place: str = "goal"
) -> tuple[Condition, ...]:
    binder = Binder(rules.features, rules.program, text, given=rules.given)
    conditions = binder.body(query, head=None)
    faults += [Fault(place, str(error)) for error in binder.errors]
    return conditions


def _sorted(
    clauses: list[Clause], binder: Binder
) -> tuple[
    tuple[tuple[Decision, tuple[Clause, ...]], ...],
    tuple[tuple[str, tuple[Clause, ...]], ...],
    tuple[Clause, ...],
]:
    """Return decisions (each after those it calls), causes in the features' order, and constraints."""
    decisions: dict[Decision, list[Clause]] = {}
    causes: dict[str, list[Clause]] = defaultdict(list)
    constraints: list[Clause] = []
    for clause in clauses:
        head = clause.rule.head
        if head is None:
            constraints.append(clause)
        elif head.predicate in binder.features:
            causes[head.predicate].append(clause)
        else:
            decisions.setdefault(decision_of(head), []).append(clause)
    order = _call_order(decisions, binder)
    return (
        tuple((decision, tuple(decisions[decision])) for decision in order),
        tuple((name, tuple(causes[name])) for name in binder.features if name in causes),
        tuple(constraints),
    )


def _call_order(decisions: dict[Decision, list[Clause]], binder: Binder) -> list[Decision]:
    calls = {
        decision: [
            each.decision
            for clause in clauses
            for each in clause.body
            if isinstance(each, Call) and each.decision in decisions
        ]
        for decision, clauses in decisions.items()
    }
    try:
        return list(TopologicalSorter(calls).static_order())
    except CycleError as error:
        cycle = error.args[1]
        shown = " -> ".join(render_decision(each) for each in reversed(cycle))
        rule = decisions[cycle[0]][0].rule
        binder.fail(f"a decision may not depend on itself: {shown}", rule)
        return list(decisions)


def _refuse_cycles(theory: Theory, spec: ProblemSpec, source: str) -> None:
    """Refuse a cycle in which an equation takes part."""
    equations = [each.name for each in theory.features if each.equation is not None]
    cycle = cycle_of({name: sorted(read) for name, read in theory.parents.items()}, equations)
    if cycle is not None:
        shown = " -> ".join(reversed(cycle))
        message = f"an equation may not depend on its own feature: {shown}"
        fault = Fault(f"features.{cycle[0]}.equation", message)
        raise ProblemError(spec.located([fault]), source=source)


def _refuse_self_causes(theory: Theory, text: str, place: str, source: str) -> None:
    faults = []
    for name, clauses in theory.causes:
        for clause in clauses:
            if name in theory.reads(clause.body):
                at = clause.rule.at
                problem = f"a causal rule of '{name}' may not read '{name}' itself"
                error = RuleError(problem, line=at.line, column=at.column, source=text)
                faults.append(Fault(place, str(error)))
    if faults:
        raise ProblemError(faults, source=source)
