"""Landmarks: sets of direct actions of which every plan that contains a given choice must take one more.

Each function here returns such a set, as a mask of open options, for one claim: unless one of them is taken, a rule never
fires, or always does, or a feature never gets where it should. Claims rest on one another along the causal rules, and at the
bottom on `relaxed_reach`, which tells what the choice alone may bring about. Where a claim cannot be narrowed down, all
options upstream of the feature are returned; where it is asked for again on the way to itself, too.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from operator import and_
from typing import TYPE_CHECKING

from p2c._plan.compiled.bitsets import bits, numbers
from p2c._plan.search.relaxed_reach import Prospect

if TYPE_CHECKING:
    from collections.abc import Iterator

    from p2c._plan.compiled.causal_moves import CausalMoves
    from p2c._plan.search.ends import Ends
    from p2c._plan.search.influencing_options import InfluencingOptions
    from p2c._plan.search.options import Choice, Options
    from p2c._plan.search.propagation import End
    from p2c._plan.search.relaxed_reach import RelaxedReach

Outcome = tuple[int, bool]
"""The place of a decision, and whether it surely holds (True) or surely fails (False)."""

PENDING = -1
"""The place of an answer that is being worked out."""

CALM, RESTLESS = -1, -2
"""What stands in the place of regions where it is asked what stirs a feature."""


@dataclass(frozen=True)
class Landmarks:
    """The claims about one choice, each a mask of open options that would break it."""

    reach: RelaxedReach
    influencing: InfluencingOptions
    chosen: tuple[int, ...]
    way: Prospect
    rests: list[int]
    """Where every plan that contains the choice leaves governed features, as far as is known."""
    left: int
    known: dict[tuple[int, int], int] = field(default_factory=dict)
    reversals: dict[tuple[int, bool, bool], int] = field(default_factory=dict)
    """Per decision, its outcome, and whether on the way or at the end: the options that may reverse the outcome."""

    @cached_property
    def end(self) -> Prospect:
        """Return the facts that may and that must hold in the resting state."""
        reach = self.reach
        may_of, must_of = list(self.way.may_of), list(self.way.must_of)
        for number in self.chosen:
            axis = reach.options[number].axis
            if axis not in reach.moves_of:
                may_of[axis] = must_of[axis] = reach.ends[number]
        regions = list(map(and_, self.way.regions, self.rests))
        for moves, kept in zip(reach.causal_moves, regions, strict=True):
            may_of[moves.index], must_of[moves.index] = reach.bodies(moves, kept)
        return reach.at_rest(Prospect(0, 0, may_of, must_of, regions))

    def obstacles(self) -> list[int]:
        """Return what breaks each claim that the goal fails after the choice, whatever happens by itself."""
        never = [
            self._carried(moves, rests)
            for moves, met, rests in zip(
                self.reach.causal_moves, self.way.regions, self.rests, strict=True
            )
            if not met & rests
        ]
        return never or list(self._obstacles(self.end))

    def _obstacles(self, end: Prospect) -> Iterator[int]:
        reach = self.reach
        space = reach.transitions.person.space
        for position, moves in enumerate(reach.causal_moves):
            if not end.regions[position]:
                yield self._elsewhere(moves, end)
                return
        goal = len(space.clauses) - 1
        if not end.may >> goal & 1:
            yield from self._fires(goal, end)
        excused = {bit for bit, _ in reach.transitions.excused_constraints}
        for bit in bits(end.must & space.constraints):
            if bit not in excused:
                yield self._stops(bit.bit_length() - 1, end)

    def _elsewhere(self, moves: CausalMoves, end: Prospect) -> int:
        """Return the options that may let a feature rest outside its open regions."""
        position = self.reach.position[moves.index]
        return self._resting(moves, self.rests[position] & ~end.regions[position], end)

    def _resting(self, moves: CausalMoves, regions: int, end: Prospect) -> int:
        """Return what may bring a feature to rest in some regions: where it never comes, or may not stay."""
        position = self.reach.position[moves.index]
        met = self.way.regions[position]
        regions &= self.rests[position]
        mask = 0
        if regions & ~moves.grid:
            # Its own value, which has no place, may come to be allowed or excused again.
            mask |= self._upstream(moves.index)
        if regions & ~met:
            mask |= self._carried(moves, regions & ~met)
        if regions & met & moves.grid:
            mask |= self._allowed(moves, regions & met & moves.grid, end)
        return mask

    def _allowed(self, moves: CausalMoves, regions: int, end: Prospect) -> int:
        """Return what may let a feature rest in regions where its law does not let it rest yet."""
        key = moves.index, regions
        known = end.known.get(key)
        if known is None:
            end.known[key] = PENDING
            known = end.known[key] = self._allow(moves, regions, end)
        return known if known != PENDING else self.stirred(moves.index)

    def _allow(self, moves: CausalMoves, regions: int, end: Prospect) -> int:
        governed, heading = moves.governed, 0
        for number in numbers(regions):
            heading |= moves.heads[number]
        mask = self._one_fires(heading, end)
        calm = any(governed.allows(0, moves.heads[number]) for number in numbers(regions))
        if calm and governed.law.asks_for_silence:
            mask |= self._all_stop(end.must & governed.rules, end)
        if moves.index in self.reach.transitions.excused:
            # The exception may come to hold again.
            mask |= self._upstream(moves.index)
        return mask

    def _fires(self, rule: int, prospect: Prospect) -> Iterator[int]:
        """Yield, for each condition that a rule surely fails, what would mend it."""
        space = self.reach.transitions.person.space
        for axis in space.tested[rule]:
            if not prospect.may_of[axis] >> rule & 1:
                yield self._passing(rule, axis, prospect)
        for call in self._failing_calls(rule, prospect):
            yield self._reverses(call, prospect)

    def _one_fires(self, rules: int, prospect: Prospect) -> int:
        """Return what may make one of some rules fire, none of which does."""
        mask = 0
        for rule in numbers(rules):
            mask |= self._first(self._fires(rule, prospect))
        return mask

    def _stops(self, rule: int, prospect: Prospect) -> int:
        """Return what may keep a rule from firing that surely does."""
        reach = self.reach
        space = reach.transitions.person.space
        mask = 0
        for axis in space.tested[rule]:
            mask |= self._failing(rule, axis, prospect)
        for call in self._calls(rule):
            mask |= self._reverses(call, prospect)
        return mask

    def _all_stop(self, rules: int, prospect: Prospect) -> int:
        """Return what may keep some rules from firing, all of which surely do: what that takes for one of them."""
        return self._first(self._stops(rule, prospect) for rule in numbers(rules))

    def _calls(self, rule: int) -> list[Outcome]:
        """Return the decisions that a rule calls, each with the outcome that lets the rule fire."""
        needs, bars = self.reach.transitions.person.space.called.get(rule, ((), ()))
        return [*((each, True) for each in needs), *((each, False) for each in bars)]

    def _failing_calls(self, rule: int, prospect: Prospect) -> list[Outcome]:
        """Return the decisions that keep a rule from firing, each with the outcome that it surely has."""
        settling = self.reach.transitions.person.space.settling
        return [
            (decision, not wanted)
            for decision, wanted in self._calls(rule)
            if bool((prospect.may if wanted else prospect.must) & settling[decision][0]) != wanted
        ]

    def _reverses(self, outcome: Outcome, prospect: Prospect) -> int:
        """Return the options that may reverse the outcome that a decision surely has.

        Decisions nest to any depth: the outcomes below are answered first, from a list instead of the call stack, and
        each is answered once.
        """
        settling, on_the_way = self.reach.transitions.person.space.settling, prospect is self.way
        waiting = [outcome]
        while waiting:
            decision, holds = key = waiting[-1]
            rules = settling[decision][0] & (prospect.must if holds else -1)
            below = (
                each
                for rule in numbers(rules)
                for each in (self._calls(rule) if holds else self._failing_calls(rule, prospect))
            )
            open_ = [each for each in below if (*each, on_the_way) not in self.reversals]
            if open_:
                waiting += open_
                continue
            waiting.pop()
            if (*key, on_the_way) not in self.reversals:
                answer = self._all_stop if holds else self._one_fires
                self.reversals[*key, on_the_way] = answer(rules, prospect)
        return self.reversals[*outcome, on_the_way]

    def _first(self, masks: Iterator[int]) -> int:
        """Return the mask that says most: whose cheapest option is dearest, and of those the narrowest."""
        return min(masks, key=self._strength)

    def _strength(self, mask: int) -> tuple[bool, int, int]:
        if not mask:
            return False, 0, 0
        cheapest = self.reach.options[(mask & -mask).bit_length() - 1].effort
        return True, -cheapest, mask.bit_count()

    def _passing(self, rule: int, axis: int, prospect: Prospect) -> int:
        """Return what may make a rule's tests on a feature pass."""
        return self._tested(rule, axis, prospect, failing=False)

    def _failing(self, rule: int, axis: int, prospect: Prospect) -> int:
        """Return what may make a rule's tests on a feature fail."""
        return self._tested(rule, axis, prospect, failing=True)

    def _tested(self, rule: int, axis: int, prospect: Prospect, *, failing: bool) -> int:
        moves = self.reach.moves_of.get(axis)
        if moves is None:
            return self.reach.meeting(rule, axis)[failing] & self.left
        regions = moves.passing(rule) ^ (moves.grid if failing else 0)
        start = self.reach.start[self.reach.position[axis]]
        if start & ~moves.grid and (self.reach.own[axis] >> rule & 1) != failing:
            regions |= start
        if prospect is self.way:
            return self._carried(moves, regions)
        return self._resting(moves, regions, prospect)

    def _carried(self, moves: CausalMoves, regions: int) -> int:
        """Return what may carry a governed feature to some regions, where it surely does not come yet."""
        position = self.reach.position[moves.index]
        regions &= self.reach.permitted[position] | self.reach.start[position]
        if not regions:
            return 0
        key = moves.index, regions
        known = self.known.get(key)
        if known is None:
            self.known[key] = PENDING
            known = self._carry(moves, regions)
            if known is None:
                known = self.stirred(moves.index)
            self.known[key] = known = known | self._set(moves.index)
        return known if known != PENDING else self._upstream(moves.index)

    def _upstream(self, index: int) -> int:
        return self.influencing.options(index) & self.left

    def _set(self, index: int) -> int:
        """Return the open options on a feature itself."""
        return self.reach.on_axis.get(index, 0) & self.left

    def stirred(self, index: int) -> int:
        """Return the options without which a feature goes no other ways than the choice alone opens to it.

        Rules that may fire must not notice a thing; a rule that never does must only be kept from it.
        """
        # Whether anything is restless comes out as ends are followed.
        key = index, RESTLESS if self.influencing.restless else CALM
        known = self.known.get(key)
        if known is None:
            self.known[key] = PENDING
            known = self.known[key] = self._stirred(index)
        return known if known != PENDING else self._upstream(index)

    def _stirred(self, index: int) -> int:
        reach = self.reach
        if self.influencing.restless:
            return self._upstream(index)
        space = reach.transitions.person.space
        seen, waiting, mask = {index}, [index], 0
        while waiting:
            moves = reach.moves_of[waiting.pop()]
            mask |= self._set(moves.index)
            # What is violated and cannot move keeps all that is downstream of it from moving.
            hiding = moves.governed.above & reach.moves_of.keys() - seen
            waiting += hiding
            seen |= hiding
            for bit, _ in moves.by_rule:
                rule = bit.bit_length() - 1
                if not self.way.may & bit:
                    mask |= self._first(self._fires(rule, self.way))
                    continue
                if rule in space.called:
                    return self._upstream(index)
                for axis in space.tested[rule]:
                    if axis not in reach.moves_of:
                        mask |= reach.noticed(rule, axis)
                    elif axis not in seen:
                        seen.add(axis)
                        waiting.append(axis)
        return mask & self.left

    def _carry(self, moves: CausalMoves, regions: int) -> int | None:
        reach = self.reach
        if moves.index in reach.transitions.excused:
            return None
        start = reach.start[reach.position[moves.index]]
        mask = 0
        for bit, landing in moves.by_rule:
            if landing.ends(start, moves.grid) & regions:
                if self.way.may & bit:
                    return None
                mask |= self._first(self._fires(bit.bit_length() - 1, self.way))
        if moves.released.ends(start, moves.grid) & regions:
            freed = self._freed(moves)
            if freed is None:
                return None
            mask |= freed
        return mask

    def _freed(self, moves: CausalMoves) -> int | None:
        """Return what may carry a feature to where no rule heads it: a rule stops, after one fired; None if unknown."""
        rules, silent = moves.governed.rules, moves.governed.law.asks_for_silence
        sure = self.way.must & rules
        position = self.reach.position[moves.index]
        start, possible = self.reach.start[position], self.way.regions[position]
        if not silent:
            if self.reach.are_supported:
                # Another rule may carry it to its own head, which then is not allowed any more.
                return None
            if possible != start or not start & moves.grid:
                return None
            sure &= moves.heads[start.bit_length() - 1]
        if sure:
            return self._all_stop(sure, self.way)
        if self.way.may & rules or not possible & moves.bare or possible & ~moves.bare:
            return None
        return self._one_fires(rules, self.way) if silent else 0


@dataclass(frozen=True)
class Standing:
    """Where a choice stands: what it may end with, and what every plan that contains it must still take."""

    options: Options
    influencing: InfluencingOptions
    ends: Ends
    choice: Choice
    end: End

    @cached_property
    def landmarks(self) -> Landmarks:
        """Return the landmarks of the choice."""
        reach, chosen = self.end.propagation.reach, self.choice.chosen
        way = reach.on_the_way(self.options.stirring_of(chosen))
        return Landmarks(reach, self.influencing, chosen, way, self.end.regions, self.end.left)
