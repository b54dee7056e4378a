"""The commands `explain` and `report`: letters, notices, reports for experts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from pathlib import Path  # noqa: TC003 - typer needs it at run time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from p2c._report.expert_report import ALTERNATIVES, Origin
from p2c._report.formats import renderer
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
    refuse_existing,
    spelled,
    write_new,
)
from p2c.errors import P2CError, counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from p2c._plan.outcome import Plan
    from p2c.problem import Problem

reporting = command_group()
WAY_OUT = f"{ELSEWHERE}, or --overwrite"


class Audience(Enum):
    """Who a report is for."""

    APPLICANT = "applicant"
    EXPERT = "expert"


@dataclass(frozen=True)
class Notices:
    """The options of a notice."""

    notice: Annotated[
        str | None,
        typer.Option(
            metavar="FORM",
            help="A notice: reg-b, ccd2, colorado, plain, or the file of an edited form.",
        ),
    ] = None
    lender: Annotated[
        Path | None,
        typer.Option(help="The lender's file: logo, sender, closing words, sources of data."),
    ] = None
    case: Annotated[
        Path | None,
        typer.Option(
            help="The fields of the case: a JSON object, or a CSV file with a row for each person."
        ),
    ] = None
    field: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="A field of the case; repeat it for more."),
    ] = None
    register: Annotated[
        Path | None, typer.Option(help="A file to which a record of each notice is appended.")
    ] = None

    def options(self, number: int = 1) -> dict[str, Any]:
        """Return the arguments of `Problem.report` for the person in a row."""
        from p2c._notices.form import fields_of, read_cases

        if self.notice is None and self.lender is None:
            wrong = [
                name for name in ("case", "field", "register") if getattr(self, name) is not None
            ]
            if wrong:
                raise P2CError(f"--{wrong[0]}: needs --notice, such as --notice reg-b")
            return {}
        cases = [] if self.case is None else read_cases(self.case)
        if self.case is not None and len(cases) < number:
            raise P2CError(f"{self.case}: expected a case for row {number}, found {len(cases)}")
        case = (cases[number - 1] if cases else {}) | fields_of(self.field or ())
        return {
            "notice": self.notice,
            "lender": self.lender,
            "case": case,
            "register": self.register,
        }


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
    notices: Notices,
    *,
    output: Annotated[
        Path,
        typer.Option(
            "-o", "--output", help="The file: .html, .md, .txt or .pdf; with --every a folder."
        ),
    ],
    audience: Annotated[
        Audience, typer.Option("--for", help="The reader: applicant or expert.")
    ] = Audience.APPLICANT,
    language: Language = "en",
    alternatives: Annotated[
        int, typer.Option(min=0, help="Number of alternatives in an expert's report.")
    ] = ALTERNATIVES,
    every: Annotated[
        bool,
        typer.Option("--every", help="Write a notice to every person of the file who is refused."),
    ] = False,
    format: Annotated[
        str, typer.Option("--format", help="The format of the notices of --every.")
    ] = "pdf",
    overwrite: Overwrite = False,
) -> None:
    """Write a report on one person's plan.

    It is the applicant's page, a notice, or a report for experts.
    """
    loaded = who.load()
    options: dict[str, Any] = {
        "audience": audience.value,
        "language": language,
        "reasons": codes.read(),
    }
    options |= {"time_limit": manner.time_limit, **keys.overrides}
    if every:
        if notices.notice is None:
            raise P2CError("--every: needs --notice, such as --notice reg-b")
        plans = (
            loaded.plan(row, **manner.keywords, **keys.overrides)
            for row in loaded.read_rows(who.row)
        )
        _write_every(
            loaded, plans, notices, {**options, "format": format}, output, replace=overwrite
        )
        return
    person = who.read(loaded)
    files = (*_files_of(who.problem), *_files_of(who.row))
    spelt = {"for": audience, "language": language, "row": who.number}
    spelt |= keys.overrides | manner.keywords | {"alternatives": alternatives}
    origin = Origin(
        command=spelled("report", who.problem, who.row, "-o", output, **spelt),
        alternatives=alternatives,
        files=tuple((str(path), file_digest(path)) for path in files),
    )
    plan = loaded.plan(person, **manner.keywords, **keys.overrides)
    chosen = notices.options(who.number or 1)
    if chosen and not overwrite:
        refuse_existing(output, way_out=WAY_OUT)
    content = loaded.report(
        plan,
        format=output.suffix.removeprefix(".").lower(),
        origin=origin,
        **options,
        **chosen,
    )
    write_new(output, content, replace=overwrite, way_out=WAY_OUT)
    raise typer.Exit(0 if plan.status in ("found", "already") else 1)


def _write_every(
    problem: Problem,
    plans: Iterable[Plan],
    notices: Notices,
    options: Mapping[str, Any],
    folder: Path,
    *,
    replace: bool,
) -> None:
    """Write a notice to each person who is refused, into a folder."""
    renderer(options["format"])
    written = number = 0
    for number, plan in enumerate(plans, start=1):
        if plan.status == "already":
            continue
        chosen = notices.options(number)
        name = re.sub(r"[^\w.-]+", "-", str(chosen["case"].get("reference", "")))[:60].strip("-.")
        path = folder / f"{'-'.join(filter(None, [f'{number:06}', name]))}.{options['format']}"
        if not replace:
            refuse_existing(path, way_out=WAY_OUT)
        try:
            content = problem.report(plan, **options, **chosen)
        except P2CError as error:
            raise P2CError(f"row {number}: {error}") from None
        write_new(path, content, replace=replace, announce=False, way_out=WAY_OUT)
        written += 1
    none = number - written
    out.print(f"{counted(written, 'notice')} in {folder}; {none:,} of {number:,} need none")


def _files_of(source: Path) -> list[Path]:
    """Return the files of an input: all of a folder, one, or none of a stream."""
    if source.is_dir():
        return sorted(source.iterdir())
    return [] if source == STANDARD_INPUT else [source]
