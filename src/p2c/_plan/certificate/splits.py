"""The choice of splits: the feature and the cut that divide an open box."""

from __future__ import annotations

import itertools
from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING

from p2c_verify.problem import Formula
from p2c_verify.values import MAYBE, MISSING, Sets, Spans, is_single, union

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from p2c_verify.cover import Box, Cover
    from p2c_verify.facts import Facts

Split = int | list[int]


class Splits:
    """The splits of the boxes of one claim."""

    def __init__(self, cover: Cover) -> None:
        self.cover = cover
        self.problem = cover.problem
        self.forest = cover.judge.forest
        rules = [rule.body for cause in self.problem.causes for rule in cause.rules]
        self.formulas = list(formulas([cover.judge.final, *rules]))
        """All formulas of the goal, the laws and the constraints, the goal first."""
        self.tests = [each for each in self.formulas if each.kind == "test"]
        self.raw = {each.feature.index: each.raw for each in self.problem.equations}
        self.asks_model = any(each.kind == "accepted" for each in self.formulas)

    def best(self, box: Box, ends: Sets) -> Split | None:
        """Return the split of a narrowed box, None if no feature is left to split."""
        facts = self.cover.judge.facts(ends)
        for test in self._undecided(facts):
            split = self._at_test(box, test)
            if split is not None:
                return split
        if self.forest is not None and self.asks_model and facts.accepted() == MAYBE:
            split = self._by_score(box, facts)
            if split is not None:
                return split
        return self._any_split(box)

    def _undecided(self, facts: Facts) -> Iterator[Formula]:
        """Yield undecided tests, those of undecided parts of the goal and laws first."""
        open_ = formulas([self.cover.judge.final], lambda each: facts.truth(each) == MAYBE)
        for each in itertools.chain(open_, self.formulas):
            if each.kind in ("test", "sign") and facts.truth(each) == MAYBE:
                yield each

    def _at_test(self, box: Box, test: Formula) -> Split | None:
        """Return a split after which a test is decided, or nearer to it."""
        if test.kind == "sign" or test.feature in self.raw:
            return self._at_input(box, test.reads)
        place = test.feature
        targets = box[place].targets
        if not targets:
            return None
        if place in self.cover.causes and box[place].stays:
            return place
        for cut in _borders(test.wanted):
            if self._divides(box, place, cut):
                return [place, cut]
        return None

    def _at_input(self, box: Box, reads: Iterable[int]) -> Split | None:
        """Return a split of the widest feature that an expression reads."""
        waiting, inputs = list(reads), set[int]()
        while waiting:
            place = waiting.pop()
            if place not in inputs:
                inputs.add(place)
                waiting += self.raw[place].reads if place in self.raw else ()
        open_ = [place for place in sorted(inputs) if box[place].targets]
        for place in open_:
            if box[place].stays and (place in self.cover.causes or is_single(box[place].targets)):
                return place
        wide = [place for place in open_ if self._ends(box, place)]
        if not wide:
            return None
        place = max(wide, key=lambda each: self._width(box, each))
        low, high = self._ends(box, place)
        return [place, (low + high) // 2]

    def _ends(self, box: Box, place: int) -> tuple[int, ...]:
        """Return the least and greatest value of an open feature, nothing if they agree."""
        values = [value for span in box[place].targets for value in span]
        own = self.cover.initial[place][0][0]
        values += [own] if box[place].stays and own != MISSING else []
        return (min(values), max(values)) if min(values) < max(values) else ()

    def _width(self, box: Box, place: int) -> Fraction:
        """Return the share of a feature's values between the ends of a box."""
        low, high = self._ends(box, place)
        points = self.problem.features[place].points
        assert points is not None
        return Fraction(high - low, max(points[-1] - points[0], 1))

    def _divides(self, box: Box, place: int, cut: int) -> bool:
        """Tell whether a cut leaves something on both sides."""
        own = self.cover.initial[place][0][0]
        values = [value for span in box[place].targets for value in span]
        if box[place].stays:
            values.append(cut if own == MISSING else own)
        return min(values) <= cut < max(values)

    def _any_split(self, box: Box) -> Split | None:
        """Return a split of any feature that matters and is not decided."""
        places = self.problem.relevant | {each.feature for each in self.tests}
        for raw in self.raw.values():
            places |= raw.reads
        if self.forest is not None:
            places |= {axis.feature.index for axis in self.forest.axes}
        for place in sorted(places):
            if box[place].stays and box[place].targets:
                return place
        for place in sorted(places):
            targets = box[place].targets
            if targets and not is_single(targets):
                return self._halving(place, targets)
        return None

    def _halving(self, place: int, targets: Sequence[tuple[int, int]]) -> Split:
        low, high = targets[0][0], targets[-1][1]
        for cut in self._cuts(place):
            if low <= cut < high:
                return [place, cut]
        own = self.cover.initial[place][0][0]
        if low <= own < high:
            return [place, own]
        if low < own <= high:
            return [place, own - 1]
        if len(targets) > 1:
            return [place, targets[len(targets) // 2 - 1][1]]
        return [place, (low + high) // 2]

    def _cuts(self, place: int) -> list[int]:
        """Return the cuts at which rules or nearest values distinguish values."""
        cuts: set[int] = set()
        for test in self.tests:
            if test.feature == place:
                cuts.update(_borders(test.wanted))
        ends: set[int] = set()
        for cause in self.problem.causes:
            if cause.feature == place:
                for rule in cause.rules:
                    ends |= {value for span in rule.head for value in span}
        inner = sorted(each for each in ends if MISSING + 1 < each < -MISSING)
        cuts |= {value + shift for value in inner for shift in (-1, 0)}
        cuts |= {(one + other) // 2 for one, other in itertools.pairwise(inner)}
        cuts |= {(one + other - 1) // 2 for one, other in itertools.pairwise(inner)}
        return sorted(cuts)

    def _by_score(self, box: Box, facts: Facts) -> Split | None:
        """Return the split of a weighed feature that lowers the score's bound most."""
        forest = self.forest
        assert forest is not None
        sets = list(facts.sets)
        best, chosen = -1.0, None
        for axis, own in enumerate(forest.axes):
            place = own.feature.index
            targets = box[place].targets
            if not targets:
                continue
            if place in self.cover.causes and box[place].stays:
                return place
            for cut in self._model_cuts(box, axis):
                worth = 1.0
                for half in self.cover.halves(box, [place, cut]):
                    kept = sets[place]
                    mine = half[place].targets
                    if half[place].stays:
                        mine = union(mine, self.cover.initial[place])
                    sets[place] = mine
                    worth *= self._drop(facts.sets, tuple(sets))
                    sets[place] = kept
                if worth > best:
                    best, chosen = worth, [place, cut]
        return chosen

    def _drop(self, before: Sets, after: Sets) -> float:
        """Return by how much a narrower set lowers the bound of the score.

        It is a share of the bound's distance to the border.
        """
        forest = self.forest
        assert forest is not None
        gap = self._gap(before)
        return max(gap - self._gap(after), 1e-6 * gap) / gap if gap > 0 else 1.0

    def _gap(self, sets: Sets) -> float:
        forest = self.forest
        assert forest is not None
        ranges, _ = forest.ranges(sets)
        pairs = zip(ranges, forest.refused_below, strict=False)
        gaps = [float((high - refused) / forest.unit) for (_, high), refused in pairs]
        return max(min(gaps, default=1e9), 1e-12)

    def _model_cuts(self, box: Box, axis: int) -> list[int]:
        """Return up to three cuts of a feature that divide its cells in a box."""
        forest = self.forest
        assert forest is not None
        own = forest.axes[axis]
        feature = own.feature
        place = feature.index
        if own.uppers is None:
            ranks = range(len(feature.labels) - 1)
            cuts = [rank for rank in ranks if self._divides(box, place, rank)]
        else:
            ends = [value for span in box[place].targets for value in span]
            initial = self.cover.initial[place][0][0]
            if box[place].stays and initial != MISSING:
                ends.append(initial)
            first, last = own.cell(min(ends)) or 0, own.cell(max(ends)) or 0
            uppers = own.uppers[first:last]
            cuts = [_floor(upper, feature.scale) for upper in uppers]
            cuts = [cut for cut in cuts if self._divides(box, place, cut)]
            if not cuts and axis in forest.lined and min(ends) < max(ends):
                cuts = [(min(ends) + max(ends)) // 2]
                cuts = [cut for cut in cuts if self._divides(box, place, cut)]
        if len(cuts) <= 3:
            return cuts
        return [cuts[len(cuts) // 4], cuts[len(cuts) // 2], cuts[3 * len(cuts) // 4]]


def _borders(spans: Spans) -> list[int]:
    """Return the cuts between a test's values and the others, lower one first."""
    cuts = [cut for low, high in spans for cut in (low - 1, high)]
    return [cut for cut in cuts if MISSING < cut < -MISSING]


def _floor(number: float, scale: int) -> int:
    return floor(Fraction(number) * scale)


def formulas(
    roots: Sequence[Formula], enters: Callable[[Formula], bool] = lambda _: True
) -> Iterator[Formula]:
    """Yield each formula below the roots once, parents before parts."""
    waiting, seen = [*reversed(roots)], set[Formula]()
    while waiting:
        formula = waiting.pop()
        if formula not in seen and enters(formula):
            seen.add(formula)
            yield formula
            waiting += reversed(formula.parts)
