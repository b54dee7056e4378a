"""Counts and costs of groups, their differences, and effects of a change."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from p2c._audit.intervals import (
    DRAWS,
    Interval,
    exact_interval,
    fisher_test,
    holm,
    median,
    median_draws,
    middle_of,
    rank_test,
    share_difference,
    stratified_test,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from p2c._audit.intervals import Codes, Group, Numbers, Rows
    from p2c._audit.people import Answers, People


QUANTILES = tuple(each / 20 for each in range(21))
FEW = 30
"""Of how many people on a comparison is made; smaller groups are counted only."""
SURE = 0.05
"""Below which corrected probability a difference is taken for one."""


@dataclass(frozen=True, slots=True)
class Share:
    """How many of how many, and where the share lies."""

    count: int
    of: int
    interval: Interval | None

    @classmethod
    def counted(cls, count: int, of: int) -> Share:
        """Return a share with its exact interval; none where nobody is counted."""
        return cls(count, of, exact_interval(count, of) if of else None)

    @property
    def value(self) -> float | None:
        """Return the share itself."""
        return self.count / self.of if self.of else None

    def to_dict(self) -> dict[str, Any]:
        """Return the share as JSON."""
        return {"count": self.count, "of": self.of, "share": self.value, "interval": self.interval}


@dataclass(frozen=True, slots=True)
class Tally:
    """What was counted in a group."""

    group: str
    traits: tuple[tuple[str, str], ...]
    people: int
    statuses: dict[str, int]
    refused: Share
    """Of everybody whose row could be read."""
    stuck: Share
    """Of the refused: those who have no way, which is proved."""
    given_up: int
    exceptions: int
    unknown: int
    costs: dict[str, float]
    """Quantiles of the least effort of those who have a way."""
    actions: dict[int, int]
    """How many people have how many actions of their own in their plan."""
    effects: float | None
    """Which share of all changes in their plans follows by itself."""
    first: dict[str, int]
    """The feature that the first action is about, and for how many."""

    @property
    def found(self) -> int:
        """Return how many are refused and have a way."""
        return self.statuses.get("found", 0)

    @property
    def invalid(self) -> int:
        """Return how many have rows that cannot be read."""
        return self.statuses.get("invalid", 0)

    @property
    def is_small(self) -> bool:
        """Tell whether too few are refused for their shares to say much."""
        return self.refused.count < FEW

    def to_dict(self) -> dict[str, Any]:
        """Return the tally as JSON."""
        return {
            "group": self.group,
            "traits": dict(self.traits),
            "people": self.people,
            "statuses": self.statuses,
            "refused": self.refused.to_dict(),
            "with_a_way": self.found,
            "without_a_way": self.stuck.to_dict(),
            "given_up": self.given_up,
            "exceptions": self.exceptions,
            "unknown_values": self.unknown,
            "cost_quantiles": self.costs,
            "actions": {str(number): count for number, count in self.actions.items()},
            "share_of_effects": self.effects,
            "first_actions": self.first,
            "small": self.is_small,
        }


@dataclass(frozen=True, slots=True)
class Difference:
    """How far a group differs from everybody else: in the share that is refused or has no way, or in the median effort."""

    group: str
    measure: str
    equal_need: bool
    here: float
    others: float
    interval: Interval
    chance: float
    """How probable a difference at least as large would be by chance, corrected for the number of comparisons."""
    compared: int
    """How many of the group it rests on; at equal need, those like whom there are others."""

    @property
    def gap(self) -> float:
        """Return the difference."""
        return self.here - self.others

    @property
    def is_sure(self) -> bool:
        """Tell whether the difference is more than chance explains."""
        return self.chance < SURE

    def to_dict(self) -> dict[str, Any]:
        """Return the difference as JSON."""
        return {
            "group": self.group,
            "measure": self.measure,
            "at_equal_need": self.equal_need,
            "group_value": self.here,
            "others_value": self.others,
            "difference": self.gap,
            "interval": self.interval,
            "chance_corrected": self.chance,
            "sure": self.is_sure,
            "people_compared": self.compared,
        }


def tally(answers: Answers, group: Group) -> Tally:
    """Return what is counted in a group."""
    rows = group.rows
    statuses = Counter(answers.status[rows].tolist())
    readable = int(rows.sum()) - statuses["invalid"]
    refused = int((rows & answers.refused).sum())
    found = rows & answers.having("found")
    acts, follows = int(answers.direct[found].sum()), int(answers.effects[found].sum())
    return Tally(
        group.name,
        group.traits,
        int(rows.sum()),
        dict(sorted(statuses.items())),
        Share.counted(refused, readable),
        Share.counted(statuses["infeasible"], refused),
        statuses["gave_up"],
        int(answers.excepted[rows].sum()),
        int(answers.unknown[rows].sum()),
        quantiles(answers.cost[found]),
        dict(sorted(Counter(answers.direct[found].tolist()).items())),
        follows / (acts + follows) if acts + follows else None,
        dict(Counter(answers.first[found].tolist()).most_common()),
    )


def quantiles(costs: Numbers) -> dict[str, float]:
    """Return the smallest costs that shares of the people do not exceed."""
    if not len(costs):
        return {}
    found = np.quantile(costs, QUANTILES, method="inverted_cdf")
    return {f"{share:.0%}": float(cost) for share, cost in zip(QUANTILES, found, strict=True)}


def differences(people: People, groups: Sequence[Group], *, seed: int) -> list[Difference]:
    """Return how each group but everybody differs from the others, where enough are compared, corrected for all together."""
    found: list[Difference] = []
    for number, group in enumerate(groups):
        if group.traits:
            found += _differences(people, group, np.random.default_rng((seed, number)))
    corrected = holm([each.chance for each in found])
    return [replace(each, chance=p) for each, p in zip(found, corrected, strict=True)]


def _differences(people: People, group: Group, rng: np.random.Generator) -> Iterator[Difference]:
    answers = people.answers
    here, there = group.rows, ~group.rows
    valid = ~answers.having("invalid")
    stuck, found = answers.having("infeasible"), answers.having("found")
    for measure, rows, base in (
        ("refused", answers.refused, valid),
        ("no_way", stuck, answers.refused),
    ):
        one, other = _count(rows, base & here), _count(rows, base & there)
        if min(one[1], other[1]) >= FEW:
            shares = one[0] / one[1], other[0] / other[1]
            interval, chance = share_difference(one, other), fisher_test(one, other)
            yield Difference(group.name, measure, False, *shares, interval, chance, one[1])
    one_cost, other_cost = (np.sort(answers.cost[found & rows]) for rows in (here, there))
    if min(len(one_cost), len(other_cost)) >= FEW:
        draws = median_draws(one_cost, rng) - median_draws(other_cost, rng)
        medians = median(one_cost), median(other_cost)
        chance = rank_test([(one_cost, other_cost)])
        size = len(one_cost)
        yield Difference(group.name, "cost", False, *medians, middle_of(draws), chance, size)
    yield from _at_equal_need(people, group, rng)


def _count(rows: Rows, base: Rows) -> tuple[int, int]:
    return int((rows & base).sum()), int(base.sum())


def _at_equal_need(people: People, group: Group, rng: np.random.Generator) -> Iterator[Difference]:
    """Yield the differences to others who are refused for the same reasons, in the group's own mix of reasons."""
    needs, _ = people.needs
    answers = people.answers
    for measure, base in (("no_way", answers.refused), ("cost", answers.having("found"))):
        one, other = needs[base & group.rows], needs[base & ~group.rows]
        common = np.intersect1d(one[one >= 0], other[other >= 0])
        size = int(np.isin(one, common).sum())
        if size < FEW or int(np.isin(other, common).sum()) < FEW:
            continue
        strata = [
            (base & group.rows & (needs == n), base & ~group.rows & (needs == n)) for n in common
        ]
        weights = np.array([here.sum() for here, _ in strata]) / size
        make = _shares_alike if measure == "no_way" else _costs_alike
        here, there, draws, chance = make(answers, strata, weights, rng)
        yield Difference(group.name, measure, True, here, there, middle_of(draws), chance, size)


Alike = tuple[float, float, "Numbers", float]


def _shares_alike(
    answers: Answers,
    strata: Sequence[tuple[Rows, Rows]],
    weights: Numbers,
    rng: np.random.Generator,
) -> Alike:
    stuck = answers.having("infeasible")
    counts = [(_count(stuck, one), _count(stuck, other)) for one, other in strata]
    here, there = (np.array([each[side][0] / each[side][1] for each in counts]) for side in (0, 1))
    draws = np.zeros(DRAWS)
    for weight, (one, other) in zip(weights, counts, strict=True):
        drawn = [rng.binomial(of, count / of, DRAWS) / of for count, of in (one, other)]
        draws += weight * (drawn[0] - drawn[1])
    return float(weights @ here), float(weights @ there), draws, stratified_test(counts)


def _costs_alike(
    answers: Answers,
    strata: Sequence[tuple[Rows, Rows]],
    weights: Numbers,
    rng: np.random.Generator,
) -> Alike:
    costs = [tuple(np.sort(answers.cost[rows]) for rows in pair) for pair in strata]
    here, there = (np.array([median(pair[side]) for pair in costs]) for side in (0, 1))
    draws = np.zeros(DRAWS)
    for weight, (one, other) in zip(weights, costs, strict=True):
        draws += weight * (median_draws(one, rng) - median_draws(other, rng))
    chance = rank_test([(one, other) for one, other in costs])
    return float(weights @ here), float(weights @ there), draws, chance


RANKS = {"infeasible": 0, "found": 1, "already": 2}
"""How well off somebody is: without a way, refused with one, accepted."""
SAME = 1e-9
"""How near, relatively, two efforts are that count as the same."""


@dataclass(frozen=True, slots=True)
class Shift:
    """What a change does to a group: how many gain and lose by it, of those of whom both answers are known."""

    group: str
    traits: tuple[tuple[str, str], ...]
    gain: Share
    lose: Share
    unclear: int
    """How many have no answer before or after."""
    before: dict[str, float]
    """Quantiles of the effort of those who have a way, before and after."""
    after: dict[str, float]

    def to_dict(self) -> dict[str, Any]:
        """Return the shift as JSON."""
        return {
            "group": self.group,
            "traits": dict(self.traits),
            "gain": self.gain.to_dict(),
            "lose": self.lose.to_dict(),
            "unclear": self.unclear,
            "cost_quantiles_before": self.before,
            "cost_quantiles_after": self.after,
        }


@dataclass(frozen=True, slots=True)
class Change:
    """What comes of a change: how many go from which status to which, and what it does to everybody and each group."""

    name: str
    """What the other problem is called."""
    moves: dict[tuple[str, str], int]
    cheaper: int
    """How many of those with a way before and after need less effort, and how many more."""
    dearer: int
    shifts: tuple[Shift, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the change as JSON."""
        moves = [{"before": a, "after": b, "people": n} for (a, b), n in self.moves.items()]
        return {
            "after": self.name,
            "moves": moves,
            "cheaper": self.cheaper,
            "dearer": self.dearer,
            "groups": [each.to_dict() for each in self.shifts],
        }


def compare(name: str, before: Answers, after: Answers, groups: Sequence[Group]) -> Change:
    """Return what a change does to the same people."""
    told = _outcome(before, after)
    ways = before.having("found") & after.having("found")
    moves = Counter(zip(before.status.tolist(), after.status.tolist(), strict=True))
    return Change(
        name,
        dict(moves.most_common()),
        int((ways & (told > 0)).sum()),
        int((ways & (told < 0)).sum()),
        tuple(_shift(before, after, told, group) for group in groups),
    )


UNCLEAR = -9


def _outcome(before: Answers, after: Answers) -> Codes:
    """Return 1 for whoever gains, -1 for whoever loses, 0 for whoever does neither, `UNCLEAR` where that is not known."""
    ranks = [
        np.array([RANKS.get(status, UNCLEAR) for status in each.status.tolist()], dtype=np.int64)
        for each in (before, after)
    ]
    found: Codes = np.sign(ranks[1] - ranks[0])
    ways = (ranks[0] == 1) & (ranks[1] == 1)
    gap = np.where(ways, before.cost - after.cost, 0.0)
    size = np.where(ways, np.maximum(before.cost, after.cost), 1.0)
    found = np.where(ways, np.where(np.abs(gap) <= SAME * size, 0, np.sign(gap)), found)
    known = (ranks[0] != UNCLEAR) & (ranks[1] != UNCLEAR)
    return np.where(known, found, UNCLEAR).astype(np.int64)


def _shift(before: Answers, after: Answers, told: Codes, group: Group) -> Shift:
    here = told[group.rows]
    known = int((here != UNCLEAR).sum())
    costs = [each.cost[group.rows & each.having("found")] for each in (before, after)]
    return Shift(
        group.name,
        group.traits,
        Share.counted(int((here == 1).sum()), known),
        Share.counted(int((here == -1).sum()), known),
        len(here) - known,
        quantiles(costs[0]),
        quantiles(costs[1]),
    )
