"""Plays the steps of a plan from the initial state, action by action, and notes all that the contract forbids.

It asks `rules/meaning.py` what a state means and shares nothing with any planner. After a fault it goes on with the
value that the action claims, where that is a value at all, so that one run finds every fault.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

from p2c._plan.plan_json import DirectRecord, TakenRecord
from p2c._rules.evaluate import goal_holds, in_head
from p2c._rules.meaning import (
    allows,
    breached,
    candidate_values,
    changes_of,
    consistent,
    fired,
    may_act,
    nearest_values,
    triggered_outcomes,
    undefined,
    violated,
)
from p2c._rules.parse import parse
from p2c._rules.render import render_rule
from p2c._spec.feature import Action, Kind, exact, permits
from p2c._spec.resources import amounts_of, number_of
from p2c._spec.row import read_value
from p2c._spec.spec import Effects
from p2c.errors import Fault, RuleError, counted, suggestion

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from p2c._plan.plan_json import CausalRecord, Record, StepRecord
    from p2c._rules.meaning import AbducedException
    from p2c._rules.syntax import Rule
    from p2c._rules.theory import Clause, Theory
    from p2c._spec.computed import Origin
    from p2c._spec.cost import Norm
    from p2c._spec.feature import Feature, Value
    from p2c._spec.resources import NamedAction

    Goal = Callable[[Record], bool]
    """Tells whether a state is wanted; whether it is consistent is asked elsewhere."""

TOLERANCE = exact(1e-9)


class Replay:
    """A walk along a plan: the state reached, the path so far, what it cost, and every fault met."""

    def __init__(
        self,
        theory: Theory,
        initial: Record,
        *,
        exceptions: tuple[AbducedException, ...],
        norm: Norm,
        goal: Goal | None = None,
        start: Origin | None = None,
    ) -> None:
        self.theory = theory
        self.start = start
        self.exceptions = exceptions
        self.norm = norm
        self.goal = goal or partial(goal_holds, theory)
        nothing: dict[str, Any] = {each.name: Fraction(0) for each in theory.resources}
        self.state: dict[str, Any] = {**initial, **nothing}
        self.path = [dict(self.state)]
        self.faults: list[Fault] = []
        self.left: dict[str, list[Value]] = defaultdict(list)
        self.lengths: dict[str, list[Fraction]] = defaultdict(list)
        self.taken: Counter[str] = Counter()
        """How often each named action was taken."""
        self.set_directly = 0
        """The number of direct actions on a single feature."""
        self._place = ""
        self._recomputed: dict[str, tuple[Value, Value]] = {}
        """Unlisted changes of computed features by the last action."""

    @property
    def met(self) -> bool:
        """Tell whether the state reached is consistent and meets the goal."""
        return self.goal(self.state) and self._consistent

    @property
    def _consistent(self) -> bool:
        return consistent(self.theory, self.state, self.exceptions, self.start)

    @property
    def totals(self) -> dict[str, Fraction]:
        """Return the amount of each resource that the path uses."""
        return {each.name: self.state[each.name] for each in self.theory.resources}

    @property
    def count(self) -> int:
        """Return the number of direct actions, repetitions counted once."""
        return self.set_directly + len(self.taken)

    def step(self, step: StepRecord, *, number: int, last: bool) -> None:
        """Play one step and judge the state in which it ends."""
        self._place = f"step {number}"
        if not step.actions:
            self._fault("has no actions")
        for index, action in enumerate(step.actions, start=1):
            self._place = f"step {number}, action {index}"
            if isinstance(action, TakenRecord):
                self._take(action, first=index == 1)
            else:
                self._act(action, first=index == 1)
        self._place = f"step {number}"
        self._refuse_unlisted()
        self.compare(self._place, step.state)
        self._judge_end(last=last)
        self.path.append(dict(self.state))

    def compare(self, place: str, recorded: Record) -> None:
        """Note where a recorded state is not the one that was reached."""
        for name in self.theory.feature:
            value = self.state[name]
            if recorded[name] != value:
                found = f"records {name} as {shown(recorded[name])}"
                self.faults.append(Fault(place, f"{found}, but it is {shown(value)} there"))
            elif _is_float_of_int(self.theory.feature[name], recorded[name]):
                self.faults.append(
                    Fault(place, f"{name} is an int feature, found {shown(recorded[name])}")
                )

    def _judge_end(self, *, last: bool) -> None:
        for name in violated(self.theory, self.state, self.exceptions):
            found = shown(self.state[name])
            self._fault(f"ends inconsistent: the rules of {name} do not allow {found}")
        for clause in breached(self.theory, self.state, self.exceptions):
            self._fault(f"ends inconsistent: it breaks the constraint {render_rule(clause.rule)}")
        for text in undefined(self.theory, self.state, self.start):
            self._fault(f"ends inconsistent: {text} is undefined, and was defined at the start")
        for number, earlier in enumerate(self.path):
            if self.state == earlier:
                where = f"after step {number}" if number else "at the start"
                self._fault(f"ends in a state that the path had before, {where}")
        met = self.met
        if met and not last:
            self._fault("meets the goal, so the path ends here, but another step follows")
        if last and not met:
            self._fault("is the last step, but the goal is not met at its end")

    def _act(self, action: DirectRecord | CausalRecord, *, first: bool) -> None:
        name = action.feature
        feature = self.theory.feature.get(name)
        if feature is None:
            self._fault(f"there is no feature '{name}'; {suggestion(name, self.theory.feature)}")
            return
        if feature.equation is not None:
            self._compute(action, feature.equation.text)
            return
        start = self.state[name]
        if action.start != start:
            self._fault(f"says that {name} is {shown(action.start)}, but it is {shown(start)}")
        self._refuse_unlisted()
        settled = self._begin(first=first)
        end = self._target(feature, action.end, direct=action.direct)
        uses: Mapping[str, Fraction] = {}
        if isinstance(action, DirectRecord):
            self._direct(feature, action, end)
            uses = {} if end is None else amounts_of(feature, start, end)
            self._compare_uses(action, uses)
        else:
            self._causal(feature, action, end, settled=settled)
        if end is not None:
            self._change({name: end}, uses)

    def _begin(self, *, first: bool) -> bool:
        """Tell whether the state before an action is consistent."""
        settled = self._consistent
        if settled and not first:
            self._fault("the state before it is consistent, so it belongs to a new step")
        return settled

    def _take(self, record: TakenRecord, *, first: bool) -> None:
        """Play a named action with its repetitions."""
        name = record.action_name
        actions = {each.name: each for each in self.theory.named_actions}
        if name not in actions:
            self._fault(f"there is no named action '{name}'; {suggestion(name, actions)}")
            return
        action = actions[name]
        self._refuse_unlisted()
        self._begin(first=first)
        before = dict(self.state)
        for number in range(record.count):
            if number:
                self._judge_between()
            self._repeat(action)
        self._recomputed = self._changed_since(before)
        self.taken[name] += record.count
        if self.taken[name] > action.repeat:
            most = counted(action.repeat, "time")
            self._fault(f"takes '{name}' {self.taken[name]} times in all, and at most {most}")
        due = [
            (each, before[each], self.state[each])
            for each in action.lists
            if before[each] != self.state[each]
        ]
        listed = [(each.feature, each.start, each.end) for each in record.changes]
        if set(due) != set(listed) or len(due) != len(listed):
            right = ", ".join(f"{n} from {shown(a)} to {shown(b)}" for n, a, b in due) or "nothing"
            self._fault(f"changes: '{name}' changes {right} here")
        cost = record.count * action.cost
        if not same_number(exact(record.cost), cost):
            self._fault(f"costs {decimal(cost):.10g}, found {record.cost}")
        self._compare_uses(record, {name: record.count * each for name, each in action.uses})

    def _judge_between(self) -> None:
        """Judge the state between two repetitions."""
        if not self._consistent:
            self._refuse_pending()
            return
        if self.met:
            self._fault("meets the goal, so the path ends here, but another repetition follows")
        if self.state in self.path:
            self._fault("reaches a state that the path had before")
        self.path.append(dict(self.state))

    def _repeat(self, action: NamedAction) -> None:
        """Play a named action once."""
        self._refuse_pending()
        changes = changes_of(self.theory, action, self.state)
        if changes is None:
            self._fault(f"'{action.name}' does not exist here: its condition or a change fails")
            return
        if action.repeat == 1:
            for each in changes:
                self._leave(each.feature, each.end)
        self._change({each.feature: each.end for each in changes}, dict(action.uses))

    def _compare_uses(
        self, record: DirectRecord | TakenRecord, due: Mapping[str, Fraction]
    ) -> None:
        for name in sorted({*due, *record.uses}):
            right, wrong = due.get(name, Fraction(0)), record.uses.get(name, 0)
            if not same_number(right, exact(wrong)):
                self._fault(f"uses {number_of(right)} {name}, found {wrong}")

    def _change(
        self, changes: Mapping[str, str | int | float], uses: Mapping[str, Fraction]
    ) -> None:
        """Set features, use resources, recompute the rest, and note the changes."""
        before = dict(self.state)
        self.state.update(changes)
        for resource in self.theory.resources:
            if resource.name not in uses:
                continue
            self.state[resource.name] += uses[resource.name]
            total, limit = self.state[resource.name], resource.limit
            if limit is not None and total > limit:
                most, found = number_of(limit), number_of(total)
                self._fault(f"uses {found} {resource.name} in all, over the limit of {most}")
        if self.start is None:
            return
        self.state = self.start.recomputed(self.state)
        self._recomputed = self._changed_since(before)

    def _changed_since(self, before: Record) -> dict[str, tuple[Value, Value]]:
        """Return the computed features that differ from an earlier state."""
        return {
            each.name: (before[each.name], self.state[each.name])
            for each in (self.start.features if self.start else ())
            if before[each.name] != self.state[each.name]
        }

    def _compute(self, action: DirectRecord | CausalRecord, equation: str) -> None:
        """Compare a listed change of a computed feature with the due one."""
        name = action.feature
        if action.direct:
            self._fault(f"{name} is computed as {equation} and is never set directly")
            return
        due = self._recomputed.pop(name, None)
        if due is None:
            self._fault(f"{name} is computed as {equation}, which does not change it here")
            return
        if (action.start, action.end) != due:
            change = f"goes from {shown(due[0])} to {shown(due[1])}"
            told = f"{shown(action.start)} to {shown(action.end)}"
            self._fault(f"{name} is computed and {change}, found {told}")
        elif _is_float_of_int(self.theory.feature[name], action.end):
            self._fault(f"{name} is an int feature, found {shown(action.end)}")
        if action.cost != 0:
            self._fault(f"is causal and costs nothing, found {action.cost}")
        if [" ".join(each.split()) for each in action.because] != [equation]:
            self._fault(f"because: expected its equation, {equation}")
        if action.assumed:
            self._fault(f"assumed is true, but {name} is computed")

    def _refuse_unlisted(self) -> None:
        """Note the changes of computed features that are not listed."""
        for name, (before, after) in self._recomputed.items():
            change = f"from {shown(before)} to {shown(after)}"
            self._fault(f"does not list that {name} goes {change}, which its equation says")
        self._recomputed = {}

    def _target(self, feature: Feature, raw: Value, *, direct: bool) -> str | int | float | None:
        """Return the target as a value of the feature, None where it is none."""
        if raw is None:
            self._fault(f"sets {feature.name} to nothing; a target is a value")
            return None
        try:
            value = read_value(feature, raw)
        except ValueError as error:
            self._fault(f"the target of {feature.name} does not exist: {error}")
            return None
        assert value is not None
        if _is_float_of_int(feature, raw):
            self._fault(f"{feature.name} is an int feature, found {shown(raw)}")
        if value == self.state[feature.name]:
            self._fault(f"does not change {feature.name}, which is {shown(value)} before it too")
        elif not feature.contains(value):
            self._fault(f"{shown(value)} is not on the grid of {feature.name}")
        elif not permits(feature, self.state[feature.name], value, direct=direct):
            self._fault(_refusal(feature, self.state[feature.name], value))
        return value

    def _direct(
        self, feature: Feature, action: DirectRecord, end: str | int | float | None
    ) -> None:
        name, start = feature.name, self.state[feature.name]
        self._refuse_pending()
        self._leave(name, end)
        self.set_directly += 1
        if end is None:
            return
        self.lengths[name].append(self.norm.length(feature, start, end))
        due = self.norm.action_cost(feature, start, end)
        if not same_number(exact(action.cost), due):
            self._fault(f"costs {decimal(due):.10g} in {self.norm.value}, found {action.cost}")

    def _refuse_pending(self) -> None:
        """Note a direct action in a state in which effects come first."""
        violations = violated(self.theory, self.state, self.exceptions)
        pending = triggered_outcomes(self.theory, self.state, violations)
        if pending:
            waiting = ", ".join(sorted({each.feature for each in pending}))
            self._fault(f"is direct while an effect is pending: {waiting} changes by itself first")

    def _leave(self, name: str, end: Value) -> None:
        """Note a direct change of a feature, and whether earlier ones bar it."""
        if self.left[name] and self.theory.feature[name].moves is None:
            self._fault(f"{name} was changed directly before, and a feature is only once")
        elif end in self.left[name]:
            self._fault(f"takes {name} back to {shown(end)}, which it left by a direct action")
        self.left[name].append(self.state[name])

    def _causal(
        self,
        feature: Feature,
        action: CausalRecord,
        end: str | int | float | None,
        *,
        settled: bool,
    ) -> None:
        name = feature.name
        if action.cost != 0:
            self._fault(f"is causal and costs nothing, found {action.cost}")
        if name not in self.theory.rules_of:
            self._fault(f"no causal rule has {name} as its head, so it never changes by itself")
            return
        rules = fired(self.theory, name, self.state)
        wrong = rules_differ(action.because, (clause.rule for clause in rules))
        if wrong:
            self._fault(f"because: {wrong}")
        reason = self._idle_reason(name, rules, settled=settled)
        if reason:
            self._fault(reason)
        elif end is not None and feature.contains(end):
            self._nearest(feature, action, end, supports=self._supports(name, rules, settled))

    def _idle_reason(self, name: str, rules: tuple[Clause, ...], *, settled: bool) -> str:
        """Say why a feature does not act in this state, or nothing where it may."""
        if settled and self.theory.effects is Effects.SUPPORTED:
            lacking = any(not in_head(self.theory, each, self.state[name]) for each in rules)
            return "" if lacking else f"no fired rule of {name} supports another value"
        violations = violated(self.theory, self.state, self.exceptions)
        if name not in violations:
            return f"{name} is not violated, so it does not change by itself"
        if not may_act(self.theory, name, violations):
            above = [each for each in violations if not may_act(self.theory, name, (each,))]
            return f"{', '.join(above)} is violated upstream of {name} and changes first"
        return ""

    def _supports(
        self, name: str, rules: tuple[Clause, ...], settled: bool
    ) -> list[Callable[[Value], bool]]:
        """Return the sets of values of which the feature takes a nearest one, as predicates."""
        if not settled:
            return [partial(allows, self.theory, name, rules)]
        lacking = (each for each in rules if not in_head(self.theory, each, self.state[name]))
        return [partial(in_head, self.theory, each) for each in lacking]

    def _nearest(
        self,
        feature: Feature,
        action: CausalRecord,
        end: str | int | float,
        *,
        supports: list[Callable[[Value], bool]],
    ) -> None:
        start = self.state[feature.name]
        # From a missing value all values are equally near, and candidate_values lists only some of them.
        candidates = list(dict.fromkeys([*candidate_values(self.theory, feature), end]))
        found = [nearest_values(feature, start, admits, candidates) for admits in supports]
        chosen = [values for values in found if end in values]
        if not chosen:
            if not any(admits(end) for admits in supports):
                self._fault(f"no rule supports {feature.name} becoming {shown(end)}")
            near = sorted({shown(value) for values in found for value in values})
            self._fault(f"the nearest value of {feature.name} is {' or '.join(near) or 'none'}")
        elif action.assumed not in [len(values) > 1 for values in chosen]:
            ties = "several values are" if not action.assumed else "no other value is"
            self._fault(f"assumed is {shown(action.assumed)}, but {ties} equally near")

    def _fault(self, message: str) -> None:
        self.faults.append(Fault(self._place, message))


def _refusal(feature: Feature, start: Value, end: str | int | float) -> str:
    """Say why a change of value to a point of the domain is not permitted."""
    change = f"{feature.name} from {shown(start)} to {shown(end)}"
    if feature.action is Action.FIXED:
        return f"{feature.name} is fixed: nothing changes it"
    ways = feature.moves_from
    if ways is not None and start is not None and end not in ways.get(start, ()):
        return f"there is no move of {change}"
    if feature.action is Action.EFFECT:
        return f"{feature.name} is an effect of its causal rules and is never set directly"
    if not feature.is_target(end):
        return f"{feature.name} is restricted to other values than {shown(end)}"
    if feature.action in (Action.UP, Action.DOWN):
        return f"{feature.name} only goes {feature.action.value}, so not {change}"
    return f"nobody may set {change}"


def rules_differ(texts: Iterable[str], rules: Iterable[Rule]) -> str:
    """Say how a list of rule texts differs from the rules that it should hold, or nothing."""
    expected = set(rules)
    found: set[Rule] = set()
    for text in texts:
        try:
            found |= set(parse(text).rules)
        except RuleError:
            return f"'{text}' is not a rule"
    extra, missing = found - expected, expected - found
    if extra:
        return f"'{render_rule(_first(extra))}' does not belong there"
    return f"'{render_rule(_first(missing))}' belongs there" if missing else ""


def _first(rules: set[Rule]) -> Rule:
    return min(rules, key=render_rule)


def same_number(left: Fraction, right: Fraction, *, tolerance: Fraction = TOLERANCE) -> bool:
    """Tell whether two numbers are equal up to a relative difference."""
    return abs(left - right) <= tolerance * max(abs(left), abs(right))


def decimal(number: Fraction) -> Decimal:
    """Return a number to be shown, however large it is."""
    return Decimal(number.numerator) / Decimal(number.denominator)


def _is_float_of_int(feature: Feature, value: Value) -> bool:
    return feature.kind is Kind.INT and isinstance(value, float)


def shown(value: Value | bool) -> str:
    """Return a value as JSON has it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else f"'{value}'" if isinstance(value, str) else str(value)
