"""The installed engines, each tested on a small problem."""

from __future__ import annotations

import math
import time
from dataclasses import asdict, dataclass
from typing import Any

from p2c._engines import ENGINES
from p2c._plan.compiled.space import Space
from p2c._rules.bind import build_theory
from p2c._spec.row import read_row
from p2c._spec.spec import read_spec
from p2c.errors import P2CError

PROBLEM: dict[str, Any] = {
    "name": "checkup",
    "goal": "not refused(X)",
    "rules": "refused(X) :- score(X,N), N<3. score(X,N) :- debt(X,'no'), N>=3.",
    "features": {
        "debt": {"type": "category", "values": ["no", "yes"], "weight": 2},
        "score": {"type": "int", "min": 0, "max": 5},
    },
}
ROW = {"debt": "yes", "score": 1}
COST = 2.0
"""The person pays the debt, and the score follows."""

PATIENCE = 60.0
"""Seconds that an engine may take."""


@dataclass(frozen=True, slots=True)
class Examination:
    """The examination of one engine; without a version it is not installed."""

    engine: str
    version: str | None
    install: str
    seconds: float | None = None
    fault: str = ""

    @property
    def healthy(self) -> bool:
        """Tell whether nothing is wrong: an engine that is not installed is no fault."""
        return not self.fault

    def to_dict(self) -> dict[str, Any]:
        """Return the examination as JSON."""
        return asdict(self)


def examine() -> list[Examination]:
    """Return an examination of every engine."""
    return [_examine(name) for name in ENGINES]


def _examine(name: str) -> Examination:
    engine = ENGINES[name]
    version = engine.version()
    if version is None:
        return Examination(name, None, engine.install)
    theory = build_theory(read_spec(PROBLEM))
    state = read_row(theory.features, ROW)
    begin = time.perf_counter()
    try:
        plan = engine.plan(Space(theory), state, time_limit=PATIENCE)
    except P2CError as error:
        return Examination(name, version, engine.install, None, str(error))
    seconds = time.perf_counter() - begin
    right = plan.cost is not None and math.isclose(plan.cost, COST)
    fault = "" if right else f"expected a cost of {COST}, found {plan.status} at {plan.cost}"
    return Examination(name, version, engine.install, seconds, fault)
