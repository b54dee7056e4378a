"""The cheapest path that the model itself accepts: best first, a batch of questions at a time.

The rules in the place of a model are a guide, no more. The search goes through states that the person can really reach
(`p2c._blackbox.walk`), asks the model about many of them in one call, and counts on its answers alone. A state that the
model accepts ends a path; one that it refuses is a place to go on from. Where the model tells how near a state is to
being accepted, those that seem to come cheapest to it are taken first, else the cheapest.

A few values of each feature lead to a first path. What it costs is the bound of a closer look: at every value of the data
that alone is cheaper, at combinations of those that help, and around what was found. At the end, the best paths are
tightened: drawn back towards the start as far as the model goes along.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from itertools import count
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from p2c._blackbox.tighten import tighten
from p2c._blackbox.trial_values import thinned
from p2c._plan.outcome import Ended, Found
from p2c._plan.search.best_first import Limits

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from p2c._blackbox.judge import Judge
    from p2c._blackbox.trial_values import TrialValues
    from p2c._blackbox.walk import Walk, Walker
    from p2c._plan.outcome import Plan
    from p2c._spec.feature import Value

WAVE = 96
"""How many questions are gathered, if there are so many to ask, before the model is called."""
GREED = 10.0
"""How much more the way ahead counts than the way behind until a first path is found."""
SPARE = 2
"""How many more paths than are wanted are kept and tightened, for the second best may end up the best."""
SAVED = 0.15
"""The share of the questions that is saved for tightening."""
AROUND = 0.35
"""The share of the questions that is saved for looking around what was found, and for tightening."""
HALF = 0.5
"""The share of the questions that is saved for trying every value, where the ones that promise most have led nowhere."""
CLOSE = 128
"""How many values of one feature are looked at closely at a time from the start."""
BESIDE = 24
"""How many values of one feature are looked at closely from a place on the way."""
PLACES = 6
"""How many refused states, the ones that promise most, are places to look around closely."""
ROUNDS = 4
MOST_STEPS = 16
"""How many values of one number, at the most, are combined with values of other features."""


class Open(NamedTuple):
    """A walk that the model refused, by what it has cost and what it seems to need still."""

    priority: float
    number: int
    cost: float
    ahead: float
    walk: Walk


@dataclass
class ConfirmedSearch:
    """One person's search: what is open, what was seen, and the accepted walks so far, cheapest first.

    `trials` holds a few values of each feature, `fine` those that are looked at closely.
    """

    walker: Walker
    judge: Judge
    trials: TrialValues
    fine: TrialValues
    wanted: int = 1
    limits: Limits = field(default_factory=Limits)
    """The time that it may take; nodes are none of its concern."""
    enough: Limits = field(default_factory=Limits)
    """The time after which it stops once a path was found."""
    best: list[tuple[float, int, Walk]] = field(default_factory=list)
    _rate: float = 0.0
    """The greatest gain of score for one unit of cost that a first action brings."""
    _open: list[Open] = field(default_factory=list)
    _closed: list[Open] = field(default_factory=list)
    _seen: dict[tuple[Value, ...], float] = field(default_factory=dict)
    _numbers: count[int] = field(default_factory=count)

    @property
    def bound(self) -> float:
        """Return the cost that a walk must stay below to be among the wanted ones."""
        known = heapq.nsmallest(self.wanted, self.best)
        return known[-1][0] if len(known) == self.wanted else inf

    @property
    def is_late(self) -> bool:
        """Tell whether the time for the first path or for better paths has passed."""
        return self.limits.is_over or bool(self.best and self.enough.is_over)

    @property
    def ended(self) -> Ended | None:
        """Return the limit that ended the search early.

        It is the time or, without a path, the number of queries.
        """
        if self.limits.is_over:
            return Ended.TIME
        return None if self.best or self.judge.left() else Ended.QUERIES

    def run(self, seeds: Iterable[Walk]) -> list[Walk]:
        """Return accepted walks to distinct states, cheapest first; the start itself where the model accepts it."""
        start = self.walker.start()
        opening = self.judge.answers([start])
        if not opening or opening[0][1].accepted:
            return [start] if opening else []
        score = opening[0][1].score
        self._seen[start.key] = 0.0
        first = self._continued(start, self.trials)
        self._judge([*first, *(each for seed in seeds for each in seed.stations)], start=score)
        refused = list(self._open)
        self._explore(self._promising(first, score), saved=HALF)
        if not self.best:
            self._seen, self._open = {start.key: 0.0}, refused
            self._explore(self.trials, saved=0.0)
        if self.best:
            singles = self._look_closer(start)
            self._rank([*self._open, *self._closed])
            self._explore(self._promising([*first, *singles], score), saved=AROUND)
            self._look_around()
        return self._tightened()

    def _promising(self, singles: Iterable[Walk], score: float | None) -> TrialValues:
        """Return the values to try without any that, taken alone, brought no more than a cheaper one of the same feature.

        What the single actions have set is tried as well.
        """
        if score is None:
            return self.trials
        kept = {name: dict.fromkeys(values) for name, values in self.trials.items()}
        tops = dict.fromkeys(self.trials, score)
        for walk in sorted((each for each in singles if each.direct_actions), key=self.walker.cost):
            action = walk.direct_actions[0]
            kept[action.feature][action.end] = None
            answer = None if walk.pending else self.judge.known.get(walk.key)
            if answer is None or answer.score is None:
                continue
            if answer.score > tops[action.feature]:
                tops[action.feature] = answer.score
            else:
                del kept[action.feature][action.end]
        return {name: self._combined(name, values) for name, values in kept.items()}

    def _combined(self, name: str, values: Iterable[Value]) -> tuple[Value, ...]:
        """Return the values of a feature that are combined with others: a few, of a number."""
        feature = self.walker.theory.feature[name]
        if feature.is_listed:
            return tuple(values)
        numbers: list[str | int | float] = [each for each in values if each is not None]
        numbers.sort(key=feature.order)
        return thinned(numbers, MOST_STEPS)

    def _explore(self, trials: TrialValues, *, saved: float) -> None:
        """Continue the walks that promise most until none can be cheaper than what was found."""
        self._closed = []
        while self._open and self._open[0].priority < self.bound and self._may_ask(saved):
            gathered: list[Walk] = []
            while self._open and len(gathered) < WAVE and not self.is_late:
                taken = heapq.heappop(self._open)
                self._closed.append(taken)
                gathered += self._continued(taken.walk, trials)
            self._judge(gathered)

    def _look_closer(self, start: Walk) -> list[Walk]:
        """Ask about all values that alone are cheaper than what was found, and return where they lead."""
        singles: list[Walk] = []
        before = inf
        while self.bound < before and not self.is_late:
            before = self.bound
            fresh = self._continued(start, self._cheaper(start, CLOSE))
            singles += fresh
            self._judge_nearest(fresh, saved=AROUND)
        return singles

    def _look_around(self) -> None:
        """Ask closely about one more action at the places where that may lead to something cheaper."""
        looked: set[tuple[Value, ...]] = set()
        for _ in range(ROUNDS):
            if self.is_late:
                break
            before = self.bound
            places = [walk for walk in self._places() if walk.key not in looked]
            looked |= {walk.key for walk in places}
            ends = [
                end for walk in places for end in self._continued(walk, self._cheaper(walk, BESIDE))
            ]
            self._judge_nearest(sorted(ends, key=self.walker.cost), saved=SAVED)
            if self.bound >= before:
                break

    def _places(self) -> list[Walk]:
        """Return the refused walks that promise most, and the accepted ones without one of their actions."""
        refused = heapq.nsmallest(
            PLACES,
            (each for each in (*self._open, *self._closed) if not each.walk.pending),
            key=lambda each: (each.cost + each.ahead, each.number),
        )
        places = [each.walk for each in refused]
        for _, _, walk in heapq.nsmallest(self.wanted + SPARE, self.best):
            changes = [(each.feature, each.end) for each in walk.direct_actions]
            for place in range(len(changes)):
                places += self.walker.follow(changes[:place] + changes[place + 1 :])
        return places

    def _cheaper(self, walk: Walk, most: int) -> TrialValues:
        """Return the values that, set next, leave a walk cheaper than what was found, at most so many of a feature."""
        after = self.walker.cost_after
        return {
            name: thinned([v for v in values if after(walk, name, v) < self.bound], most)
            for name, values in self.fine.items()
        }

    def _may_ask(self, saved: float) -> bool:
        if self.is_late:
            return False
        share = max(saved, SAVED) if self.best else saved
        return self.judge.left(int(share * self.judge.budget)) > 0

    def _continued(self, walk: Walk, trials: TrialValues) -> list[Walk]:
        """Return what one more direct action makes of a walk, where no way as cheap to the same state was seen."""
        bound, after = self.bound, self.walker.cost_after
        ends = self.walker.wait(walk)
        for feature, values in trials.items():
            if self.is_late:
                break
            for value in values:
                if after(walk, feature, value) < bound:
                    ends += self.walker.act(walk, feature, value)
        fresh = []
        for end in ends:
            cost = self.walker.cost(end)
            if cost < min(bound, self._seen.get(end.key, inf)):
                self._seen[end.key] = cost
                fresh.append(end)
        return sorted(fresh, key=self.walker.cost)

    def _judge_nearest(self, walks: Sequence[Walk], *, saved: float) -> None:
        """Ask about walks, the cheapest first, as long as they are cheaper than what was found."""
        while walks and self._may_ask(saved):
            self._judge(walks[:WAVE])
            walks = [walk for walk in walks[WAVE:] if self.walker.cost(walk) < self.bound]

    def _judge(self, walks: Sequence[Walk], *, start: float | None = None) -> None:
        """Ask about walks; keep the accepted ones, and open the others to be continued."""
        asked = [walk for walk in walks if not walk.pending]
        judged = self.judge.answers(asked, self.limits)
        if start is not None:
            told = [(walk, each.score) for walk, each in judged if each.score is not None]
            gains = ((score - start) / max(self.walker.cost(walk), 1e-6) for walk, score in told)
            self._rate = max(gains, default=0.0)
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
            self._rank(self._open)

    def _rank(self, refused: Iterable[Open]) -> None:
        """Open refused walks by what they seem to cost in all."""
        self._open = [each._replace(priority=each.cost + each.ahead) for each in refused]
        heapq.heapify(self._open)

    def _reopen(self, walk: Walk, ahead: float) -> None:
        cost = self.walker.cost(walk)
        priority = cost + (ahead if self.best else GREED * ahead)
        heapq.heappush(self._open, Open(priority, next(self._numbers), cost, ahead, walk))

    def _tightened(self) -> list[Walk]:
        """Return the best walks, cheapest first: of each choice of features the best tightened, then any others."""
        ranked = [walk for _, _, walk in sorted(self.best)]
        leaders: dict[frozenset[str], Walk] = {}
        for walk in ranked:
            chosen = frozenset(action.feature for action in walk.direct_actions)
            leaders.setdefault(chosen, walk)
        kept = list(leaders.values())[: self.wanted + SPARE]
        known = tighten(self.walker, self.judge, kept, lambda: self.is_late)
        tightened = sorted(known, key=self.walker.cost)
        distinct: dict[tuple[Value, ...], Walk] = {}
        for walk in (*tightened, *ranked):
            distinct.setdefault(walk.key, walk)
        return sorted(list(distinct.values())[: self.wanted], key=self.walker.cost)


def walked(walker: Walker, guide: Plan) -> list[Walk]:
    """Return the plan of the rules as a walk if its actions alone lead to its end."""
    if not isinstance(guide, Found):
        return []
    ends = walker.follow((each.feature, each.end) for each in guide.actions)
    return [walk for walk in ends if walk.state == guide.end]
