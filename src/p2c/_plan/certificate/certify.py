"""Branch and bound that writes the cover of a claimed cost for the checker.

It searches nothing that the planner found: given a claim, it splits the box of all action sets until the checker's own
reasons close every part. A false claim therefore ends in a box that cannot be closed.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from fractions import Fraction
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from p2c._plan.certificate.canonical import canonical, canonical_row
from p2c._plan.certificate.splits import Split, Splits
from p2c.errors import UncertifiedError
from p2c_verify.claims import FORMAT, digests, opened, replay
from p2c_verify.cover import Box, Cover, Lemma
from p2c_verify.forest import Forest, Records
from p2c_verify.problem import Problem, parse
from p2c_verify.values import MISSING, YES, Sets, Spans, VerifyError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from p2c._rules.theory import Theory
    from p2c._spec.feature import Value
    from p2c_verify.facts import Facts, Judge
    from p2c_verify.forest import Part
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

TREE = 400
"""Nodes after which a tree without a model is given up for lemmas."""


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

    def close(self, box: Box, lemmas: Iterable[Lemma] = ()) -> tuple[Box, Sets] | None:
        """Propagate within the time limit."""
        self.clock.check()
        return super().close(box, lemmas)

    def following(
        self, facts: Facts, node: Node, targets: Sequence[Spans]
    ) -> Iterator[tuple[str, int, Span, Node]]:
        """Yield the successors of a set of states within the time limit."""
        self.clock.check()
        return super().following(facts, node, targets)


class RecordingForest(Forest):
    """A parsed model that records the model's answers and curves in limited time."""

    def __init__(
        self,
        theory: Theory,
        clock: Clock,
        data: Mapping[str, Any],
        problem: Problem,
        records: Records,
    ) -> None:
        self.theory, self.problem, self.clock = theory, problem, clock
        super().__init__(data, problem, records)

    def _part(self, data: Any) -> Part:
        self.clock.check()
        return super()._part(data)

    def weights(self, number: int, sets: Sets) -> list[list[Fraction]]:
        """Record a curve at the ends of its values."""
        axis, slopes = self.lines[number]
        own = sets[self.axes[axis].feature.index] if slopes is None else ()
        for end in {end for span in own for end in span if end != MISSING}:
            if (number, end) not in self.records.points:
                self.records.points[number, end] = self._contributions(number, end)
        return super().weights(number, sets)

    def _contributions(self, number: int, value: int) -> list[Fraction]:
        model: Any = self.theory.model
        scale = self.axes[self.lines[number][0]].feature.scale
        sizes = model.score.lines[number].of(np.array([value / scale]))[0]
        return [Fraction(str(float(size))) for size in sizes]

    def recorded(self, sets: Sets, cells: Sequence[int]) -> int:
        """Return the model's answer about a single state; ask the model if there is none."""
        key = self.key(sets, cells)
        if key is not None and key not in self.records.answers:
            self.records.answers[key] = self._ask(sets)
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
    person = parse(json.dumps(canonical_row(row)))
    records = Records({}, {})
    forest = partial(RecordingForest, theory, clock)
    try:
        judge = opened(document, person, records, forest)
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
    cover, lemmas = list[Any](), list[Any]()
    if plan["status"] in ("found", "infeasible"):
        reasons = TimedCover(judge, claim, clock)
        with used_alone(judge.forest):
            cover, lemmas = Certifier(reasons).run()
        if judge.forest is not None and (records.answers or records.points):
            reasons.verify(cover, lemmas)
    used = judge.forest.used if judge.forest else set()
    seen = judge.forest.seen if judge.forest else set()
    return {
        "format": FORMAT,
        "status": plan["status"],
        **digests(document, person),
        "answers": [[list(key), records.answers[key]] for key in sorted(used, key=repr)],
        "points": [[*key, [float(size) for size in records.points[key]]] for key in sorted(seen)],
        "lemmas": lemmas,
        "cover": cover,
    }


@contextmanager
def used_alone(forest: Forest | None) -> Iterator[None]:
    """Forget afterwards which recorded answers and points were used meanwhile."""
    before = (set(forest.used), set(forest.seen)) if forest else (set(), set())
    yield
    if forest:
        forest.used, forest.seen = before


class Noting(Lemma):
    """A proved lemma with its number, which notes where it drops members of a box."""

    number: int
    used: set[int]

    def applied(self, box: Box) -> Box | None:
        """Return a box without members of the lemma's box, None if it has no others."""
        rest = super().applied(box)
        if rest != box:
            self.used.add(self.number)
        return rest


class Certifier:
    """One branch and bound over the boxes of a claim."""

    def __init__(self, cover: TimedCover) -> None:
        self.cover = cover
        self.problem = cover.problem
        self.splits = Splits(cover)
        self.lemmas: list[Noting] = []
        self.used = set[int]()
        """Numbers of the lemmas that dropped members since this was cleared."""
        self.proofs: list[Any] = []
        """The lemmas with their covers, as the certificate lists them."""

    def run(self) -> tuple[list[Any], list[Any]]:
        """Return the cover in preorder, and the lemmas that it cites."""
        tree = self._tree(TREE if self.cover.judge.forest is None else None)
        return tree or [self._learned()], self.proofs

    def _tree(self, most: int | None) -> list[Any]:
        """Return a cover without lemmas, nothing if it has more nodes than `most`."""
        tokens: list[Any] = []
        waiting = [self.cover.root()]
        while waiting:
            if len(tokens) == most:
                return []
            left = self.cover.close(waiting.pop())
            if left is None:
                tokens.append("p")
                continue
            split = self._ordered_or_split(*left)
            tokens.append(split)
            if not isinstance(split, str):
                waiting += reversed(self.cover.halves(left[0], split))
        return tokens

    def _ordered_or_split(self, box: Box, ends: Sets) -> Split | str:
        """Return "o" if orders close a narrowed box, else its split."""
        split = self.splits.best(box, ends)
        limit = MOST_ORDERS if split is None else ORDERS
        if self._follows_orders(box, split) and self.cover.ordered(box, ends, limit):
            return "o"
        if split is None:
            raise UncertifiedError(
                "no certificate: a cheaper plan exists, or its orders are too many"
            )
        return split

    def _follows_orders(self, box: Box, split: Split | None) -> bool:
        """Tell whether to follow orders now: they are few, or nothing else is left."""
        relevant = self.problem.relevant
        return bool(relevant) and (
            split is None or sum(bool(box[place].targets) for place in relevant) <= FEW_OPEN
        )

    def _learned(self) -> list[Any]:
        """Prove lemmas until they close the box of all action sets; return its reason."""
        root = self.cover.root()
        waiting = [root]
        while True:
            self.used.clear()
            left = self.cover.close(waiting[-1], self.lemmas)
            if left is None:
                if len(waiting) == 1:
                    return self._reason()
                waiting.pop()
                continue
            split = self._ordered_or_split(*left)
            if isinstance(split, str):
                self._add(left[0], ["o"])
                continue
            parts = self.cover.halves(left[0], split)
            open_ = [each for each in parts if self.cover.close(each, self.lemmas)]
            if open_:
                waiting.append(open_[0])
            else:
                self._add(*self._generalized(left[0], split, root))

    def _reason(self) -> list[Any]:
        return ["p", *sorted(self.used)]

    def _add(self, box: Box, tokens: list[Any]) -> None:
        """Add a box with its cover to the lemmas."""
        pairs = zip(range(len(box)), box, self.cover.root(), strict=True)
        lemma = Noting({place: own for place, own, most in pairs if own != most})
        lemma.number, lemma.used = len(self.lemmas), self.used
        self.lemmas.append(lemma)
        choices = [[place, *own] for place, own in lemma.choices.items()]
        self.proofs.append([choices, tokens])

    def _generalized(self, box: Box, split: Split, root: Box) -> tuple[Box, list[Any]]:
        """Return a larger box that the same split closes, with its cover."""
        tokens = self._closed(box, split)
        assert tokens is not None
        for place, most in enumerate(root):
            if box[place] != most:
                larger = (*box[:place], most, *box[place + 1 :])
                more = self._closed(larger, split)
                if more is not None:
                    box, tokens = larger, more
        return box, tokens

    def _closed(self, box: Box, split: Split) -> list[Any] | None:
        """Return the cover of a box that one split closes, None if it does not."""
        left = self.cover.close(box)
        tokens: list[Any] = [split]
        for part in () if left is None else self.cover.halves(left[0], split):
            self.used.clear()
            if self.cover.close(part, self.lemmas) is not None:
                return None
            tokens.append(self._reason())
        return tokens if left else ["p"]
