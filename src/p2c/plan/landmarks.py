"""Landmarks: sets of direct actions of which every plan that contains a given choice must take one more.

Each function here returns such a set, as a mask of open options, for one claim: unless one of them is taken, a rule never
fires, or always does, or a feature never gets where it should. Claims rest on one another along the causal rules, and at the
bottom on `outlook`, which tells what the choice alone may bring about. Where a claim cannot be narrowed down, all
options upstream of the feature are returned; where it is asked for again on the way to itself, too.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from p2c.domain.feature import Law
from p2c.plan.axis import OFF
from p2c.plan.outlook import Prospect, courses, settle

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from p2c.plan.dynamics import Dynamics
    from p2c.plan.outlook import Course
    from p2c.plan.person import Places
    from p2c.plan.selection import Option


@dataclass(frozen=True)
class Landmarks:
    """What one person's choices still need."""

    dynamics: Dynamics
    options: tuple[Option, ...]
    upstream: Callable[[int], int]
    """The options upstream of a governed feature."""
    restless: list[Places]
    """States from which effects may go round without end, as far as they are known."""

    @cached_property
    def courses(self) -> tuple[Course, ...]:
        return self.dynamics.person.space.courses

    @cached_property
    def course_of(self) -> dict[int, Course]:
        return {each.index: each for each in self.courses}

    @cached_property
    def position(self) -> dict[int, int]:
        """Return the place of each governed feature among all governed ones."""
        return {each.index: position for position, each in enumerate(self.courses)}

    @cached_property
    def own(self) -> tuple[int, ...]:
        """Return, for each feature, the rules whose tests on it pass at the person's own value."""
        return tuple(
            self.dynamics.body(index, place)
            for index, place in enumerate(self.dynamics.person.places)
        )

    @cached_property
    def ends(self) -> tuple[int, ...]:
        """Return, for each option, the rules whose tests pass where it leads."""
        return tuple(self.dynamics.body(each.axis, each.end) for each in self.options)

    @cached_property
    def start(self) -> tuple[int, ...]:
        """Return the own region of each governed feature, as a bit."""
        return tuple(self._start(each) for each in self.courses)

    def _start(self, course: Course) -> int:
        place = self.dynamics.person.places[course.index]
        if place == OFF:
            return course.grid + 1
        regions = self.dynamics.person.space.axes[course.index].regions
        return next(1 << number for number, region in enumerate(regions) if place in region)

    @cached_property
    def _known(self) -> dict[tuple[int, ...], tuple[tuple[int, ...], Prospect]]:
        return {}

    def prospect(self, stirring: tuple[int, ...]) -> tuple[tuple[int, ...], Prospect]:
        """Return where governed features may come to stand on the way, and what may and must fire on it."""
        known = self._known.get(stirring)
        if known is None:
            known = self._known[stirring] = self._look(stirring)
        return known

    def _look(self, stirring: tuple[int, ...]) -> tuple[tuple[int, ...], Prospect]:
        space = self.dynamics.person.space
        may_of, must_of = list(self.own), list(self.own)
        for number in stirring:
            axis = self.options[number].axis
            may_of[axis] |= self.ends[number]
            must_of[axis] &= self.ends[number]
        possible = list(self.start)
        while True:
            may = must = -1
            for mask in may_of:
                may &= mask
            for mask in must_of:
                must &= mask
            may, must = settle(space, may, must)
            grown = False
            for position, course in enumerate(self.courses):
                reached = self._moved(course, possible[position], self.start[position], may, must)
                fresh = reached & ~possible[position]
                if fresh:
                    grown = True
                    possible[position] |= fresh
                    for number in _numbers(fresh):
                        may_of[course.index] |= course.bodies[number]
                        must_of[course.index] &= course.bodies[number]
            if not grown:
                return tuple(possible), Prospect(may, must, may_of, must_of)

    def _moved(self, course: Course, possible: int, start: int, may: int, must: int) -> int:
        """Return the regions that a feature may be carried to from where it may stand."""
        rules = course.governed.rules
        fired, sure = may & rules, must & rules
        restless = 0
        for bit in _bits(possible):
            if not self._rests(course, bit, start, fired, sure):
                restless |= bit
        if not restless:
            return 0
        found = 0
        for rule, landing in course.by_rule:
            if fired & rule:
                found |= landing.reached_from(restless, course.grid)
        if not sure or course.governed.law is Law.ONLY_IF:
            found |= course.released.reached_from(restless, course.grid)
        return found

    def _rests(self, course: Course, region: int, start: int, fired: int, sure: int) -> bool:
        """Tell whether a feature surely stays in a region."""
        if region & course.grid:
            headed = course.heads[region.bit_length() - 1]
        else:
            headed = self.dynamics.headed(course.index, OFF)
        if headed & sure:
            return True
        if fired != sure:
            return False
        if course.governed.allows(fired, headed):
            return True
        return region == start and self.dynamics.excused.get(course.index) == fired

    @cached_property
    def _passing(self) -> dict[tuple[int, int], tuple[int, int]]:
        return {}

    def mending(self, rule: int, axis: int) -> tuple[int, int]:
        """Return the options on a feature that make a rule's tests on it pass, and those that make them fail."""
        known = self._passing.get((rule, axis))
        if known is None:
            sides = [0, 0]
            for number, option in enumerate(self.options):
                if option.axis == axis:
                    sides[not self.ends[number] >> rule & 1] |= 1 << number
            known = self._passing[rule, axis] = sides[0], sides[1]
        return known

    def noticed(self, rule: int, axis: int) -> int:
        """Return the options on a feature after which a rule's tests on it come out otherwise than at first."""
        return self.mending(rule, axis)[self.own[axis] >> rule & 1]

    def claims(self, chosen: tuple[int, ...], stirring: tuple[int, ...], left: int) -> Claims:
        """Return what can be said of a choice, of which some actions stir governed features."""
        possible, prospect = self.prospect(stirring)
        return Claims(self, possible, prospect, left)


@dataclass(frozen=True)
class Claims:
    """The claims about one choice, each a mask of open options that would break it."""

    landmarks: Landmarks
    possible: tuple[int, ...]
    prospect: Prospect
    left: int
    known: dict[tuple[int, int], int] = field(default_factory=dict)

    def at_the_end(self, chosen: tuple[int, ...]) -> Iterator[int]:
        """Yield what breaks each claim that the goal fails after the choice, whatever happens by itself."""
        marks = self.landmarks
        space = marks.dynamics.person.space
        may_of, must_of = list(self.prospect.may_of), list(self.prospect.must_of)
        for number in chosen:
            axis = marks.options[number].axis
            may_of[axis] = must_of[axis] = marks.ends[number]
        may = must = -1
        for mask in may_of:
            may &= mask
        for mask in must_of:
            must &= mask
        may, must = settle(space, may, must)
        final = Prospect(may, must, may_of, must_of)
        goal = len(space.clauses) - 1
        if not may >> goal & 1:
            yield from self._fires(goal, final)
        excused = {bit for bit, _ in marks.dynamics.excused_constraints}
        for bit in _bits(must & space.constraints):
            if bit not in excused:
                yield self._stops(bit.bit_length() - 1, final)

    def _fires(self, rule: int, prospect: Prospect) -> Iterator[int]:
        """Yield, for each condition that a rule surely fails, what would mend it."""
        space = self.landmarks.dynamics.person.space
        for axis in space.tested[rule]:
            if not prospect.may_of[axis] >> rule & 1:
                yield self._passing(rule, axis)
        needs, bars = space.called.get(rule, ((), ()))
        for decision in needs:
            rules = space.settling[decision][0]
            if not prospect.may & rules:
                mask = 0
                for bit in _bits(rules):
                    mask |= self._first(self._fires(bit.bit_length() - 1, prospect))
                yield mask
        for decision in bars:
            for bit in _bits(prospect.must & space.settling[decision][0]):
                yield self._stops(bit.bit_length() - 1, prospect)

    def _stops(self, rule: int, prospect: Prospect) -> int:
        """Return what may keep a rule from firing that surely does."""
        marks = self.landmarks
        space = marks.dynamics.person.space
        mask = 0
        for axis in space.tested[rule]:
            mask |= self._failing(rule, axis)
        needs, bars = space.called.get(rule, ((), ()))
        for decision in needs:
            mask |= self._first(
                self._stops(bit.bit_length() - 1, prospect)
                for bit in _bits(prospect.must & space.settling[decision][0])
            )
        for decision in bars:
            for bit in _bits(space.settling[decision][0]):
                mask |= self._first(self._fires(bit.bit_length() - 1, prospect))
        return mask

    def _first(self, masks: Iterator[int]) -> int:
        """Return the mask that says most: whose cheapest option is dearest, and of those the narrowest."""
        return min(masks, key=self._strength)

    def _strength(self, mask: int) -> tuple[bool, int, int]:
        if not mask:
            return False, 0, 0
        cheapest = self.landmarks.options[(mask & -mask).bit_length() - 1].effort
        return True, -cheapest, mask.bit_count()

    def _passing(self, rule: int, axis: int) -> int:
        """Return what may make a rule's tests on a feature pass."""
        course = self.landmarks.course_of.get(axis)
        if course is None:
            return self.landmarks.mending(rule, axis)[0] & self.left
        return self._carried(course, _mask([body >> rule & 1 for body in course.bodies]))

    def _failing(self, rule: int, axis: int) -> int:
        course = self.landmarks.course_of.get(axis)
        if course is None:
            return self.landmarks.mending(rule, axis)[1] & self.left
        return self._carried(course, _mask([not body >> rule & 1 for body in course.bodies]))

    def _carried(self, course: Course, regions: int) -> int:
        """Return what may carry a governed feature to some regions, where it surely does not come yet."""
        key = course.index, regions
        known = self.known.get(key)
        if known is None:
            self.known[key] = self.landmarks.upstream(course.index) & self.left
            known = self._carry(course, regions)
            if known is None:
                known = self.stirred(course.index)
            self.known[key] = known
        return known

    def stirred(self, index: int) -> int:
        """Return the options without which a feature goes no other ways than the choice alone opens to it.

        Rules that may fire must not notice a thing; a rule that never does must only be kept from it.
        """
        key = index, -1
        known = self.known.get(key)
        if known is None:
            self.known[key] = self.landmarks.upstream(index) & self.left
            known = self.known[key] = self._stirred(index)
        return known

    def _stirred(self, index: int) -> int:
        marks = self.landmarks
        if marks.restless:
            return marks.upstream(index) & self.left
        space = marks.dynamics.person.space
        seen, waiting, mask = {index}, [index], 0
        while waiting:
            for bit, _ in marks.course_of[waiting.pop()].by_rule:
                rule = bit.bit_length() - 1
                if not self.prospect.may & bit:
                    mask |= self._first(self._fires(rule, self.prospect))
                    continue
                if rule in space.called:
                    return marks.upstream(index) & self.left
                for axis in space.tested[rule]:
                    if axis not in marks.course_of:
                        mask |= marks.noticed(rule, axis)
                    elif axis not in seen:
                        seen.add(axis)
                        waiting.append(axis)
        return mask & self.left

    def _carry(self, course: Course, regions: int) -> int | None:
        marks = self.landmarks
        if course.index in marks.dynamics.excused:
            return None
        start = marks.start[marks.position[course.index]]
        mask = 0
        for bit, landing in course.by_rule:
            if landing.ends(start, course.grid) & regions:
                if self.prospect.may & bit:
                    return None
                mask |= self._first(self._fires(bit.bit_length() - 1, self.prospect))
        if course.released.ends(start, course.grid) & regions:
            freed = self._freed(course)
            if freed is None:
                return None
            mask |= freed
        return mask

    def _freed(self, course: Course) -> int | None:
        """Return what may carry a feature to where no rule heads it: a rule stops, after one fired; None if unknown."""
        rules = course.governed.rules
        sure = self.prospect.must & rules
        position = self.landmarks.position[course.index]
        start, possible = self.landmarks.start[position], self.possible[position]
        if course.governed.law is Law.ONLY_IF:
            if possible != start or not start & course.grid:
                return None
            sure &= course.heads[start.bit_length() - 1]
        if sure:
            return self._first(
                self._stops(bit.bit_length() - 1, self.prospect) for bit in _bits(sure)
            )
        if self.prospect.may & rules or not possible & course.bare or possible & ~course.bare:
            return None
        if course.governed.law is Law.ONLY_IF:
            return 0
        mask = 0
        for bit, _ in course.by_rule:
            mask |= self._first(self._fires(bit.bit_length() - 1, self.prospect))
        return mask


def _mask(flags: Sequence[int]) -> int:
    return sum(1 << number for number, flag in enumerate(flags) if flag)


def _bits(mask: int) -> Iterator[int]:
    while mask:
        bit = mask & -mask
        yield bit
        mask ^= bit


def _numbers(mask: int) -> Iterator[int]:
    for bit in _bits(mask):
        yield bit.bit_length() - 1
