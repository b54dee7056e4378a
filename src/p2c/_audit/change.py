"""Before and after: the same people under two problems, models or policies; who gains, who loses, and what a yes then takes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from p2c._audit.tally import Share, quantiles

if TYPE_CHECKING:
    from collections.abc import Sequence

    from p2c._audit.groups import Codes, Group
    from p2c._audit.people import Answers

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
