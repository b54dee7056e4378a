"""One person's question, exactly: states, effects, and costs in whole numbers.

States are judged by the reference meaning (`rules/meaning.py`), once each.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from p2c._rules.evaluate import goal_holds, in_head
from p2c._rules.meaning import (
    ConstraintException,
    EquationException,
    FeatureException,
    abduce,
    breached,
    origin,
    supported_outcomes,
    triggered_outcomes,
    undefined,
    violated,
)
from p2c._rules.render import render_rule
from p2c._spec.cost import Norm
from p2c._spec.feature import Grid, distance, exact, permits
from p2c._spec.row import omitted_in
from p2c._spec.spec import Effects, Exceptions, Minimize

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p2c._rules.meaning import AbducedException, Outcome
    from p2c._rules.theory import Clause, Theory
    from p2c._spec.computed import Origin
    from p2c._spec.feature import Feature, Value

State = tuple["Value", ...]
"""A value for every feature, in the problem's order."""


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
        return tuple(self.row[each.name] for each in self.features)

    @cached_property
    def origin(self) -> Origin | None:
        """Return the start for computed features."""
        return origin(self.theory, self.row)

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
        """Return a state as a mapping."""
        return {each.name: value for each, value in zip(self.features, state, strict=True)}

    def after(self, state: State, feature: int, value: Value) -> State:
        """Return the state after a change of one feature and all recomputation."""
        changed = list(state)
        changed[feature] = value
        if self.origin is None or not self.origin.features:
            return tuple(changed)
        named = self.named(tuple(changed))
        return tuple(self.origin.recomputed(named).values())

    def judge(self, state: State) -> Verdict:
        """Return the verdict of the rules on a state."""
        verdict = self._verdicts.get(state)
        if verdict is None:
            verdict = self._verdicts[state] = self._judged(state)
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
        """Return the weight of each feature as a whole number."""
        return tuple(int(exact(each.weight) * self.measure.weights) for each in self.features)

    def length(self, feature: int, start: Value, end: Value) -> int:
        """Return the distance of a change as a whole number."""
        return int(distance(self.features[feature], start, end) * self.measure.lengths)

    def price(self, spent: int, length: int) -> int:
        """Return the share that a direct action adds to its feature's cost.

        Args:
            spent: Distance of earlier direct actions on the same feature.
            length: Distance of the action.

        Returns:
            The added share; where the largest feature counts, the whole share.
        """
        match self.theory.norm:
            case Norm.L0:
                return 1
            case Norm.L1:
                return length
            case Norm.L2:
                return (spent + length) ** 2 - spent**2
            case Norm.LINF:
                return spent + length

    def cost(self, measure: int) -> float:
        """Return the contract's cost of a measure in whole numbers."""
        norm, (weights, lengths) = self.theory.norm, self.measure
        unit = weights * (lengths**norm.power if norm.by_distance else 1)
        share = Fraction(measure, unit)
        return math.sqrt(share) if norm.power == 2 else float(share)

    @property
    def counts_first(self) -> bool:
        """Tell whether the number of direct actions comes before the cost."""
        return self.theory.minimize is Minimize.ACTIONS

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
