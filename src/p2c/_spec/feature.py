"""Features: what is known of a person, which values each may take, and who may change it.

Numbers are handled exactly: a decimal such as `0.1` means one tenth, so the third point of a grid of tenths is `0.3`,
and two distances that are equal on paper are equal here.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple, SupportsFloat

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from p2c._spec.computed import Equation


RAW_PART = re.compile(r"\d|^[^\W\d_]$|^[b-df-hj-np-tv-xz]{2,}$|^[A-Z]{2,}$")
"""A part of a raw name: a digit, one letter, no vowel, or capitals alone."""
Number = int | float
Value = str | int | float | None
"""A feature's value; None is a missing one."""


class Kind(Enum):
    """What sort of values a feature has."""

    INT = "int"
    FLOAT = "float"
    CATEGORY = "category"
    ORDINAL = "ordinal"

    @property
    def is_number(self) -> bool:
        """Tell whether the values are numbers."""
        return self in (Kind.INT, Kind.FLOAT)


class Action(Enum):
    """Who may change a feature, and which way."""

    FREE = "free"
    UP = "up"
    DOWN = "down"
    FIXED = "fixed"
    EFFECT = "effect"

    @property
    def is_direct(self) -> bool:
        """Tell whether a person may set the feature."""
        return self in (Action.FREE, Action.UP, Action.DOWN)


class RestrictionKind(Enum):
    """A part of a problem that may bar changes and can be relaxed.

    `LIMIT` is that of a resource, `MAX_ACTIONS` that of the problem; the others belong to a feature.
    """

    FIXED = "fixed"
    UP = "up"
    DOWN = "down"
    EFFECT = "effect"
    MOVES = "moves"
    LIMITS = "limits"
    LIMIT = "limit"
    MAX_ACTIONS = "max_actions"


class Law(Enum):
    """What the causal rules of a feature say of values that no fired rule names (`docs/meaning.md`, "Consistent states").

    A value in the head of a fired rule is always allowed. Any other is allowed where what the law asks for is the case:
    that no rule fires, that the value is unheaded, or both.
    """

    IFF = "iff"
    IF = "if"
    ONLY_IF = "only_if"

    @property
    def asks_for_silence(self) -> bool:
        """Tell whether a value that no fired rule names is allowed only where no rule fires."""
        return self is not Law.ONLY_IF

    @property
    def asks_for_unheaded(self) -> bool:
        """Tell whether a value that no fired rule names is allowed only if no rule names it at all."""
        return self is not Law.IF


@lru_cache(maxsize=1 << 14)
def exact(number: Number | Fraction) -> Fraction:
    """Return the number that its decimal text denotes.

    >>> exact(0.1) * 3 == exact(0.3)
    True
    """
    if isinstance(number, int | Fraction):
        return Fraction(number)
    return Fraction(repr(float(number)))


def is_finite(number: SupportsFloat) -> bool:
    """Tell whether a float can hold a number."""
    try:
        return math.isfinite(number)
    except OverflowError:
        return False


@dataclass(frozen=True)
class Grid:
    """The evenly spaced admissible values of a number, from `start` up to at most `stop`."""

    start: Number
    stop: Number
    step: Number

    @cached_property
    def _exact(self) -> tuple[Fraction, Fraction]:
        return exact(self.start), exact(self.step)

    @cached_property
    def size(self) -> int:
        """Return how many values there are."""
        start, step = self._exact
        return int((exact(self.stop) - start) // step) + 1

    def value(self, place: int) -> Number:
        """Return the value at a place, counted from zero."""
        if isinstance(self.start, int) and isinstance(self.step, int):
            return self.start + place * self.step
        start, step = self._exact
        return float(start + place * step)

    def numbers(self) -> NDArray[np.float64]:
        """Return all values as floats, the same as `value` gives."""
        import numpy as np

        start, step = self._exact
        common = start.denominator * step.denominator
        first, each = start.numerator * step.denominator, step.numerator * start.denominator
        exact_so_far = max(abs(first), abs(first + (self.size - 1) * each), common) < 2**53
        if exact_so_far:
            # Both are exact, so their quotient is rounded once, as that of the fraction is.
            return np.asarray((first + np.arange(self.size) * float(each)) / float(common))
        return np.array([self.value(place) for place in range(self.size)], dtype=np.float64)

    def first_place_from(self, number: Fraction) -> int:
        """Return the place of the least value at or above a number; `size` if there is none."""
        steps, parts = self._steps(number)
        return min(max(-(-steps // parts), 0), self.size)

    def first_place_past(self, number: Fraction) -> int:
        """Return the place of the least value above a number; `size` if there is none."""
        steps, parts = self._steps(number)
        return min(max(steps // parts + 1, 0), self.size)

    def _steps(self, number: Fraction) -> tuple[int, int]:
        """Return the steps from the start to a number, as numerator and denominator.

        The denominator is positive.
        """
        start, step = self._exact
        far = number.numerator * start.denominator - start.numerator * number.denominator
        parts = number.denominator * start.denominator * step.numerator
        return far * step.denominator, parts


@dataclass(frozen=True)
class Points:
    """An explicit list of admissible values: numbers ascending, or categories in their order."""

    values: tuple[str | int | float, ...]

    @cached_property
    def _numbers(self) -> list[Fraction]:
        return [exact(value) for value in self.values if not isinstance(value, str)]

    @property
    def size(self) -> int:
        """Return how many values there are."""
        return len(self.values)

    def numbers(self) -> NDArray[np.float64]:
        """Return all values of a list of numbers as floats."""
        import numpy as np

        return np.array(self.values, dtype=np.float64)

    def value(self, place: int) -> str | int | float:
        """Return the value at a place, counted from zero."""
        return self.values[place]

    def first_place_from(self, number: Fraction) -> int:
        """Return the place of the least value at or above a number; `size` if there is none."""
        return bisect_left(self._numbers, number)

    def first_place_past(self, number: Fraction) -> int:
        """Return the place of the least value above a number; `size` if there is none."""
        return bisect_right(self._numbers, number)


Domain = Grid | Points

FARTHEST: dict[Kind, Number] = {Kind.INT: 2**62, Kind.FLOAT: 1e100}
"""How far from zero numbers may lie that no range bounds, so that columns of tables hold them, and costs are numbers."""


class Use(NamedTuple):
    """The amount of a resource that a direct change of a feature uses."""

    resource: str
    fixed: Fraction
    per_unit: Fraction

    def amount(self, feature: Feature, start: Value, end: Value) -> Fraction:
        """Return the amount of one change, the divisor from a missing value."""
        return self.fixed + self.per_unit * distance(feature, start, end) * feature.divisor


@dataclass(frozen=True)
class Words:
    """What a feature is called in one more language; what is empty stays as the problem has it."""

    label: str = ""
    unit: str = ""
    unit_one: str = ""
    phrase: str = ""
    advice: str = ""
    names: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Feature:
    """One thing known of a person, with the keys that a problem gives it."""

    name: str
    kind: Kind
    domain: Domain
    minimum: Number = 0
    maximum: Number = 0
    action: Action = Action.FREE
    weight: Number = 1
    scale: Number | None = None
    law: Law = Law.IFF
    moves: tuple[tuple[str | int | float, tuple[str | int | float, ...]], ...] | None = None
    label: str = ""
    unit: str = ""
    unit_one: str = ""
    phrase: str = ""
    advice: str = ""
    names: tuple[tuple[str, str], ...] = ()
    languages: tuple[tuple[str, Words], ...] = ()
    governed: bool = False
    kept: bool = False
    """Whether it is a column that only a model reads: it keeps the row's value, and nobody speaks of changing it."""
    bounded: bool = True
    """Whether the numbers of rows lie within the range; in a problem made from data that is only what was seen."""
    states_cost: bool = False
    """Whether the author gave a weight or a scale.

    The costs of changes may then be compared in words.
    """
    targets: Domain | None = None
    """The values in which one person lets a change end; None for the whole domain."""
    effect_action: Action | None = None
    """The action that leads effects if one person restricts the feature's action."""
    equation: Equation | None = None
    """The function of other features that a computed feature always is."""
    uses: tuple[Use, ...] = ()
    """The resources that a direct change uses."""

    @cached_property
    def is_listed(self) -> bool:
        """Tell whether the values are names, each listed, rather than numbers."""
        return not self.kind.is_number

    @cached_property
    def _whole(self) -> tuple[int, int] | None:
        """Return the start and the step of a grid of whole numbers."""
        match self.domain:
            case Grid(int() as start, _, int() as step):
                return start, step
            case _:
                return None

    @cached_property
    def places(self) -> dict[str | int | float, int]:
        """Return the place of each listed value."""
        assert isinstance(self.domain, Points)
        return {value: place for place, value in enumerate(self.domain.values)}

    @cached_property
    def moves_from(self) -> dict[str | int | float, tuple[str | int | float, ...]] | None:
        """Return the values that each value may change to, where `moves` restricts them."""
        return None if self.moves is None else dict(self.moves)

    @cached_property
    def named(self) -> dict[str, str]:
        """Return the words for values that have some, by the text of the value."""
        return dict(self.names)

    @cached_property
    def span(self) -> tuple[Number, Number]:
        """Return the least and the greatest number that a row may have."""
        low, high, far = self.minimum, self.maximum, FARTHEST[self.kind]
        return (low, high) if self.bounded else (min(low, -far), max(high, far))

    @property
    def has_order(self) -> bool:
        """Tell whether `<` means something on the values."""
        return self.kind is not Kind.CATEGORY

    @cached_property
    def divisor(self) -> Fraction:
        """Return what a difference is divided by to make a distance; 1 for a range of zero."""
        if self.kind is Kind.ORDINAL:
            return Fraction(max(self.domain.size - 1, 1))
        if self.scale is not None:
            return exact(self.scale)
        return (exact(self.maximum) - exact(self.minimum)) or Fraction(1)

    def order(self, value: str | int | float) -> Fraction:
        """Return where a value stands in the order of the feature: the number itself, or its rank."""
        if self.kind.is_number:
            assert not isinstance(value, str)
            return exact(value)
        return Fraction(self.places[value])

    @cached_property
    def step(self) -> Fraction | None:
        """Return how far apart neighbouring places stand in the order; None where that differs."""
        if self.kind is Kind.ORDINAL:
            return Fraction(1)
        return exact(self.domain.step) if isinstance(self.domain, Grid) else None

    @property
    def spends(self) -> tuple[str, ...]:
        """Return the resources that a direct change uses."""
        return tuple(each.resource for each in self.uses)

    @property
    def bars_effects(self) -> bool:
        """Tell whether one person restricts the ends of changes, also of effects.

        No plan continues after an effect that ends elsewhere.
        """
        return self.targets is not None or self.effect_action is not None

    def is_target(self, value: str | int | float) -> bool:
        """Tell whether one person lets a change end in a value of the domain."""
        match self.targets:
            case None:
                return True
            case Points(values):
                return value in values
            case Grid(start, stop, _):
                return not isinstance(value, str) and exact(start) <= exact(value) <= exact(stop)

    def contains(self, value: str | int | float) -> bool:
        """Tell whether a value is admissible as a target."""
        return self.place(value) is not None

    def place(self, value: str | int | float) -> int | None:
        """Return a value's place in the domain, or None if it is off the grid."""
        if self.is_listed:
            return self.places.get(value)
        whole = self._whole
        if whole is not None and isinstance(value, int):
            place, rest = divmod(value - whole[0], whole[1])
            return place if rest == 0 and 0 <= place < self.domain.size else None
        if isinstance(value, str):
            return None
        number = exact(value)
        after = self.domain.first_place_from(number)
        # A value that a float cannot hold exactly was rounded, maybe upwards: then its place is the one before.
        for place in (after, after - 1):
            if 0 <= place < self.domain.size and exact(self._number(place)) == number:
                return place
        return None

    def _number(self, place: int) -> Number:
        value = self.domain.value(place)
        assert not isinstance(value, str)
        return value


def in_language(feature: Feature, language: str) -> Feature:
    """Return a feature with its words of a language, where the problem gives any."""
    words = dict(feature.languages).get(language)
    if words is None:
        return feature
    return replace(
        feature,
        label=words.label or feature.label,
        unit=words.unit or feature.unit,
        unit_one=words.unit_one if words.unit else feature.unit_one,
        phrase=words.phrase,
        advice=words.advice,
        names=tuple((feature.named | dict(words.names)).items()),
    )


def missing_words(feature: Feature, language: str) -> list[str]:
    """Return the keys of the words that a feature lacks in another language.

    >>> missing_words(Feature("debt", Kind.INT, Grid(0, 9, 1), label="debt", unit="dollars"), "de")
    ['label', 'unit']
    """
    words = dict(feature.languages).get(language, Words())
    missing = [] if words.label else ["label"]
    missing += ["unit"] if feature.unit and not words.unit else []
    values = feature.domain.values if isinstance(feature.domain, Points) else ()
    named = {**dict.fromkeys(each for each in values if isinstance(each, str)), **feature.named}
    present = dict(words.names)
    return [*missing, *(f"names.{value}" for value in named if value not in present)]


def is_raw_name(feature: Feature) -> bool:
    """Tell whether a feature without a label has a raw name, such as `pay_0`."""
    parts = [] if feature.label else re.split(r"[\W_]+", feature.name)
    return any(RAW_PART.search(part) for part in parts)


def distance(feature: Feature, start: Value, end: Value) -> Fraction:
    """Return how far a change of value is: 1 from a missing value."""
    if start == end:
        return Fraction(0)
    if start is None or end is None or feature.kind is Kind.CATEGORY:
        return Fraction(1)
    return abs(feature.order(end) - feature.order(start)) / feature.divisor


def restrictions(feature: Feature) -> list[RestrictionKind]:
    """Return the restrictions that a feature has by itself; whether its limits bar anything is up to the rules."""
    if feature.equation is not None:
        return []
    found = [] if feature.action is Action.FREE else [RestrictionKind(feature.action.value)]
    chosen = feature.is_listed and feature.targets is not None
    return [*found, RestrictionKind.MOVES] if chosen or feature.moves is not None else found


def unrestricted(feature: Feature, kind: RestrictionKind) -> Feature:
    """Return a feature without one of the restrictions that it has by itself; its limits are not among them."""
    assert kind is not RestrictionKind.LIMITS, (
        "how far a number goes without them is up to the rules"
    )
    if kind is RestrictionKind.MOVES:
        return replace(feature, moves=None, targets=None)
    return replace(feature, action=Action.FREE, effect_action=None)


def may_set(feature: Feature, start: Value, end: Value) -> bool:
    """Tell whether a person may change a value directly, whatever was changed before."""
    return end is not None and feature.contains(end) and permits(feature, start, end, direct=True)


def permits(
    feature: Feature, start: Value, end: str | int | float, *, direct: bool = False
) -> bool:
    """Tell whether a feature's action, moves and targets allow a change of value.

    A person's own, `direct` change is barred to an `effect` feature, which may go anywhere by its rules.
    """
    if direct and not feature.action.is_direct:
        return False
    return (
        leads(feature, start, end)
        and feature.is_target(end)
        and _goes(feature, feature.action, start, end)
    )


def leads(feature: Feature, start: Value, end: str | int | float) -> bool:
    """Tell whether the problem's own action and moves allow a change of value.

    The restrictions of one person are left out.

    Effects take the nearest value by this alone: a path on which one ends where the person lets no change end is no
    plan, but a restriction never carries an effect elsewhere.
    """
    moves = feature.moves_from
    if start is not None and moves is not None and end not in moves.get(start, ()):
        return False
    return _goes(feature, feature.effect_action or feature.action, start, end)


def _goes(feature: Feature, action: Action, start: Value, end: str | int | float) -> bool:
    """Tell whether a change of value goes a way that an action allows."""
    if action is Action.FIXED or start == end:
        return False
    if start is None:
        return True
    match action:
        case Action.UP:
            return feature.order(end) > feature.order(start)
        case Action.DOWN:
            return feature.order(end) < feature.order(start)
        case _:
            return True
