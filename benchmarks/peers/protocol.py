"""What a method is: it is made ready for a world once, and then answers one person after the other.

To add a method, write one file with a `prepare` function and add one line to `PEERS` in `benchmarks.peers`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from benchmarks.world import State, World
from p2c._spec.feature import Value


class Aim(Enum):
    """What a method's answer has to satisfy: the problem's rules or the fitted model."""

    RULES = "rules"
    MODEL = "model"


class Compliance(Enum):
    """Whether a method is made to respect causal rules, in the words of the paper's table 3."""

    NO = "FALSE"
    INDIRECTLY = "Indirectly"
    YES = "TRUE"


Path = tuple[tuple[str, Value], ...]
"""Changes in order: a feature and its new value."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A counterfactual state, or None; whether it is proved cheapest, or proved not to exist; its own path, if any.

    A path lists what a person does, not what follows by itself. A `document` is a plan as the contract writes it, for the
    validator to replay.
    """

    end: State | None
    proved: bool = False
    path: Path | None = None
    note: str = ""
    document: Mapping[str, Any] | None = None


Finder = Callable[[State], Answer]


@dataclass(frozen=True, slots=True)
class Peer:
    """A method: what it aims at, whether it knows causes, how it is made ready, the modules and the Python it needs."""

    title: str
    aim: Aim
    compliance: Compliance
    prepare: Callable[[World], Finder]
    needs: tuple[str, ...] = ()
    python: tuple[int, int] = (3, 11)
    gives_path: bool = False
