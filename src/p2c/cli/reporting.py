"""The command that writes reports: the applicant's page, or all that an expert needs."""

from __future__ import annotations

import shlex
from enum import Enum
from pathlib import Path  # noqa: TC003 - typer needs it at run time
from typing import Annotated, Any

import typer

from p2c.cli.app import command_group, out
from p2c.cli.desk import (
    ELSEWHERE,
    EffectsOption,
    EngineOption,
    MinimizeOption,
    NormOption,
    ProblemFile,
    ProtectedOption,
    ReasonsOption,
    RowFile,
    RowNumber,
    TrustOption,
    catalogue,
    given,
    load_problem,
    read_person,
    write_new,
)
from p2c.domain.files import file_digest
from p2c.domain.spec import STANDARD_INPUT
from p2c.report.expert_report import ALTERNATIVES, Origin

reporting = command_group()


class Audience(Enum):
    """Who a report is for."""

    APPLICANT = "applicant"
    EXPERT = "expert"


Language = Annotated[str, typer.Option(help="The language: en or de.")]


@reporting.command()
def explain(
    problem: ProblemFile,
    row: RowFile,
    *,
    language: Language = "en",
    number: RowNumber = None,
    norm: NormOption = None,
    effects: EffectsOption = None,
    minimize: MinimizeOption = None,
    trust: TrustOption = None,
) -> None:
    """Tell one person's plan in plain words."""
    loaded = load_problem(problem, trust)
    keys: dict[str, Any] = given(norm=norm, effects=effects, minimize=minimize)
    plan = loaded.plan(read_person(loaded, row, number), **keys)
    out.print(plan.explain(language=language), markup=False)
    raise typer.Exit(0 if plan.status in ("found", "already") else 1)


@reporting.command()
def report(
    problem: ProblemFile,
    row: RowFile,
    *,
    output: Annotated[
        Path, typer.Option("-o", "--output", help="The file: .html, .md, .txt, .png or .pdf.")
    ],
    audience: Annotated[Audience, typer.Option("--for", help="Who reads it.")] = Audience.APPLICANT,
    language: Language = "en",
    number: RowNumber = None,
    norm: NormOption = None,
    effects: EffectsOption = None,
    minimize: MinimizeOption = None,
    engine: EngineOption = "auto",
    time_limit: Annotated[float | None, typer.Option(min=0, help="Seconds; then give up.")] = None,
    alternatives: Annotated[
        int, typer.Option(min=0, help="How many alternatives an expert sees.")
    ] = ALTERNATIVES,
    reasons: ReasonsOption = None,
    protected: ProtectedOption = None,
    overwrite: Annotated[bool, typer.Option(help="Replace the file if it exists.")] = False,
    trust: TrustOption = None,
) -> None:
    """Write a report on one person's plan: the applicant's page, or all that an expert needs."""
    loaded = load_problem(problem, trust)
    person = read_person(loaded, row, number)
    keys: dict[str, Any] = given(norm=norm, effects=effects, minimize=minimize)
    options = given(
        **{"for": audience, "language": language, "row": number, "engine": engine, **keys},
        **{"time-limit": time_limit, "alternatives": alternatives},
    )
    words = [f"--{key}={value}" for key, value in options.items()]
    origin = Origin(
        command=shlex.join(["p2c", "report", str(problem), str(row), "-o", str(output), *words]),
        alternatives=alternatives,
        files=tuple(
            (str(path), file_digest(path)) for path in (*_files_of(problem), *_files_of(row))
        ),
    )
    plan = loaded.plan(person, engine=engine, time_limit=time_limit, **keys)
    content = loaded.report(
        plan,
        format=output.suffix.removeprefix(".").lower(),
        audience=audience.value,
        language=language,
        time_limit=time_limit,
        origin=origin,
        reasons=catalogue(reasons, protected),
        **keys,
    )
    way_out = f"{ELSEWHERE}, or --overwrite"
    write_new(output, content, replace=overwrite, way_out=way_out)
    raise typer.Exit(0 if plan.status in ("found", "already") else 1)


def _files_of(given: Path) -> list[Path]:
    """Return the files that were read: those of a folder, one, or none where it was standard input."""
    if given.is_dir():
        return sorted(given.iterdir())
    return [] if given == STANDARD_INPUT else [given]
