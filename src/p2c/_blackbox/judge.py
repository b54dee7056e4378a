"""The model as the judge of states: asked in batches, within a budget, and never twice about the same state."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from p2c._blackbox.walk import Walk
    from p2c._spec.feature import Value

    State = Mapping[str, Value]
    Ask = Callable[[Sequence[State]], Sequence["Ruling"]]


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

    def left(self, saved: int = 0) -> int:
        """Return how many questions are left beyond those saved."""
        return max(self.budget - saved - self.asked, 0)

    def said(self, state: State) -> bool | None:
        """Return whether the model accepted a state, None where it was not asked about it."""
        answer = self.known.get(tuple(state.values()))
        return None if answer is None else answer.accepted

    def answers(self, walks: Iterable[Walk]) -> list[tuple[Walk, Ruling]]:
        """Return the walks whose end the model has judged, with its answer; those past the budget are left out."""
        walks = list(walks)
        fresh = {walk.key: walk.state for walk in walks if walk.key not in self.known}
        new = list(fresh)[: self.left()]
        if new:
            told = self.ask([fresh[key] for key in new])
            self.known.update(dict(zip(new, told, strict=True)))
            self.asked += len(new)
            self.calls += 1
        return [(walk, self.known[walk.key]) for walk in walks if walk.key in self.known]
