"""Large problems: choose the set of direct actions first, then the order in which they are done.

A plan is a set of direct actions, at most one a feature, and an order. Sets are tried best first. Where a set falls
short, there are reasons: a rule that surely fires still, a test that surely fails, a feature that cannot keep its value.
Any larger set that reaches the goal contains an action that remedies each of them, so only the actions of the narrowest
reason are branched on (goal-directed, as s(CASP) is), and all reasons together bound what is still needed. `futures` looks
at what may still come, `landmarks` at what surely does not, `order` puts a set in order; where these do not decide, all
orders of the set are followed to their ends.

This needs costs that do not depend on the order, and effects that only follow from changes: features are either set or
governed, never both, none that is set has `moves`, and effects are `triggered`. Other problems are searched state by
state.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from p2c.plan.ends import Ends
from p2c.plan.futures import Futures
from p2c.plan.landmarks import Landmarks
from p2c.plan.masks import numbers
from p2c.plan.options import Choice, Options, placed
from p2c.plan.order import Task, best_order
from p2c.plan.outlook import Outlook
from p2c.plan.search import Arrival, Chain, LimitReached, Limits, Move, Node, moves_of
from p2c.plan.shortfall import Shortfall
from p2c.plan.upstream import Upstream

if TYPE_CHECKING:
    from collections.abc import Iterator

    from p2c.plan.dynamics import Dynamics
    from p2c.plan.futures import End
    from p2c.plan.options import Option
    from p2c.plan.person import Places

TIES = 64
"""How many sets of equal effort are compared by their best sequences."""


class Waiting(NamedTuple):
    """A choice with a bound on what comes of it; then the reasons why it falls short, with their shares of the bound."""

    bound: int
    choice: Choice
    reasons: list[int] | None
    shares: list[int]
    past: End | None
    """What the choice that it came of may end with; its own, once its reasons are known."""


def best_selection(dynamics: Dynamics, limits: Limits) -> Arrival | None:
    """Return the best path, or None, which proves that there is none."""
    options = Options(dynamics)
    selection = Selection(options)
    queue = [Waiting(0, Choice(0, (), 0), None, [], None)]
    best: Arrival | None = None
    ties = expanded = 0
    while queue and (best is None or (queue[0].bound <= best.effort and ties < TIES)):
        bound, choice, reasons, shares, past = heapq.heappop(queue)
        if limits.reached(expanded):
            raise LimitReached(bound, best)
        expanded += 1
        if best is not None and not _may_come_first(options, choice, best):
            continue
        if reasons is None:
            try:
                past = selection.end(choice, past)
                if past is None:
                    continue
                outcome = selection.outcome(choice, past, limits, best=best)
            except LimitReached:
                raise LimitReached(bound, best) from None
            if isinstance(outcome, Arrival):
                ties += 1
                best = outcome if best is None else min(best, outcome, key=_rank)
                continue
            reasons = outcome
            if not reasons or not all(reasons):
                continue
            shares = options.shares(reasons)
            need = choice.effort + sum(shares)
            if need > bound:
                heapq.heappush(queue, Waiting(need, choice, reasons, shares, past))
                continue
        for following in _branches(options, choice, reasons, shares):
            heapq.heappush(queue, following._replace(bound=max(bound, following.bound), past=past))
    return best


def _may_come_first(options: Options, choice: Choice, best: Arrival) -> bool:
    """Tell whether a tie may be decided for a choice, or for one that contains it, and against the best so far.

    At best, nothing happens by itself and the actions come in the order of the features.
    """
    moves = best.moves
    if choice.effort < best.effort:
        return len(choice.chosen) < len(moves)
    sequence = sorted((options.listed[n].axis, options.listed[n].end) for n in choice.chosen)
    return (len(sequence), sequence) < (len(moves), [(move.axis, move.end) for move in moves])


def _rank(arrival: Arrival) -> tuple[int, int, list[tuple[int, int]]]:
    moves = arrival.moves
    return arrival.effort, len(moves), [(move.axis, move.end) for move in moves]


def _branches(
    options: Options, choice: Choice, reasons: list[int], shares: list[int]
) -> Iterator[Waiting]:
    """Yield the ways to remedy the narrowest reason, each leaving to the others what they try."""
    barred = choice.barred
    for number in numbers(min(reasons, key=int.bit_count)):
        effort = choice.effort + options.listed[number].effort
        rest = sum(
            share for mask, share in zip(reasons, shares, strict=True) if not mask >> number & 1
        )
        chosen = tuple(sorted((*choice.chosen, number)))
        yield Waiting(effort + rest, Choice(effort, chosen, barred), None, [], None)
        barred |= 1 << number


@dataclass(frozen=True)
class Selection:
    """What sets of one person's options lead to."""

    options: Options

    @cached_property
    def _ends(self) -> Ends:
        return Ends(self.options)

    @cached_property
    def _upstream(self) -> Upstream:
        return Upstream(self.options, self._ends.restless)

    @cached_property
    def _outlook(self) -> Outlook:
        return Outlook(self.options.dynamics, self.options.listed, self.options.by_axis)

    @cached_property
    def _futures(self) -> Futures:
        return Futures(self._outlook)

    def end(self, choice: Choice, past: End | None) -> End | None:
        """Return what a choice may end with, or None where it leads nowhere."""
        return self._futures.of(choice.chosen, self.options.open(choice), past)

    def outcome(
        self, choice: Choice, end: End, limits: Limits, *, best: Arrival | None
    ) -> Arrival | list[int]:
        """Return the best path that takes just this choice, or the reasons why there is none as good as the best.

        A reason is the open options that may remedy it. An empty one cannot be remedied; no reason at all says that
        nothing more can come of the choice.
        """
        chosen = choice.chosen
        forced = end.forced
        if any(mask.bit_count() <= 1 for mask in forced):
            return forced
        way = self._outlook.on_the_way(self.options.stirring_of(chosen))
        landmarks = Landmarks(self._outlook, self._upstream, chosen, way, end.left)
        sure = forced + landmarks.obstacles()
        if sure:
            return sure
        rests = [a & b for a, b in zip(end.regions, landmarks.end.regions, strict=True)]
        most = None if best is None else len(best.moves)
        arrival = self._ordered(choice, rests, limits, most=most)
        if arrival is not None:
            return arrival
        if best is not None and choice.effort >= best.effort:
            return []
        ends = self._ends.of(chosen, limits)
        return Shortfall(self.options, self._upstream).reasons(ends, landmarks)

    def _ordered(
        self, choice: Choice, rests: list[int], limits: Limits, *, most: int | None
    ) -> Arrival | None:
        """Return the best order of a set that can reach the goal by using all of it, within a number of moves.

        Governed features end in one of the given regions. What stirs nothing is taken as done while the others are put in order, and then slipped in where it comes first.
        """
        dynamics, outlook = self.options.dynamics, self._outlook
        calm = self.options.calm_of(choice.chosen)
        stirring = [self.options.listed[n] for n in self.options.stirring_of(choice.chosen)]

        def arrives(places: Places) -> bool:
            return dynamics.judge(placed(places, calm)).goal

        def strays(position: int, place: int) -> bool:
            return not outlook.region(position, place) & rests[position]

        if not stirring:
            chain, reached = None, arrives(dynamics.person.places)
        else:
            acts = [(each.axis, each.end) for each in stirring]
            fewest = None if most is None else most - len(calm)
            task = Task(dynamics, acts, arrives, strays)
            chain = best_order(task, most=fewest, limits=limits)
            reached = chain is not None
        if not reached:
            return None
        node = Node(dynamics.person.places, 0, ())
        joined = _joined(dynamics.person.places, chain, calm)
        return Arrival(choice.effort, len(choice.chosen), node, (), joined)


def _joined(own: Places, path: Chain | None, calm: list[Option]) -> Chain | None:
    """Return a path with calm actions slipped in, each before the first direct action that comes after it."""
    waiting = [
        Move(each.axis, own[each.axis], each.end, True, 0, False, (each.end,))
        for each in sorted(calm, key=lambda each: each.axis, reverse=True)
    ]
    chain: Chain | None = None
    for move in moves_of(path):
        while move.direct and waiting and waiting[-1].axis < move.axis:
            chain = Chain(waiting.pop(), chain)
        chain = Chain(move, chain)
    while waiting:
        chain = Chain(waiting.pop(), chain)
    return chain
