"""What is offered to a person where a model weighs numbers and decides alone: for each feature places by price and gain.

Places that follow each other at the same price and gain are a run. What is open of the runs of a feature has a hull (`relaxation`).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from p2c._plan.compiled.person import grid_measures
from p2c._plan.search.courses import sides_of
from p2c._plan.search.relaxation import STAY, STAYING, Stretch, hull_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from p2c._plan.compiled.space import Space
    from p2c._plan.search.line_search import LineSearch
    from p2c._plan.search.relaxation import Deal, Hull, Open

KEPT = 100_000
"""For how many places of features it is remembered what is offered to who starts there."""


class Run(NamedTuple):
    """Places of a feature, outward, from each to the next at the same price and gain; gains are over that of staying.

    A price is a whole number that orders plans as their keys do: by effort, then by way.
    """

    places: Sequence[int]
    price: int
    per_step: int
    gain: float
    more: float
    """What each step adds to the gain."""
    among: Sequence[int]

    @property
    def is_even(self) -> bool:
        """Tell whether gains are known."""
        return math.isfinite(self.gain + self.more)

    @property
    def is_flat(self) -> bool:
        """Tell whether all places cost the same: one, all from a missing value, or where nothing is weighed."""
        return len(self.places) == 1 or self.per_step == 0

    @property
    def best(self) -> int:
        """Return the step that adds most."""
        return len(self.places) - 1 if self.more > 0 else 0

    @property
    def most(self) -> float:
        """Return what the step that adds most adds."""
        return self.gain + self.best * self.more


class Offer(NamedTuple):
    """The runs of a feature that may help, what is open of them at first, and its hull."""

    runs: tuple[Run, ...]
    open: Open
    hull: Hull


def offer_of(search: LineSearch, axis: int) -> Offer | None:
    """Return what is offered to a person in a feature; None where that is not known to be even."""
    options = search.options
    if not options.is_common(axis):
        return _find_offer(search, axis)
    known, key = options.space.kept(_offers), (axis, options.transitions.person.places[axis])
    if key not in known:
        if len(known) >= KEPT:
            known.clear()
        known[key] = _find_offer(search, axis)
    return known[key]


def _offers(_: Space) -> dict[tuple[int, int], Offer | None]:
    return {}


def _find_offer(search: LineSearch, axis: int) -> Offer | None:
    space = search.options.space
    if axis not in space.model_places:
        return Offer((), (), hull_of(axis, []))
    if axis in space.lined_axes:
        line = search.options.transitions.person.lines[axis]
        if line.listed or not search.survey.model.is_straight(space.axes[axis].feature.name):
            return None
    runs = tuple((_lined_runs if axis in space.lined_axes else _listed_runs)(search, axis))
    if not all(run.is_even for run in runs):
        return None
    open_ = tuple(_open(runs))
    return Offer(runs, open_, run_hull(axis, runs, open_))


def _open(runs: tuple[Run, ...]) -> Iterator[Stretch]:
    """Yield what is open at first: of places that cost the same those for which none stands in that is no dearer and adds no less."""
    yield STAYING
    best = -math.inf
    for number in sorted(range(len(runs)), key=lambda each: (runs[each].price, -runs[each].most)):
        run = runs[number]
        if not run.is_flat:
            yield Stretch(number, 0, len(run.places) - 1)
        elif run.most > best:
            best = run.most
            yield Stretch(number, run.best, run.best)


def _listed_runs(search: LineSearch, axis: int) -> Iterator[Run]:
    """Yield the places that may help."""
    survey, person = search.survey, search.options.transitions.person
    own, by_effort = survey.gain(axis, person.places[axis])[0], person.space.kept(per_effort)
    for each in search.options.on(axis):
        gain = survey.gain(axis, each.end)[0] - own
        if not gain <= 0:
            price = each.effort * by_effort + each.way
            yield Run((each.end,), price, 0, gain, 0.0, each.among)


def _lined_runs(search: LineSearch, axis: int) -> Iterator[Run]:
    """Yield the sides of a number that may help."""
    survey, person = search.survey, search.options.transitions.person
    start, by_effort = person.places[axis], person.space.kept(per_effort)
    own = survey.gain(axis, start)[0]

    def price(place: int) -> int:
        return person.effort(axis, start, place) * by_effort + person.way(axis, start, place)

    for region in person.space.axes[axis].regions:
        assert isinstance(region, range)
        # What its ends add is known to everybody, and between them goes a line.
        low, high = survey.gain(axis, region[0])[0], survey.gain(axis, region[-1])[0]
        upward = (high - low) / max(len(region) - 1, 1)
        for places in sides_of(search.options.transitions, axis, region):
            near, more = low + (places[0] - region[0]) * upward - own, places.step * upward
            last = len(places) - 1
            if not max(near, near + last * more) <= 0:
                first = price(places[0])
                yield Run(places, first, price(places[1]) - first if last else 0, near, more, ())


def per_effort(space: Space) -> int:
    """Return what an effort of 1 counts for beside ways: more than all of them together."""
    lines, prices = grid_measures(space)
    most = 1
    for axis, line, (per_unit, per_change) in zip(space.axes, lines, prices.way, strict=True):
        most += max(per_change, per_unit * (line.position(axis.size - 1) - line.position(0)))
    return most


def run_hull(axis: int, runs: Sequence[Run], open_: Open) -> Hull:
    """Return the best deals among what is open of the runs of a feature."""
    deals: list[Deal] = []
    for stretch in open_:
        number, near, far = stretch
        if number == STAY:
            deals.append((0, 0.0, stretch, 0))
            continue
        _, price, per_step, gain, more, _ = runs[number]
        deals.append((price + near * per_step, -(gain + near * more), stretch, near))
        if far > near:
            deals.append((price + far * per_step, -(gain + far * more), stretch, far))
    return hull_of(axis, deals)
