"""A path tightened, that is drawn back towards the start, so that nobody is asked to do more than the model wants.

Each action is left out, or made smaller by cutting the stretch between a value that the model refused and one that it
accepted into equal parts, a few questions at once. This finds the border exactly where the model has one; where
acceptance comes and goes along the way, it ends at a state that the model accepts all the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from p2c._blackbox.trial_values import between
from p2c._spec.feature import distance

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from p2c._blackbox.judge import Judge
    from p2c._blackbox.walk import Walk, Walker
    from p2c._spec.feature import Value

    Changes = tuple[tuple[str, Value], ...]
    Key = tuple[Value, ...]

SECTIONS = 7
"""How many values between two known answers are tried at a time."""
ROUNDS = 12
FINE = 1e-5
"""A stretch that is this small a part of the cost of the whole path is not cut any further."""


def tighten(
    walker: Walker, judge: Judge, walks: Sequence[Walk], is_late: Callable[[], bool]
) -> list[Walk]:
    """Drop or shrink each action of the walks while the model accepts their ends.

    No further round begins once it `is_late`.
    """
    paths = [Tightening(walker, walk) for walk in walks]
    for _ in range(ROUNDS):
        if is_late():
            break
        asked = judge.asked
        tried = [path.smaller() for path in paths]
        judged = judge.answers(end for ends in tried for _, end in ends)
        told = {end.key: answer.accepted for end, answer in judged}
        moved = [path.learn(ends, told) for path, ends in zip(paths, tried, strict=True)]
        if judge.asked == asked and not any(moved):
            break
    judge.answers(station for path in paths for station in path.walk.stations)
    return [first_accepted(judge, path.walk) for path in paths]


class Tightening:
    """One walk on its way back, with the value of each feature that the model is known to refuse."""

    def __init__(self, walker: Walker, walk: Walk) -> None:
        self.walker = walker
        self.walk = walk
        self.changes: Changes = tuple((each.feature, each.end) for each in walk.direct_actions)
        self.refused = {each.feature: each.start for each in walk.direct_actions}

    def smaller(self) -> list[tuple[Changes, Walk]]:
        """Return the changes with one of them left out or made smaller, and where they lead."""
        found: list[Changes] = []
        fine = FINE * self.walker.cost(self.walk)
        for place, (name, value) in enumerate(self.changes):
            before, after = self.changes[:place], self.changes[place + 1 :]
            if len(self.changes) > 1:
                found.append((*before, *after))
            feature = self.walker.theory.feature[name]
            far = float(distance(feature, self.refused[name], value)) * float(feature.weight)
            if feature.moves_from is None and far > fine:
                inside = between(feature, self.refused[name], value, count=SECTIONS)
                found += [(*before, (name, each), *after) for each in inside]
        return [(each, end) for each in found for end in self.walker.follow(each)]

    def learn(self, ends: Sequence[tuple[Changes, Walk]], told: Mapping[Key, bool]) -> bool:
        """Take the cheapest accepted of the ends, move up what is known to be refused, and tell whether one was taken."""
        good = [(each, end) for each, end in ends if told.get(end.key)]
        accepted = {each for each, _ in good}
        for place, change in enumerate(self.changes):
            for each, end in ends:
                if len(each) == len(self.changes) and each[place] != change:
                    if each in accepted or end.key not in told:
                        break
                    self.refused[change[0]] = each[place][1]
        better = min(good, key=lambda each: self.walker.cost(each[1]), default=None)
        if better is None or self.walker.cost(better[1]) >= self.walker.cost(self.walk):
            return False
        self.changes, self.walk = better
        return True


def first_accepted(judge: Judge, walk: Walk) -> Walk:
    """Return the walk up to the first of its states that the model accepts."""
    judged = judge.answers(walk.stations)
    return next((each for each, answer in judged if answer.accepted), walk)
