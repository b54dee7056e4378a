"""Direct actions, effects and costs over sets of states; one state is a replay.

A measure is a pair (number of direct actions, cost) where actions are minimized first, else (0, cost). Costs are integers,
multiplied by one common denominator. Under `l2` the cost is the sum of squares, under `linf` the largest term.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from p2c_verify.facts import Facts, Judge
from p2c_verify.values import ALL, MAYBE, NO, YES, Sets, Span, Spans
from p2c_verify.values import intersect, is_single, replaced

Measure = tuple[int, int]


class Change(NamedTuple):
    """The direct actions on one feature: values left, last value, length, number."""

    left: frozenset[int]
    last: Span
    length: int
    actions: int


class Node(NamedTuple):
    """A set of states: one value or span per feature, and its direct changes."""

    sets: Sets
    changes: Mapping[int, Change]


class Transitions:
    """The successors of a set of states and their costs."""

    def __init__(self, judge: Judge) -> None:
        self.judge, self.problem, self.initial = judge, judge.problem, judge.initial
        self.power = {"l0": 0, "l1": 1, "l2": 2, "linf": 1}[self.problem.norm]
        rates = [each.weight / each.unit**self.power for each in self.problem.features]
        self.common = math.lcm(*(each.denominator for each in rates))
        self.rates = [int(each * self.common) for each in rates]

    def measure(self, feature: int, actions: int, length: int) -> Measure:
        """Return the measure of direct actions from their number and total length."""
        times = actions if self.problem.norm == "l0" else 1
        cost = self.rates[feature] * length**self.power * times
        return actions if self.problem.fewest else 0, cost

    def combined(self, measures: Iterable[Measure]) -> Measure:
        """Return the measure of several features together."""
        counts, costs = zip((0, 0), *measures, strict=True)
        return sum(counts), max(costs) if self.problem.norm == "linf" else sum(costs)

    def total(self, node: Node) -> Measure:
        """Return the measure of all direct actions of a node."""
        items = node.changes.items()
        return self.combined(self.measure(place, own.actions, own.length) for place, own in items)

    def moved(self, node: Node, feature: int, end: Span) -> Node:
        """Return a node after a feature took another value."""
        return node._replace(sets=self.judge.recomputed(replaced(node.sets, feature, (end,))))

    def effects(self, facts: Facts) -> tuple[list[tuple[int, Span]], bool]:
        """Return the possible effects, and whether every state has a pending one.

        On a single state whose truths are decided both are exact.

        Sound because every combination of rules that may fire is covered: where a body is undecided, the nearest value of a
        union of heads is the nearest value of one of them. A feature is blocked only by a violation that is certain. An
        effect that the person's restrictions bar is pending all the same, and ends the path.
        """
        causes = self.problem.causes
        effects, pending = list[tuple[int, Span]](), False
        for cause, law, fired in zip(causes, facts.laws, facts.fired, strict=True):
            feature, values = self.problem.features[cause.feature], facts.sets[cause.feature]
            heads = [rule.head for rule, fires in zip(cause.rules, fired, strict=True) if fires]
            supported = heads if self.problem.supported and facts.consistent else []
            ends = {end for head in supported for end in feature.nearest(values, head)}
            if law < YES and not self._blocked(cause.feature, facts, NO):
                if cause.law == "only_if" or (cause.law == "iff" and YES not in fired):
                    heads.append(cause.unheaded)
                if MAYBE not in fired:
                    heads = [tuple(span for head in heads for span in head)]
                ends.update(*(feature.nearest(values, head) for head in heads))
                sure = law == NO and MAYBE not in fired and is_single(values) and bool(ends)
                pending |= sure and not self._blocked(cause.feature, facts, MAYBE)
            if is_single(values):
                parts = [part for end in ends for part in self.problem.cut(cause.feature, end)]
                led = intersect(tuple(parts), feature.permitted(values[0][0]))
                ends = set(feature.admissible(led))
            effects += [(cause.feature, end) for end in sorted(ends)]
        return effects, pending

    def _blocked(self, feature: int, facts: Facts, doubt: int) -> bool:
        """Tell whether a law of at most this truth lies upstream, outside its cycle."""
        upstream = self.problem.upstream
        laws = zip(self.problem.causes, facts.laws, strict=True)
        above = [
            each.feature for each, law in laws if law <= doubt and each.feature in upstream[feature]
        ]
        return any(feature not in upstream[each] for each in above if each != feature)

    def following(
        self, facts: Facts, node: Node, targets: Sequence[Spans]
    ) -> Iterator[tuple[str, int, Span, Node]]:
        """Yield kind, feature, new value and node of each effect and direct action.

        Args:
            facts: The facts of the node.
            node: A set of states.
            targets: Per feature what a direct action may set; none if it is empty. Moves may pass any value.
        """
        effects, pending = self.effects(facts)
        for place, end in effects:
            yield "causal", place, end, self.moved(node, place, end)
        features = () if pending and not facts.consistent else self.problem.features
        for place, feature in enumerate(features):
            ((low, high), *_), past = node.sets[place], node.changes.get(place)
            if not targets[place] or (past and feature.moves is None):
                continue
            left, _, length, actions = past or Change(frozenset(), (low, high), 0, 0)
            wanted = targets[place] if feature.moves is None else ALL
            if low == high:
                wanted = intersect(wanted, feature.permitted(low))
            for end in feature.admissible(wanted):
                if end[0] not in left:
                    far = length + feature.length((low, high), end)
                    change = Change(left | {low}, end, far, actions + 1)
                    changes = {**node.changes, place: change}
                    yield (
                        "direct",
                        place,
                        end,
                        self.moved(node, place, end)._replace(changes=changes),
                    )
