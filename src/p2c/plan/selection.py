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
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, NamedTuple

from p2c.domain.spec import Effects
from p2c.plan.futures import Futures
from p2c.plan.landmarks import Claims, Landmarks
from p2c.plan.order import best_order
from p2c.plan.search import Arrival, Chain, LimitReached, Limits, Move, Node, moves_of
from p2c.rules.theory import Test

if TYPE_CHECKING:
    from collections.abc import Iterator

    from p2c.plan.dynamics import Dynamics, Judgement
    from p2c.plan.person import Places
    from p2c.plan.space import Space
    from p2c.rules.theory import Clause, Condition

TIES = 64
"""How many sets of equal effort are compared by their best sequences."""


def selects(space: Space) -> bool:
    """Tell whether sets can be chosen before orders in a problem."""
    return space.theory.effects is Effects.TRIGGERED and not any(
        space.axes[index].feature.governed or space.axes[index].feature.moves_from is not None
        for index in space.relevant
    )


class Option(NamedTuple):
    """A direct action from the person's own value."""

    effort: int
    axis: int
    end: int


class Choice(NamedTuple):
    """The effort of a set of options, the options by number, and those that its branch leaves to others."""

    effort: int
    chosen: tuple[int, ...]
    barred: int


class Waiting(NamedTuple):
    """A choice with a bound on what comes of it; then the reasons why it falls short, with their shares of the bound."""

    bound: int
    choice: Choice
    reasons: list[int] | None
    shares: list[int]


def best_selection(dynamics: Dynamics, limits: Limits) -> Arrival | None:
    """Return the best path, or None, which proves that there is none."""
    selection = Selection(dynamics)
    queue: list[Waiting] = [Waiting(0, Choice(0, (), 0), None, [])]
    best: Arrival | None = None
    most: int | None = None
    ties = expanded = 0
    while queue and (best is None or (queue[0].bound <= best.effort and ties < TIES)):
        bound, choice, reasons, shares = heapq.heappop(queue)
        if limits.reached(expanded):
            raise LimitReached(bound, best)
        expanded += 1
        if reasons is None:
            try:
                outcome = selection.outcome(choice, limits, most=most)
            except LimitReached:
                raise LimitReached(bound, best) from None
            if isinstance(outcome, Arrival):
                ties += 1
                most = min(most or len(outcome.moves), len(outcome.moves))
                best = outcome if best is None else min(best, outcome, key=_rank)
                continue
            reasons = outcome
            if not reasons or not all(reasons):
                continue
            shares = selection.shares(reasons)
            need = choice.effort + sum(shares)
            if need > bound:
                heapq.heappush(queue, Waiting(need, choice, reasons, shares))
                continue
        for following in selection.branches(choice, reasons, shares):
            heapq.heappush(queue, following._replace(bound=max(bound, following.bound)))
    return best


def _rank(arrival: Arrival) -> tuple[int, int, list[tuple[int, int]]]:
    moves = arrival.moves
    return arrival.effort, len(moves), [(move.axis, move.end) for move in moves]


@dataclass(frozen=True)
class Selection:
    """The options of one person, and what sets of them lead to."""

    dynamics: Dynamics

    @property
    def space(self) -> Space:
        """Return the space that the person is in."""
        return self.dynamics.person.space

    @cached_property
    def options(self) -> tuple[Option, ...]:
        """Return all direct actions, cheapest first; a set of them is a bit mask by number."""
        person = self.dynamics.person
        return tuple(
            sorted(
                Option(person.effort(index, person.places[index], end), index, end)
                for index in self.space.relevant
                for end, _ in self.dynamics.targets(index, person.places[index])
            )
        )

    @cached_property
    def by_axis(self) -> dict[int, int]:
        """Return the options on each feature."""
        found: dict[int, int] = {}
        for number, option in enumerate(self.options):
            found[option.axis] = found.get(option.axis, 0) | 1 << number
        return found

    @cached_property
    def stirring(self) -> frozenset[int]:
        """Return the features that can set off effects or break constraints; all others commute with everything."""
        theory = self.space.theory
        names = {
            name
            for upstream in (theory.upstream[name] for name, _ in theory.causes)
            for name in upstream
        }
        for clause in theory.constraints:
            for name in theory.reads(clause.body):
                names |= {name, *theory.upstream[name]}
        return frozenset(self.space.index[name] for name in names)

    @cached_property
    def landmarks(self) -> Landmarks:
        """Return what choices surely need."""
        return Landmarks(self.dynamics, self.options, self._upstream_options, self._restless)

    @cached_property
    def futures(self) -> Futures:
        """Return what may still come of choices."""
        return Futures(self.landmarks, self.by_axis)

    def ends(self, chosen: tuple[int, ...], limits: Limits) -> tuple[Places, ...]:
        """Return the states in which doing all chosen options can end, over all orders and outcomes."""
        stirring = tuple(n for n in chosen if self.options[n].axis in self.stirring)
        known = self._rests(stirring, limits)
        calm = [self.options[n] for n in chosen if self.options[n].axis not in self.stirring]
        return tuple(_with(places, calm) for places in known) if calm else known

    @cached_property
    def _known_rests(self) -> dict[tuple[int, ...], tuple[Places, ...]]:
        return {(): (self.dynamics.person.places,)}

    def _rests(self, chosen: tuple[int, ...], limits: Limits) -> tuple[Places, ...]:
        """Return the states at rest after these options: each of them last, after all orders of the others."""
        known = self._known_rests.get(chosen)
        if known is None:
            if limits.reached(0):
                raise LimitReached(0, None)
            found: dict[Places, None] = {}
            for position, number in enumerate(chosen):
                for before in self._rests(chosen[:position] + chosen[position + 1 :], limits):
                    found |= dict.fromkeys(self._settled(_with(before, [self.options[number]])))
            known = self._known_rests[chosen] = tuple(found)
        return known

    @cached_property
    def _known_settled(self) -> dict[Places, tuple[Places, ...]]:
        return {}

    def _settled(self, places: Places) -> tuple[Places, ...]:
        """Return the states in which effects come to rest, all outcomes considered."""
        known = self._known_settled.get(places)
        if known is None:
            rests = []
            waiting, met_again = [places], False
            after: dict[Places, list[Places]] = {places: []}
            while waiting:
                state = waiting.pop()
                effects = self.dynamics.effects(state, self.dynamics.judge(state))
                if not effects:
                    rests.append(state)
                for effect in effects:
                    following = _with(state, [Option(0, effect.axis, effect.place)])
                    after[state].append(following)
                    if following in after:
                        met_again = True
                    else:
                        after[following] = []
                        waiting.append(following)
            known = self._known_settled[places] = tuple(rests)
            if met_again and _goes_round(after):
                self._restless.append(places)
        return known

    @cached_property
    def _restless(self) -> list[Places]:
        """Return states from which effects may go round without end; empty but for odd cycles of causal rules."""
        return []

    def ordered(self, choice: Choice, limits: Limits, *, most: int | None) -> Arrival | None:
        """Return the best order of a set that can reach the goal by using all of it, within a number of moves.

        What stirs nothing is taken as done while the others are put in order, and then slipped in where it comes first.
        """
        chosen = [self.options[number] for number in choice.chosen]
        calm = [each for each in chosen if each.axis not in self.stirring]
        acts = [(each.axis, each.end) for each in chosen if each.axis in self.stirring]

        def arrives(places: Places) -> bool:
            return self.dynamics.judge(_with(places, calm)).goal

        if not acts:
            chain, reached = None, arrives(self.dynamics.person.places)
        else:
            fewest = None if most is None else most - len(calm)
            chain = best_order(self.dynamics, acts, arrives=arrives, most=fewest, limits=limits)
            reached = chain is not None
        if not reached:
            return None
        node = Node(self.dynamics.person.places, 0, ())
        return Arrival(choice.effort, len(chosen), node, (), self._joined(chain, calm))

    def _joined(self, path: Chain | None, calm: list[Option]) -> Chain | None:
        """Return a path with calm actions slipped in, each before the first direct action that comes after it."""
        own = self.dynamics.person.places
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

    def open(self, choice: Choice) -> int:
        """Return the options that a choice has left."""
        mask = (1 << len(self.options)) - 1 & ~choice.barred
        for number in choice.chosen:
            mask &= ~self.by_axis[self.options[number].axis]
        return mask

    def outcome(self, choice: Choice, limits: Limits, *, most: int | None) -> Arrival | list[int]:
        """Return the best path that takes just this choice, or the reasons why there is none in so many moves.

        A reason is the open options that may remedy it. An empty one cannot be remedied; no reason at all says that
        nothing more can come of the choice.
        """
        future = self.futures.of(choice.chosen, self.open(choice))
        if future is None:
            return []
        if any(mask.bit_count() <= 1 for mask in future.forced):
            return future.forced
        stirring = tuple(n for n in choice.chosen if self.options[n].axis in self.stirring)
        claims = self.landmarks.claims(choice.chosen, stirring, future.left)
        sure = future.forced + claims.obstacles()
        if sure:
            return sure
        arrival = self.ordered(choice, limits, most=most)
        if arrival is not None:
            return arrival
        return [] if most is not None else self._shortfalls(choice, claims, limits)

    def _shortfalls(self, choice: Choice, claims: Claims, limits: Limits) -> list[int]:
        """Return why every order of a choice falls short.

        A single end gives all its reasons. Several ends, as the order decides, give one in common: to remedy one of
        the ends.
        """
        left = claims.left
        ends = self.ends(choice.chosen, limits)
        if not ends:
            return [left & self._stirring_options]
        found = []
        for places in ends:
            verdict = self.dynamics.judge(places)
            if verdict.goal:
                # It is there, but only by going on from where the goal was met before.
                return [left]
            found.append([mask & left for mask in self._remedies(places, verdict, claims)])
        if len(found) == 1:
            return found[0]
        together = 0
        for masks in found:
            if all(masks):
                together |= min(masks, key=int.bit_count)
        return [together]

    @cached_property
    def _stirring_options(self) -> int:
        return sum(mask for axis, mask in self.by_axis.items() if axis in self.stirring)

    def _remedies(self, places: Places, verdict: Judgement, claims: Claims) -> Iterator[int]:
        """Yield what may remedy each thing that keeps an end from the goal."""
        for governed in verdict.violated:
            yield claims.stirred(governed.index)
        for bit, reads in self.space.constraint_bits:
            if verdict.breached & bit:
                yield self._reading_options(reads)
        for condition in self.space.theory.goal:
            yield from self._goal_remedies(condition, places, verdict.fired, claims)

    def _goal_remedies(
        self, condition: Condition, places: Places, fired: int, claims: Claims
    ) -> Iterator[int]:
        if isinstance(condition, Test):
            if not self._passes(condition, places):
                yield self._mending(condition, claims)
            return
        rules = self.space.bits_for[condition.decision]
        if condition.negated:
            for bit, clause in rules:
                if fired & bit:
                    yield self._silencing(bit, clause, claims)
        elif not any(fired & bit for bit, _ in rules):
            mask = 0
            for _, clause in rules:
                mask |= self._enabling(clause, places, claims)
            yield mask

    def _silencing(self, bit: int, clause: Clause, claims: Claims) -> int:
        """Return the options that may stop a rule from firing."""
        mask = 0
        for condition in clause.body:
            if not isinstance(condition, Test):
                mask |= self._reading_options(self._reads((condition,)))
        for index in self.space.tested[bit.bit_length() - 1]:
            if self.space.axes[index].feature.governed:
                mask |= claims.stirred(index)
            else:
                mask |= self.landmarks.mending(bit.bit_length() - 1, index)[1]
        return mask

    def _enabling(self, clause: Clause, places: Places, claims: Claims) -> int:
        """Return the options that may mend the first test for which a rule does not fire."""
        for condition in clause.body:
            if isinstance(condition, Test) and not self._passes(condition, places):
                return self._mending(condition, claims)
        return self._reading_options(self._reads(clause.body))

    def _mending(self, test: Test, claims: Claims) -> int:
        """Return the options that may make a test pass."""
        index = self.space.index[test.feature]
        axis = self.space.axes[index]
        if axis.feature.governed:
            return claims.stirred(index)
        numbers = _numbers(self.by_axis.get(index, 0))
        return sum(1 << n for n in numbers if axis.passes(test, self.options[n].end))

    def _reads(self, body: tuple[Condition, ...]) -> frozenset[int]:
        return frozenset(self.space.index[name] for name in self.space.theory.reads(body))

    def _passes(self, test: Test, places: Places) -> bool:
        index = self.space.index[test.feature]
        if places[index] < 0:
            return self.space.axes[index].off_passes(test, self.dynamics.person.values[index])
        return self.space.axes[index].passes(test, places[index])

    def _reading_options(self, reads: frozenset[int]) -> int:
        mask = 0
        for index in reads:
            mask |= self.by_axis.get(index, 0) | self._upstream_options(index)
        return mask

    @cached_property
    def _upstream(self) -> dict[int, int]:
        return {}

    def _upstream_options(self, index: int) -> int:
        """Return the options on what lies upstream of a governed feature that its rules can notice."""
        if self._restless:
            # What goes round downstream may keep a person from acting: then nothing that stirs can be left out.
            return self._stirring_options
        known = self._upstream.get(index)
        if known is None:
            known = self._upstream[index] = self._find_upstream(index)
        return known

    def _find_upstream(self, index: int) -> int:
        space = self.space
        name = space.axes[index].feature.name
        above = {name, *space.theory.upstream[name]}
        rules = sum(
            each.rules for each in space.governed if space.axes[each.index].feature.name in above
        )
        rules |= space.decision_bits
        mask = 0
        for axis_name in above:
            axis = space.index[axis_name]
            own = self._body_mask(axis, self.dynamics.person.places[axis])
            for number in _numbers(self.by_axis.get(axis, 0)):
                if (own ^ self._body_mask(axis, self.options[number].end)) & rules:
                    mask |= 1 << number
        return mask

    def _body_mask(self, index: int, place: int) -> int:
        if place < 0:
            return self.space.off_masks(index, self.dynamics.person.values[index])[0]
        return self.space.body_masks[index][self.space.axes[index].cell(place)]

    def least(self, mask: int) -> int:
        """Return the effort of the cheapest option of a set."""
        return self.options[(mask & -mask).bit_length() - 1].effort

    def shares(self, reasons: list[int]) -> list[int]:
        """Return a share of effort for each reason, such that they add up to no more than any way to remedy all.

        Each takes what is left of its cheapest option from all its options: the dual of hitting every set.
        """
        left: dict[int, int] = {}
        found = [0] * len(reasons)
        for place in sorted(
            range(len(reasons)),
            key=lambda place: (-self.least(reasons[place]), reasons[place].bit_count()),
        ):
            numbers = list(_numbers(reasons[place]))
            share = min(left.get(number, self.options[number].effort) for number in numbers)
            found[place] = share
            if share:
                for number in numbers:
                    left[number] = left.get(number, self.options[number].effort) - share
        return found

    def branches(self, choice: Choice, reasons: list[int], shares: list[int]) -> Iterator[Waiting]:
        """Yield the ways to remedy the narrowest reason, each leaving to the others what they try."""
        branch = min(reasons, key=int.bit_count)
        barred = choice.barred
        for number in _numbers(branch):
            effort = choice.effort + self.options[number].effort
            rest = sum(
                share for mask, share in zip(reasons, shares, strict=True) if not mask >> number & 1
            )
            chosen = tuple(sorted((*choice.chosen, number)))
            yield Waiting(effort + rest, Choice(effort, chosen, barred), None, [])
            barred |= 1 << number


def _goes_round(after: dict[Places, list[Places]]) -> bool:
    try:
        TopologicalSorter(after).prepare()
    except CycleError:
        return True
    return False


def _with(places: Places, options: list[Option]) -> Places:
    changed = list(places)
    for option in options:
        changed[option.axis] = option.end
    return tuple(changed)


def _numbers(mask: int) -> Iterator[int]:
    while mask:
        bit = mask & -mask
        yield bit.bit_length() - 1
        mask ^= bit
