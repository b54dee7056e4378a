"""The cover: a tree of boxes whose leaves together hold every action set cheaper than the claim.

A box says for each feature whether it may stay without a direct action (`stays`), and which values its last direct action
may set (`targets`). Each leaf is closed for one of three reasons:

- `c`, cost: the cheapest member of the box already costs the claim.
- `r`, relaxed: if every action of the box is taken and values only accumulate, either no reachable combination of final
  values is consistent and at the goal, or each law, constraint or part of the goal that would have to hold cannot.
- `o`, orders: all orders of the box's actions on effect-relevant features were followed, and none ends below the claim.

A box is narrowed before it is judged: a target whose price alone brings the box to the claim is dropped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from itertools import count
from typing import NamedTuple

from p2c_verify.effects import Effects, permitted, points, single
from p2c_verify.facts import NO, YES, Judge
from p2c_verify.pricing import INFINITE, Measure, Pricing, length
from p2c_verify.problem import (
    FAR,
    Feature,
    Problem,
    Spans,
    ValueSet,
    VerifyError,
    intersect,
    union,
)

Sets = tuple[ValueSet, ...]


class Box(NamedTuple):
    """Open actions: per feature whether it may stay, the values it may be set to, and what it may come to at all."""

    stays: tuple[bool, ...]
    targets: tuple[Spans, ...]
    reach: Sets | None = None


class Moved(NamedTuple):
    """The direct moves on one feature so far."""

    feature: int
    left: frozenset[int]
    last: int
    length: int
    actions: int


class Node(NamedTuple):
    """A state on the way: values of effect-relevant features, and what was done directly."""

    sets: Sets
    done: frozenset[int]
    moved: tuple[Moved, ...] = ()

    def dominates(self, other: Node) -> bool:
        """Tell whether whatever may follow the other node at some price may follow this one."""
        if not self.done <= other.done:
            return False
        theirs = {each.feature: each for each in other.moved}
        for own in self.moved:
            their = theirs[own.feature]
            if own.last != their.last or not own.left <= their.left:
                return False
            if own.length > their.length or own.actions > their.actions:
                return False
        return True


class Cover:
    """The reasons for closing boxes of one person's question."""

    def __init__(self, problem: Problem, judge: Judge, initial: Sets, claim: Measure) -> None:
        self.problem, self.judge, self.initial, self.claim = problem, judge, initial, claim
        self.pricing = Pricing(problem)
        self.effects = Effects(problem, judge)
        self.causes = self.pricing.causes

    def root(self) -> Box:
        """Return the box of every action set."""
        stays, targets = [], []
        for feature in self.problem.features:
            settable = feature.action in ("free", "up", "down")
            targets.append(self._all_targets(feature) if settable else ())
            stays.append(True)
        return Box(tuple(stays), tuple(targets))

    def _all_targets(self, feature: Feature) -> Spans:
        spans, missing = self.initial[feature.index]
        if feature.index in self.causes or missing:
            return feature.domain
        value = spans[0][0]
        if feature.moves is None:
            return feature.snap(permitted(feature, value))
        ways = self.pricing.hops[feature.index][value]
        return tuple((end, end) for end, way in enumerate(ways) if way is not None and way[0])

    def origin(self, box: Box, feature: Feature) -> ValueSet | None:
        """Return the values that a feature may have before its first direct action."""
        if feature.index not in self.causes:
            return self.initial[feature.index]
        return None if box.reach is None else box.reach[feature.index]

    def prices(self, box: Box) -> list[Measure]:
        """Return for each feature the least that any member of the box pays for it."""
        return [
            (0, 0)
            if box.stays[feature.index]
            else self.pricing.least(feature, self.origin(box, feature), box.targets[feature.index])
            for feature in self.problem.features
        ]

    def narrowed(self, box: Box) -> Box | None:
        """Return the box without targets that cost too much; None if all its members do."""
        prices = self.prices(box)
        combine = self.pricing.combine
        before: list[Measure] = [(0, 0)]
        for price in prices:
            before.append(combine(before[-1], price))
        if before[-1] >= self.claim:
            return None
        targets = list(box.targets)
        after: Measure = (0, 0)
        for feature in reversed(self.problem.features):
            place = feature.index
            if targets[place] and self.claim != INFINITE:
                rest = combine(before[place], after)
                origin = self.origin(box, feature)
                targets[place] = self.pricing.affordable(
                    feature, origin, targets[place], rest, self.claim
                )
            if not targets[place] and not box.stays[place]:
                return None
            after = combine(after, prices[place])
        return box._replace(targets=tuple(targets))

    def reachable(self, box: Box) -> Sets:
        """Return the values that each feature may ever have if values only accumulate (delete relaxation)."""
        sets = list(self.initial)
        for feature in self.problem.features:
            if box.targets[feature.index] and feature.moves is None:
                sets[feature.index] = _joined(sets[feature.index], box.targets[feature.index])
        while True:
            grown = self.effects.reachable(sets) if self.causes else list(sets)
            for feature in self.problem.features:
                if box.targets[feature.index] and feature.moves is not None:
                    grown[feature.index] = _joined(
                        grown[feature.index], self._moves(feature, grown[feature.index])
                    )
            if grown == sets:
                return tuple(sets)
            sets = grown

    @staticmethod
    def _moves(feature: Feature, values: ValueSet) -> Spans:
        """Return the values that one move may lead to."""
        if values.missing:
            return feature.domain
        found: Spans = ()
        for low, high in values.spans:
            for value in range(low, high + 1):
                found = union(found, permitted(feature, value))
        return found

    def final(self, box: Box, reach: Sets) -> Sets:
        """Return the values that each feature may end with."""
        ends = []
        for feature in self.problem.features:
            place = feature.index
            if place in self.causes:
                ends.append(reach[place])
                continue
            own = self.initial[place] if box.stays[place] else ValueSet(())
            ends.append(_joined(own, box.targets[place]))
        return tuple(ends)

    def close(self, box: Box) -> tuple[str, Box]:
        """Return the reason "c" or "r" for closing a box, or "" and the narrowed box."""
        narrow = self.narrowed(box)
        if narrow is None:
            return "c", box
        reach = self.reachable(narrow)
        facts = self.judge.facts(self.final(narrow, reach))
        narrow = narrow._replace(reach=reach)
        return ("r" if self.judge.final(facts) == NO else ""), narrow

    def halves(self, box: Box, split: object) -> tuple[Box, Box]:
        """Return the two parts of a box that a token of the certificate names.

        Args:
            box: The box, narrowed.
            split: A feature's index (it stays, or is set), or a pair of index and cut: targets up to the cut, or above.
                The member that stays goes with the side of the initial value.
        """
        match split:
            case int(place) if 0 <= place < len(box.stays) and not isinstance(split, bool):
                if not box.stays[place]:
                    raise VerifyError("the cover splits a decided feature")
                return _with(box, place, stays=True, targets=()), _with(
                    box, place, stays=False, targets=box.targets[place]
                )
            case [int(place), int(cut)] if 0 <= place < len(box.stays):
                low = intersect(box.targets[place], ((-FAR, cut),))
                high = intersect(box.targets[place], ((cut + 1, FAR),))
                feature = self.problem.features[place]
                spans, missing = self.initial[place]
                left = missing or spans[0][0] <= cut
                stays = box.stays[place]
                return (
                    _with(box, place, stays=stays and left, targets=feature.snap(low)),
                    _with(box, place, stays=stays and not left, targets=feature.snap(high)),
                )
        raise VerifyError(f"the cover has no split {split!r}")

    def check(self, tokens: Sequence[object]) -> int:
        """Verify a cover given in preorder and return the number of its leaves."""
        waiting = [self.root()]
        leaves = 0
        for token in tokens:
            if not waiting:
                raise VerifyError("the cover goes on after its last leaf")
            box = waiting.pop()
            reason, narrow = self.close(box)
            if isinstance(token, str):
                if token == "o" and not reason:
                    reason = "o" if self.ordered(narrow) else ""
                if not reason or token != reason:
                    raise VerifyError(f"leaf {leaves + 1} of the cover is not closed by {token!r}")
                leaves += 1
                continue
            first, second = self.halves(narrow, token)
            waiting += [second, first]
        if waiting:
            raise VerifyError(f"the cover ends with {len(waiting)} boxes open")
        return leaves

    def ordered(self, box: Box, limit: int | None = None) -> bool:
        """Tell whether every order of a box's actions fails to reach the goal below the claim.

        Actions on features that no causal rule and no constraint reads or governs change nothing but themselves, so
        they are left out of the orders: their final values hold from the start.

        Args:
            box: The box, narrowed.
            limit: Number of states after which the answer is False; None for no limit.
        """
        problem, combine = self.problem, self.pricing.combine
        relevant = problem.relevant
        assert box.reach is not None
        ends = self.final(box, box.reach)
        prices = self.prices(box)
        base: Measure = (0, 0)
        for place, price in enumerate(prices):
            if place not in relevant:
                base = combine(base, price)
        if base >= self.claim:
            return True
        start = Node(
            tuple(
                self.initial[place] if place in relevant else ends[place]
                for place in range(len(ends))
            ),
            frozenset(),
        )
        required = {place for place in relevant if not box.stays[place]}
        ticket = count()
        heap = [(base, next(ticket), start, base)]
        seen: dict[tuple[Sets, frozenset[int]], list[tuple[Node, Measure]]] = {}
        while heap:
            _, _, node, paid = heappop(heap)
            rivals = seen.setdefault((node.sets, node.done & required), [])
            if any(price <= paid and rival.dominates(node) for rival, price in rivals):
                continue
            rivals.append((node, paid))
            if limit is not None and (limit := limit - 1) < 0:
                return False
            facts = self.judge.facts(node.sets)
            consistent = self.judge.consistent(facts)
            if consistent & YES and required <= node.done and self._ends_inside(box, node):
                if self.judge.final(facts) & YES:
                    return False
            for following, others in self._following(box, node, paid):
                total = self._total(following, others)
                if total < self.claim:
                    heappush(heap, (total, next(ticket), following, others))
        return True

    def _total(self, node: Node, others: Measure) -> Measure:
        total = others
        for each in node.moved:
            feature = self.problem.features[each.feature]
            own = self.pricing.change(feature, each.actions, each.length)
            total = self.pricing.combine(total, own)
        return total

    @staticmethod
    def _ends_inside(box: Box, node: Node) -> bool:
        """Tell whether the last moves of a node lie in the box."""
        return all(
            any(low <= each.last <= high for low, high in box.targets[each.feature])
            for each in node.moved
        )

    def _following(self, box: Box, node: Node, paid: Measure) -> Iterator[tuple[Node, Measure]]:
        facts = self.judge.facts(node.sets)
        consistent = self.judge.consistent(facts)
        certain = False
        effects = []
        if consistent & NO:
            effects, certain = self.effects.triggered(facts)
        if consistent & YES:
            effects = effects + self.effects.supported(facts)
        for cause, end in effects:
            yield _moved_to(node, cause.feature, end), paid
        if consistent == NO and certain:
            return
        for feature in self.problem.features:
            place = feature.index
            if place not in self.problem.relevant or not box.targets[place]:
                continue
            if feature.moves is not None:
                yield from ((each, paid) for each in self._moves_on(feature, node))
            elif place not in node.done:
                yield from self._set(feature, box.targets[place], node, paid)

    def _set(
        self, feature: Feature, targets: Spans, node: Node, paid: Measure
    ) -> Iterator[tuple[Node, Measure]]:
        own = node.sets[feature.index]
        if single(own):
            allowed = permitted(feature, own.spans[0][0] if own.spans else None)
            targets = feature.snap(intersect(targets, allowed))
        for end in points(feature, targets):
            price = self.pricing.least(feature, own, (end,))
            following = _moved_to(node, feature.index, end)
            yield (
                following._replace(done=node.done | {feature.index}),
                self.pricing.combine(paid, price),
            )

    def _moves_on(self, feature: Feature, node: Node) -> Iterator[Node]:
        place = feature.index
        known = next((each for each in node.moved if each.feature == place), None)
        _, left, _, far, actions = known or Moved(place, frozenset(), 0, 0, 0)
        spans, missing = node.sets[place]
        starts: list[int | None] = [value for low, high in spans for value in range(low, high + 1)]
        for start in [*starts, None] if missing else starts:
            for low, high in feature.snap(permitted(feature, start)):
                for end in range(low, high + 1):
                    if end in left or end == start:
                        continue
                    behind = left if start is None else left | {start}
                    step = length(feature, start, end) or 0
                    entry = Moved(place, frozenset(behind), end, far + step, actions + 1)
                    others = tuple(each for each in node.moved if each.feature != place)
                    following = _moved_to(node, place, (end, end))
                    yield following._replace(done=node.done | {place}, moved=(*others, entry))


def _joined(values: ValueSet, spans: Spans) -> ValueSet:
    return ValueSet(union(values.spans, spans), values.missing)


def _with(box: Box, place: int, *, stays: bool, targets: Spans) -> Box:
    return box._replace(
        stays=(*box.stays[:place], stays, *box.stays[place + 1 :]),
        targets=(*box.targets[:place], targets, *box.targets[place + 1 :]),
    )


def _moved_to(node: Node, place: int, end: tuple[int, int]) -> Node:
    sets = (*node.sets[:place], ValueSet((end,)), *node.sets[place + 1 :])
    return node._replace(sets=sets)
