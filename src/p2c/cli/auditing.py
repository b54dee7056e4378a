"""The command `audit`: plans for many people and differences between groups.

Exit codes: 0 done, 1 parts of the answers are missing and the same command goes on from there, 2 bad input.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path  # noqa: TC003 - typer needs it at run time
from typing import TYPE_CHECKING, Annotated

import typer

from p2c.cli.app import command_group, complain, spread
from p2c.cli.desk import (
    ELSEWHERE,
    Keys,
    Language,
    Manner,
    Overwrite,
    ProblemFile,
    TrustOption,
    Workers,
    load_problem,
    spelled,
    watched,
    write_new,
)
from p2c.errors import MissingExtra

if TYPE_CHECKING:
    from p2c.problem import Problem

auditing = command_group()

EXPLAIN_TIME_LIMIT = 60.0


@auditing.command()
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
