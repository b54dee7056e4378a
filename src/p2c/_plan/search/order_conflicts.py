"""Explain why no order of a set of actions ends in given regions, as a clause.

All orders are followed, but only as far as one endogenous feature depends on them: its causal rules and those of the features
upstream. What it depends on is a *slice*: for each exogenous feature a mask of rules. Options on a feature between which no rule
of its mask distinguishes are in one class, and the clause names classes, not options.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from p2c._plan.compiled.bitsets import numbers
from p2c._plan.search.ends import Ends
from p2c._plan.search.solver import opposite
from p2c._spec.spec import Effects

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from p2c._plan.search.best_first import Limits
    from p2c._plan.search.cdcl import Literal
    from p2c._plan.search.completion import Completion
    from p2c._plan.search.options import Options
    from p2c._plan.search.relaxed_reach import Prospect, RelaxedReach

MOST_FOLLOWED = 9
"""Maximum number of options whose orders are followed for an explanation."""

Signature = tuple[int, ...]
"""The rules of a slice that pass at each place along an option.

Repetitions are left out.
"""


@dataclass
class OrderConflicts:
    """Explanations of one person's sets of actions."""

    options: Options
    reach: RelaxedReach
    master: Completion
    _ends: dict[frozenset[int], Ends] = field(default_factory=dict)

    def clause(
        self,
        chosen: tuple[int, ...],
        regions: tuple[int, ...],
        limits: Limits,
    ) -> list[Literal] | None:
        """Return a clause against a set that does not end in given regions.

        Args:
            chosen: Numbers of the options that effects or constraints notice.
            regions: The final region of each endogenous feature.
            limits: Limits of the search.

        Returns:
            None if the set may end there as far as single features tell.

        Sound because what lies upstream of an endogenous feature is all that its effects depend on. Let another set have, on
        each feature, an option of the same class as the one that is chosen here, or none of both be noticed. Then each path
        of it has a counterpart here on which the endogenous features upstream take the same places: at each state the same
        rules fire. For a rule of the slice the tests on all features come out the same; each other rule has a test that
        fails in every state on both sides. So the feature comes to rest in the same regions.
        Constraints decide about effects only if these are `supported`; then all rules are in the slice.
        """
        stirring = tuple(n for n in chosen if self._is_stirring(n))
        prospect = self.reach.on_the_way(stirring)
        for some in self._parts():
            clause = self._explained(some, stirring, regions, prospect, limits)
            if clause is not None:
                return clause
        return None

    def _is_stirring(self, number: int) -> bool:
        return self.options.listed[number].axis in self.options.space.stirring

    def _explained(
        self,
        some: tuple[int, ...],
        chosen: tuple[int, ...],
        regions: tuple[int, ...],
        prospect: Prospect,
        limits: Limits,
    ) -> list[Literal] | None:
        """Return a clause if features never rest in their regions together."""
        upstream = self._upstream(some)
        slices = self._slices(upstream, prospect)
        followed = tuple(n for n in chosen if self._is_visible(n, upstream, slices))
        if len(followed) > MOST_FOLLOWED:
            return None
        still = frozenset(self.reach.position) - upstream
        ends = self._ends.setdefault(still, Ends(self.options))
        positions = [self.reach.position[axis] for axis in some]
        wanted = [1 << regions[position] for position in positions]
        rests = [
            [self.reach.region(position, stand[position]) for position in positions]
            for stand in ends.rests(followed, limits, still)
        ]
        if wanted in rests:
            return None
        literals = [
            literal
            for axis in sorted(upstream)
            for literal in self._other_class(axis, slices.get(axis, 0), followed)
        ]
        if len(some) > 1:
            return literals + [opposite(self.master.regions[p][regions[p]]) for p in positions]
        reached = 0
        for (region,) in rests:
            reached |= region
        possible = self.master.regions[positions[0]]
        return literals + [possible[each] for each in numbers(reached) if each in possible]

    def _other_class(self, axis: int, mask: int, followed: Sequence[int]) -> Iterator[Literal]:
        """Yield the literals of other classes of options on a feature."""
        chosen, options = self.master.chosen, self.options.by_axis.get(axis, 0)
        own = next((n for n in followed if options >> n & 1), None)
        if axis in self.reach.position:
            for number in numbers(options):
                yield opposite(chosen[number]) if number == own else chosen[number]
            return
        initial = (self.reach.own[axis] & mask,)
        signature = initial if own is None else self._signature(own, mask)
        others = [n for n in numbers(options) if self._signature(n, mask) != signature]
        if own is not None and len(others) == options.bit_count() - 1:
            yield opposite(chosen[own])
            return
        yield from (chosen[n] for n in others)
        if signature != initial:
            yield self.master.stays[axis]

    def _signature(self, number: int, mask: int) -> Signature:
        """Return which rules of a mask have passing tests along an option."""
        option = self.options.listed[number]
        seen = [self.reach.own[option.axis] & mask]
        if self._counts_values(option.axis):
            return (*seen, *(~place for place in option.trail))
        bodies = self.options.transitions.bodies[option.axis]
        for place in option.trail:
            body = bodies[place] & mask
            if body != seen[-1]:
                seen.append(body)
        return tuple(seen)

    def _counts_values(self, axis: int) -> bool:
        """Tell whether two values of one cell of a feature may differ to effects.

        With `supported` effects, it matters whether an exception of a constraint still holds.
        """
        supported = self.options.space.theory.effects is Effects.SUPPORTED
        return supported and axis in self.options.transitions.own_matters

    def _is_visible(self, number: int, upstream: frozenset[int], slices: dict[int, int]) -> bool:
        axis = self.options.listed[number].axis
        if axis not in upstream:
            return False
        return axis in self.reach.position or len(self._signature(number, slices[axis])) > 1

    def _slices(self, upstream: frozenset[int], prospect: Prospect) -> dict[int, int]:
        """Return the rules whose tests matter, by exogenous feature."""
        space, on_axis = self.options.space, self.reach.on_axis
        free = [axis for axis in upstream if axis in on_axis and axis not in self.reach.position]
        slices = dict.fromkeys(free, 0)
        failing = {axis: ~prospect.may_of[axis] for axis in upstream}
        if space.theory.effects is Effects.SUPPORTED:
            return dict.fromkeys(free, space.noticing)
        calm = [axis for axis in upstream if axis not in slices]
        for rule in numbers(self._rules_upstream(upstream)):
            tested = space.tested[rule]
            if any(failing[axis] >> rule & 1 for axis in tested if axis in calm):
                continue
            settled = [axis for axis in tested if axis in slices and failing[axis] >> rule & 1]
            for axis in settled[:1] or [axis for axis in tested if axis in slices]:
                slices[axis] |= 1 << rule
        return slices

    def _rules_upstream(self, upstream: frozenset[int]) -> int:
        """Return the rules that decide about effects on features upstream."""
        space = self.options.space
        rules = space.decision_bits
        for governed in space.governed:
            if governed.index in upstream:
                rules |= governed.rules
        return rules

    def _parts(self) -> Iterator[tuple[int, ...]]:
        """Yield each endogenous feature, the one with least upstream first; then all."""
        every = tuple(self.reach.position)
        if self.options.space.theory.effects is Effects.TRIGGERED:
            yield from (
                (axis,) for axis in sorted(every, key=lambda axis: len(self._upstream((axis,))))
            )
        yield every

    def _upstream(self, some: tuple[int, ...]) -> frozenset[int]:
        """Return endogenous features and all features upstream."""
        space = self.options.space
        if len(some) == len(self.reach.position):
            return frozenset(range(len(space.axes)))
        upstream = space.theory.upstream
        axes = set(some)
        for axis in some:
            axes.update(space.index[name] for name in upstream[space.axes[axis].feature.name])
        return frozenset(axes)
