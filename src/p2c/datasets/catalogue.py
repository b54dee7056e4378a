"""The problems that come with the package: their TOML text and a few named rows each."""

from __future__ import annotations

import json
from importlib import resources
from typing import TYPE_CHECKING

from p2c.errors import Fault, ProblemError, suggestion

if TYPE_CHECKING:
    from p2c.datasets.archive import Row

NAMES = ("loan", "cars", "adult", "german")


def names() -> tuple[str, ...]:
    """Return the names of the problems, the simplest first.

    >>> names()
    ('loan', 'cars', 'adult', 'german')
    """
    return NAMES


def problem_text(name: str) -> str:
    """Return the TOML text of a problem, comments and all, to load or to copy from."""
    return _read(name, "toml")


def rows(name: str) -> dict[str, Row]:
    """Return the named example rows of a problem.

    >>> rows("loan")["john"]["credit_score"]
    599
    """
    examples: dict[str, Row] = json.loads(_read(name, "rows.json"))
    return examples


def _read(name: str, ending: str) -> str:
    if name not in NAMES:
        message = f"no problem '{name}': {suggestion(name, NAMES)}"
        raise ProblemError([Fault("datasets", message)])
    file = resources.files(__package__).joinpath("problems", f"{name}.{ending}")
    return file.read_text(encoding="utf-8")
