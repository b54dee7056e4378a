"""Solve clauses incrementally.

Variables and clauses are added between calls, and each call may assume literals. The solver begins on lists, without compiling. Once a problem has taken `WARM` work, the arrays are handed to the compiled functions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from p2c._plan.search.cdcl import (
    ASSUMED,
    CHAINS,
    CORE,
    END,
    FIELDS,
    FULL,
    GUARD,
    INTERPRETED,
    ITEMS,
    LEARNED,
    LIMIT,
    MOST_LEARNED,
    OUT,
    PREFERRED,
    SATISFIED,
    TOTAL,
    WORK,
    Literal,
    State,
    assign,
    attach,
    compiled,
    propagate,
    push,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

WARM, WARMER = 400_000, 50_000
"""Work (visited clauses) after which the compiled functions take over.

The second holds once they were loaded in this process.
"""
SLICE, COMPILED_SLICE = 20_000, 2_000_000
"""Work between two looks at the clock."""
FIRST_LEARNED = 4_000
"""Number of learned clauses that are kept at first."""


def opposite(literal: Literal) -> Literal:
    """Return the negation of a literal."""
    return Literal(literal ^ 1)


class Solver:
    """Clauses over numbered variables, and a search for models.

    >>> solver = Solver()
    >>> a, b = solver.literal(), solver.literal()
    >>> solver.add([a, b])
    >>> solver.solve([opposite(a)], lambda: None)
    True
    >>> solver.holds(b)
    True
    >>> solver.solve([opposite(a), opposite(b)], lambda: None)
    False
    >>> sorted(solver.core) == sorted([opposite(a), opposite(b)])
    True
    """

    def __init__(self) -> None:
        self.state: Any = State(*([] for _ in State._fields))
        self.state.arena.append(0)
        self.state.counter.extend([0] * FIELDS)
        self.state.counter[END] = 1
        self.state.counter[MOST_LEARNED] = FIRST_LEARNED
        self.state.step.append(1.0)
        self.run = INTERPRETED
        self.variables = 0
        self.consistent = True
        """False if the clauses were refuted."""
        self.core: list[Literal] = []
        """Assumptions of the last call that contradict each other."""
        self.model: Sequence[int] = []
        self._may_compile = True

    def literal(self) -> Literal:
        """Return the positive literal of a new variable."""
        var = self.variables
        self.variables += 1
        if var >= len(self.state.level):
            self._grow_variables()
        self.state.phase[var] = 1
        push(self.state, var)
        return Literal(2 * var)

    def prefer(self, literal: Literal) -> None:
        """Decide that a literal holds where nothing else is learned."""
        self.state.phase[literal >> 1] = literal & 1

    def _grow_variables(self) -> None:
        more = max(64, len(self.state.level))
        twice = ("watching", "value", "weight", "items", "prefix", "slot", "first", "chain")
        sizes = {"starts": 3} | dict.fromkeys(twice, 2)
        arrays = {}
        for name in State._fields:
            if name not in ("arena", "counter", "step"):
                fill = -1 if name == "place" else 0.0 if name == "activity" else 0
                array = getattr(self.state, name)
                arrays[name] = _extended(array, more * sizes.get(name, 1), fill)
        self.state = self.state._replace(**arrays)

    def add(self, clause: Iterable[Literal]) -> None:
        """Add a clause."""
        s = self.state
        kept: list[Literal] = []
        for literal in dict.fromkeys(clause):
            if s.value[literal] > 0 or literal ^ 1 in kept:
                return
            if s.value[literal] == 0:
                kept.append(literal)
        if not kept:
            self.consistent = False
        elif len(kept) == 1:
            assign(s, kept[0], 0)
        else:
            self._append(kept)

    def _append(self, clause: list[Literal]) -> None:
        end, past = self.state.counter[END], self.state.counter[END] + len(clause) + 4
        if past >= len(self.state.arena):
            self._grow_arena(len(clause) + 4)
        s = self.state
        s.arena[end], s.arena[end + 1] = len(clause), 0
        for place, literal in enumerate(clause, start=end + 4):
            s.arena[place] = literal
        s.counter[END] = past
        attach(s, end)

    def limit(
        self, chains: Sequence[Sequence[tuple[Literal, int]]], most: int, guard: Literal
    ) -> None:
        """Replace the linear constraint: under its guard, literals weigh at most `most`.

        Weights too large for machine numbers are divided and rounded down, which only admits more.

        Args:
            chains: Literals and their weights; clauses say that each literal implies the one before it in its chain.
            most: The limit.
            guard: The literal under which it holds.
        """
        s = self.state
        for place in range(s.counter[ITEMS]):
            s.weight[s.items[place]] = 0
        scale = 1 + (sum(weight for chain in chains for _, weight in chain) >> 60)
        place = 0
        for number, chain in enumerate(
            sorted(chains, key=lambda chain: -sum(weight // scale for _, weight in chain))
        ):
            s.first[number], total = place, 0
            for literal, weight in chain:
                total += weight // scale
                s.items[place], s.slot[literal] = literal, place
                s.weight[literal] = weight // scale
                s.prefix[place], s.chain[place] = total, number
                place += 1
        s.first[len(chains)] = place
        s.counter[ITEMS], s.counter[CHAINS] = place, len(chains)
        s.counter[LIMIT], s.counter[GUARD] = most // scale, guard
        # Between two calls just the literals of level 0 are assigned.
        literals = (s.items[each] for each in range(place))
        s.counter[TOTAL] = sum(int(s.weight[each]) for each in literals if s.value[each] > 0)

    def _grow_arena(self, more: int) -> None:
        size = max(len(self.state.arena), more + self.variables, 1024)
        self.state = self.state._replace(arena=_extended(self.state.arena, size, 0))

    def solve(
        self,
        assumptions: Sequence[Literal],
        check: Callable[[], None],
        most: int | None = None,
        preferred: Sequence[Literal] = (),
    ) -> bool | None:
        """Tell whether a model satisfies the clauses and the assumptions.

        Args:
            assumptions: Literals to hold in this call.
            check: Called from time to time; it may raise.
            most: Work after which the call ends without an answer.
            preferred: Literals that the model satisfies if it can, the first of all others first.

        Returns:
            None if there was not enough work to tell.
        """
        self.core = []
        if self.is_refuted:
            return False
        until = None if most is None else self.work + most
        literals = [*assumptions, *preferred]
        while until is None or self.work < until:
            self.state.counter[ASSUMED] = len(assumptions)
            self.state.counter[PREFERRED] = len(preferred)
            result = self._search(literals, most)
            s = self.state
            if result == SATISFIED:
                self.model = s.value[: 2 * self.variables].copy()
                self.run.back_to(s, 0)
                return True
            if result == CORE:
                self.core = [Literal(int(s.out[each])) for each in range(s.counter[OUT])]
                self.consistent = bool(self.core)
                return False
            if result == FULL:
                self._make_room()
            check()
        return None

    @property
    def is_refuted(self) -> bool:
        """Tell whether unit propagation refutes the clauses."""
        if self.consistent and propagate(self.state):
            self.consistent = False
        return not self.consistent

    def _make_room(self) -> None:
        counter = self.state.counter
        if counter[LEARNED] > counter[MOST_LEARNED]:
            counter[MOST_LEARNED] += counter[MOST_LEARNED] // 10
            self.run.reduce_learned(self.state)
        if counter[END] + self.variables + 8 >= len(self.state.arena) // 2:
            self._grow_arena(self.variables)

    def _search(self, literals: Sequence[Literal], most: int | None) -> int:
        warm = WARMER if compiled.cache_info().currsize else WARM
        if self._may_compile and self.work >= warm:
            self._may_compile = False
            functions = compiled()
            if functions is not None:
                self.run = functions
                self._lower()
        # Each level of the search takes a place, also the level of an assumption that holds already.
        if len(self.state.starts) < len(literals) + self.variables + 2:
            longer = _extended(self.state.starts, len(literals) + self.variables + 2, 0)
            self.state = self.state._replace(starts=longer)
        if self.run is INTERPRETED:
            return self.run.search(self.state, literals, min(SLICE, most or SLICE))
        import numpy as np

        work = min(COMPILED_SLICE, most or COMPILED_SLICE)
        return self.run.search(self.state, np.array(literals, np.int64), work)

    def _lower(self) -> None:
        """Turn the lists into arrays."""
        import numpy as np

        floats = ("activity", "step")
        arrays: Any = {
            name: np.array(getattr(self.state, name), np.float64 if name in floats else np.int64)
            for name in State._fields
        }
        self.state = State(**arrays)

    @property
    def work(self) -> int:
        """Return how many clauses were visited."""
        return int(self.state.counter[WORK])

    def holds(self, literal: Literal) -> bool:
        """Tell whether a literal is true in the last model."""
        return self.model[literal] > 0


def _extended(array: Any, size: int, fill: float) -> Any:
    """Return a longer array."""
    if isinstance(array, list):
        return array + [fill] * size
    import numpy as np

    return np.concatenate([array, np.full(size, fill, array.dtype)])
