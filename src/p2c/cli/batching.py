"""The command `batch`: plans for the rows of Parquet or CSV files.

Exit codes: 0 done, 1 parts are missing and the same command goes on from there, 2 bad input.
"""

from __future__ import annotations

import logging
from enum import Enum
from pathlib import Path  # noqa: TC003 - typer needs it at run time
from typing import Annotated

import typer

from p2c._batch import PART_ROWS, Options, plan_files
from p2c._engines.policy import Policy
from p2c.cli.app import command_group, out, spread
from p2c.cli.desk import (
    AsJson,
    Codes,
    Keys,
    Manner,
    ProblemFile,
    TrustOption,
    Workers,
    load_problem,
    print_json,
    watched,
)
from p2c.errors import P2CError

batching = command_group()


class Cluster(Enum):
    """Where a Dask cluster is started."""

    LOCAL = "local"


@batching.command()
@spread
def batch(
    problem: ProblemFile,
    source: Annotated[
        Path, typer.Argument(metavar="IN", help="A Parquet or CSV file, or a folder of them.")
    ],
    target: Annotated[Path, typer.Argument(metavar="OUT", help="A folder for the answers.")],
    *,
    keys: Keys,
    manner: Manner,
    codes: Codes,
    keep: Annotated[
        list[str] | None, typer.Option(help="A column to copy into the output. Repeatable.")
    ] = None,
    keep_all: Annotated[
        bool,
        typer.Option("--keep-all", help="Copy every column that is no feature into the output."),
    ] = False,
    alternatives: Annotated[
        int, typer.Option(min=0, help="Number of further end states to list for each person.")
    ] = 0,
    workers: Workers = 1,
    part_rows: Annotated[
        int, typer.Option(min=1, help="Approximate number of rows in a part.")
    ] = PART_ROWS,
    scheduler: Annotated[
        str | None, typer.Option(help="The address of a Dask scheduler that distributes the parts.")
    ] = None,
    cluster: Annotated[
        Cluster | None,
        typer.Option(help="Start a Dask cluster with --workers workers on this machine."),
    ] = None,
    blockers: Annotated[bool, typer.Option(help="Find the blockers of infeasible people.")] = True,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the summary into this image file.")
    ] = None,
    as_json: AsJson = False,
    trust: TrustOption = None,
) -> None:
    """Plan for everybody in a file or folder; run it again to resume."""
    if scheduler is not None and cluster is not None:
        raise P2CError("--scheduler and --cluster: give one of the two")
    from p2c._batch.show import check_figure, plot_summary, show_summary

    if plot is not None:
        check_figure(plot)

    keyed = load_problem(problem, trust).with_keys(**keys.overrides)
    policy, reasons = Policy(**manner.keywords), codes.read()
    if reasons is not None:
        reasons.refuse_gaps(keyed.compiled)
    options = Options(tuple(keep or ()), keep_all, alternatives, part_rows, policy, reasons)
    executor = "dask" if scheduler or cluster else "processes" if workers > 1 else "here"
    # A lost scheduler is reported on one line; Dask would print a traceback before it.
    logging.getLogger("distributed.client").disabled = True
    how = {"workers": workers, "address": scheduler, "blockers": blockers}
    with watched() as watch:
        summary = plan_files(keyed, source, target, options, executor=executor, watch=watch, **how)
    if as_json:
        print_json(summary.to_dict())
    else:
        show_summary(out, summary)
    if plot is not None:
        plot_summary(summary, plot)
