"""P2C: a plan from a refused application to an accepted one, proved to be the cheapest there is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from p2c.errors import MissingExtra
from p2c.errors import P2CError as P2CError
from p2c.problem import Problem as Problem

if TYPE_CHECKING:
    from p2c.recourse import Recourse as Recourse


def __getattr__(name: str) -> object:
    """Import `Recourse` when it is first asked for: it needs pandas and scikit-learn, the rest does not."""
    if name != "Recourse":
        raise AttributeError(f"module 'p2c' has no attribute '{name}'")
    try:
        from p2c.recourse import Recourse
    except ModuleNotFoundError as error:
        raise MissingExtra(error.name or "pandas", extra="learn") from error
    return Recourse
