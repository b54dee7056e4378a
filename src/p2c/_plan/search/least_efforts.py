"""What it takes at least to set governed features: each stands where effects may have brought it, and is set for a purpose.

A plan leaves it where it was set, or an effect carries it on from there. So the gap between the regions that it may come to
by itself, and those that it may end in or be carried on from, is never spared. Where what is set has to last, those in which its
law or an exception may let it be count alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from p2c._plan.compiled.axis import OFF
from p2c._plan.compiled.bitsets import numbers
from p2c._plan.compiled.transitions import Variety
from p2c._spec.feature import Action

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from p2c._plan.compiled.transitions import Transitions
    from p2c._plan.search.options import Choice
    from p2c._plan.search.propagation import End


def least_efforts(choice: Choice, end: End) -> dict[int, int]:
    """Return what options on governed features take at least in any plan that contains a choice and ends like this."""
    reach = end.propagation.reach
    person = reach.transitions.person
    governed = [
        number
        for number in choice.chosen
        if (axis := reach.options[number].axis) in reach.moves_of
        and not (person.prices.flat[axis] or reach.options[number].again)
        and person.places[axis] != OFF
    ]
    if not governed:
        return {}
    possible = tuple(sorted({*choice.chosen, *numbers(end.left)}))
    way = reach.on_the_way(possible)
    found = {}
    for number in governed:
        axis = reach.options[number].axis
        position, rules = reach.position[axis], reach.moves_of[axis].governed.rules
        may, must = way.may & rules, way.must & rules
        ends = reach.leading_to(position, end.regions[position], may, must)
        anew = ends
        if reach.transitions.lasting and axis in reach.transitions.excused:
            anew = reach.lawful(position, ends, may, must)
            ends = reach.allowed(position, ends, may, must)
        others = reach.unset(axis).on_the_way(tuple(each for each in possible if each != number))
        starts = others.regions[position]
        stays = not reach.moved(position, starts, may, must) & reach.start[position]
        if not stays:
            anew |= reach.start[position]
        known = gaps(reach.transitions, axis, starts, ends, anew, stays=stays)
        found[number] = min(known, default=reach.options[number].effort)
    return found


def gaps(
    transitions: Transitions, axis: int, starts: int, ends: int, anew: int, *, stays: bool
) -> Iterator[int]:
    """Yield what it takes to go from each of some regions to each of others, where an action may lead that way.

    Where nothing carries the feature back to its own region, it stands at its own value there. Only in some regions it is of
    use to set it `anew`, to another value of the region that it stands in.
    """
    person = transitions.person
    regions, action = person.space.axes[axis].regions, person.space.axes[axis].feature.action
    own = person.places[axis]
    for start in numbers(starts):
        places = (own, own) if stays and own in regions[start] else regions[start]
        for end in numbers(ends):
            if end == start:
                if transitions.variety is Variety.POINTS:
                    yield person.prices.per_action
                elif axis in transitions.own_matters and anew >> end & 1:
                    yield from _steps(transitions, axis, places, regions[end])
            elif end > start and action is not Action.DOWN:
                yield person.effort(axis, places[-1], regions[end][0])
            elif end < start and action is not Action.UP:
                yield person.effort(axis, places[0], regions[end][-1])


def _steps(
    transitions: Transitions, axis: int, places: Sequence[int], region: Sequence[int]
) -> Iterator[int]:
    """Yield the efforts of setting a feature to another value of its region.

    It stands at its own value if `places` names no other one.
    """
    person = transitions.person
    if places[0] != places[-1] or places[0] not in region:
        yield person.prices.per_action
        return
    own = places[0]
    for place in (own - 1, own + 1) if isinstance(region, range) else region:
        if place != own and place in region and transitions.leads(axis, own, place):
            yield person.effort(axis, own, place)
