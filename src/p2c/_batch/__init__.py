"""Batches: plans for the rows of Parquet or CSV files, in parts for many workers."""

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
    """Plan for everybody in a file or folder, and write the answers into a folder.

    The keywords of `how` choose the workers and the progress display: `executor`, a name of `EXECUTORS`, with its `workers` or `address`, and
    `watch`, which gets every part's record as it comes in.
    """
    if find_spec("pyarrow") is None:
        raise MissingExtra("pyarrow", extra="batch")
    from p2c._batch.run import run

    return run(problem, source, target, options, **how)


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a batch: copied columns, alternatives, size of parts, limits."""

    keep: tuple[str, ...] = ()
    keep_all: bool = False
    alternatives: int = 0
    part_rows: int = PART_ROWS
    policy: Policy = field(default_factory=Policy)
    reasons: Catalogue | None = None
    """The codes of principal reasons, to list for each refused person."""

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
