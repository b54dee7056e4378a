"""Whole files of people planned for: Parquet or CSV in, Parquet out, in parts that any number of workers may take."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from p2c.errors import MissingExtra

if TYPE_CHECKING:
    from pathlib import Path

    from p2c.batch.options import Options
    from p2c.batch.summary import Summary
    from p2c.problem import Problem


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
    from p2c.batch.run import run

    return run(problem, source, target, options, **how)
