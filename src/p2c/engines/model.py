"""An answer of the program, read from clingo's symbols."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from p2c.engines.asker import Spending

Fact = tuple[str, Any, Any]
"""Where in a model something is told, of what, and what."""


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


class Reader:
    """Reads the answers of one control, and remembers what its atoms say: to take one apart is slow."""

    def __init__(self) -> None:
        self._facts: dict[Any, Fact] = {}

    def read(self, symbols: Iterable[Any], actions: int) -> Model:
        """Return the answer that holds these atoms."""
        told: dict[str, dict[Any, Any]] = {"spends": {}, "direct": {}, "at": {}, "end": {}}
        for symbol in symbols:
            fact = self._facts.get(symbol)
            if fact is None:
                fact = self._facts[symbol] = _fact(symbol)
            kind, key, value = fact
            told[kind][key] = value
        return Model(actions, frozenset(told["spends"]), told["direct"], told["at"], told["end"])


def _fact(symbol: Any) -> Fact:
    given = symbol.arguments
    index = given[0].number
    match symbol.name:
        case "spends":
            return "spends", (index, str(given[1])), True
        case "direct":
            return "direct", (given[3].number, index), (str(given[1]), str(given[2]))
        case "at" if given[2].type == given[0].type:
            return "at", (given[2].number, index), str(given[1])
        case _:
            return "end", index, str(given[1])
