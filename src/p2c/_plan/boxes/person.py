"""One person's question, exactly: states, effects, and costs in whole numbers.

States are judged by the reference meaning (`rules/meaning.py`), once each.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from p2c._rules.evaluate import goal_holds, in_head
from p2c._rules.meaning import (
    ConstraintException,
    EquationException,
    FeatureException,
    abduce,
    breached,
    supported_outcomes,
    triggered_outcomes,
    undefined,
    violated,
)
from p2c._rules.render import render_rule
from p2c._spec.computed import origin_of
from p2c._spec.feature import Grid, distance, exact, permits
from p2c._spec.resources import ACTIONS, COST, amounts_of
from p2c._spec.row import omitted_in
from p2c._spec.spec import Effects, Exceptions

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from p2c._rules.meaning import AbducedException, Outcome
    from p2c._rules.theory import Clause, Theory
    from p2c._spec.computed import Origin
    from p2c._spec.feature import Feature, Value
    from p2c._spec.resources import NamedAction

State = tuple[Any, ...]
"""A value for every feature, then the total of every resource, in order."""
Totals = tuple[Fraction, ...]
"""An amount of every resource, in the problem's order."""


class Verdict(NamedTuple):
    """The verdict of the rules on a state: consistency, goal, and effects."""

    consistent: bool
    goal: bool
    effects: tuple[Outcome, ...]
    broken: frozenset[str]
    """The features that violate their law."""

    @property
    def final(self) -> bool:
        """Tell whether a path ends here."""
        return self.consistent and self.goal


class Measure(NamedTuple):
    """The factors that make weights and distances whole numbers."""

    weights: int
    lengths: int


@dataclass(frozen=True)
class Person:
    """A problem and one person's row, with every state judged once."""

    theory: Theory
    row: Mapping[str, Value]
    _verdicts: dict[State, Verdict] = field(default_factory=dict, repr=False)

    @cached_property
    def features(self) -> tuple[Feature, ...]:
        """Return the features in the problem's order."""
        return self.theory.features

    @cached_property
    def index(self) -> dict[str, int]:
        """Return the place of each feature."""
        return {each.name: place for place, each in enumerate(self.features)}

    @cached_property
    def initial(self) -> State:
        """Return the state at the start."""
        values = (self.row[each.name] for each in self.features)
        return (*values, *(Fraction(0) for _ in self.theory.resources))

    @cached_property
    def origin(self) -> Origin:
        """Return the start for computed features."""
        return origin_of(self.features, self.row, omitted_in(self.row))

    @cached_property
    def broken(self) -> tuple[AbducedException, ...]:
        """Return the laws, equations and constraints that the row breaks."""
        return abduce(self.theory, self.row)

    @cached_property
    def exceptions(self) -> tuple[AbducedException, ...]:
        """Return the exceptions of the person."""
        strict = self.theory.exceptions is Exceptions.STRICT
        return () if strict else self.broken

    @cached_property
    def omitted(self) -> tuple[str, ...]:
        """Return the computed features that the row omits."""
        names = omitted_in(self.row)
        return tuple(each.name for each in self.features if each.name in names)

    @cached_property
    def excused(self) -> frozenset[int]:
        """Return the features that break their law at the start."""
        return frozenset(
            self.index[each.feature]
            for each in self.exceptions
            if isinstance(each, FeatureException)
        )

    @cached_property
    def governed(self) -> frozenset[int]:
        """Return the features with causal rules."""
        return frozenset(self.index[name] for name, _ in self.theory.causes)

    # States.

    def named(self, state: State) -> dict[str, Value]:
        """Return a state as a mapping, with the totals of resources."""
        return dict(zip(self.names, state, strict=True))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Return the names of features and resources, in the order of states."""
        resources = (each.name for each in self.theory.resources)
        return (*(each.name for each in self.features), *resources)

    @cached_property
    def has_clocks(self) -> bool:
        """Tell whether an equation reads a resource."""
        resources = {each.name for each in self.theory.resources}
        return any(e.equation and e.equation.reads & resources for e in self.theory.computed)

    def after(self, state: State, feature: int, value: Value, used: Totals = ()) -> State:
        """Return the state after a change of one feature and all recomputation."""
        return self.changed(state, ((feature, value),), used)

    def changed(
        self, state: State, changes: Iterable[tuple[int, Value]], used: Totals = ()
    ) -> State:
        """Return the state after changes, use of resources, and recomputation."""
        changed = list(state)
        for feature, value in changes:
            changed[feature] = value
        for place, amount in enumerate(used, start=len(self.features)):
            changed[place] += amount
        if not self.origin.features:
            return tuple(changed)
        named = self.named(tuple(changed))
        return tuple(self.origin.recomputed(named)[name] for name in self.names)

    def end_of(self, state: State) -> State:
        """Return the values of features that are not computed, by which ends differ."""
        values = zip(self.features, state, strict=False)
        return tuple(value for each, value in values if each.equation is None)

    def judge(self, state: State) -> Verdict:
        """Return the verdict of the rules on a state."""
        key = state if self.has_clocks else state[: len(self.features)]
        verdict = self._verdicts.get(key)
        if verdict is None:
            verdict = self._verdicts[key] = self._judged(state)
        return verdict

    def _judged(self, state: State) -> Verdict:
        theory, named = self.theory, self.named(state)
        broken = violated(theory, named, self.exceptions)
        lost = breached(theory, named, self.exceptions) or undefined(theory, named, self.origin)
        consistent = not (broken or lost)
        if not consistent:
            effects = triggered_outcomes(theory, named, broken)
        elif theory.effects is Effects.SUPPORTED:
            effects = supported_outcomes(theory, named)
        else:
            effects = ()
        goal = consistent and goal_holds(theory, named)
        return Verdict(consistent, goal, effects, frozenset(broken))

    def may_set(self, state: State, feature: int, value: Value) -> bool:
        """Tell whether a direct action is permitted, whatever was set before."""
        own = self.features[feature]
        return value is not None and permits(own, state[feature], value, direct=True)

    # Resources.

    def named_action(self, place: int) -> NamedAction | None:
        """Return the named action at a place after all features; None for a feature."""
        number = place - len(self.features)
        return self.theory.named_actions[number] if number >= 0 else None

    def totals(self, state: State) -> Totals:
        """Return the totals of the resources in a state."""
        return state[len(self.features) :]

    def used(self, feature: int, start: Value, end: Value) -> Totals:
        """Return the amounts that a direct change uses."""
        return self.amounts(amounts_of(self.features[feature], start, end))

    def amounts(self, given: Mapping[str, Fraction]) -> Totals:
        """Return amounts by name in the order of the resources."""
        return tuple(given.get(each.name, Fraction(0)) for each in self.theory.resources)

    def exceeds(self, totals: Totals) -> bool:
        """Tell whether amounts are above the limit of a resource."""
        pairs = zip(self.theory.resources, totals, strict=True)
        return any(each.limit is not None and total > each.limit for each, total in pairs)

    # Costs.

    @cached_property
    def measure(self) -> Measure:
        """Return the factors that make weights and distances whole numbers."""
        direct = [(f, each) for f, each in enumerate(self.features) if each.action.is_direct]
        weights = [exact(each.weight).denominator for _, each in direct]
        lengths = [d for f, each in direct for d in self._denominators(f, each)]
        return Measure(math.lcm(*weights), math.lcm(*lengths))

    def _denominators(self, place: int, feature: Feature) -> list[int]:
        if not feature.has_order:
            return [1]
        own = self.initial[place]
        start = [] if own is None else [feature.order(own)]
        match feature.domain:
            case Grid(first, _, step):
                points = [exact(first), exact(step)]
            case _ if feature.is_listed:
                points = [Fraction(1)]
            case listed:
                points = [exact(v) for v in listed.values if not isinstance(v, str)]
        return [(each / feature.divisor).denominator for each in (*points, *start)]

    @cached_property
    def weights(self) -> tuple[int, ...]:
        """Return the weight of each feature and named action as a whole number."""
        own = (int(exact(each.weight) * self.measure.weights) for each in self.features)
        return (*own, *(self.measure.weights for _ in self.theory.named_actions))

    def share(self, length: Fraction) -> Fraction:
        """Return the share of a named action in the cost, its weight aside."""
        norm = self.theory.norm
        return (length * self.measure.lengths) ** norm.power if norm.by_distance else length

    def total(self, shares: Iterable[int | Fraction], totals: Totals) -> int | Fraction:
        """Return the cost of weighted shares and amounts of resources, as a measure."""
        pairs = zip(self.theory.resources, totals, strict=True)
        weighed = sum((each.weight * total for each, total in pairs), Fraction(0))
        cost: int | Fraction = self.theory.norm.total(shares)  # type: ignore[type-var]
        return cost + weighed * self._unit if weighed else cost

    @cached_property
    def _unit(self) -> int:
        """Return the measure of a cost of 1."""
        norm, (weights, lengths) = self.theory.norm, self.measure
        return weights * (lengths**norm.power if norm.by_distance else 1)

    def objectives(
        self, cost: int | Fraction, direct: int, totals: Sequence[Fraction]
    ) -> tuple[int | Fraction, ...]:
        """Return the values of the objectives in their order."""
        resources = (each.name for each in self.theory.resources)
        values = dict(zip(resources, totals, strict=True)) | {COST: cost, ACTIONS: direct}
        return tuple(values[each] for each in self.theory.objectives)

    def length(self, feature: int, start: Value, end: Value) -> int:
        """Return the distance of a change as a whole number."""
        return int(distance(self.features[feature], start, end) * self.measure.lengths)

    def cost(self, measure: int | Fraction) -> float:
        """Return the contract's cost of a measure."""
        share = Fraction(measure) / self._unit
        return math.sqrt(share) if self.theory.norm.power == 2 else float(share)

    @property
    def cost_place(self) -> int:
        """Return the place of the cost among the objectives."""
        return self.theory.objectives.index(COST)

    # Text.

    def texts(self, clauses: tuple[Clause, ...]) -> tuple[str, ...]:
        """Return rules as plans name them, in the order of the problem, equal ones once."""
        return tuple(dict.fromkeys(render_rule(each.rule) for each in clauses))

    @cached_property
    def exception_records(self) -> tuple[dict[str, object], ...]:
        """Return the exceptions as plans list them."""
        return tuple(map(self._record, self.exceptions))

    def _record(self, broken: AbducedException) -> dict[str, object]:
        match broken:
            case EquationException(name, equation, stated, computed):
                return {
                    "feature": name,
                    "equation": equation,
                    "given": stated,
                    "computed": computed,
                }
            case ConstraintException(constraint):
                return {"constraint": render_rule(constraint.rule)}
            case FeatureException(name, value, fired):
                rules = fired or self.headed(name, value)
                return {"feature": name, "rules": list(self.texts(rules))}

    def headed(self, name: str, value: Value) -> tuple[Clause, ...]:
        """Return the causal rules of a feature whose heads have a value."""
        rules = self.theory.rules_of[name]
        return tuple(each for each in rules if in_head(self.theory, each, value))
