"""How governed features move by themselves: where each rule carries them, and where they go when none fires.

Regions of a feature are bits. What is worked out here holds for everyone, but for exceptions and own values off the grid.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any, NamedTuple

from p2c._plan.compiled.bitsets import bits
from p2c._spec.feature import Action
from p2c._spec.spec import Effects

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from p2c._plan.compiled.axis import Axis
    from p2c._plan.compiled.space import Governed, Space


class Landing(NamedTuple):
    """Regions that a feature may be carried to, as bits: from anywhere, from below only, and from above only."""

    anywhere: int
    rising: int
    falling: int

    def reached_from(self, starts: int, grid: int) -> int:
        """Return where one may land from some of these regions; a start that is not on the grid may go anywhere."""
        if starts & ~grid:
            return self.anywhere
        lowest = starts & -starts
        above = self.rising & ~(2 * lowest - 1)
        below = self.falling & ((1 << starts.bit_length() - 1) - 1)
        return above | below

    def ends(self, start: int, grid: int) -> int:
        """Return where one may land at all, for a person who starts on the grid or not."""
        return self.rising | self.falling if start & grid else self.anywhere


@dataclass(frozen=True)
class CausalMoves:
    """How a governed feature moves by itself: where each of its rules carries it, and where it goes when none fires."""

    governed: Governed
    by_rule: tuple[tuple[int, Landing], ...]
    released: Landing
    heads: tuple[int, ...]
    """The head mask of each region."""
    bodies: tuple[int, ...]
    """The body mask of each region."""
    bare: int
    """The regions that no rule heads."""
    grid: int
    """All regions; the person's own value has the next higher bit where it has no place."""
    nearest: bool
    """Whether the feature surely goes to the nearest value that its law allows, and so from a region to known ones."""
    onward: tuple[int, ...] = ()
    """The regions that the `moves` of the feature lead to from each; empty where it has none."""
    known: dict[int, int] = field(default_factory=dict)

    @property
    def index(self) -> int:
        """Return the feature's place in the problem."""
        return self.governed.index

    def may_follow(self, starts: int) -> int:
        """Return the regions that some of these may be left for by a single change; from off the grid, that is any."""
        if not self.onward or starts & ~self.grid:
            return self.grid
        return reduce(or_, (self.onward[bit.bit_length() - 1] for bit in bits(starts)), 0)

    def passing(self, rule: int) -> int:
        """Return the regions in which a rule's tests on the feature pass."""
        known = self.known.get(rule)
        if known is None:
            known = self.known[rule] = _mask(body >> rule & 1 for body in self.bodies)
        return known


Case = tuple[int, int, int, int]
"""A governed feature by its position, its regions, and its rules that may and that must fire."""


@dataclass(frozen=True)
class Memory:
    """What was worked out about governed features, the same for everyone but for exceptions and odd own values."""

    reached: dict[Case, int] = field(default_factory=dict)
    kept: dict[Case, int] = field(default_factory=dict)
    rests: dict[Case, Rest] = field(default_factory=dict)
    bodies: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)
    carried: dict[tuple[int, int, int], int] = field(default_factory=dict)

    def tidy(self) -> None:
        """Forget everything when it gets too much."""
        known: list[dict[Any, Any]]
        known = [self.reached, self.kept, self.rests, self.bodies, self.carried]
        if sum(map(len, known)) > 200_000:
            for each in known:
                each.clear()


def common_memory(space: Space) -> Memory:
    """Return what everyone in a space shares, tidied; kept there."""
    memory = space.kept(_memory)
    memory.tidy()
    return memory


def _memory(_: Space) -> Memory:
    return Memory()


class Rest(NamedTuple):
    """The regions in which a governed feature may rest, what they let fire, and its rules that then must not."""

    regions: int
    some: int
    every: int
    silent: int


NOWHERE = Landing(0, 0, 0)


def causal_moves(space: Space) -> tuple[CausalMoves, ...]:
    """Return how each governed feature of a space moves by itself, in the space's order; kept there."""
    return space.kept(_causal_moves)


def _causal_moves(space: Space) -> tuple[CausalMoves, ...]:
    return tuple(_moves_of(space, each) for each in space.governed)


def _moves_of(space: Space, governed: Governed) -> CausalMoves:
    axis = space.axes[governed.index]
    cells = [axis.cell(region[0]) for region in axis.regions]
    heads = tuple(space.head_masks[governed.index][cell] for cell in cells)
    bodies = tuple(space.body_masks[governed.index][cell] for cell in cells)
    loose = axis.feature.name in space.loose
    grid = (1 << len(cells)) - 1
    headed = _regions_by_bit(heads)
    rules = tuple(
        (bit, _landing(axis, headed.get(bit, 0) & grid, loose=loose))
        for bit in bits(governed.rules)
    )
    bare = _mask(not head for head in heads)
    unheaded = governed.law.asks_for_unheaded
    released = _landing(axis, bare, loose=loose) if unheaded else NOWHERE
    onward = () if loose else _onward(axis)
    nearest = space.theory.effects is Effects.TRIGGERED and not (loose or onward)
    return CausalMoves(governed, rules, released, heads, bodies, bare, grid, nearest, onward)


def _onward(axis: Axis) -> tuple[int, ...]:
    feature = axis.feature
    if feature.moves_from is None:
        return ()
    region_of = {place: n for n, region in enumerate(axis.regions) for place in region}
    found = [0] * len(axis.regions)
    for start, ends in feature.moves_from.items():
        for end in ends:
            found[region_of[feature.places[start]]] |= 1 << region_of[feature.places[end]]
    return tuple(found)


def _regions_by_bit(masks: Sequence[int]) -> dict[int, int]:
    """Return for each bit of the masks the regions that have it.

    The regions of a bit that the last region has are endless.

    Each bit is toggled only where it changes from one region to the next: rules are many, and so are regions.
    """
    regions: dict[int, int] = {}
    before = 0
    for number, mask in enumerate(masks):
        for bit in bits(mask ^ before):
            regions[bit] = regions.get(bit, 0) ^ (-1 << number)
        before = mask
    return regions


def _landing(axis: Axis, anywhere: int, *, loose: bool) -> Landing:
    """Return where a feature may be carried when these regions are what it is carried to."""
    feature = axis.feature
    action = feature.effect_action or feature.action
    if action is Action.FIXED:
        return NOWHERE
    if loose or feature.moves_from is not None or not axis.ordered:
        return Landing(anywhere, anywhere, anywhere)
    # The nearest place of a range is its first or its last, so of admitted neighbours only the outer ones count.
    rising = 0 if action is Action.DOWN else anywhere & ~(anywhere << 1)
    falling = 0 if action is Action.UP else anywhere & ~(anywhere >> 1)
    return Landing(anywhere, rising, falling)


def _mask(flags: Iterable[object]) -> int:
    """Return a mask of the set flags; text makes the conversion linear in time."""
    digits = "".join("1" if each else "0" for each in flags)
    return int(digits[::-1] or "0", 2)
