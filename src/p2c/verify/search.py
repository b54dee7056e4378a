"""The cheapest path that the model itself accepts: best first, a batch of questions at a time.

The rules in the place of a model are a guide, no more. The search goes through states that the person can really reach
(`p2c.verify.walk`), asks the model about many of them in one call, and counts on its answers alone. A state that the
model accepts ends a path; one that it refuses is a place to go on from. Where the model tells how near a state is to
being accepted, those that seem to come cheapest to it are taken first, else the cheapest. At the end, the best path is
drawn back towards the start as far as the model goes along.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from itertools import count
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from p2c.verify.drawback import draw_back

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from p2c.domain.feature import Value
    from p2c.verify.oracle import Answer, Oracle
    from p2c.verify.walk import Walk, Walker

    Ladder = Mapping[str, tuple[Value, ...]]

WAVE = 96
"""How many questions are gathered, if there are so many to ask, before the model is called."""
GREED = 10.0
"""How much more the way ahead counts than the way behind until a first path is found."""
SPARE = 2
"""How many more paths than are wanted are kept and drawn back, for the second best may end up the best."""
SAVED = 0.25
"""The share of the questions that is saved for drawing back."""
HALF = 0.5
"""The share that is saved for trying every rung, where those that promise most have led nowhere."""


class Open(NamedTuple):
    """A walk that the model refused, by what it has cost and what it seems to need still."""

    priority: float
    number: int
    cost: float
    ahead: float
    walk: Walk


@dataclass
class Search:
    """One person's search: what is open, what was seen, and the accepted walks so far, cheapest first."""

    walker: Walker
    oracle: Oracle
    ladder: Ladder
    wanted: int = 1
    best: list[tuple[float, int, Walk]] = field(default_factory=list)
    _rate: float = 0.0
    _rungs: Ladder = field(default_factory=dict)
    _open: list[Open] = field(default_factory=list)
    _seen: dict[tuple[Value, ...], float] = field(default_factory=dict)
    _numbers: count[int] = field(default_factory=count)

    @property
    def bound(self) -> float:
        """Return the cost that a walk must stay below to be among the wanted ones."""
        known = heapq.nsmallest(self.wanted, self.best)
        return known[-1][0] if len(known) == self.wanted else inf

    def run(self, seeds: Iterable[Walk]) -> list[Walk]:
        """Return accepted walks to distinct states, cheapest first; the start itself where the model accepts it."""
        start = self.walker.start()
        opening = self.oracle.answers([start])
        if not opening or opening[0][1].accepted:
            return [start] if opening else []
        self._seen[start.key] = 0.0
        self._rungs = self.ladder
        score = opening[0][1].score
        first = self._continued(start)
        self._judge([*first, *(each for seed in seeds for each in seed.stations)], start=score)
        self._rungs = self._promising(first, score)
        refused = list(self._open)
        self._explore(saved=HALF)
        if self.best:
            self._explore(saved=SAVED)
        else:
            self._rungs, self._seen, self._open = self.ladder, {start.key: 0.0}, refused
            self._explore(saved=0.0)
        return self._drawn_back()

    def _explore(self, *, saved: float) -> None:
        """Continue the walks that promise most until none can be cheaper than what was found."""
        while self._open and self._open[0].priority < self.bound:
            if not self.oracle.left(int((SAVED if self.best else saved) * self.oracle.budget)):
                break
            gathered: list[Walk] = []
            while self._open and len(gathered) < WAVE:
                gathered += self._continued(heapq.heappop(self._open).walk)
            self._judge(gathered)

    def _continued(self, walk: Walk) -> list[Walk]:
        """Return what one more direct action makes of a walk, where no way as cheap to the same state was seen."""
        ends = self.walker.wait(walk)
        for feature, rungs in self._rungs.items():
            for value in rungs:
                ends += self.walker.act(walk, feature, value)
        fresh = []
        for end in ends:
            cost = self.walker.cost(end)
            if cost < min(self.bound, self._seen.get(end.key, inf)):
                self._seen[end.key] = cost
                fresh.append(end)
        return sorted(fresh, key=self.walker.cost)

    def _judge(self, walks: Sequence[Walk], *, start: float | None = None) -> None:
        """Ask about walks; keep the accepted ones, and open the others to be continued."""
        settled = [walk for walk in walks if not walk.pending]
        judged = self.oracle.answers(settled)
        if start is not None:
            self._rate = self._best_rate(judged, start)
        before = len(self.best)
        for walk, answer in judged:
            if answer.accepted:
                heapq.heappush(self.best, (self.walker.cost(walk), next(self._numbers), walk))
            else:
                short = max(-(answer.score or 0.0), 0.0)
                self._reopen(walk, short / self._rate if self._rate > 0 else 0.0)
        for walk in (each for each in walks if each.pending):
            self._reopen(walk, 0.0)
        if self.best and not before:
            self._open = [each._replace(priority=each.cost + each.ahead) for each in self._open]
            heapq.heapify(self._open)

    def _reopen(self, walk: Walk, ahead: float) -> None:
        cost = self.walker.cost(walk)
        priority = cost + (ahead if self.best else GREED * ahead)
        heapq.heappush(self._open, Open(priority, next(self._numbers), cost, ahead, walk))

    def _best_rate(self, judged: Iterable[tuple[Walk, Answer]], start: float) -> float:
        """Return the greatest gain of score for one unit of cost that a first action brings."""
        gains = (
            (answer.score - start) / max(self.walker.cost(walk), 1e-6)
            for walk, answer in judged
            if answer.score is not None
        )
        return max(gains, default=0.0)

    def _promising(self, first: Sequence[Walk], start: float | None) -> Ladder:
        """Return the rungs without those that, taken first, brought no more than a cheaper one of the same feature."""
        if start is None:
            return self.ladder
        tops = dict.fromkeys(self.ladder, start)
        useless: set[tuple[str, Value]] = set()
        for walk in (each for each in first if each.direct_actions and not each.pending):
            action = walk.direct_actions[0]
            answer = self.oracle.known.get(walk.key)
            if answer is not None and answer.score is not None:
                if answer.score > tops[action.feature]:
                    tops[action.feature] = answer.score
                else:
                    useless.add((action.feature, action.end))
        return {
            feature: tuple(value for value in rungs if (feature, value) not in useless)
            for feature, rungs in self.ladder.items()
        }

    def _drawn_back(self) -> list[Walk]:
        """Return the best walks, cheapest first: of each choice of features the best drawn back, then any others."""
        ranked = [walk for _, _, walk in sorted(self.best)]
        leaders: dict[frozenset[str], Walk] = {}
        for walk in ranked:
            chosen = frozenset(action.feature for action in walk.direct_actions)
            leaders.setdefault(chosen, walk)
        kept = list(leaders.values())[: self.wanted + SPARE]
        drawn = sorted(draw_back(self.walker, self.oracle, kept), key=self.walker.cost)
        distinct: dict[tuple[Value, ...], Walk] = {}
        for walk in (*drawn, *ranked):
            distinct.setdefault(walk.key, walk)
        return sorted(list(distinct.values())[: self.wanted], key=self.walker.cost)
