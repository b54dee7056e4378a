"""What of a problem can matter to a plan, and how it falls apart: components, cycles, and how many actions each takes.

**Components.** Let a component be a set of features that causal rules connect (with `supported`, constraints too, as they
decide whether a state is consistent). An effect depends on its own component only: whether a feature is violated, which
upstream ones are, and what is allowed. So a path, cut down to the actions of one component, is a path there, and paths of
components, one after the other, are a path again: while one walks, the others rest where nothing happens by itself. Each
component can therefore have a clock of its own. In a feature that no causal rule reads or governs, the order of actions
plays no role, and it needs no clock; a state that breaks a constraint on the way is no state of the path (contract §2).

**Moments.** One moment of a clock is a direct action and the effects that follow. A feature is set once, so the moments of
a component number at most its settable features, those with moves once for each value. Effects need no moments: without
cycles each governed feature acts at most once between two direct actions, since nothing upstream of it is violated
then, nor will be; cycles are runs (`run.lp`) of any length. With `supported` one moment more lets effects come first. Only a
feature that has moves, is settable and governed may be set without such a bound, as effects can take it back. There
the states of the component bound the moments: none repeats while the same values have been left.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from p2c.domain.spec import Effects
from p2c.engines.lengths import longest_move
from p2c.engines.slots import Layout
from p2c.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from p2c.plan.compiled.space import Space

MOST_NODES = 5_000
"""Joint places of a cycle above which the question is refused: the program would not fit in memory."""

MOST_MOMENTS = 64
"""Moments above which no clock runs; what could only be proved with more is refused."""


@dataclass(frozen=True)
class Component:
    """Features that causal rules connect, and their blocks of two or more whose effects feed one another."""

    members: tuple[int, ...]
    blocks: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Parts:
    """A space, taken apart; `lost` are the governed features that may be missing."""

    space: Space
    lost: frozenset[int] = frozenset()

    @cached_property
    def supported(self) -> bool:
        """Tell whether effects also happen where nothing is violated."""
        return self.space.theory.effects is Effects.SUPPORTED

    @cached_property
    def features(self) -> tuple[int, ...]:
        """Return the features that can matter."""
        return tuple(sorted(self.space.index[name] for name in self.space.concerned))

    @cached_property
    def layouts(self) -> dict[int, Layout]:
        """Return the slots of the features that can matter."""
        settable = set(self.space.relevant)
        axes, heads = self.space.axes, self.space.head_masks
        return {
            i: Layout(i, axes[i], heads[i], settable=i in settable, lost=i in self.lost)
            for i in self.features
        }

    @cached_property
    def governed(self) -> tuple[int, ...]:
        """Return the governed features that can matter."""
        return tuple(i for i in self.features if self.space.axes[i].feature.governed)

    @cached_property
    def constraints(self) -> dict[int, frozenset[int]]:
        """Return the rules that are constraints and can matter, with the features that they read."""
        concerned = set(self.features)
        return {
            bit.bit_length() - 1: reads
            for bit, reads in self.space.constraint_bits
            if reads & concerned
        }

    @cached_property
    def caused(self) -> dict[int, int]:
        """Return the feature that each causal rule governs."""
        first = sum(len(clauses) for _, clauses in self.space.theory.decisions)
        names = [name for name, clauses in self.space.theory.causes for _ in clauses]
        return {first + n: self.space.index[name] for n, name in enumerate(names)}

    def causes(self, index: int) -> tuple[int, ...]:
        """Return the causal rules of a feature."""
        return tuple(rule for rule, governed in self.caused.items() if governed == index)

    @cached_property
    def decision(self) -> dict[object, int]:
        """Return a number for each decision."""
        return {decision: n for n, (decision, _) in enumerate(self.space.theory.decisions)}

    @cached_property
    def rules_for(self) -> dict[int, tuple[int, ...]]:
        """Return the rules that define each decision."""
        found: dict[int, tuple[int, ...]] = {}
        first = 0
        for number, (_, clauses) in enumerate(self.space.theory.decisions):
            found[number] = tuple(range(first, first + len(clauses)))
            first += len(clauses)
        return found

    @cached_property
    def decided(self) -> dict[int, int]:
        """Return the decision that each rule defines."""
        return {rule: number for number, rules in self.rules_for.items() for rule in rules}

    def with_calls(self, rules: Iterable[int]) -> tuple[int, ...]:
        """Return some rules and all those of the decisions that they call."""
        found = set(rules)
        for decision, _ in self.space.theory.called(
            self.space.clauses[each].body for each in found
        ):
            found.update(self.rules_for[self.decision[decision]])
        return tuple(sorted(found))

    def _upstream(self, index: int) -> frozenset[str]:
        return self.space.theory.upstream[self.space.axes[index].feature.name]

    def is_above(self, one: int, other: int) -> bool:
        """Tell whether causal arrows lead from one feature to another."""
        return self.space.axes[one].feature.name in self._upstream(other)

    @cached_property
    def components(self) -> tuple[Component, ...]:
        """Return the components that have governed features."""
        groups = [frozenset(self._with_parents(index)) for index in self.governed]
        if self.supported:
            groups += self.constraints.values()
        found = []
        for members in _joined(groups):
            governed = [index for index in self.governed if index in members]
            if governed:
                found.append(Component(tuple(sorted(members)), self._blocks(governed)))
        return tuple(found)

    def _with_parents(self, index: int) -> set[int]:
        name = self.space.axes[index].feature.name
        return {index, *(self.space.index[other] for other in self.space.theory.parents[name])}

    def _blocks(self, governed: list[int]) -> tuple[tuple[int, ...], ...]:
        if self.supported:
            blocks = [tuple(governed)]
        else:
            cycles = {
                tuple(g for g in governed if self.is_above(f, g) and self.is_above(g, f))
                for f in governed
            }
            blocks = sorted(cycle for cycle in cycles if cycle)
        for block in blocks:
            self._refuse_if_large(block)
        return tuple(blocks)

    def _refuse_if_large(self, block: tuple[int, ...]) -> None:
        size = math.prod(len(self.layouts[index].slots) for index in block)
        if size > MOST_NODES:
            names = ", ".join(self.space.axes[index].feature.name for index in block)
            raise EngineError(
                f"clingo: the effects on {names} feed one another in {size:,} ways, more than "
                f"{MOST_NODES:,}; ask the native engine"
            )

    @cached_property
    def _component_of(self) -> dict[int, int]:
        return {i: number for number, each in enumerate(self.components) for i in each.members}

    def component_of(self, index: int) -> int | None:
        """Return the number of a feature's component, or None where it needs no clock."""
        return self._component_of.get(index)

    def moments(self, component: Component) -> int:
        """Return a number of moments that no path needs to pass in a component (see above)."""
        settable = [i for i in component.members if self.layouts[i].settable]
        loose = [index for index in settable if self.is_loose(index)]
        total = sum(self.most(index) for index in settable if index not in loose)
        if loose:
            total += sum(self.space.axes[index].size for index in loose)
            total = (total + 1) * math.prod(len(self.layouts[i].slots) for i in component.members)
        return total + (1 if self.supported else 0)

    def most(self, index: int) -> int:
        """Return how often a feature is set at most, as far as clocks run."""
        axis = self.space.axes[index]
        if self.is_loose(index):
            return MOST_MOMENTS + 1
        return 1 if axis.feature.moves_from is None else axis.size

    @cached_property
    def longest(self) -> dict[int, int]:
        """Return the length that all direct actions on a feature with moves do not pass together."""
        return {
            index: self.most(index) * longest_move(self.space, index)
            for index in self.space.relevant
            if self.space.axes[index].feature.moves_from is not None
        }

    def is_loose(self, index: int) -> bool:
        """Tell whether effects can take back what direct actions did again and again."""
        feature = self.space.axes[index].feature
        return feature.moves_from is not None and feature.governed

    def commute(self, one: int, other: int) -> bool:
        """Tell whether it does not matter which of two features is set first: no effect hears of both."""
        return not self._heard(one) & self._heard(other)

    def _heard(self, index: int) -> frozenset[int]:
        return frozenset(
            {index} | {other for other in self.governed if self.is_above(index, other)}
        )


def _joined(groups: Iterable[frozenset[int]]) -> list[frozenset[int]]:
    """Return the unions of groups that share a member, directly or not."""
    found: list[frozenset[int]] = []
    for group in groups:
        touching = [other for other in found if other & group]
        found = [other for other in found if not other & group]
        found.append(group.union(*touching))
    return found
