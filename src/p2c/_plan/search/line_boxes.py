"""Boxes as leads, and their parts: the choice next to what is needed at least is tried, and the box is split around it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from p2c._plan.search.action_sets import contains_one
from p2c._plan.search.line_deals import OUTSIDE
from p2c._plan.search.relaxation import NEARLY, Stretch, is_settled, split

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from p2c._plan.search.best_first import Arrival, Key, Lead, Limits
    from p2c._plan.search.courses import Gains
    from p2c._plan.search.line_search import LineSearch
    from p2c._plan.search.propagation import End
    from p2c._plan.search.relaxation import Opens, Relaxed, Steps

FUZZ = 1e-9
"""By what share a choice may fall short and still be tried."""


class LineLead(NamedTuple):
    """A box, by what it takes at least."""

    search: LineSearch
    key: Key
    box: Opens
    end: End | None
    """What the box may end with; None where rules have no say."""
    relaxed: Relaxed
    needed: Gains
    gains: Gains | None
    """What governed features add, where that is known."""
    most: float
    """The price above which nothing is left in the box."""

    @property
    def known(self) -> None:
        """Return nothing: whether a choice arrives is seen when it is put in order."""

    def follow(self, limits: Limits) -> Iterable[Lead | Arrival]:
        """Yield the choice next to the relaxed one where it arrives, and parts of the box."""
        search, relaxed = self.search, self.relaxed
        if search.is_beaten(relaxed.price):
            return
        unruled = self._unruled()
        if self.gains is None and not unruled and search.foretells:
            gains = search.foretold(self.box, limits)
            if gains is not None:
                yield from search.boxed(self.box, self.end, gains)
            return
        at = self._next()
        short = self._short(at)
        if short is None:
            yield from search.arrive(self, at, limits)
        if search.best and search.best[0] < self.most:
            most = search.best[0]
            left = search.deals.closed(self.box, relaxed, most * (1 + NEARLY))
            if left:
                if all(left.values()):
                    yield from search.narrowed(self, left, most)
                return
        failed = short is None and search.tried.get(search.chosen(at)) is False
        for left in self._parts(at, short, unruled if failed else []):
            yield from search.narrowed(self, left)

    def _unruled(self) -> list[int]:
        """Return the features of which more than one option is open that rules tell apart; none where rules are settled."""
        if self.gains is not None:
            return []
        box = self.box
        return [axis for axis in self.search.ruled if len({each.number for each in box[axis]}) > 1]

    def _next(self) -> Steps:
        """Return the choice next to the relaxed one: where it goes part of the way, as far as is needed."""
        relaxed, found = self.relaxed, {}
        for axis, hull in relaxed.hulls.items():
            place, splits = relaxed.corners.get(axis, 0), axis == relaxed.split
            _, gain, (number, near, far), step = hull.corners[place + splits]
            if splits or step == OUTSIDE:
                wanted = relaxed.wanted if splits else gain
                course = self.search.survey.course(axis, number)
                step = course.first_step(wanted, relaxed.margin, near, far)
            found[axis] = number, step
        return found

    def _short(self, at: Steps) -> int | None:
        """Return a margin that a choice surely falls short of."""
        course = self.search.survey.course
        for margin, needed in enumerate(self.needed):
            total = sum(
                course(axis, number).gain(step, margin) for axis, (number, step) in at.items()
            )
            if total < needed - FUZZ * max(abs(needed), 1.0):
                return margin
        return None

    def _parts(self, at: Steps, short: int | None, unruled: list[int]) -> Iterator[Opens]:
        """Yield what is open in the parts of the box."""
        if unruled:
            yield from self._by_option(unruled[0])
        elif short is not None:
            yield from self._halves(short)
        else:
            yield from split(self.box, self.relaxed, at)

    def _by_option(self, axis: int) -> Iterator[Opens]:
        for number in dict.fromkeys(each.number for each in self.box[axis]):
            yield {axis: tuple(each for each in self.box[axis] if each.number == number)}

    def _halves(self, margin: int) -> Iterator[Opens]:
        """Yield what is open in two parts of the box, by the feature whose gain for a margin varies most."""
        spreads = [
            (self.search.deals.spread(axis, open_, margin), axis)
            for axis, open_ in self.box.items()
            if not is_settled(open_)
        ]
        if not spreads:
            return
        _, axis = max(spreads)
        open_ = self.box[axis]
        if len(open_) > 1:
            middle = len(open_) // 2
            halves = [open_[:middle], open_[middle:]]
        else:
            number, near, far = open_[0]
            middle = (near + far) // 2
            halves = [(Stretch(number, near, middle),), (Stretch(number, middle + 1, far),)]
        yield from ({axis: half} for half in halves)


class ArrivedLead(NamedTuple):
    """The best order of a choice that arrives, and those that arrive in other states."""

    search: LineSearch
    key: Key
    known: Arrival
    further: Iterator[Arrival]
    kind: int
    """The options that it takes, whichever of their places."""

    def follow(self, limits: Limits) -> Iterable[Lead | Arrival]:
        """Yield where it arrives, then the next best."""
        search = self.search
        if search.of_a_kind:
            if contains_one(self.kind, search.closed):
                return
            search.closed.append(self.kind)
        yield search.land(self.known)
        if not search.first_only:
            following = next(self.further, None)
            if following is not None:
                yield self._replace(key=following.key, known=following)
