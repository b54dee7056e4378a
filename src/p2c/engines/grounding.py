"""A problem ground by clingo once and asked about many people: who asks is a matter of externals.

This is the only module that imports clingo.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field
from importlib import resources
from typing import TYPE_CHECKING, Any, NamedTuple

from p2c.engines.facts import problem_facts
from p2c.errors import MissingExtra

if TYPE_CHECKING:
    from collections.abc import Iterable

    from p2c.engines.asker import Spending
    from p2c.engines.parts import Parts

logger = logging.getLogger(__name__)

OPTIONS = ("--opt-strategy=bb,lin", "--opt-heuristic=sign,model")
"""Branch and bound that starts low; unsatisfiable cores did not end on some of our questions."""

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


class Model(NamedTuple):
    """An answer: what is spent, the direct actions, and where features then stand."""

    actions: int
    """How many direct actions there are, where they come before the cost."""
    spent: frozenset[Spending]
    direct: dict[tuple[int, int], tuple[str, str]]
    """For each moment and feature, from which slot to which."""
    slots: dict[tuple[int, int], str]
    """For each moment and feature, the slot."""
    end: dict[int, str]


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


class Grounding:
    """One control with so many moments, and what it has been told of the person who asks."""

    def __init__(self, parts: Parts, moments: int) -> None:
        self._clingo = load_clingo()
        self._control = self._clingo.Control(list(OPTIONS), logger=_log)
        self._moments = moments
        self._symbols: dict[str, Any] = {}
        self._true: set[str] = set()
        self._known: set[str] = set()
        self._case: Case | None = None
        self._looks = self._ruled_out = 0
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
        limit = "" if bound is None else f",{bound[0]},{bound[1]}"
        self._control.configuration.solve.opt_mode = f"opt{limit}"
        return self._wait(deadline)

    def _attend(self, case: Case, asked: set[str]) -> None:
        """Make the program speak of a person, and of what is asked."""
        if case is not self._case:
            self._forget()
            self._case = case
        costs = {f"costs({f},{way},{w})": (f, way, w) for (f, way), w in case.prices.items() if w}
        new = [name for name in costs if name not in self._known]
        if new:  # even nothing takes a while to ground
            self._ground([("price", costs[name]) for name in new])
            self._known.update(new)
        self._rule_out(case)
        wanted = {*case.atoms, *costs, *asked}
        if self._ruled_out:
            wanted.add(f"look({self._looks})")
        for name in self._true - wanted:
            self._control.assign_external(self._symbol(name), False)
        for name in wanted - self._true:
            self._control.assign_external(self._symbol(name), True)
        self._true = wanted

    def _forget(self) -> None:
        """Give up what was ruled out for the person before."""
        if self._ruled_out:
            self._true.discard(f"look({self._looks})")
            self._control.release_external(self._symbol(f"look({self._looks})"))
        self._ruled_out = 0

    def _rule_out(self, case: Case) -> None:
        if len(case.ruled_out) == self._ruled_out:
            return
        if not self._ruled_out:
            self._looks += 1
            self._ground_once("look", self._looks)
        atoms = self._control.symbolic_atoms
        look = atoms[self._symbol(f"look({self._looks})")].literal
        for spent in case.ruled_out[self._ruled_out :]:
            known = [atoms[self._symbol(f"spends({f},{way})")].literal for f, way in spent]
            with self._control.backend() as backend:
                backend.add_rule([], [*known, look])
        self._ruled_out = len(case.ruled_out)

    def _wait(self, deadline: float | None) -> Model | None:
        best: list[Model] = []
        if deadline is not None and time.monotonic() >= deadline:
            raise TimeUp(None)

        def keep(model: Any) -> None:
            best[:] = [_read(model.symbols(shown=True), model.cost[0])]

        with self._control.solve(on_model=keep, async_=True) as handle:
            while not handle.wait(_patience(deadline)):
                if deadline is not None and time.monotonic() >= deadline:
                    handle.cancel()
                    raise TimeUp(best[0] if best else None)
            handle.get()
        return best[0] if best else None


def _patience(deadline: float | None) -> float:
    return PATIENCE if deadline is None else max(min(deadline - time.monotonic(), PATIENCE), 0)


def _text(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _read(symbols: Iterable[Any], actions: int) -> Model:
    spent, direct, slots, end = set(), {}, {}, {}
    for symbol in symbols:
        given = symbol.arguments
        index = given[0].number
        match symbol.name:
            case "spends":
                spent.add((index, str(given[1])))
            case "direct":
                direct[given[3].number, index] = (str(given[1]), str(given[2]))
            case "at" if given[2].type == given[0].type:
                slots[given[2].number, index] = str(given[1])
            case _:
                end[index] = str(given[1])
    return Model(actions, frozenset(spent), direct, slots, end)


def _log(_code: Any, message: str) -> None:
    logger.debug("%s", message)
