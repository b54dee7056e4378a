"""What one server process has at hand for every request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from p2c.web.metrics import Metrics
    from p2c.web.problem_store import ProblemStore
    from p2c.web.settings import Settings
    from p2c.web.solver_pool import SolverPool


@dataclass(frozen=True)
class Context:
    """The settings, the problems, the solvers and the counts."""

    settings: Settings
    store: ProblemStore
    pool: SolverPool
    metrics: Metrics
