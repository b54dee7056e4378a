"""A problem ground by clingo once and asked about many people: who asks is a matter of externals.

This is the only module that imports clingo.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field
from functools import cached_property
from importlib import resources
from typing import TYPE_CHECKING, Any

from p2c.engines.facts import problem_facts
from p2c.engines.model import Reader
from p2c.errors import MissingExtra

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from p2c.engines.asker import Spending
    from p2c.engines.model import Model
    from p2c.engines.parts import Parts

logger = logging.getLogger(__name__)

OPTIONS = ("--opt-strategy=bb,lin", "--opt-heuristic=sign,model")
"""Branch and bound that starts low; unsatisfiable cores did not end on some of our questions."""

AT_ONCE = 50
"""Conflicts that a question may take on the caller's own thread, where nothing can interrupt it; few take any."""

PATIENCE = 0.2
"""Seconds after which a waiting call looks up, so that an interrupt is heard."""

MOST_ADDED = 20_000
"""Prices that a control takes before it is made anew."""

Bound = tuple[int, int]
"""The number of direct actions, where they come first, and the cost in the program's whole numbers."""


class TimeUp(Exception):
    """Carries the best answer at hand when the deadline passes."""

    def __init__(self, model: Model | None) -> None:
        self.model = model


def load_clingo() -> Any:
    """Return the clingo package."""
    try:
        import clingo
    except ImportError:
        raise MissingExtra("clingo", extra="clingo") from None
    return clingo


@dataclass
class Case:
    """A person, as programs are told of them; what answers may not spend (and more) is added as it is learnt."""

    atoms: frozenset[str]
    prices: dict[Spending, int]
    ruled_out: list[frozenset[Spending]] = field(default_factory=list)

    @cached_property
    def costs(self) -> dict[str, tuple[Spending, int]]:
        """Return a name for each price that is one."""
        return {f"costs({f},{x},{w})": ((f, x), w) for (f, x), w in self.prices.items() if w}


class Grounding:
    """One control with so many moments, and what it has been told of the person who asks."""

    def __init__(self, parts: Parts, moments: int) -> None:
        self._clingo = load_clingo()
        self._control = self._clingo.Control(list(OPTIONS), logger=_log)
        self._control.configuration.solve.solve_limit = f"{AT_ONCE},umax"
        self._moments = moments
        self._symbols: dict[str, Any] = {}
        self._literals: dict[str, int] = {}
        self._reader = Reader()
        self._mode = ""
        self._true: set[str] = set()
        self._known: set[str] = set()
        self._case: Case | None = None
        self._look: int | None = None
        self._ruled_out = 0
        runs = any(component.blocks for component in parts.components)
        texts = [problem_facts(parts), _text("plan.lp"), _text("run.lp") if runs else ""]
        self._control.add("base", [], "\n".join(texts))
        ground: list[tuple[str, tuple[object, ...]]] = [("base", ()), ("end", ())]
        ground += [(name, (t,)) for name in ("state", "limits") for t in (0, "end")]
        ground += [("run_base", ())] if runs else []
        self._ground(ground)
        for t in range(1, moments + 1):
            self._ground([("way", (t,)), ("state", (t,)), *([("run", (t,))] if runs else [])])

    def _ground(self, parts: Iterable[tuple[str, tuple[object, ...]]]) -> None:
        self._control.ground(
            [(name, [self._symbol(str(each)) for each in given]) for name, given in parts]
        )

    def _ground_once(self, name: str, *given: object) -> None:
        atom = f"{name}({','.join(map(str, given))})"
        if atom not in self._known:
            self._known.add(atom)
            self._ground([(name, given)])

    def _symbol(self, text: str) -> Any:
        found = self._symbols.get(text)
        if found is None:
            found = self._symbols[text] = self._clingo.parse_term(text)
        return found

    @property
    def is_worn(self) -> bool:
        """Tell whether much has been added for people of the past, which is never taken away."""
        return len(self._known) > MOST_ADDED

    def solve(
        self,
        case: Case,
        *,
        moments: int | None = None,
        longer: int | None = None,
        bound: Bound | None = None,
        deadline: float | None = None,
    ) -> Model | None:
        """Return an answer of least cost up to a bound, or None if there is none.

        With moments, a way of at most so many leads to the end. With `longer`, a way of one moment more begins.
        """
        asked = []
        if moments is not None:
            asked += [f"horizon({moments})", "arriving"]
        if longer is not None:
            moments = longer + 1
            self._ground_once("longer", longer)
            asked += [f"longer({longer})"]
        assert (moments or 0) <= self._moments
        self._attend(case, {*asked, *(f"asked({t})" for t in range(1, (moments or 0) + 1))})
        self._set_mode("opt" if bound is None else f"opt,{bound[0]},{bound[1]}")
        return self._answer(deadline)

    def _set_mode(self, mode: str) -> None:
        if mode != self._mode:  # even the same takes a while to set
            self._control.configuration.solve.opt_mode = self._mode = mode

    def _attend(self, case: Case, asked: set[str]) -> None:
        """Make the program speak of a person, and of what is asked."""
        truth = self._clingo.TruthValue
        wanted = {*case.atoms, *case.costs, *asked}
        # Through the backend, and all at once: to ground a price would take longer than most questions.
        with self._control.backend() as backend:
            if case is not self._case:
                self._forget(backend)
                self._case = case
            self._price(backend, case)
            self._rule_out(backend, case)
            for name in self._true - wanted:
                backend.add_external(self._literal(name), truth.False_)
            for name in wanted - self._true:
                backend.add_external(self._literal(name), truth.True_)
        self._true = wanted

    def _literal(self, name: str) -> int:
        found = self._literals.get(name)
        if found is None:
            found = self._control.symbolic_atoms[self._symbol(name)].literal
            self._literals[name] = found
        return found

    def _price(self, backend: Any, case: Case) -> None:
        """Add the prices that nobody had before."""
        for name, (spending, weight) in case.costs.items():
            if name in self._known:
                continue
            self._known.add(name)
            self._literals[name] = told = backend.add_atom()
            backend.add_external(told)
            paid = backend.add_atom()
            backend.add_rule([paid], [self._spends(spending), told])
            backend.add_minimize(1, [(paid, weight)])

    def _spends(self, spending: Spending) -> int:
        index, way = spending
        return self._literal(f"spends({index},{way})")

    def _forget(self, backend: Any) -> None:
        """Give up what was ruled out for the person before."""
        if self._look is not None:
            backend.add_external(self._look, self._clingo.TruthValue.Release)
        self._look, self._ruled_out = None, 0

    def _rule_out(self, backend: Any, case: Case) -> None:
        """Rule out, as long as it is this person who asks, whatever spends as much as is known, and more."""
        new = case.ruled_out[self._ruled_out :]
        if new and self._look is None:
            self._look = backend.add_atom()
            backend.add_external(self._look, self._clingo.TruthValue.True_)
        for spent in new:
            backend.add_rule([], [*map(self._spends, spent), self._look])
        self._ruled_out = len(case.ruled_out)

    def _answer(self, deadline: float | None) -> Model | None:
        if deadline is not None and time.monotonic() >= deadline:
            raise TimeUp(None)
        seen: list[tuple[Any, int]] = []

        def keep(model: Any) -> None:
            seen[:] = [(model.symbols(shown=True), model.cost[0])]

        try:
            if not self._control.solve(on_model=keep).exhausted:
                self._wait(keep, deadline)
        except _Late:
            raise TimeUp(self._reader.read(*seen[0]) if seen else None) from None
        return self._reader.read(*seen[0]) if seen else None

    def _wait(self, keep: Callable[[Any], None], deadline: float | None) -> None:
        """Ask again without end, on a thread that can be called back."""
        limits = self._control.configuration.solve
        limits.solve_limit = "umax,umax"
        try:
            with self._control.solve(on_model=keep, async_=True) as handle:
                while not handle.wait(_patience(deadline)):
                    if deadline is not None and time.monotonic() >= deadline:
                        handle.cancel()
                        raise _Late
                handle.get()
        finally:
            limits.solve_limit = f"{AT_ONCE},umax"


class _Late(Exception):
    """Tells that the deadline passed."""


def _patience(deadline: float | None) -> float:
    return PATIENCE if deadline is None else max(min(deadline - time.monotonic(), PATIENCE), 0)


def _text(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _log(_code: Any, message: str) -> None:
    logger.debug("%s", message)
