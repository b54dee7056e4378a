"""What one server process has at hand for every request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from p2c.web.crew import Crew
    from p2c.web.metrics import Metrics
    from p2c.web.settings import Settings
    from p2c.web.shelf import Shelf


@dataclass(frozen=True)
class Desk:
    """The settings, the problems, the solvers and the counts."""

    settings: Settings
    shelf: Shelf
    crew: Crew
    metrics: Metrics
