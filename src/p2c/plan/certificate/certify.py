"""Branch and bound that knows the claimed cost and writes the cover for the checker.

It searches nothing that the planner found: given a claim, it splits the box of all action sets until the checker's own
reasons close every part. A false claim therefore ends in a box that cannot be closed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING, Any

from p2c.plan.certificate.canonical import UncertifiedError, canonical
from p2c_verify.claims import FORMAT, digests, opened
from p2c_verify.cover import Box, Cover
from p2c_verify.effects import single
from p2c_verify.facts import NO, YES, Facts
from p2c_verify.forest import Forest, Key
from p2c_verify.pricing import INFINITE
from p2c_verify.problem import Call, Problem, Test, ValueSet, VerifyError, parse
from p2c_verify.replay import Replay, lone

if TYPE_CHECKING:
    from collections.abc import Iterator

    from p2c.domain.feature import Value
    from p2c.rules.theory import Theory

FEW_OPEN = 4
"""Open effect-relevant features up to which orders are followed before a box is split further."""
ORDERS = 300
"""States of orders that are followed before a box is split further."""
MOST_ORDERS = 200_000
"""States of orders that are followed where no split is left."""

Split = int | list[int]


@dataclass
class RecordingForest(Forest):
    """A parsed model that asks the model itself about states within its rounding, and records the answers."""

    theory: Theory = field(kw_only=True)

    def __init__(self, problem: Problem, theory: Theory, answers: dict[Key, bool]) -> None:
        assert problem.model is not None
        super().__init__(problem.model, problem.features, answers)
        self.theory = theory
        self.recorded = answers

    def _recorded(self, sets: Sequence[ValueSet], cells: Sequence[int]) -> int:
        key = self.key(sets, cells)
        if key is not None and key not in self.recorded:
            self.recorded[key] = self._ask(sets)
        return super()._recorded(sets, cells)

    def _ask(self, sets: Sequence[ValueSet]) -> bool:
        state: dict[str, Value] = {}
        for feature, own in zip(self.theory.features, sets, strict=True):
            known = self.features[len(state)]
            value = known.write(own.spans[0][0]) if own.spans else None
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
    document = parse(json.dumps(canonical(theory)))
    person = parse(json.dumps(dict(row)))
    answers: dict[Key, bool] = {}
    try:
        problem, judge, initial = opened(document, person, {})
        if problem.model is not None:
            judge = type(judge)(
                problem, RecordingForest(problem, theory, answers), list(map(lone, initial))
            )
        claim, replay = INFINITE, Replay(problem, judge, initial)
        met = judge.final(replay.facts()) == YES  # also records what the model says of the start
        if met != (plan["status"] == "already"):
            raise UncertifiedError(f"no certificate: the status {plan['status']!r} is false")
        if plan["status"] == "found":
            claim = replay.run(parse(json.dumps(plan)))
    except VerifyError as error:
        raise UncertifiedError(f"no certificate: {error}") from None
    cover: list[Any] = []
    if plan["status"] in ("found", "infeasible"):
        deadline = None if time_limit is None else monotonic() + time_limit
        search = Certifier(Cover(problem, judge, tuple(map(lone, initial)), claim), deadline)
        cover = search.run()
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

    def __init__(self, cover: Cover, deadline: float | None) -> None:
        self.cover, self.deadline = cover, deadline
        self.problem = cover.problem
        self.forest = cover.judge.forest

    def run(self) -> list[Any]:
        """Return the cover in preorder."""
        tokens: list[Any] = []
        waiting = [self.cover.root()]
        while waiting:
            if self.deadline is not None and monotonic() > self.deadline:
                raise UncertifiedError(
                    f"no certificate within the time limit: {len(waiting)} boxes are open"
                )
            token, parts = self._expand(waiting.pop())
            tokens.append(token)
            waiting += reversed(parts)
        return tokens

    def _expand(self, box: Box) -> tuple[Any, tuple[Box, ...]]:
        reason, narrow = self.cover.close(box)
        if reason:
            return reason, ()
        split = self._split(narrow)
        if self._few_orders(narrow) or split is None:
            if self.cover.ordered(narrow, MOST_ORDERS if split is None else ORDERS):
                return "o", ()
        if split is None:
            raise UncertifiedError(
                "no certificate: a cheaper plan exists, or its orders are too many"
            )
        return split, self.cover.halves(narrow, split)

    def _few_orders(self, box: Box) -> bool:
        """Tell whether few effect-relevant features are open, so that following all orders is cheap."""
        open_features = sum(1 for place in self.problem.relevant if box.targets[place])
        return 0 < open_features <= FEW_OPEN

    def _split(self, box: Box) -> Split | None:
        assert box.reach is not None
        facts = self.cover.judge.facts(self.cover.final(box, box.reach))
        for test in self._undecided(facts):
            split = self._at_test(box, test)
            if split is not None:
                return split
        if self.forest is not None and self._asks_model() and facts.accepted() == YES | NO:
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
        for rules in self.problem.decisions:
            for body in rules:
                yield from body

    def _undecided(self, facts: Facts) -> Iterator[Test]:
        """Yield the tests that are undecided, those of the goal first."""
        seen: set[Test] = set()
        for condition in self._conditions():
            if isinstance(condition, Test) and condition not in seen:
                seen.add(condition)
                if facts.condition(condition) == YES | NO:
                    yield condition

    def _at_test(self, box: Box, test: Test) -> Split | None:
        """Return a split after which a test is decided, or nearer to it."""
        place = test.feature
        targets = box.targets[place]
        if not targets:
            return None
        if place in self.cover.causes and box.stays[place]:
            return place
        constant = test.constant
        cuts = {"<": [constant - 1], ">=": [constant - 1], "=<": [constant], ">": [constant]}
        for cut in cuts.get(test.operator, [constant - 1, constant]):
            if self._divides(box, place, cut):
                return [place, cut]
        return None

    def _divides(self, box: Box, place: int, cut: int) -> bool:
        """Tell whether a cut leaves something on both sides."""
        spans, missing = self.cover.initial[place]
        values = [value for span in box.targets[place] for value in span]
        if box.stays[place]:
            values.append(cut if missing else spans[0][0])
        return min(values) <= cut < max(values)

    def _any_split(self, box: Box) -> Split | None:
        """Return a split of any feature that matters and is not decided."""
        places = set(self.problem.relevant) | {
            each.feature for each in self._conditions() if isinstance(each, Test)
        }
        if self.problem.model is not None:
            places |= {axis.feature for axis in self.problem.model.axes}
        for place in sorted(places):
            if box.stays[place] and box.targets[place]:
                return place
        for place in sorted(places):
            targets = box.targets[place]
            if targets and not single(ValueSet(targets)):
                return self._halving(place, targets)
        return None

    def _halving(self, place: int, targets: Sequence[tuple[int, int]]) -> Split:
        low, high = targets[0][0], targets[-1][1]
        for cut in self._cuts(place):
            if low <= cut < high:
                return [place, cut]
        own = self.cover.initial[place]
        if own.spans and low <= own.spans[0][0] < high:
            return [place, own.spans[0][0]]
        if own.spans and low < own.spans[0][0] <= high:
            return [place, own.spans[0][0] - 1]
        if len(targets) > 1:
            return [place, targets[len(targets) // 2 - 1][1]]
        return [place, (low + high) // 2]

    def _cuts(self, place: int) -> list[int]:
        """Return the cuts at which rules or nearest values can tell values of a feature apart."""
        found: set[int] = set()
        for condition in self._conditions():
            if isinstance(condition, Test) and condition.feature == place:
                found |= {condition.constant - 1, condition.constant}
        ends: set[int] = set()
        for cause in self.problem.causes:
            if cause.feature == place:
                for rule in cause.rules:
                    ends |= {value for span in rule.head for value in span}
        inner = sorted(each for each in ends if abs(each) < 10**300)
        found |= {value + shift for value in inner for shift in (-1, 0)}
        found |= {(one + other) // 2 for one, other in zip(inner, inner[1:], strict=False)}
        found |= {(one + other - 1) // 2 for one, other in zip(inner, inner[1:], strict=False)}
        return sorted(found)

    def _by_score(self, box: Box, facts: Facts) -> Split | None:
        """Return the split of a weighed feature that lowers the score's bound most."""
        forest = self.forest
        assert forest is not None
        sets = list(facts.sets)
        best, chosen = -1.0, None
        for axis, own in enumerate(forest.model.axes):
            place = own.feature
            targets = box.targets[place]
            if not targets:
                continue
            if place in self.cover.causes and box.stays[place]:
                return place
            for cut in self._model_cuts(box, axis):
                worth = 1.0
                for half in self.cover.halves(box, [place, cut]):
                    kept = sets[place]
                    mine = half.targets[place]
                    if half.stays[place]:
                        mine = (*mine, *self.cover.initial[place].spans)
                    sets[place] = ValueSet(tuple(sorted(mine)), kept.missing and half.stays[place])
                    worth *= self._drop(facts.sets, sets)
                    sets[place] = kept
                if worth > best:
                    best, chosen = worth, [place, cut]
        return chosen

    def _drop(self, before: Sequence[ValueSet], after: Sequence[ValueSet]) -> float:
        """Return by how much a narrower set lowers the bound of the score, as a share of its distance to the border."""
        forest = self.forest
        assert forest is not None
        gap = self._gap(before)
        return max(gap - self._gap(after), 1e-6 * gap) / gap if gap > 0 else 1.0

    def _gap(self, sets: Sequence[ValueSet]) -> float:
        forest = self.forest
        assert forest is not None
        cells = [
            forest.cells(axis, sets[own.feature]) for axis, own in enumerate(forest.model.axes)
        ]
        if 0 in cells:
            return 1e9
        gaps = []
        for margin, refused in enumerate(forest.model.refused_below):
            high = forest.range(margin, sets, cells)[1]
            gaps.append(float((high - refused * forest.unit) / forest.unit))
        return max(min(gaps), 1e-12)

    def _model_cuts(self, box: Box, axis: int) -> list[int]:
        """Return up to three cuts of a feature that divide its cells in a box."""
        forest = self.forest
        assert forest is not None
        own = forest.model.axes[axis]
        feature = self.problem.features[own.feature]
        if own.uppers is None:
            ranks = range(len(feature.labels) - 1)
            cuts = [rank for rank in ranks if self._divides(box, own.feature, rank)]
        else:
            ends = [value for span in box.targets[own.feature] for value in span]
            initial = self.cover.initial[own.feature].spans
            if box.stays[own.feature] and initial:
                ends.append(initial[0][0])
            first = own.cell(feature, min(ends))
            last = own.cell(feature, max(ends))
            uppers = own.uppers[max(first, 0) : max(last, 0)]
            cuts = [_floor(upper, feature.scale) for upper in uppers]
            cuts = [cut for cut in cuts if self._divides(box, own.feature, cut)]
            if not cuts and axis in forest.lined and min(ends) < max(ends):
                cuts = [(min(ends) + max(ends)) // 2]
                cuts = [cut for cut in cuts if self._divides(box, own.feature, cut)]
        if len(cuts) <= 3:
            return cuts
        return [cuts[len(cuts) // 4], cuts[len(cuts) // 2], cuts[3 * len(cuts) // 4]]


def _floor(number: float, scale: int) -> int:
    from fractions import Fraction
    from math import floor

    return floor(Fraction(number) * scale)
