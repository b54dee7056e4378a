"""Landmarks: sets of direct actions of which every plan that contains a given choice must take one more.

Each function here returns such a set, as a mask of open options, for one claim: unless one of them is taken, a rule never
fires, or always does, or a feature never gets where it should. Claims rest on one another along the causal rules, and at the
bottom on `outlook`, which tells what the choice alone may bring about. Where a claim cannot be narrowed down, all
options upstream of the feature are returned; where it is asked for again on the way to itself, too.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, reduce
from operator import and_, or_
from typing import TYPE_CHECKING

from p2c.domain.feature import Law
from p2c.plan.axis import OFF
from p2c.plan.outlook import Memory, Prospect, settle

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from p2c.plan.dynamics import Dynamics
    from p2c.plan.outlook import Course
    from p2c.plan.person import Places
    from p2c.plan.selection import Option

DEPTH = 2
"""How many features are told apart by where they come to rest, one within the other."""

PENDING = -1
"""The place of an answer that is being worked out."""

BREADTH = 3
"""How many features are tried for the outer of them."""


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
        """Return how governed features move by themselves."""
        return self.dynamics.person.space.courses

    @cached_property
    def course_of(self) -> dict[int, Course]:
        """Return the same by the feature's place in the problem."""
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
    def _known(self) -> dict[tuple[int, ...], Prospect]:
        return {}

    def on_the_way(self, stirring: tuple[int, ...]) -> Prospect:
        """Return where governed features may ever come to stand, and what may and must fire all the time."""
        known = self._known.get(stirring)
        if known is None:
            known = self._known[stirring] = self._look(stirring)
        return known

    def _look(self, stirring: tuple[int, ...]) -> Prospect:
        space = self.dynamics.person.space
        may_of, must_of = list(self.own), list(self.own)
        for number in stirring:
            axis = self.options[number].axis
            may_of[axis] |= self.ends[number]
            must_of[axis] &= self.ends[number]
        regions = list(self.start)
        while True:
            may, must = settle(space, reduce(and_, may_of), reduce(and_, must_of))
            grown = False
            for position, course in enumerate(self.courses):
                rules = course.governed.rules
                key = position, regions[position], may & rules, must & rules
                reached = self.memory.reached.get(key)
                if reached is None:
                    reached = self.memory.reached[key] = self._moved(*key)
                fresh = reached & ~regions[position]
                if fresh:
                    grown = True
                    regions[position] |= fresh
                    for number in _numbers(fresh):
                        may_of[course.index] |= course.bodies[number]
                        must_of[course.index] &= course.bodies[number]
            if not grown:
                return Prospect(may, must, may_of, must_of, regions)

    def at_rest(self, before: Prospect) -> Prospect:
        """Return what is left of a prospect once every governed feature must stand where its law allows it."""
        space = self.dynamics.person.space
        may_of, must_of = list(before.may_of), list(before.must_of)
        regions = list(before.regions)
        while True:
            may, must = settle(space, reduce(and_, may_of), reduce(and_, must_of))
            shrunk = False
            for position, course in enumerate(self.courses):
                rules = course.governed.rules
                kept = self.allowed(position, regions[position], may & rules, must & rules)
                if kept != regions[position]:
                    shrunk = True
                    regions[position] = kept
                    if not kept:
                        return Prospect(may, must, may_of, must_of, regions, before.assumed)
                    may_of[course.index], must_of[course.index] = self.bodies(course, kept)
            if not shrunk:
                return Prospect(may, must, may_of, must_of, regions, before.assumed)

    def allowed(self, position: int, regions: int, fired: int, sure: int) -> int:
        """Return the regions in which a feature may be at rest, by its rules that may and that must fire."""
        key = position, regions, fired, sure
        known = self.memory.kept.get(key)
        if known is None:
            known = self.memory.kept[key] = self._allowed(*key)
        return known

    def _allowed(self, position: int, regions: int, fired: int, sure: int) -> int:
        # The person's own value may be excused, or have no place: then it stays.
        course, calm = self.courses[position], not sure
        kept = regions & ~course.grid
        if course.index in self.dynamics.excused:
            kept |= regions & self.start[position]
        for bit in _bits(regions & ~kept):
            headed = course.heads[bit.bit_length() - 1]
            if (
                headed & fired
                or (calm and course.governed.law is Law.IF)
                or (not headed and (calm or course.governed.law is Law.ONLY_IF))
            ):
                kept |= bit
        return kept

    @cached_property
    def calling(self) -> int:
        """Return the rules that call decisions."""
        return reduce(or_, (1 << rule for rule in self.dynamics.person.space.called), 0)

    def heading(self, course: Course, region: int) -> int:
        """Return the rules of a feature whose heads hold a region, or the person's own value where it has no place."""
        if region < len(course.heads):
            return course.heads[region]
        return self.dynamics.headed(course.index, OFF)

    def bodies(self, course: Course, regions: int) -> tuple[int, int]:
        """Return the rules whose tests on a feature pass in some of these regions, and those that do in all."""
        key = course.index, regions
        known = self.memory.bodies.get(key)
        if known is None:
            some, every = 0, -1
            for number in _numbers(regions):
                listed = number < len(course.bodies)
                body = course.bodies[number] if listed else self.own[course.index]
                some |= body
                every &= body
            known = self.memory.bodies[key] = some, every
        return known

    @cached_property
    def memory(self) -> Memory:
        """Return what is remembered about governed features: with everyone else's where nothing is odd."""
        places = self.dynamics.person.places
        if self.dynamics.excused or any(places[each.index] == OFF for each in self.courses):
            return Memory()
        self.dynamics.person.space.memory.tidy()
        return self.dynamics.person.space.memory

    def _moved(self, position: int, regions: int, fired: int, sure: int) -> int:
        """Return the regions that a feature may be carried to, by its rules that may and that must fire."""
        course, start = self.courses[position], self.start[position]
        restless = 0
        for bit in _bits(regions):
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

    @cached_property
    def _on_axis(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for number, option in enumerate(self.options):
            found.setdefault(option.axis, []).append(number)
        return found

    def mending(self, rule: int, axis: int) -> tuple[int, int]:
        """Return the options on a feature that make a rule's tests on it pass, and those that make them fail."""
        known = self._passing.get((rule, axis))
        if known is None:
            sides = [0, 0]
            for number in self._on_axis.get(axis, ()):
                sides[not self.ends[number] >> rule & 1] |= 1 << number
            known = self._passing[rule, axis] = sides[0], sides[1]
        return known

    def noticed(self, rule: int, axis: int) -> int:
        """Return the options on a feature after which a rule's tests on it come out otherwise than at first."""
        return self.mending(rule, axis)[self.own[axis] >> rule & 1]

    def claims(self, chosen: tuple[int, ...], stirring: tuple[int, ...], left: int) -> Claims:
        """Return what can be said of a choice, of which some actions stir governed features."""
        return Claims(self, chosen, self.on_the_way(stirring), left)


@dataclass(frozen=True)
class Claims:
    """The claims about one choice, each a mask of open options that would break it."""

    landmarks: Landmarks
    chosen: tuple[int, ...]
    way: Prospect
    left: int
    known: dict[tuple[int, int], int] = field(default_factory=dict)

    def obstacles(self) -> list[int]:
        """Return what breaks each claim that the goal fails after the choice, whatever happens by itself."""
        marks = self.landmarks
        may_of, must_of = list(self.way.may_of), list(self.way.must_of)
        for number in self.chosen:
            axis = marks.options[number].axis
            may_of[axis] = must_of[axis] = marks.ends[number]
        end = marks.at_rest(Prospect(0, 0, may_of, must_of, self.way.regions))
        found = list(self._obstacles(end))
        if not found:
            mask = self._by_cases(end, DEPTH)
            if mask is not None:
                found.append(mask)
        return found

    def _obstacles(self, end: Prospect) -> Iterator[int]:
        marks = self.landmarks
        space = marks.dynamics.person.space
        for position, course in enumerate(marks.courses):
            if not end.regions[position]:
                yield self._elsewhere(course, end)
                return
        goal = len(space.clauses) - 1
        if not end.may >> goal & 1:
            yield from self._fires(goal, end)
        excused = {bit for bit, _ in marks.dynamics.excused_constraints}
        for bit in _bits(end.must & space.constraints):
            if bit not in excused:
                yield self._stops(bit.bit_length() - 1, end)

    def _by_cases(self, end: Prospect, depth: int) -> int | None:
        """Return what breaks the claim that the goal fails wherever some one feature comes to rest."""
        marks = self.landmarks
        undecided = []
        for position, course in enumerate(marks.courses):
            regions = end.regions[position]
            if (
                regions & (regions - 1) == 0
                or regions & ~course.grid
                or course.index in end.assumed
            ):
                continue
            mask, unsolved = self._elsewhere(course, end), []
            for bit in _bits(regions):
                case = self._assume(end, course, position, bit)
                found = list(self._obstacles(case))
                if found:
                    mask |= self._first(iter(found))
                else:
                    unsolved.append(case)
            if not unsolved:
                return mask
            if len(unsolved) < regions.bit_count():
                undecided.append((len(unsolved), position, mask, unsolved))
        if depth > 1:
            for _, _, mask, unsolved in sorted(undecided, key=lambda each: each[:2])[:BREADTH]:
                inner = [self._by_cases(case, depth - 1) for case in unsolved]
                if None not in inner:
                    return reduce(or_, (each for each in inner if each is not None), mask)
        return None

    def _assume(self, end: Prospect, course: Course, position: int, region: int) -> Prospect:
        regions = list(end.regions)
        regions[position] = region
        may_of, must_of = list(end.may_of), list(end.must_of)
        may_of[course.index] = must_of[course.index] = course.bodies[region.bit_length() - 1]
        assumed = end.assumed | {course.index: region}
        return self.landmarks.at_rest(Prospect(0, 0, may_of, must_of, regions, assumed))

    def _elsewhere(self, course: Course, end: Prospect) -> int:
        """Return what may bring a feature to rest in another region than those that are left to it."""
        position = self.landmarks.position[course.index]
        left = end.assumed.get(course.index) or course.grid & ~end.regions[position]
        return self._resting(course, left, end)

    def _resting(self, course: Course, regions: int, end: Prospect) -> int:
        """Return what may bring a feature to rest in some regions: where it never comes, or may not stay."""
        met = self.way.regions[self.landmarks.position[course.index]]
        mask = 0
        if regions & ~met:
            mask |= self._carried(course, regions & ~met)
        if regions & met:
            mask |= self._allowed(course, regions & met, end)
        return mask

    def _allowed(self, course: Course, regions: int, end: Prospect) -> int:
        """Return what may let a feature rest in regions where its law does not let it rest yet."""
        key = course.index, regions
        known = end.known.get(key)
        if known is None:
            end.known[key] = PENDING
            known = end.known[key] = self._allow(course, regions, end)
        if known != PENDING:
            return known
        mask = self.stirred(course.index)
        for index in end.assumed:
            mask |= self.stirred(index)
        return mask

    def _allow(self, course: Course, regions: int, end: Prospect) -> int:
        law = course.governed.law
        heading = 0
        for number in _numbers(regions):
            heading |= course.heads[number]
        mask = 0
        for bit in _bits(heading):
            mask |= self._first(self._fires(bit.bit_length() - 1, end))
        if law is Law.IF or (law is Law.IFF and regions & course.bare):
            sure = end.must & course.governed.rules
            mask |= self._first(self._stops(bit.bit_length() - 1, end) for bit in _bits(sure))
        return mask

    def _fires(self, rule: int, prospect: Prospect) -> Iterator[int]:
        """Yield, for each condition that a rule surely fails, what would mend it."""
        space = self.landmarks.dynamics.person.space
        for axis in space.tested[rule]:
            if not prospect.may_of[axis] >> rule & 1:
                yield self._passing(rule, axis, prospect)
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
            mask |= self._failing(rule, axis, prospect)
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

    def _passing(self, rule: int, axis: int, prospect: Prospect) -> int:
        """Return what may make a rule's tests on a feature pass."""
        return self._tested(rule, axis, prospect, failing=False)

    def _failing(self, rule: int, axis: int, prospect: Prospect) -> int:
        """Return what may make them fail."""
        return self._tested(rule, axis, prospect, failing=True)

    def _tested(self, rule: int, axis: int, prospect: Prospect, *, failing: bool) -> int:
        if axis in prospect.assumed:
            return 0
        course = self.landmarks.course_of.get(axis)
        if course is None:
            return self.landmarks.mending(rule, axis)[failing] & self.left
        regions = course.passing(rule) ^ (course.grid if failing else 0)
        if prospect is self.way:
            return self._carried(course, regions)
        return self._resting(course, regions, prospect)

    def _carried(self, course: Course, regions: int) -> int:
        """Return what may carry a governed feature to some regions, where it surely does not come yet."""
        key = course.index, regions
        known = self.known.get(key)
        if known is None:
            self.known[key] = PENDING
            known = self._carry(course, regions)
            if known is None:
                known = self.stirred(course.index)
            self.known[key] = known
        return known if known != PENDING else self._upstream(course.index)

    def _upstream(self, index: int) -> int:
        return self.landmarks.upstream(index) & self.left

    def stirred(self, index: int) -> int:
        """Return the options without which a feature goes no other ways than the choice alone opens to it.

        Rules that may fire must not notice a thing; a rule that never does must only be kept from it.
        """
        key = index, PENDING
        known = self.known.get(key)
        if known is None:
            self.known[key] = PENDING
            known = self.known[key] = self._stirred(index)
        return known if known != PENDING else self._upstream(index)

    def _stirred(self, index: int) -> int:
        marks = self.landmarks
        if marks.restless:
            return self._upstream(index)
        space = marks.dynamics.person.space
        seen, waiting, mask = {index}, [index], 0
        while waiting:
            for bit, _ in marks.course_of[waiting.pop()].by_rule:
                rule = bit.bit_length() - 1
                if not self.way.may & bit:
                    mask |= self._first(self._fires(rule, self.way))
                    continue
                if rule in space.called:
                    return self._upstream(index)
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
                if self.way.may & bit:
                    return None
                mask |= self._first(self._fires(bit.bit_length() - 1, self.way))
        if course.released.ends(start, course.grid) & regions:
            freed = self._freed(course)
            if freed is None:
                return None
            mask |= freed
        return mask

    def _freed(self, course: Course) -> int | None:
        """Return what may carry a feature to where no rule heads it: a rule stops, after one fired; None if unknown."""
        rules = course.governed.rules
        sure = self.way.must & rules
        position = self.landmarks.position[course.index]
        start, possible = self.landmarks.start[position], self.way.regions[position]
        if course.governed.law is Law.ONLY_IF:
            if possible != start or not start & course.grid:
                return None
            sure &= course.heads[start.bit_length() - 1]
        if sure:
            return self._first(self._stops(bit.bit_length() - 1, self.way) for bit in _bits(sure))
        if self.way.may & rules or not possible & course.bare or possible & ~course.bare:
            return None
        if course.governed.law is Law.ONLY_IF:
            return 0
        mask = 0
        for bit, _ in course.by_rule:
            mask |= self._first(self._fires(bit.bit_length() - 1, self.way))
        return mask


def _bits(mask: int) -> Iterator[int]:
    while mask:
        bit = mask & -mask
        yield bit
        mask ^= bit


def _numbers(mask: int) -> Iterator[int]:
    for bit in _bits(mask):
        yield bit.bit_length() - 1
