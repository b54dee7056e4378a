"""Branch and bound that writes the cover of a claimed cost for the checker.

It searches nothing that the planner found: given a claim, it splits the box of all action sets until the checker's own
reasons close every part. A false claim therefore ends in a box that cannot be closed.
"""

from __future__ import annotations

import itertools
import json
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any

from p2c._plan.certificate.canonical import canonical
from p2c.errors import UncertifiedError
from p2c_verify.claims import FORMAT, digests, opened, replay
from p2c_verify.cover import Box, Cover
from p2c_verify.forest import Forest, Key
from p2c_verify.problem import Call, Problem, Test, parse
from p2c_verify.values import MAYBE, MISSING, YES, Sets, Spans, VerifyError, is_single, union

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from p2c._rules.theory import Theory
    from p2c._spec.feature import Value
    from p2c_verify.facts import Facts, Judge
    from p2c_verify.forest import Leaf
    from p2c_verify.transitions import Measure, Node
    from p2c_verify.values import Span

FEW_OPEN = 4
"""Maximum number of open effect-relevant features for which orders are followed.

A box with more open features is split further.
"""
ORDERS = 300
"""States of orders that are followed before a box is split further."""
MOST_ORDERS = 200_000
"""States of orders that are followed where no split is left."""

Split = int | list[int]


class Clock:
    """The time that a certificate may take."""

    def __init__(self, seconds: float | None) -> None:
        self.deadline = None if seconds is None else monotonic() + seconds

    def check(self) -> None:
        """Raise if the time is over."""
        if self.deadline is not None and monotonic() > self.deadline:
            raise UncertifiedError("no certificate within the time limit")


class TimedCover(Cover):
    """Reasons for closing boxes that keep a time limit."""

    def __init__(self, judge: Judge, claim: Measure | None, clock: Clock) -> None:
        super().__init__(judge, claim)
        self.clock = clock

    def following(
        self, facts: Facts, node: Node, targets: Sequence[Spans]
    ) -> Iterator[tuple[str, int, Span, Node]]:
        """Yield the successors of a set of states within the time limit."""
        self.clock.check()
        return super().following(facts, node, targets)


class RecordingForest(Forest):
    """A parsed model that records the model's answers within rounding, in limited time."""

    def __init__(
        self,
        theory: Theory,
        clock: Clock,
        data: Mapping[str, Any],
        problem: Problem,
        answers: dict[Key, bool],
    ) -> None:
        self.theory, self.problem, self.clock = theory, problem, clock
        self.recordings = answers
        super().__init__(data, problem, answers)

    def _leaf(self, values: Any, tests: Any) -> Leaf:
        self.clock.check()
        return super()._leaf(values, tests)

    def _ruled_out(self, margin: int, cells: Iterable[tuple[int, int]]) -> int:
        self.clock.check()
        return super()._ruled_out(margin, cells)

    def recorded(self, sets: Sets, cells: Sequence[int]) -> int:
        """Return the model's answer about a single state; ask the model if there is none."""
        key = self.key(sets, cells)
        if key is not None and key not in self.recordings:
            self.recordings[key] = self._ask(sets)
        return super().recorded(sets, cells)

    def _ask(self, sets: Sets) -> bool:
        state: dict[str, Value] = {}
        known = zip(self.theory.features, self.problem.features, sets, strict=True)
        for feature, own, ((low, _), *_) in known:
            value = own.write(low)
            if value is not None and feature.kind.is_number:
                value = int(value) if feature.kind.value == "int" else float(value)
            state[feature.name] = value
        model = self.theory.model
        assert model is not None
        return bool(model.accepts(state))


def certificate_for(
    theory: Theory,
    row: Mapping[str, Value],
    plan: Mapping[str, Any],
    *,
    time_limit: float | None = None,
) -> dict[str, Any]:
    """Return the certificate of an answer: digests, recorded answers, and a cover.

    Args:
        theory: The problem as it was asked.
        row: The person's value of every feature.
        plan: The answer as JSON; its status is `found`, `already` or `infeasible`.
        time_limit: Seconds; None for no limit.

    Raises:
        UncertifiedError: The claim is false, the canonical form lacks a part of the problem, or the limit was reached.
    """
    clock = Clock(time_limit)
    document = parse(json.dumps(canonical(theory)))
    clock.check()
    person = parse(json.dumps(dict(row)))
    answers: dict[Key, bool] = {}
    try:
        judge = opened(document, person, answers, partial(RecordingForest, theory, clock))
        claim = None
        met = (
            judge.facts(judge.initial).final == YES
        )  # also records what the model says of the start
        if met != (plan["status"] == "already"):
            raise UncertifiedError(f"no certificate: the status {plan['status']!r} is false")
        if plan["status"] == "found":
            claim = replay(judge, parse(json.dumps(plan)))
    except VerifyError as error:
        raise UncertifiedError(f"no certificate: {error}") from None
    cover: list[Any] = []
    if plan["status"] in ("found", "infeasible"):
        cover = Certifier(TimedCover(judge, claim, clock)).run()
    used = judge.forest.used if judge.forest else set()
    return {
        "format": FORMAT,
        "status": plan["status"],
        **digests(document, person),
        "answers": [[list(key), answers[key]] for key in sorted(used, key=repr)],
        "cover": cover,
    }


class Certifier:
    """One branch and bound over the boxes of a claim."""

    def __init__(self, cover: TimedCover) -> None:
        self.cover = cover
        self.problem = cover.problem
        self.forest = cover.judge.forest

    def run(self) -> list[Any]:
        """Return the cover in preorder."""
        tokens: list[Any] = []
        waiting = [self.cover.root()]
        while waiting:
            self.cover.clock.check()
            token, parts = self._expand(waiting.pop())
            tokens.append(token)
            waiting += reversed(parts)
        return tokens

    def _expand(self, box: Box) -> tuple[Any, Sequence[Box]]:
        reason, narrow, ends = self.cover.close(box)
        if reason:
            return reason, ()
        split = self._split(narrow, ends)
        limit = MOST_ORDERS if split is None else ORDERS
        if self._follows_orders(narrow, split) and self.cover.ordered(narrow, ends, limit):
            return "o", ()
        if split is None:
            raise UncertifiedError(
                "no certificate: a cheaper plan exists, or its orders are too many"
            )
        return split, self.cover.halves(narrow, split)

    def _follows_orders(self, box: Box, split: Split | None) -> bool:
        """Tell whether to follow orders now: they are few, or nothing else is left."""
        relevant = self.problem.relevant
        return bool(relevant) and (
            split is None or sum(bool(box[place].targets) for place in relevant) <= FEW_OPEN
        )

    def _split(self, box: Box, ends: Sets) -> Split | None:
        facts = self.cover.judge.facts(ends)
        for test in self._undecided(facts):
            split = self._at_test(box, test)
            if split is not None:
                return split
        if self.forest is not None and self._asks_model() and facts.accepted() == MAYBE:
            split = self._by_score(box, facts)
            if split is not None:
                return split
        return self._any_split(box)

    def _asks_model(self) -> bool:
        return any(isinstance(each, Call) and each.decision is None for each in self._conditions())

    def _conditions(self) -> Iterator[Any]:
        yield from self.problem.goal
        for constraint in self.problem.constraints:
            yield from constraint.body
        for cause in self.problem.causes:
            for rule in cause.rules:
                yield from rule.body
        for rules in self.problem.decisions.values():
            for body in rules:
                yield from body

    def _undecided(self, facts: Facts) -> Iterator[Test]:
        """Yield the undecided tests, the tests of the goal first."""
        seen: set[Test] = set()
        for condition in self._conditions():
            if isinstance(condition, Test) and condition not in seen:
                seen.add(condition)
                if facts.condition(condition) == MAYBE:
                    yield condition

    def _at_test(self, box: Box, test: Test) -> Split | None:
        """Return a split after which a test is decided, or nearer to it."""
        place = test.feature
        targets = box[place].targets
        if not targets:
            return None
        if place in self.cover.causes and box[place].stays:
            return place
        for cut in _borders(test.wanted):
            if self._divides(box, place, cut):
                return [place, cut]
        return None

    def _divides(self, box: Box, place: int, cut: int) -> bool:
        """Tell whether a cut leaves something on both sides."""
        own = self.cover.initial[place][0][0]
        values = [value for span in box[place].targets for value in span]
        if box[place].stays:
            values.append(cut if own == MISSING else own)
        return min(values) <= cut < max(values)

    def _any_split(self, box: Box) -> Split | None:
        """Return a split of any feature that matters and is not decided."""
        places = set(self.problem.relevant) | {
            each.feature for each in self._conditions() if isinstance(each, Test)
        }
        if self.forest is not None:
            places |= {axis.feature.index for axis in self.forest.axes}
        for place in sorted(places):
            if box[place].stays and box[place].targets:
                return place
        for place in sorted(places):
            targets = box[place].targets
            if targets and not is_single(targets):
                return self._halving(place, targets)
        return None

    def _halving(self, place: int, targets: Sequence[tuple[int, int]]) -> Split:
        low, high = targets[0][0], targets[-1][1]
        for cut in self._cuts(place):
            if low <= cut < high:
                return [place, cut]
        own = self.cover.initial[place][0][0]
        if low <= own < high:
            return [place, own]
        if low < own <= high:
            return [place, own - 1]
        if len(targets) > 1:
            return [place, targets[len(targets) // 2 - 1][1]]
        return [place, (low + high) // 2]

    def _cuts(self, place: int) -> list[int]:
        """Return the cuts at which rules or nearest values distinguish values."""
        cuts: set[int] = set()
        for condition in self._conditions():
            if isinstance(condition, Test) and condition.feature == place:
                cuts.update(_borders(condition.wanted))
        ends: set[int] = set()
        for cause in self.problem.causes:
            if cause.feature == place:
                for rule in cause.rules:
                    ends |= {value for span in rule.head for value in span}
        inner = sorted(each for each in ends if MISSING + 1 < each < -MISSING)
        cuts |= {value + shift for value in inner for shift in (-1, 0)}
        cuts |= {(one + other) // 2 for one, other in itertools.pairwise(inner)}
        cuts |= {(one + other - 1) // 2 for one, other in itertools.pairwise(inner)}
        return sorted(cuts)

    def _by_score(self, box: Box, facts: Facts) -> Split | None:
        """Return the split of a weighed feature that lowers the score's bound most."""
        forest = self.forest
        assert forest is not None
        sets = list(facts.sets)
        best, chosen = -1.0, None
        for axis, own in enumerate(forest.axes):
            place = own.feature.index
            targets = box[place].targets
            if not targets:
                continue
            if place in self.cover.causes and box[place].stays:
                return place
            for cut in self._model_cuts(box, axis):
                worth = 1.0
                for half in self.cover.halves(box, [place, cut]):
                    kept = sets[place]
                    mine = half[place].targets
                    if half[place].stays:
                        mine = union(mine, self.cover.initial[place])
                    sets[place] = mine
                    worth *= self._drop(facts.sets, tuple(sets))
                    sets[place] = kept
                if worth > best:
                    best, chosen = worth, [place, cut]
        return chosen

    def _drop(self, before: Sets, after: Sets) -> float:
        """Return by how much a narrower set lowers the bound of the score.

        It is a share of the bound's distance to the border.
        """
        forest = self.forest
        assert forest is not None
        gap = self._gap(before)
        return max(gap - self._gap(after), 1e-6 * gap) / gap if gap > 0 else 1.0

    def _gap(self, sets: Sets) -> float:
        forest = self.forest
        assert forest is not None
        cells = forest.cells(sets)
        if 0 in cells:
            return 1e9
        gaps = []
        for margin, refused in enumerate(forest.refused_below):
            high = forest.range(margin, sets, cells)[1]
            gaps.append((high - refused) / forest.unit)
        return max(min(gaps), 1e-12)

    def _model_cuts(self, box: Box, axis: int) -> list[int]:
        """Return up to three cuts of a feature that divide its cells in a box."""
        forest = self.forest
        assert forest is not None
        own = forest.axes[axis]
        feature = own.feature
        place = feature.index
        if own.uppers is None:
            ranks = range(len(feature.labels) - 1)
            cuts = [rank for rank in ranks if self._divides(box, place, rank)]
        else:
            ends = [value for span in box[place].targets for value in span]
            initial = self.cover.initial[place][0][0]
            if box[place].stays and initial != MISSING:
                ends.append(initial)
            first, last = own.cell(min(ends)) or 0, own.cell(max(ends)) or 0
            uppers = own.uppers[first:last]
            cuts = [_floor(upper, feature.scale) for upper in uppers]
            cuts = [cut for cut in cuts if self._divides(box, place, cut)]
            if not cuts and axis in forest.lined and min(ends) < max(ends):
                cuts = [(min(ends) + max(ends)) // 2]
                cuts = [cut for cut in cuts if self._divides(box, place, cut)]
        if len(cuts) <= 3:
            return cuts
        return [cuts[len(cuts) // 4], cuts[len(cuts) // 2], cuts[3 * len(cuts) // 4]]


def _borders(spans: Spans) -> list[int]:
    """Return the cuts between a test's values and the others, lower one first."""
    cuts = [cut for low, high in spans for cut in (low - 1, high)]
    return [cut for cut in cuts if MISSING < cut < -MISSING]


def _floor(number: float, scale: int) -> int:
    from fractions import Fraction
    from math import floor

    return floor(Fraction(number) * scale)
