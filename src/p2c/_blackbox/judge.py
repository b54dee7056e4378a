"""The model as the judge of states: asked in batches, within a budget, and never twice about the same state."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from p2c._blackbox.walk import Walk
    from p2c._plan.search.best_first import Limits
    from p2c._spec.feature import Value

    State = Mapping[str, Value]
    Ask = Callable[[Sequence[State]], Sequence["Ruling"]]

FIRST_ROWS = 16
"""Maximum size of the first calls under a time limit, which time the model."""
FIXED = 8
"""Maximum factor by which a larger call takes less time for each row."""
PORTION = 0.5
"""Maximum share of the remaining time for one call."""


class Ruling(NamedTuple):
    """What the model said of a state; the score is above 0 where it accepts, None where the model keeps it to itself.

    `told` is the number that the model itself gives, and what that must reach.
    """

    accepted: bool
    score: float | None
    told: tuple[float, float] | None = None


@dataclass
class Judge:
    """The model, asked in batches and at most `budget` rows; what it has said once is not asked again."""

    ask: Ask
    budget: int
    known: dict[tuple[Value, ...], Ruling] = field(default_factory=dict)
    asked: int = 0
    calls: int = 0
    _timed: dict[int, float] = field(default_factory=dict)
    """Seconds of the last call of each size."""

    def left(self, saved: int = 0) -> int:
        """Return how many questions are left beyond those saved."""
        return max(self.budget - saved - self.asked, 0)

    def said(self, state: State) -> bool | None:
        """Return whether the model accepted a state, None where it was not asked about it."""
        answer = self.known.get(tuple(state.values()))
        return None if answer is None else answer.accepted

    def answers(
        self, walks: Iterable[Walk], limits: Limits | None = None
    ) -> list[tuple[Walk, Ruling]]:
        """Return the walks whose end the model has judged, with its answer.

        Those past the budget or the time limit are left out.
        """
        walks = list(walks)
        fresh = {walk.key: walk.state for walk in walks if walk.key not in self.known}
        new = list(fresh)[: self.left()]
        while new:
            size = self._portion(len(new), limits)
            if not size:
                break
            part, new = new[:size], new[size:]
            begin = time.monotonic()
            told = self.ask([fresh[key] for key in part])
            self._timed[size] = time.monotonic() - begin
            self.known.update(dict(zip(part, told, strict=True)))
            self.asked += size
            self.calls += 1
        return [(walk, self.known[walk.key]) for walk in walks if walk.key in self.known]

    def _portion(self, count: int, limits: Limits | None) -> int:
        """Return the number of rows for one call, which no time limit can end."""
        if limits is None or limits.left is None:
            return count
        if limits.is_over:
            return 0
        many, longest = max(self._timed.items(), default=(0, 0.0))
        few, shortest = min(self._timed.items(), default=(0, 0.0))
        if many < FIRST_ROWS:
            most, by_row = FIRST_ROWS, longest / max(many, 1)
        else:
            most, by_row = (
                count,
                max((longest - shortest) / (many - few or 1), longest / many / FIXED),
            )
        return min(count, most, max(int((PORTION * limits.left) / max(by_row, 1e-9)), 1))
