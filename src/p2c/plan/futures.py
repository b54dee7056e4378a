"""What may still come of a choice when everything that is open may be done: values that no plan can end with go.

The state at the end obeys every law and constraint, and no rule fires that the goal forbids. A forbidden rule of which
all tests but those on one feature surely pass takes from that feature the values that pass them too (unit propagation);
a law takes the values that nothing left can support. A feature with no value left proves that the choice leads nowhere;
one that loses its own value must be acted on.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, reduce
from operator import and_, or_
from typing import TYPE_CHECKING, NamedTuple

from p2c.domain.feature import Law
from p2c.plan.courses import Rest
from p2c.plan.masks import bits, numbers
from p2c.plan.outlook import settle
from p2c.rules.theory import Call

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p2c.plan.outlook import Outlook
    from p2c.plan.space import Space


class Future(NamedTuple):
    """The open options that some plan may take, and the features that every plan must act on, as options."""

    left: int
    forced: list[int]


class DeadEnd(Exception):
    """No plan contains the choice."""


@dataclass(frozen=True)
class Futures:
    """The futures of one person's choices."""

    outlook: Outlook
    on_axis: Mapping[int, int]

    @property
    def space(self) -> Space:
        """Return the space that the person is in."""
        return self.outlook.dynamics.person.space

    @cached_property
    def forbidden(self) -> int:
        """Return the rules that must not fire at the end: those of decisions that the goal denies, and constraints."""
        excused = reduce(or_, (bit for bit, _ in self.outlook.dynamics.excused_constraints), 0)
        mask = self.space.constraints & ~excused
        for condition in self.space.theory.goal:
            if isinstance(condition, Call) and condition.negated:
                for bit, _ in self.space.bits_for[condition.decision]:
                    mask |= bit
        return mask

    @cached_property
    def plain(self) -> int:
        """Return those of them that call no decision."""
        return self.forbidden & ~self.outlook.calling

    @cached_property
    def regions(self) -> list[int]:
        """Return where governed features may come to stand whatever is done."""
        return self.outlook.on_the_way(tuple(range(len(self.outlook.options)))).regions

    @cached_property
    def widest(self) -> tuple[list[int], list[int]]:
        """Return what each feature lets fire while all options are open: some of its values, and all of them."""
        outlook = self.outlook
        some, every = list(outlook.own), list(outlook.own)
        for axis, options in self.on_axis.items():
            some[axis], every[axis] = self.bodies(axis, options, own=True)
        for position, course in enumerate(outlook.courses):
            bodies = outlook.bodies(course, self.regions[position])
            some[course.index], every[course.index] = bodies
        return some, every

    @cached_property
    def _known_bodies(self) -> dict[tuple[int, int, bool], tuple[int, int]]:
        return {}

    def bodies(self, axis: int, options: int, *, own: bool) -> tuple[int, int]:
        """Return what a feature lets fire at some and at all of its values: where options lead, and perhaps its own."""
        key = axis, options, own
        known = self._known_bodies.get(key)
        if known is None:
            ends = [self.outlook.ends[number] for number in numbers(options)]
            if own:
                ends.append(self.outlook.own[axis])
            if not ends:
                raise DeadEnd
            known = self._known_bodies[key] = reduce(or_, ends), reduce(and_, ends)
        return known

    def rest(self, position: int, regions: int, fired: int, sure: int) -> Rest:
        """Return what is left of some regions to rest in, by the feature's rules that may and that must fire."""
        key = position, regions, fired, sure
        known = self.outlook.memory.rests.get(key)
        if known is None:
            known = self.outlook.memory.rests[key] = self._rest(*key)
        return known

    def _rest(self, position: int, regions: int, fired: int, sure: int) -> Rest:
        outlook = self.outlook
        course = outlook.courses[position]
        kept = outlook.allowed(position, regions, fired, sure)
        some, every = outlook.bodies(course, kept)
        heading = reduce(or_, (outlook.heading(course, number) for number in numbers(kept)), 0)
        silent = 0
        lenient = course.governed.law is Law.ONLY_IF or course.index in outlook.dynamics.excused
        if not lenient and not heading & fired:
            # It can rest in the head of no rule that may fire, so that none must.
            silent = course.governed.rules & ~outlook.calling
        return Rest(kept, some, every, silent)

    def of(self, chosen: tuple[int, ...], left: int) -> Future | None:
        """Return the future of a choice, or None where it has none."""
        outlook = self.outlook
        taken = {outlook.options[number].axis: number for number in chosen}
        try:
            end = End(self, left, taken)
            end.settle()
        except DeadEnd:
            return None
        forced = [self.on_axis[axis] & end.left for axis in sorted(end.moved) if axis not in taken]
        return Future(end.left, forced)


class End:
    """The values that every feature may still end with, and what follows from there being no more of them."""

    def __init__(self, futures: Futures, left: int, taken: Mapping[int, int]) -> None:
        outlook = futures.outlook
        self.futures, self.left, self.taken = futures, left, taken
        self.moved: set[int] = set()
        self.regions = list(futures.regions)
        self.may_of, self.must_of = list(futures.widest[0]), list(futures.widest[1])
        for axis, options in futures.on_axis.items():
            if axis in taken:
                self.may_of[axis] = self.must_of[axis] = outlook.ends[taken[axis]]
            elif options & ~left:
                self._measure(axis)

    def _measure(self, axis: int) -> None:
        """Note what a feature that may be set lets fire, from the values that are left to it."""
        options = self.futures.on_axis.get(axis, 0) & self.left
        bodies = self.futures.bodies(axis, options, own=axis not in self.moved)
        self.may_of[axis], self.must_of[axis] = bodies

    def settle(self) -> None:
        """Take values away until nothing follows any more."""
        futures = self.futures
        goal = 1 << (len(futures.space.clauses) - 1)
        changed = True
        while changed:
            may, must = settle(futures.space, reduce(and_, self.may_of), reduce(and_, self.must_of))
            if not may & goal or must & futures.forbidden:
                raise DeadEnd
            silent = futures.plain
            changed = False
            for position, course in enumerate(futures.outlook.courses):
                rules = course.governed.rules
                regions = self.regions[position]
                rest = futures.rest(position, regions, may & rules, must & rules)
                silent |= rest.silent
                if rest.regions != regions:
                    self._keep(position, course.index, rest)
                    changed = True
            changed |= self._silence(silent & may)

    def _keep(self, position: int, axis: int, rest: Rest) -> None:
        if not rest.regions:
            raise DeadEnd
        self.regions[position] = rest.regions
        self.may_of[axis], self.must_of[axis] = rest.some, rest.every

    def _silence(self, rules: int) -> bool:
        """Take away the values with which one of these rules would surely fire."""
        once = twice = 0
        for mask in self.must_of:
            lacking = ~mask & rules
            twice |= once & lacking
            once |= lacking
        if rules & ~once:
            raise DeadEnd
        changed = False
        for bit in bits(rules & ~twice):
            rule = bit.bit_length() - 1
            for axis in self.futures.space.tested[rule]:
                if not self.must_of[axis] & bit:
                    changed |= self._fail(rule, axis)
                    break
        return changed

    def _fail(self, rule: int, axis: int) -> bool:
        """Take from a feature the values that pass a rule's tests on it."""
        outlook = self.futures.outlook
        course = outlook.course_of.get(axis)
        if course is None:
            return self._drop(rule, axis)
        position = outlook.position[axis]
        regions = self.regions[position]
        kept = regions & ~course.passing(rule)
        if kept & ~course.grid and outlook.own[axis] >> rule & 1:
            kept &= course.grid
        if kept == regions:
            return False
        some, every = outlook.bodies(course, kept)
        self._keep(position, axis, Rest(kept, some, every, 0))
        return True

    def _drop(self, rule: int, axis: int) -> bool:
        outlook = self.futures.outlook
        if axis in self.taken:
            return False
        passing = outlook.mending(rule, axis)[0] & self.left
        own = axis not in self.moved and outlook.own[axis] >> rule & 1
        if not passing and not own:
            return False
        self.left &= ~passing
        if own:
            self.moved.add(axis)
        self._measure(axis)
        return True
