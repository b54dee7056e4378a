"""The commands for files of people: `batch` and `audit`."""

from __future__ import annotations

import logging
from enum import Enum
from importlib.util import find_spec
from pathlib import Path  # noqa: TC003 - typer needs it at run time
from typing import TYPE_CHECKING, Annotated

import typer

from p2c._batch import PART_ROWS, Options, plan_files
from p2c._engines.policy import Policy
from p2c.cli.app import command_group, complain, out, spread
from p2c.cli.desk import (
    ELSEWHERE,
    AsJson,
    Codes,
    Keys,
    Language,
    Manner,
    Overwrite,
    ProblemFile,
    TrustOption,
    Workers,
    load_problem,
    print_json,
    spelled,
    watched,
    write_new,
)
from p2c.errors import MissingExtra, P2CError

if TYPE_CHECKING:
    from p2c.problem import Problem


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


EXPLAIN_TIME_LIMIT = 60.0


@batching.command()
@spread
def audit(
    problem: ProblemFile,
    data: Annotated[
        Path, typer.Argument(help="The people: a Parquet or CSV file, or a folder of them.")
    ],
    keys: Keys,
    manner: Manner,
    *,
    output: Annotated[Path, typer.Option("-o", "--output", help="A folder for the report.")],
    by: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN[:BANDS]",
            help="Divide people by a column, with bands for a number: age:<30,30-50,>50. Repeatable.",
        ),
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option(
            metavar="PROBLEM", help="Another problem, to count who gains and who loses by it."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0,
    explain_time_limit: Annotated[
        float,
        typer.Option(
            metavar="SECONDS", min=0, help="Seconds for all explanations of infeasible people."
        ),
    ] = EXPLAIN_TIME_LIMIT,
    workers: Workers = 1,
    language: Language = "en",
    overwrite: Overwrite = False,
    trust: TrustOption = None,
) -> None:
    """Plan for everybody in a file or folder, and compare groups."""
    if find_spec("pyarrow") is None:
        raise MissingExtra("pyarrow", extra="batch")
    from p2c._audit.audit import FORMATS
    from p2c._batch.audited import audit_files
    from p2c._engines.policy import Policy
    from p2c._explain.phrases import phrases_of

    phrases_of(language)
    options = {"against": against, "seed": seed, **manner.keywords, **keys.overrides}
    if explain_time_limit != EXPLAIN_TIME_LIMIT:
        options["explain-time-limit"] = explain_time_limit
    divided = [f"--by={each}" for each in by or ()]
    command = spelled("audit", problem, data, "-o", output, *divided, **options, language=language)

    def opened(path: Path) -> Problem:
        return load_problem(path, trust).with_keys(**keys.overrides)

    with watched() as watch:
        result = audit_files(
            opened(problem),
            data,
            output,
            by=tuple(by or ()),
            against=None if against is None else opened(against),
            seed=seed,
            explain_time_limit=explain_time_limit,
            workers=workers,
            policy=Policy(**manner.keywords),
            command=command,
            anew=overwrite,
            watch=watch,
        )
    # A PDF holds the time; it may be replaced if the figures are the same.
    figures = output / "audit.json"
    same = figures.is_file() and figures.read_bytes() == result.report(format="json")
    for ending in FORMATS:
        try:
            content = result.report(format=ending, language=language)
        except MissingExtra as error:
            complain(f"audit.{ending} is left out: {error}")
            continue
        way_out = f"{ELSEWHERE}, or --overwrite"
        path = output / f"audit.{ending}"
        write_new(path, content, replace=overwrite or same, way_out=way_out)
