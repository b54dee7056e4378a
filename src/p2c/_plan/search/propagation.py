"""What may still come of a choice when everything that is open may be done: values that no plan can end with go.

The state at the end obeys every law and constraint, and no rule fires that the goal forbids. A forbidden rule of which
all tests but those on one feature surely pass takes from that feature the values that pass them too (unit propagation);
a law takes the values that nothing left can support. A feature with no value left proves that the choice leads nowhere;
one that loses its own value must be acted on.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import and_, or_
from typing import TYPE_CHECKING

from p2c._plan.compiled.bitsets import bits, nearly_all, numbers
from p2c._plan.compiled.causal_moves import Rest
from p2c._plan.search.dominated_options import better_options, dominated
from p2c._plan.search.relaxed_reach import settle

if TYPE_CHECKING:
    from p2c._plan.compiled.space import Space
    from p2c._plan.search.dominated_options import BetterOptions
    from p2c._plan.search.relaxed_reach import RelaxedReach


class DeadEnd(Exception):
    """No plan contains the choice."""


@dataclass(frozen=True)
class Propagation:
    """What follows of one person's choices for the values that features may end with."""

    reach: RelaxedReach
    first_only: bool = True
    """Whether only the best plan is wanted, so that dominated options can be left out."""
    judging: bool = True
    """Whether what the model surely refuses is a dead end; a search that prices boxes sees that by itself."""

    @property
    def space(self) -> Space:
        """Return the space that the person is in."""
        return self.reach.transitions.person.space

    @cached_property
    def forbidden(self) -> int:
        """Return the rules that must not fire at the end: those of decisions that the goal denies, and constraints."""
        excused = reduce(or_, (bit for bit, _ in self.reach.transitions.excused_constraints), 0)
        return self.space.denied | self.space.constraints & ~excused

    @cached_property
    def has_rules(self) -> bool:
        """Tell whether rules have a say in where a plan may end, besides the model.

        A constraint that a person breaks has one too: it is excused only until what it reads changes.
        """
        space = self.space
        return bool(
            self.forbidden
            or space.constraints
            or space.governed
            or len(space.theory.goal) != space.wants_accepted
        )

    @cached_property
    def plain(self) -> int:
        """Return the rules that must not fire at the end and call no decision."""
        return self.forbidden & ~self.reach.calling

    @cached_property
    def _known_bodies(self) -> dict[tuple[int, int, bool], tuple[int, int]]:
        return {}

    def bodies(self, axis: int, options: int, *, own: bool) -> tuple[int, int]:
        """Return what a feature lets fire at some and at all of its values: where options lead, and perhaps its own."""
        key = axis, options, own
        known = self._known_bodies.get(key)
        if known is None:
            ends = [body for bit, body in self.reach.ways[axis] if bit & options]
            if own:
                ends.append(self.reach.own[axis])
            if not ends:
                raise DeadEnd
            known = self._known_bodies[key] = reduce(or_, ends), reduce(and_, ends)
        return known

    def rest(self, position: int, regions: int, fired: int, sure: int) -> Rest:
        """Return what is left of some regions to rest in, by the feature's rules that may and that must fire."""
        reach = self.reach
        moves = reach.causal_moves[position]
        kept = reach.allowed(position, regions, fired, sure)
        some, every = reach.bodies(moves, kept)
        heading = reduce(or_, (reach.heading(moves, number) for number in numbers(kept)), 0)
        silent = 0
        strict = moves.governed.law.asks_for_silence
        if strict and not heading & fired and not reach.may_excuse(moves.index, fired, sure):
            # It can rest in the head of no rule that may fire, so that none must.
            silent = moves.governed.rules & ~reach.calling
        return Rest(kept, some, every, silent)

    @cached_property
    def better(self) -> BetterOptions:
        """Return what stands between each option and a better one."""
        return better_options(self.reach) if self.first_only else []

    @cached_property
    def widest(self) -> End:
        """Return the ends that are open before anything is chosen or settled."""
        return End(self)

    def of(self, chosen: tuple[int, ...], left: int, past: End | None = None) -> End | None:
        """Return what a choice may end with, or None where it leads nowhere.

        The past is what a smaller choice may end with: no more than that can be left of it.
        """
        try:
            end = (past or self.widest).narrowed(chosen, left)
            end.settle()
        except DeadEnd:
            return None
        return end


class End:
    """The values that every feature may still end with, and what follows from there being no more of them."""

    __slots__ = (
        "cells_left",
        "changed",
        "left",
        "may_of",
        "moved",
        "must_of",
        "propagation",
        "regions",
        "taken",
    )

    def __init__(self, propagation: Propagation) -> None:
        reach = propagation.reach
        self.propagation = propagation
        self.left = (1 << len(reach.options)) - 1
        self.taken: dict[int, int] = {}
        self.moved: frozenset[int] = frozenset()
        self.cells_left: list[int | None] = [None] * len(propagation.space.model_axes)
        self.changed = set(range(len(self.cells_left)))
        self.may_of, self.must_of = list(reach.own), list(reach.own)
        regions = list(reach.start)
        for axis, options in reach.on_axis.items():
            if axis in reach.moves_of:
                reach.let(options.bit_length() - 1, self.may_of, self.must_of, regions)
            else:
                self._measure(axis)
        self.regions = reach.look(self.may_of, self.must_of, regions).regions

    @property
    def is_refused(self) -> bool:
        """Tell whether the model surely refuses every state that is left."""
        model = self.propagation.space.theory.parsed
        boxes = self.boxes
        return model is not None and boxes is not None and model.surely_refuses(boxes)

    @property
    def boxes(self) -> list[int] | None:
        """Return the model's cells that are left to each feature that it reads; None where a value has none."""
        found = self.cells_left
        for place in self.changed:
            found[place] = self.cells(self.propagation.space.model_axes[place])
        self.changed.clear()
        return None if None in found else found  # type: ignore[return-value]

    def note(self, axis: int) -> None:
        """Note that what is left to a feature has changed, for a model that reads it."""
        if self.cells_left and axis in (places := self.propagation.space.model_places):
            self.changed.add(places[axis])

    def cells(self, index: int) -> int | None:
        """Return the model's cells that are left to a feature, as bits; None where a value has none."""
        reach = self.propagation.reach
        position = reach.position.get(index)
        if position is not None:
            return reach.model_regions(position, self.regions[position])
        options = self.taken.get(index) or reach.on_axis.get(index, 0) & self.left
        own = index not in self.taken and index not in self.moved
        return reach.model_options(index, options, own=own)

    def within(self, regions: list[int]) -> None:
        """Leave governed features only some regions."""
        for position, kept in enumerate(map(and_, self.regions, regions)):
            self._leave_regions(position, kept)

    def narrowed(self, chosen: tuple[int, ...], left: int) -> End:
        """Return a copy in which more is chosen and no more is left open."""
        reach = self.propagation.reach
        end = copy(self)
        end.may_of, end.must_of, end.regions = self.may_of[:], self.must_of[:], self.regions[:]
        end.cells_left, end.changed = self.cells_left[:], set(self.changed)
        for number in chosen:
            axis = reach.options[number].axis
            if axis not in self.taken:
                if not self.left >> number & 1:
                    raise DeadEnd
                end.taken = {**end.taken, axis: 1 << number}
                end.note(axis)
                if axis not in reach.moves_of:
                    end.may_of[axis] = end.must_of[axis] = reach.ends[number]
        end._leave(self.left & ~left)
        return end

    def leave_own(self, axis: int) -> None:
        """Take from a feature to stay as it is."""
        if axis not in self.propagation.reach.moves_of:
            self.moved |= {axis}
            self._measure(axis)

    def _leave(self, options: int) -> None:
        """Take options away."""
        self.left &= ~options
        reach = self.propagation.reach
        for axis, own in reach.on_axis.items():
            if own & options and axis not in self.taken and axis not in reach.moves_of:
                self._measure(axis)

    def _measure(self, axis: int) -> None:
        """Note what a feature that may be set lets fire, from the values that are left to it."""
        self.note(axis)
        options = self.propagation.reach.on_axis.get(axis, 0) & self.left
        bodies = self.propagation.bodies(axis, options, own=axis not in self.moved)
        self.may_of[axis], self.must_of[axis] = bodies

    def settle(self) -> None:
        """Take values away until nothing follows any more."""
        while True:
            if self.propagation.has_rules:
                self._propagate()
            judging = self.propagation.judging and self.propagation.space.wants_accepted
            if judging and self.is_refused:
                raise DeadEnd
            taken = sum(self.taken.values())
            gone = dominated(self.propagation.better, self.left | taken, self.may_of)
            if gone & taken:
                raise DeadEnd
            if not gone:
                return
            self._leave(gone)

    def _propagate(self) -> None:
        propagation = self.propagation
        goal = 1 << (len(propagation.space.clauses) - 1)
        causes, silent = propagation.reach.causes, 0
        before: tuple[int, int, list[int]] | None = None
        silenced: tuple[int, list[int]] | None = None
        while True:
            may, must = settle(propagation.space, self.may_of, self.must_of)
            if not may & goal or must & propagation.forbidden:
                raise DeadEnd
            now = may & causes, must & causes, self.regions[:]
            if now != before:
                before, silent = now, self._rest(may, must)
            quiet = silent & may, self.must_of[:]
            if quiet != silenced:
                silenced = quiet
                self._silence(silent & may)
            elif now[2] == self.regions:
                return

    def _rest(self, may: int, must: int) -> int:
        """Leave governed features where their laws may let them rest; return the rules that must not fire then."""
        propagation = self.propagation
        rests = propagation.reach.memory.rests
        silent = propagation.plain
        for position, axis, rules in propagation.reach.governed:
            regions = self.regions[position]
            key = position, regions, may & rules, must & rules
            rest = rests.get(key)
            if rest is None:
                rest = rests[key] = propagation.rest(*key)
            silent |= rest.silent
            if rest.regions != regions:
                self._keep(position, axis, rest)
        return silent

    def _leave_regions(self, position: int, kept: int) -> None:
        """Leave a governed feature no more than some of its regions."""
        if kept != self.regions[position]:
            moves = self.propagation.reach.causal_moves[position]
            some, every = self.propagation.reach.bodies(moves, kept)
            self._keep(position, moves.index, Rest(kept, some, every, 0))

    def _keep(self, position: int, axis: int, rest: Rest) -> None:
        if not rest.regions:
            raise DeadEnd
        self.regions[position] = rest.regions
        self.note(axis)
        self.may_of[axis], self.must_of[axis] = rest.some, rest.every

    def _silence(self, rules: int) -> None:
        """Take away the values with which one of these rules would surely fire."""
        if rules & reduce(and_, self.must_of):
            raise DeadEnd
        for bit in bits(rules & nearly_all(self.must_of)):
            rule = bit.bit_length() - 1
            for axis in self.propagation.space.tested[rule]:
                if not self.must_of[axis] & bit:
                    self._fail(rule, axis)
                    break

    def _fail(self, rule: int, axis: int) -> None:
        """Take from a feature the values that pass a rule's tests on it."""
        reach = self.propagation.reach
        moves = reach.moves_of.get(axis)
        if moves is None:
            self._drop(rule, axis)
            return
        position = reach.position[axis]
        kept = self.regions[position] & ~moves.passing(rule)
        if kept & ~moves.grid and reach.own[axis] >> rule & 1:
            kept &= moves.grid
        self._leave_regions(position, kept)

    def _drop(self, rule: int, axis: int) -> None:
        reach = self.propagation.reach
        if axis in self.taken:
            return
        passing = reach.mending(rule, axis)[0] & self.left
        own = axis not in self.moved and reach.own[axis] >> rule & 1
        if passing or own:
            self.left &= ~passing
            if own:
                self.moved |= {axis}
            self._measure(axis)
