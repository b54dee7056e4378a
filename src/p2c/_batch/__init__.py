"""Whole files of people planned for: Parquet or CSV in, Parquet out, in parts that any number of workers may take."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from p2c._engines.policy import Policy
from p2c.errors import MissingExtra, P2CError

if TYPE_CHECKING:
    from pathlib import Path

    from p2c._audit.reasons import Catalogue
    from p2c._batch.summary import Summary
    from p2c.problem import Problem

PART_ROWS = 1 << 20
"""How many rows a part has at most, as far as the row groups of the input let it."""


def plan_files(
    problem: Problem,
    source: str | Path,
    target: str | Path,
    options: Options | None = None,
    **how: Any,
) -> Summary:
    """Plan for everybody in a file or folder, write the answers into a folder, and return what was found.

    `how` says by whom and who is told: `executor`, a name of `EXECUTORS`, with its `workers` or `address`, and
    `watch`, which gets every part's record as it comes in.
    """
    if find_spec("pyarrow") is None:
        raise MissingExtra("pyarrow", extra="batch")
    from p2c._batch.run import run

    return run(problem, source, target, options, **how)


@dataclass(frozen=True, slots=True)
class Options:
    """The columns carried through, how many further end states are listed, the size of a part, and how each is planned for."""

    keep: tuple[str, ...] = ()
    keep_all: bool = False
    alternatives: int = 0
    part_rows: int = PART_ROWS
    policy: Policy = field(default_factory=Policy)
    reasons: Catalogue | None = None
    """The codes of the principal reasons, which are then given for everybody who is refused."""

    def __post_init__(self) -> None:
        for name, least in (("alternatives", 0), ("part_rows", 1)):
            number = getattr(self, name)
            if not isinstance(number, int) or isinstance(number, bool) or number < least:
                raise P2CError(f"{name}: expected a whole number from {least} on, found {number!r}")

    def to_dict(self) -> dict[str, Any]:
        """Return the options as JSON."""
        told = {**asdict(self), "keep": list(self.keep)}
        if self.reasons is None:
            del told["reasons"]
        policy: dict[str, Any] = told.pop("policy")
        return told | policy
