"""A problem's rules bound to its features: decisions, causes, constraints and the goal, ready to be evaluated.

Binding is where rule text meets the features: every name is looked up, every constant checked against its domain,
every variable traced to the feature that it reads. What comes out has no variables left: a body is a list of tests on
features and calls of decisions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, cast

from p2c._rules.render import render_rule
from p2c._spec.computed import in_order_of_equations
from p2c._spec.cost import Norm
from p2c._spec.expression import names, text_of
from p2c._spec.resources import ACTIONS, COST
from p2c._spec.spec import Effects, Exceptions, Minimize
from p2c.errors import P2CError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from p2c._rules.syntax import Comparator, Literal, Program, Rule
    from p2c._spec.expression import Expression
    from p2c._spec.feature import Feature, Value
    from p2c._spec.resources import NamedAction, Resource
    from p2c._spec.spec import SourceSpec


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision predicate with its constants: `reject_loan(X)`, `label(X,'good')`."""

    predicate: str
    arguments: tuple[str | int | float, ...] = ()


@dataclass(frozen=True, slots=True)
class Test:
    """A comparison of one feature with a constant; `negated` is negation as failure."""

    feature: str
    comparator: Comparator
    constant: str | int | float
    negated: bool = False
    literal: Literal | None = field(default=None, compare=False, repr=False)

    __test__ = False  # not a test case, whatever pytest thinks of the name


@dataclass(frozen=True, slots=True)
class Call:
    """A decision used in a body, plain or under `not`."""

    decision: Decision
    negated: bool = False
    literal: Literal | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Relation:
    """A comparison of expressions; `negated` is negation as failure."""

    left: Expression
    comparator: Comparator
    right: Expression
    negated: bool = False
    literal: Literal | None = field(default=None, compare=False, repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the features of its variables, each as often as it occurs."""
        return (*names(self.left), *names(self.right))

    @property
    def reads(self) -> frozenset[str]:
        """Return the features of its variables."""
        return frozenset(self.names)


Condition = Test | Call | Relation

ACCEPTED = Decision("accepted")
"""The built-in decision of a problem with a model: `accepted(X)` holds where the model gives the desired class."""


class Classifier(Protocol):
    """A model in the place of decision rules, black-box or parsed."""

    @property
    def reads(self) -> tuple[str, ...]:
        """Return the features that the model reads, in the model's order."""

    @property
    def opaque(self) -> str:
        """Return why the model is a black box; empty for a `ParsedModel`."""

    def accepts(self, state: Mapping[str, Value]) -> bool:
        """Tell whether the model gives the desired class to a state."""


class ParsedModel(Classifier, Protocol):
    """A classifier that decides by cells of the features.

    Plans are proved against it. Of a feature that is `lined` the number itself counts as well, within a cell.
    """

    @property
    def lined(self) -> frozenset[str]:
        """Return the numbers that the model weighs, so that two in one cell may differ."""

    @property
    def margins(self) -> int:
        """Return how many margins must be reached."""

    @property
    def is_blend(self) -> bool:
        """Tell whether several scores are blended, so that no margin decides alone."""

    @property
    def is_separate(self) -> bool:
        """Tell whether every part of the model reads a single feature."""

    def gain(self, name: str, value: Value) -> tuple[float, ...] | None:
        """Return what a value adds by itself to each margin that must be reached; None where that is not known."""

    def gains(self, name: str, numbers: Any) -> Any:
        """Return the gains of numbers of a feature, by number and margin."""

    def keep_gain(self, name: str, value: Value, gain: tuple[float, ...]) -> None:
        """Keep the gain of a value."""

    def is_straight(self, name: str) -> bool:
        """Tell whether the same step adds the same everywhere within a cell of a number."""

    def floors(
        self, reach: Callable[[], Sequence[Sequence[tuple[float, ...]]]]
    ) -> tuple[float, ...] | None:
        """Return the least margins of a person's accepted states, for `needed`.

        Args:
            reach: Returns for each feature gains between which all in the person's reach lie.

        Returns:
            None if the borders of the margins are the same for everybody.
        """

    def needed(
        self,
        boxes: Sequence[int] | None,
        size: float,
        floors: tuple[float, ...] | None = None,
    ) -> tuple[float, ...]:
        """Return what such gains add up to at least in a state that may be accepted, one of a box where it is given.

        `size` is the most that the sizes of all that the weighed numbers add can come to.
        """

    def settled(self, total: float, size: float) -> bool | None:
        """Tell whether gains that add up to so much suffice for the one margin; None where rounding might decide."""

    def cell(self, name: str, value: Value) -> int:
        """Return the cell of a value, -1 for one that has none."""

    def cuts(self, feature: Feature) -> tuple[float, ...]:
        """Return the numbers after which the model cuts a number."""

    def beyond(self, ends: Mapping[str, Sequence[Value]]) -> dict[str, float]:
        """Return how far from zero a weighed number decides alone, the others being anywhere between their ends."""

    def marks(self, feature: Feature) -> tuple[int, ...]:
        """Return for each listed value of a feature what the model takes it for."""

    def accepts_cells(
        self, cells: tuple[int, ...], state: Callable[[], Mapping[str, Value]]
    ) -> bool:
        """Tell whether the model accepts a state, from its cells and, where they do not decide, the state itself."""

    def surely_refuses(self, boxes: Sequence[int]) -> bool:
        """Tell whether no state of a box is accepted; a box is the open cells of each feature read, as bits."""

    def refuses_some(
        self,
        boxes: Sequence[int],
        accepts: Callable[[tuple[int, ...]], bool],
        tick: Callable[[], None],
    ) -> bool:
        """Tell whether a point of a box is refused, if no number is weighed."""

    def doubt(
        self, boxes: Sequence[int], ends: Mapping[str, Sequence[Value]]
    ) -> dict[str, Value] | None:
        """Return the values of a box that come out worst; None if all are accepted."""

    @property
    def is_compiled(self) -> bool:
        """Tell whether `cheapest` can be asked, when it has been compiled; the first time takes seconds."""

    def cheapest(self, cells: Sequence[Any], costs: Sequence[Any]) -> Any:
        """Return a search as `CheapestCells` of `learn.model` for points that may be accepted, cheapest first.

        The cells that are open in each feature stand in the order of what they cost.
        """

    def priced(self, boxes: Sequence[int] | None) -> Any:
        """Return the leaves of the model within a box as `PricedLeaves` of `learn.model`, to bound what a yes costs."""


@dataclass(frozen=True, slots=True)
class Clause:
    """A rule bound to the features; for a causal rule, `head` holds the tests that its head's values pass."""

    rule: Rule
    body: tuple[Condition, ...]
    head: tuple[Test, ...] = ()


@dataclass(frozen=True)
class Theory:
    """All that gives a state its meaning: features, rules, laws and how costs are counted."""

    name: str
    features: tuple[Feature, ...]
    program: Program
    decisions: tuple[tuple[Decision, tuple[Clause, ...]], ...]
    causes: tuple[tuple[str, tuple[Clause, ...]], ...]
    constraints: tuple[Clause, ...]
    goal: tuple[Condition, ...]
    query: tuple[Literal, ...]
    """The goal as it was parsed, and as it is written: `goal_text`."""
    goal_text: str
    exceptions: Exceptions = Exceptions.ABDUCE
    effects: Effects = Effects.TRIGGERED
    norm: Norm = Norm.L1
    objectives: tuple[str, ...] = (COST,)
    """The objectives in order: "cost", and perhaps "actions" and resources."""
    max_actions: int | None = None
    """The most direct actions of a plan, repetitions of a named one counted once."""
    resources: tuple[Resource, ...] = ()
    named_actions: tuple[NamedAction, ...] = ()
    source: SourceSpec | None = None
    """What the rules were learned from, where they were."""
    model: Classifier | None = field(default=None, compare=False, repr=False)
    """The model behind `accepted(X)`, where there is one."""
    language: str = "en"
    """The language of the problem's own words."""

    @cached_property
    def feature(self) -> dict[str, Feature]:
        """Return the features by name, in the problem's order."""
        return {feature.name: feature for feature in self.features}

    @property
    def minimize(self) -> Minimize:
        """Tell whether the cost or the number of direct actions comes first."""
        return Minimize.ACTIONS if self.objectives[0] == ACTIONS else Minimize.COST

    @cached_property
    def rules_for(self) -> dict[Decision, tuple[Clause, ...]]:
        """Return the rules that define each decision."""
        return dict(self.decisions)

    @cached_property
    def rules_of(self) -> dict[str, tuple[Clause, ...]]:
        """Return the causal rules of each governed feature."""
        return dict(self.causes)

    @cached_property
    def clauses(self) -> tuple[Clause, ...]:
        """Return all rules: those of decisions, each after those it calls, then causal rules, then constraints."""
        ruled = (clause for _, clauses in (*self.decisions, *self.causes) for clause in clauses)
        return (*ruled, *self.constraints)

    @cached_property
    def clause_of(self) -> dict[str, Clause]:
        """Return all rules by their text, as plans name them."""
        return {render_rule(clause.rule): clause for clause in self.clauses}

    @cached_property
    def parents(self) -> dict[str, frozenset[str]]:
        """Return the features that the rules or the equation of each feature read.

        They may be read through decisions.
        """
        return {
            name: frozenset().union(*(self.reads(clause.body) for clause in clauses))
            for name, clauses in self.causes
        } | {each.name: each.equation.reads for each in self.features if each.equation is not None}

    @cached_property
    def computed(self) -> tuple[Feature, ...]:
        """Return the features with an equation, in the order of dependency."""
        return in_order_of_equations(self.features)

    @cached_property
    def relations(self) -> tuple[Relation, ...]:
        """Return the arithmetic comparisons of all bodies and of the goal."""
        bodies = (*(clause.body for clause in self.clauses), self.goal)
        return tuple(each for body in bodies for each in body if isinstance(each, Relation))

    @cached_property
    def kept_defined(self) -> tuple[frozenset[str], ...]:
        """Return the features of each equation and of each side of a comparison."""
        own = self.feature.keys()
        equations = (each.equation.reads & own for each in self.computed if each.equation)
        sides = (side for each in self.relations for side in (each.left, each.right))
        return (*equations, *(frozenset(names(side)) for side in sides))

    @cached_property
    def arithmetic(self) -> str:
        """Return a part that only the search over boxes takes, for messages."""
        for feature in self.computed:
            return f"the equation of '{feature.name}'"
        for each in self.relations:
            return (
                f"the comparison {text_of(each.left)} {each.comparator.value} {text_of(each.right)}"
            )
        return self.spending

    @cached_property
    def spending(self) -> str:
        """Return a part that needs totals of resources or named actions, for messages."""
        names = {each.name for each in self.resources}
        for feature in self.computed:
            if feature.equation is not None and feature.equation.reads & names:
                return f"the equation of '{feature.name}', which reads a resource"
        for action in self.named_actions:
            return f"the named action '{action.name}'"
        for resource in self.resources:
            if resource.limit is not None or resource.weight:
                key = "weight" if resource.limit is None else "limit"
                return f"the {key} of the resource '{resource.name}'"
            if resource.name in self.objectives:
                return f"the resource '{resource.name}' in 'minimize'"
        return "" if self.max_actions is None else "'max_actions'"

    @cached_property
    def is_arithmetic(self) -> bool:
        """Tell whether the problem needs the search over boxes.

        It does with an equation, a comparison of expressions, a named action, a bound on the number of actions, or a
        resource that decides between plans. Resources that are only summed up need no other search.
        """
        return bool(self.arithmetic)

    @cached_property
    def upstream(self) -> dict[str, frozenset[str]]:
        """Return the features and resources from which arrows lead to each."""
        above = {each.name: frozenset[str]() for each in self.resources}
        for feature in self.features:
            seen: set[str] = set()
            waiting = list(self.parents.get(feature.name, ()))
            while waiting:
                name = waiting.pop()
                if name not in seen:
                    seen.add(name)
                    waiting += self.parents.get(name, ())
            above[feature.name] = frozenset(seen)
        return above

    @cached_property
    def bodies(self) -> tuple[tuple[Condition, ...], ...]:
        """Return what is asked of a state from outside the decisions: the goal, the constraints, the causal rules."""
        causes = (clause for _, clauses in self.causes for clause in clauses)
        return (self.goal, *(each.body for each in (*self.constraints, *causes)))

    @property
    def parsed(self) -> ParsedModel | None:
        """Return the parsed model; None where rules decide.

        Raises:
            P2CError: The model is a black box.
        """
        if self.model is not None and self.model.opaque:
            raise P2CError(f"expected a parsed model, found a black box: {self.model.opaque}")
        return cast("ParsedModel | None", self.model)

    @property
    def wants_yes(self) -> bool:
        """Tell whether the goal asks the model, where one decides, for a yes."""
        return Call(ACCEPTED) in self.goal

    @cached_property
    def consulted(self) -> tuple[str, ...]:
        """Return the features on whose values an answer may rest: what the goal, laws and constraints read or govern."""
        bodies = (*self.bodies, *(each.when for each in self.named_actions))
        read = frozenset().union(self.rules_of, *map(self.reads, bodies))
        for feature in reversed(self.computed):
            if feature.name in read and feature.equation is not None:
                read |= feature.equation.reads
        return tuple(name for name in self.feature if name in read)

    def missing(self, state: Mapping[str, Value]) -> tuple[str, ...]:
        """Return the features on which an answer rests and whose values are not known in a state."""
        return tuple([name for name in self.consulted if state[name] is None])

    def rests_on(self, state: Mapping[str, Value]) -> dict[str, Any]:
        """Return what every answer says of itself: `unknown` values and the rules' `source`, each where there is any."""
        missing = self.missing(state)
        source = {"source": self.told_source} if self.told_source else {}
        return {**({"unknown": list(missing)} if missing else {}), **source}

    @cached_property
    def told_source(self) -> dict[str, Any] | None:
        """Return what the rules were learned from, as answers tell it."""
        return self.source.to_dict() if self.source else None

    def called(
        self, bodies: Iterable[Iterable[Condition]]
    ) -> tuple[tuple[Decision, tuple[Clause, ...]], ...]:
        """Return the decisions that some bodies call, directly or not, with their rules."""
        found = set(_calls(bodies))
        for decision, clauses in reversed(self.decisions):  # after those that they call
            if decision in found:
                found.update(_calls(clause.body for clause in clauses))
        return tuple(each for each in self.decisions if each[0] in found)

    def reads(self, body: tuple[Condition, ...]) -> frozenset[str]:
        """Return the features that a body reads, also through decisions."""
        found: set[str] = set()
        for condition in body:
            match condition:
                case Test(feature=name):
                    found.add(name)
                case Relation():
                    found |= condition.reads
                case Call(decision=decision):
                    found |= self._decision_reads[decision]
        return frozenset(found)

    @cached_property
    def _decision_reads(self) -> dict[Decision, frozenset[str]]:
        # Decisions stand in `decisions` after those that they call.
        found: dict[Decision, frozenset[str]] = {}
        for decision, clauses in self.decisions:
            read: set[str] = set()
            for clause in clauses:
                for condition in clause.body:
                    match condition:
                        case Test(feature=name):
                            read.add(name)
                        case Relation():
                            read |= condition.reads
                        case Call(decision=called):
                            read |= found[called]
            if decision == ACCEPTED and self.model is not None:
                read |= set(self.model.reads) & self.feature.keys()
            found[decision] = frozenset(read)
        return found


def _calls(bodies: Iterable[Iterable[Condition]]) -> Iterator[Decision]:
    return (each.decision for body in bodies for each in body if isinstance(each, Call))
