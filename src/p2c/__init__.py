"""P2C: a plan from a refused application to an accepted one, proved to be the cheapest there is."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from p2c.errors import P2CError as P2CError
    from p2c.problem import Problem as Problem
    from p2c.recourse import Recourse as Recourse

__all__ = ("P2CError", "Problem")  # what `from p2c import *` brings needs no extra
HOMES = {"P2CError": "p2c.errors", "Problem": "p2c.problem", "Recourse": "p2c.recourse"}
"""Where each name comes from, which is loaded when it is first asked for; `Recourse` needs pandas and scikit-learn."""


def __getattr__(name: str) -> object:
    if name not in HOMES:
        if name.startswith("_") or find_spec(f"p2c.{name}") is None:
            raise AttributeError(f"module 'p2c' has no attribute '{name}'")
        return import_module(f"p2c.{name}")
    try:
        home = import_module(HOMES[name])
    except ModuleNotFoundError as error:
        from p2c.errors import MissingExtra

        if name != "Recourse":
            raise
        raise MissingExtra(error.name or "pandas", extra="learn") from error
    return globals().setdefault(name, getattr(home, name))


def __dir__() -> list[str]:
    """Name what can be asked for here, so that `help(p2c)` works without any extra too."""
    learns = find_spec("pandas") is not None and find_spec("sklearn") is not None
    return sorted({*globals(), *HOMES} - (set() if learns else {"Recourse"}))
