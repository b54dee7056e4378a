"""The command that audits: everybody in a file, who has a way to a yes, who has none, and whether groups differ.

Exit codes: 0 done, 1 parts of the answers are missing and the same command goes on from there, 2 bad input.
"""

from __future__ import annotations

import shlex
from importlib.util import find_spec
from pathlib import Path  # noqa: TC003 - typer needs it at run time
from typing import Annotated

import typer

from p2c.cli.app import Terminal, command_group, complain
from p2c.cli.desk import ELSEWHERE, ProblemFile, TrustOption, load_problem, write_new
from p2c.errors import BatchError, MissingExtra

auditing = command_group()


@auditing.command()
def audit(
    problem: ProblemFile,
    data: Annotated[
        Path, typer.Argument(help="The people: a Parquet or CSV file, or a folder of them.")
    ],
    *,
    output: Annotated[Path, typer.Option("-o", "--output", help="A folder for the report.")],
    by: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN[:BANDS]",
            help="Divide people by a column, in bands where given: age:<30,30-50,>50. Repeat it for more.",
        ),
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option(
            metavar="PROBLEM", help="Another problem: who would gain by it, and who lose."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="For what is drawn at random.")] = 0,
    workers: Annotated[int, typer.Option(min=1, help="How many processes plan.")] = 1,
    time_limit: Annotated[
        float | None, typer.Option(min=0, help="Seconds for one person; then give up on them.")
    ] = None,
    language: Annotated[str, typer.Option(help="The language: en or de.")] = "en",
    overwrite: Annotated[bool, typer.Option(help="Replace a report that is there.")] = False,
    trust: TrustOption = None,
) -> None:
    """Audit everybody in a file or folder: who has a way to a yes, who has none, and whether groups differ."""
    if find_spec("pyarrow") is None:
        raise MissingExtra("pyarrow", extra="batch")
    from p2c.audit.audit import FORMATS
    from p2c.batch.audited import audit_files
    from p2c.batch.show import progress
    from p2c.explain.phrases import phrases_of

    phrases_of(language)
    options = {"against": against, "seed": seed, "time-limit": time_limit, "language": language}
    words = [*(f"--by={each}" for each in by or ())]
    words += [f"--{key}={value}" for key, value in options.items() if value is not None]
    command = shlex.join(["p2c", "audit", str(problem), str(data), "-o", str(output), *words])
    try:
        with progress(Terminal(stderr=True)) as watch:
            found = audit_files(
                load_problem(problem, trust),
                data,
                output,
                by=tuple(by or ()),
                against=None if against is None else load_problem(against, trust),
                seed=seed,
                workers=workers,
                time_limit=time_limit,
                command=command,
                watch=watch,
            )
    except BatchError as error:
        complain(str(error))
        raise typer.Exit(1) from None
    # A PDF has its hour in it; where the figures are the same, it may be written anew.
    figures = output / "audit.json"
    same = figures.is_file() and figures.read_bytes() == found.report(format="json")
    for ending in FORMATS:
        try:
            content = found.report(format=ending, language=language)
        except MissingExtra as error:
            complain(f"audit.{ending} is left out: {error}")
            continue
        way_out = f"{ELSEWHERE}, or --overwrite"
        path = output / f"audit.{ending}"
        write_new(path, content, replace=overwrite or same, way_out=way_out)
