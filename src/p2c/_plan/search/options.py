"""A person's direct actions as options by number, and sets of them: what they cost, and what they leave open.

A feature that only the person changes is changed from their own value, so an option on it is a place with its price. One
that rules change as well may stand anywhere by then: there is one option on it, to set it wherever one likes, priced at
what it takes at least; where to is decided when a set is put in order. On a feature with `moves`, an option is a trail of them;
where rules change it as well, it may be set again and again, which is decided with the order, too.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from p2c._plan.compiled.axis import OFF
from p2c._plan.compiled.person import grid_measures
from p2c._plan.compiled.transitions import Variety
from p2c._spec.spec import Minimize

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from p2c._plan.compiled.person import Places
    from p2c._plan.compiled.space import Space
    from p2c._plan.compiled.transitions import Transitions

Target = tuple[int, "Sequence[int]"]
"""A place that a direct action may choose, and the places it stands for."""


class Option(NamedTuple):
    """A direct action, from the person's own value; on a governed feature, from anywhere to anywhere."""

    effort: int
    way: int
    axis: int
    end: int
    among: Sequence[int] = ()
    via: tuple[int, ...] = ()
    """The places on the way to the end, where a feature with `moves` is changed several times."""
    again: bool = False
    """Whether it may be done more than once, from wherever effects have brought the feature by then."""

    @property
    def trail(self) -> tuple[int, ...]:
        """Return all places that the feature comes to, in order."""
        return (*self.via, self.end)


class Choice(NamedTuple):
    """The effort of a set of options, the options by number, and those that its branch leaves to others."""

    effort: int
    chosen: tuple[int, ...]
    barred: int


@dataclass(frozen=True)
class Options:
    """The options of one person on chosen features, cheapest first.

    A set of options is a bit mask by number.
    """

    transitions: Transitions
    settable: Sequence[int]
    kept: Sequence[Option] | None = None
    """The options that are left of all; None if all are."""
    pieces: Callable[[int], Iterator[Target]] | None = None
    """Targets on a number that a model weighs, if not each place is an option of its own."""

    @property
    def space(self) -> Space:
        """Return the space that the person is in."""
        return self.transitions.person.space

    @cached_property
    def listed(self) -> Sequence[Option]:
        """Return all options, by number."""
        return self._listed

    @cached_property
    def _listed(self) -> list[Option]:
        if self.kept is not None:
            return list(self.kept)
        found = [each for index in self.settable for each in self.on(index)]
        return sorted(found, key=lambda each: each[:4])

    def add(self, option: Option) -> int:
        """Add an option that stands for part of another; return its number."""
        self._listed.append(option)
        return len(self._listed) - 1

    def on(self, index: int) -> Iterator[Option]:
        """Yield the options on a feature."""
        person = self.transitions.person
        if index in self.space.governed_axes:
            prices = person.prices
            price = prices.per_change[index] if prices.flat[index] else 0
            effort = price * prices.per_cost + prices.per_action
            again = self.space.axes[index].feature.moves_from is not None
            yield Option(effort, 0, index, OFF, again=again)
            return
        start = person.places[index]
        if self.space.axes[index].feature.moves_from is not None:
            best = self.space.selects_best and self.transitions.variety is Variety.PLANS
            along = self.space.selects or best
            yield from self._trails(index) if along else self._by_moves(index, start)
            return
        if self.pieces is not None and index in self.space.lined_axes:
            yield from self._priced(index, self.pieces(index))
            return
        if not self.is_common(index):
            yield from self._priced(index, self.transitions.targets(index, start))
            return
        known = self.space.kept(_common)
        if (index, start) not in known:
            targets = self.transitions.targets(index, start)
            known[index, start] = tuple(self._priced(index, targets))
        yield from known[index, start]

    def is_common(self, index: int) -> bool:
        """Tell whether the same is open to everyone who starts in a place: on the grid, and nothing more is said of them."""
        transitions = self.transitions
        person = transitions.person
        return (
            person.places[index] != OFF
            and person.prices is grid_measures(self.space)[1]
            and transitions.variety is Variety.PLANS
            and transitions.ceiling is None
            and not transitions.within
            and index not in transitions.own_matters
        )

    def _priced(self, index: int, targets: Iterable[Target]) -> Iterator[Option]:
        person = self.transitions.person
        start = person.places[index]
        for end, among in targets:
            effort, way = person.effort(index, start, end), person.way(index, start, end)
            yield Option(effort, way, index, end, among)

    def _by_moves(self, index: int, start: int) -> Iterator[Option]:
        """Yield every place that moves lead to, one after the other; only a look ahead takes them for one action."""
        seen, waiting = {start}, [start]
        while waiting:
            for end, among in self.transitions.targets(index, waiting.pop()):
                if end not in seen:
                    seen.add(end)
                    waiting.append(end)
                    yield Option(self.transitions.person.prices.per_action, 0, index, end, among)

    def _trails(self, index: int) -> Iterator[Option]:
        """Yield the ways along moves that come to no place twice; of those that nothing notices, the best to each end."""
        if index in self.space.stirring or self.transitions.variety is Variety.POINTS:
            yield from self._all_trails(index)
        elif self.transitions.ceiling is None:
            yield from self._best_trails(index)
        else:
            best: dict[int, Option] = {}
            for each in sorted(
                self._all_trails(index), key=lambda each: (each.effort, each.way, each.trail)
            ):
                best.setdefault(each.end, each)
            yield from best.values()

    def _best_trails(self, index: int) -> Iterator[Option]:
        """Yield the best way along moves to each place (Dijkstra's algorithm).

        Sound because costs grow with the distance and with the number of moves, whichever comes first, and both add up: a
        beginning of a best way is a best way itself.
        """
        transitions, person = self.transitions, self.transitions.person
        start = person.places[index]
        by_actions = self.space.theory.minimize is Minimize.ACTIONS
        waiting: list[tuple[tuple[int, int], int, tuple[int, ...], int, int]]
        waiting = [((0, 0), 0, (), 0, 0)]
        reached: set[int] = set()
        while waiting:
            _, way, trail, effort, gone = heapq.heappop(waiting)
            here = trail[-1] if trail else start
            if here in reached:
                continue
            reached.add(here)
            if trail:
                yield Option(effort, way, index, here, (here,), trail[:-1])
            for end, _ in transitions.targets(index, here):
                if end in reached or not transitions.affords(index, here, end, gone):
                    continue
                further = gone + person.length(index, here, end)
                count = len(trail) + 1
                waiting_key = (count, further) if by_actions else (further, count)
                heapq.heappush(
                    waiting,
                    (
                        waiting_key,
                        way + person.way(index, here, end),
                        (*trail, end),
                        effort + person.effort(index, here, end, gone=gone),
                        further,
                    ),
                )

    def _all_trails(self, index: int) -> Iterator[Option]:
        transitions, person = self.transitions, self.transitions.person
        start = person.places[index]
        waiting: list[tuple[Option, tuple[int, ...], int]] = [(Option(0, 0, index, start), (), 0)]
        while waiting:
            before, via, gone = waiting.pop()
            for end, among in transitions.targets(index, before.end):
                if end == start or end in via:
                    continue
                if not transitions.affords(index, before.end, end, gone):
                    continue
                effort = before.effort + person.effort(index, before.end, end, gone=gone)
                way = before.way + person.way(index, before.end, end)
                option = Option(effort, way, index, end, among, via)
                yield option
                further = gone + person.length(index, before.end, end)
                waiting.append((option, option.trail, further))

    def before(self, chosen: tuple[int, ...], position: int) -> tuple[int, ...]:
        """Return some options without the last that is done on the feature of one of them."""
        option = self.listed[chosen[position]]
        others = chosen[:position] + chosen[position + 1 :]
        if not option.via:
            return others
        return tuple(sorted((*others, self.by_trail[option.axis, option.via])))

    @cached_property
    def by_trail(self) -> dict[tuple[int, tuple[int, ...]], int]:
        """Return the number of each option by its feature and the places it comes to."""
        return {(each.axis, each.trail): number for number, each in enumerate(self.listed)}

    def targets(self, number: int, start: int) -> Sequence[Target]:
        """Return where an option leads from a place of its feature; nowhere, where it is not open there."""
        key = number, start
        known = self._targets.get(key)
        if known is None:
            known = self._targets[key] = self._find_targets(number, start)
        return known

    @cached_property
    def _targets(self) -> dict[tuple[int, int], Sequence[Target]]:
        return {}

    def _find_targets(self, number: int, start: int) -> Sequence[Target]:
        option = self.listed[number]
        if option.axis in self.space.governed_axes:
            return self.transitions.targets(option.axis, start)
        if start in option.via[:-1]:
            following = option.via[option.via.index(start) + 1]
        elif option.via and start != option.via[-1]:
            following = option.via[0]
        else:
            return [(option.end, option.among)]
        return [(following, (following,))]

    @cached_property
    def by_axis(self) -> dict[int, int]:
        """Return the options on each feature."""
        found: dict[int, int] = {}
        for number, option in enumerate(self.listed):
            found[option.axis] = found.get(option.axis, 0) | 1 << number
        return found

    @cached_property
    def stirring_mask(self) -> int:
        """Return the options that can set off effects."""
        return sum(mask for axis, mask in self.by_axis.items() if axis in self.space.stirring)

    def stirring_of(self, chosen: tuple[int, ...]) -> tuple[int, ...]:
        """Return those of some options that can set off effects."""
        return tuple(n for n in chosen if self.listed[n].axis in self.space.stirring)

    def is_calm(self, option: Option) -> bool:
        """Tell whether an option sets off nothing, whatever other calm ones are taken: no rule that acts sees a difference."""
        axis, transitions = option.axis, self.transitions
        if axis not in self.space.stirring:
            return True
        if axis in self.space.governed_axes or axis in transitions.own_matters:
            return False
        bodies, own = transitions.bodies[axis], transitions.person.places[axis]
        noticing = self.space.noticing
        return not any((bodies[own] ^ bodies[place]) & noticing for place in option.trail)

    def open(self, choice: Choice) -> int:
        """Return the options that a choice has left."""
        mask = (1 << len(self.listed)) - 1 & ~choice.barred
        for number in choice.chosen:
            mask &= ~self.by_axis[self.listed[number].axis]
        return mask


def _common(_: Space) -> dict[tuple[int, int], tuple[Option, ...]]:
    return {}


def placed(places: Places, options: list[Option]) -> Places:
    """Return a state after some options on features that only the person changes."""
    changed = list(places)
    for option in options:
        changed[option.axis] = option.end
    return tuple(changed)
