"""A clingo program with a time limit; no other module imports clingo."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from p2c.errors import MissingExtra

if TYPE_CHECKING:
    from collections.abc import Iterable

Cost = tuple[int, ...]
"""The numbers that clingo minimises, the weightiest first."""


class AnswerSet(NamedTuple):
    """The shown atoms of an answer and its cost."""

    atoms: tuple[Any, ...]
    cost: Cost


logger = logging.getLogger(__name__)

OPTIONS = ("--opt-strategy=bb,lin", "--opt-heuristic=sign,model")
"""Branch and bound from below; unsatisfiable cores may not end."""

PATIENCE = 0.2
"""Seconds after which a waiting call looks up, so that an interrupt is heard."""


class TimeUp(Exception):
    """Tells that the deadline passed, and which answers had been seen."""

    def __init__(self, seen: Iterable[AnswerSet] = ()) -> None:
        self.seen = tuple(seen)


def load_clingo() -> Any:
    """Return the clingo package."""
    try:
        import clingo
    except ImportError:
        raise MissingExtra("clingo", extra="clingo") from None
    return clingo


class Control:
    """A ground program whose best answers are enumerated by excluding earlier ones."""

    def __init__(self, text: str, parts: Iterable[str], deadline: float | None) -> None:
        self._deadline = deadline
        self._check_time()
        self._control = load_clingo().Control(list(OPTIONS), logger=_log)
        self._control.add("base", [], text)
        self._control.ground([(part, []) for part in ("base", *parts)])

    def answers(self, bound: Cost = ()) -> list[AnswerSet]:
        """Return better and better answers, the best one last; none beyond the bound."""
        self._check_time()
        self._control.configuration.solve.opt_mode = ",".join(["opt", *map(str, bound)])
        seen: list[AnswerSet] = []

        def keep(model: Any) -> None:
            seen.append(AnswerSet(tuple(model.symbols(shown=True)), tuple(model.cost)))

        with self._control.solve(on_model=keep, async_=True) as handle:
            while not handle.wait(self._patience):
                if self._is_late:
                    handle.cancel()
                    raise TimeUp(seen)
            handle.get()
        return seen

    def rule_out(self, symbols: Iterable[Any]) -> None:
        """Exclude every answer in which all given atoms are true."""
        atoms = [self._control.symbolic_atoms[symbol] for symbol in symbols]
        assert None not in atoms, "what was true once can be true in a longer program"
        # Once the backend is open, atoms no longer tell their literals.
        literals = [atom.literal for atom in atoms]
        with self._control.backend() as backend:
            backend.add_rule([], literals)

    @property
    def _patience(self) -> float:
        if self._deadline is None:
            return PATIENCE
        return max(min(self._deadline - time.monotonic(), PATIENCE), 0.0)

    @property
    def _is_late(self) -> bool:
        return self._deadline is not None and time.monotonic() >= self._deadline

    def _check_time(self) -> None:
        if self._is_late:
            raise TimeUp


def _log(_code: Any, message: str) -> None:
    logger.debug("%s", message)
