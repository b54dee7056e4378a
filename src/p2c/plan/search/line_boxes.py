"""Boxes as leads, and their parts: the choice next to what is needed at least is tried, and the box is split around it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from p2c.plan.search.courses import STAY
from p2c.plan.search.relaxation import OUTSIDE, Stretch, is_settled
from p2c.plan.search.set_search import contains_one

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from p2c.plan.search.best_first import Arrival, Key, Lead, Limits
    from p2c.plan.search.courses import Gains
    from p2c.plan.search.line_search import LineSearch
    from p2c.plan.search.propagation import End
    from p2c.plan.search.relaxation import Box, Open, Relaxed

NEARLY = 1e-11
"""By what share a bound is lowered, since floats round."""
FUZZ = 1e-9
"""By what share a choice may fall short and still be tried."""

Steps = dict[int, tuple[int, int]]
"""For each feature that may be set, the option that it takes and the step of it."""


class LineLead(NamedTuple):
    """A box, by what it takes at least."""

    search: LineSearch
    key: Key
    box: Box
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
            box = search.relaxation.narrowed(self.box, relaxed, most * (1 + NEARLY))
            if box != self.box:
                if all(box.values()):
                    yield from search.narrowed(self, box, most)
                return
        failed = short is None and search.tried.get(search.chosen(at)) is False
        for box in self._parts(at, short, unruled if failed else []):
            yield from search.narrowed(self, box)

    def _unruled(self) -> list[int]:
        """Return the features of which more than one option is open that rules tell apart; none where rules are settled."""
        if self.gains is not None:
            return []
        box = self.box
        return [axis for axis in self.search.ruled if len({each.number for each in box[axis]}) > 1]

    def _next(self) -> Steps:
        """Return the choice next to the relaxed one: where it goes part of the way, as far as is needed."""
        relaxed, found = self.relaxed, {}
        for axis, open_ in self.box.items():
            hull = self.search.relaxation.hull(axis, open_, relaxed.margin)
            corner = hull.corners[relaxed.corners[axis]]
            wanted = corner.gain
            if axis == relaxed.split:
                corner, wanted = hull.corners[relaxed.corners[axis] + 1], relaxed.wanted
            stretch, step = corner.stretch, corner.step
            if step == OUTSIDE or axis == relaxed.split:
                step = self._step(stretch, wanted)
            found[axis] = stretch.number, step
        return found

    def _step(self, stretch: Stretch, wanted: float) -> int:
        course = self.search.survey.course(stretch.number)
        return course.first_step(wanted, self.relaxed.margin, stretch.near, stretch.far)

    def _short(self, at: Steps) -> int | None:
        """Return a margin that a choice surely falls short of."""
        survey, relaxation = self.search.survey, self.search.relaxation
        for margin, needed in enumerate(self.needed):
            total = 0.0
            for axis, (number, step) in at.items():
                stays = number == STAY
                total += (
                    relaxation.stays(axis)[margin]
                    if stays
                    else survey.course(number).gain(step, margin)
                )
            if total < needed - FUZZ * max(abs(needed), 1.0):
                return margin
        return None

    def _parts(self, at: Steps, short: int | None, unruled: list[int]) -> Iterator[Box]:
        """Yield the parts of the box."""
        if unruled:
            yield from self._by_option(unruled[0])
        elif short is not None:
            yield from self._halves(short)
        elif self.relaxed.split is not None:
            yield from self._around(self.relaxed.split, *at[self.relaxed.split])
        else:
            yield from self._apart(at)

    def _by_option(self, axis: int) -> Iterator[Box]:
        for number in dict.fromkeys(each.number for each in self.box[axis]):
            kept = tuple(each for each in self.box[axis] if each.number == number)
            yield {**self.box, axis: kept}

    def _halves(self, margin: int) -> Iterator[Box]:
        """Yield the box in two parts, at the feature whose gain for a margin varies most."""
        hulls = self.search.relaxation
        spreads = [
            (hulls.spread(axis, open_, margin), axis)
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
        yield from ({**self.box, axis: half} for half in halves)

    def _around(self, axis: int, number: int, step: int) -> Iterator[Box]:
        """Yield the part that takes a feature so far with an option, or farther, and the part that does not."""
        farther, others = [], []
        for stretch in self.box[axis]:
            if stretch.number != number or stretch.far < step:
                others.append(stretch)
            elif stretch.near >= step:
                farther.append(stretch)
            else:
                others.append(Stretch(number, stretch.near, step - 1))
                farther.append(Stretch(number, step, stretch.far))
        for part in (farther, others):
            if part:
                yield {**self.box, axis: tuple(part)}

    def _apart(self, at: Steps) -> Iterator[Box]:
        """Yield parts that have everything but one choice: each takes one more feature as the choice does, and differs in the next."""
        box = dict(self.box)
        for axis, (number, step) in at.items():
            if is_settled(box[axis]):
                continue
            others = tuple(_without(box[axis], number, step))
            yield {**box, axis: others}
            box[axis] = (Stretch(number, step, step),)


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


def _without(open_: Open, number: int, step: int) -> Iterator[Stretch]:
    """Yield what is open but for one place."""
    for stretch in open_:
        if stretch.number != number or not stretch.near <= step <= stretch.far:
            yield stretch
            continue
        if stretch.near < step:
            yield Stretch(number, stretch.near, step - 1)
        if step < stretch.far:
            yield Stretch(number, step + 1, stretch.far)
