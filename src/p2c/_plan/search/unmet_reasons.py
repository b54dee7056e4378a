"""Why every order of a set of direct actions falls short of the goal, and what might remedy it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from p2c._plan.compiled.bitsets import numbers
from p2c._rules.theory import ACCEPTED, Relation, Test

if TYPE_CHECKING:
    from collections.abc import Iterator

    from p2c._plan.compiled.person import Places
    from p2c._plan.compiled.transitions import Judgement
    from p2c._plan.search.influencing_options import InfluencingOptions
    from p2c._plan.search.landmarks import Landmarks
    from p2c._plan.search.options import Options
    from p2c._rules.theory import Clause, Condition


@dataclass(frozen=True)
class UnmetReasons:
    """What keeps ends from the goal, for one person."""

    options: Options
    influencing: InfluencingOptions

    def reasons(
        self, ends: list[Places], strays: frozenset[int], landmarks: Landmarks
    ) -> list[int]:
        """Return, for each reason why a choice falls short, the open options that may remedy it.

        A single end gives all its reasons. Several ends, as the order decides, give one in common: to remedy one of
        the ends. Features that were set where they cannot stay stray; they must be carried on.
        """
        left = landmarks.left
        if not ends and not strays:
            return [left & self.options.stirring_mask]
        found = [[landmarks.stirred(axis) & left] for axis in sorted(strays)]
        for places in ends:
            verdict = self.options.transitions.judge(places)
            if verdict.goal:
                # It is there, but not by a path that is short enough.
                return [left]
            found.append([mask & left for mask in self._remedies(places, verdict, landmarks)])
        if len(found) == 1:
            return found[0]
        together = 0
        for masks in found:
            if all(masks):
                together |= min(masks, key=int.bit_count)
        return [together]

    def _remedies(self, places: Places, verdict: Judgement, landmarks: Landmarks) -> Iterator[int]:
        """Yield what may remedy each thing that keeps an end from the goal."""
        for governed in verdict.violated:
            yield landmarks.stirred(governed.index)
        for bit, reads in self.options.space.constraint_bits:
            if verdict.breached & bit:
                yield self.influencing.reading(reads)
        for condition in self.options.space.theory.goal:
            yield from self._goal_remedies(condition, places, verdict.fired, landmarks)

    def _goal_remedies(
        self, condition: Condition, places: Places, fired: int, landmarks: Landmarks
    ) -> Iterator[int]:
        if isinstance(condition, Test):
            if not self._passes(condition, places):
                yield self._mending(condition, landmarks)
            return
        assert not isinstance(condition, Relation)
        rules = self.options.space.bits_for[condition.decision]
        if condition.decision == ACCEPTED:
            if any(fired & bit for bit, _ in rules) is condition.negated:
                yield self.influencing.reading(self._reads((condition,)))
        elif condition.negated:
            for bit, clause in rules:
                if fired & bit:
                    yield self._silencing(bit, clause, landmarks)
        elif not any(fired & bit for bit, _ in rules):
            mask = 0
            for _, clause in rules:
                mask |= self._enabling(clause, places, landmarks)
            yield mask

    def _silencing(self, bit: int, clause: Clause, landmarks: Landmarks) -> int:
        """Return the options that may stop a rule from firing."""
        mask = 0
        for condition in clause.body:
            if not isinstance(condition, Test):
                mask |= self.influencing.reading(self._reads((condition,)))
        for index in self.options.space.tested[bit.bit_length() - 1]:
            if self.options.space.axes[index].feature.governed:
                mask |= landmarks.stirred(index)
            else:
                mask |= landmarks.reach.mending(bit.bit_length() - 1, index)[1]
        return mask

    def _enabling(self, clause: Clause, places: Places, landmarks: Landmarks) -> int:
        """Return the options that may mend the first test for which a rule does not fire."""
        for condition in clause.body:
            if isinstance(condition, Test) and not self._passes(condition, places):
                return self._mending(condition, landmarks)
        return self.influencing.reading(self._reads(clause.body))

    def _mending(self, test: Test, landmarks: Landmarks) -> int:
        """Return the options that may make a test pass."""
        index = self.options.space.index[test.feature]
        axis = self.options.space.axes[index]
        if axis.feature.governed:
            return landmarks.stirred(index)
        listed = self.options.listed
        found = numbers(self.options.by_axis.get(index, 0))
        return sum(1 << n for n in found if axis.passes(test, listed[n].end))

    def _reads(self, body: tuple[Condition, ...]) -> frozenset[int]:
        return frozenset(
            self.options.space.index[name] for name in self.options.space.theory.reads(body)
        )

    def _passes(self, test: Test, places: Places) -> bool:
        index = self.options.space.index[test.feature]
        if places[index] < 0:
            return self.options.space.axes[index].off_passes(
                test, self.options.transitions.person.values[index]
            )
        return self.options.space.axes[index].passes(test, places[index])
