"""The commands `explain` and `report`."""

from __future__ import annotations

from enum import Enum
from pathlib import Path  # noqa: TC003 - typer needs it at run time
from typing import Annotated

import typer

from p2c._report.expert_report import ALTERNATIVES, Origin
from p2c._spec.files import file_digest
from p2c._spec.spec import STANDARD_INPUT
from p2c.cli.app import command_group, out, spread
from p2c.cli.desk import (
    ELSEWHERE,
    Codes,
    Keys,
    Language,
    Manner,
    OnePerson,
    Overwrite,
    spelled,
    write_new,
)

reporting = command_group()


class Audience(Enum):
    """Who a report is for."""

    APPLICANT = "applicant"
    EXPERT = "expert"


@reporting.command()
@spread
def explain(who: OnePerson, keys: Keys, manner: Manner, *, language: Language = "en") -> None:
    """Tell one person's plan in plain words."""
    loaded = who.load()
    plan = loaded.plan(who.read(loaded), **manner.keywords, **keys.overrides)
    out.print(plan.explain(language=language), markup=False)
    raise typer.Exit(0 if plan.status in ("found", "already") else 1)


@reporting.command()
@spread
def report(
    who: OnePerson,
    keys: Keys,
    manner: Manner,
    codes: Codes,
    *,
    output: Annotated[
        Path, typer.Option("-o", "--output", help="The file: .html, .md, .txt or .pdf.")
    ],
    audience: Annotated[
        Audience, typer.Option("--for", help="The reader: applicant or expert.")
    ] = Audience.APPLICANT,
    language: Language = "en",
    alternatives: Annotated[
        int, typer.Option(min=0, help="Number of alternatives in an expert's report.")
    ] = ALTERNATIVES,
    overwrite: Overwrite = False,
) -> None:
    """Write a report on one person's plan for the applicant or for an expert."""
    loaded = who.load()
    person = who.read(loaded)
    files = (*_files_of(who.problem), *_files_of(who.row))
    options = {"for": audience, "language": language, "row": who.number}
    options |= keys.overrides | manner.keywords | {"alternatives": alternatives}
    origin = Origin(
        command=spelled("report", who.problem, who.row, "-o", output, **options),
        alternatives=alternatives,
        files=tuple((str(path), file_digest(path)) for path in files),
    )
    plan = loaded.plan(person, **manner.keywords, **keys.overrides)
    content = loaded.report(
        plan,
        format=output.suffix.removeprefix(".").lower(),
        audience=audience.value,
        language=language,
        time_limit=manner.time_limit,
        origin=origin,
        reasons=codes.read(),
        **keys.overrides,
    )
    write_new(output, content, replace=overwrite, way_out=f"{ELSEWHERE}, or --overwrite")
    raise typer.Exit(0 if plan.status in ("found", "already") else 1)


def _files_of(source: Path) -> list[Path]:
    """Return the files of an input: all of a folder, one, or none of a stream."""
    if source.is_dir():
        return sorted(source.iterdir())
    return [] if source == STANDARD_INPUT else [source]
