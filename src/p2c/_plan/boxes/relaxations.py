"""Sets of restrictions that may open a path, by implicit hitting sets.

If no path may open whichever of some restrictions are relaxed, every helpful set contains another one (Moreno-Centeno and
Karp, 2013). The propagators tell whether a path may open.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from p2c._plan.compiled.bitsets import grown, mask_of, numbers
from p2c._plan.search.correction_sets import Restriction

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


@dataclass
class Relaxations:
    """Candidates among `count` restrictions.

    Attributes:
        count: Number of restrictions.
        may_open: Tells whether a path may exist if any of a set of restrictions may be relaxed; monotone in the set.
    """

    count: int
    may_open: Callable[[frozenset[int]], bool]
    reasons: list[frozenset[int]] = field(default_factory=list)
    """Each helpful set contains a member of each of these."""

    def candidates(self) -> Iterator[tuple[tuple[Restriction, ...], float]]:
        """Yield each set that may open a path with a bound, smaller sets first."""
        every = frozenset(range(self.count))
        if not self.may_open(every):
            return
        for size in range(1, self.count + 1):
            for chosen in sorted(self._of_size(size, every)):
                yield tuple(map(Restriction, chosen)), 0.0

    def exclude(self, relaxed: Sequence[int], absent: Sequence[int]) -> None:
        """Do nothing: each set is a candidate once."""

    def _of_size(self, size: int, every: frozenset[int]) -> Iterator[tuple[int, ...]]:
        waiting: list[tuple[frozenset[int], frozenset[int]]] = [(frozenset(), every)]
        while waiting:
            chosen, rest = waiting.pop()
            missed = [each for each in self.reasons if not each & chosen]
            if missed and len(chosen) == size:
                continue
            if len(chosen) == size:
                if self.may_open(chosen):
                    yield tuple(sorted(chosen))
                else:
                    others = mask_of(every - chosen)
                    hopeless = grown(mask_of(chosen), others, self._bars)
                    self.reasons.append(every.difference(numbers(hopeless)))
                continue
            among = min((each & rest for each in missed), key=len, default=rest)
            for number in sorted(among):
                waiting.append((chosen | {number}, rest - {number}))
                rest -= {number}

    def _bars(self, relaxed: int) -> bool:
        return not self.may_open(frozenset(numbers(relaxed)))
