"""What commands share: their arguments, the files they read and write, and the console they print on."""

from __future__ import annotations

import json
import sys
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from p2c.cli.terminal import complain, out
from p2c.domain.files import read_rows
from p2c.domain.spec import Effects, Minimize, Norm, unreadable
from p2c.errors import P2CError, misread
from p2c.markup import visible

if TYPE_CHECKING:
    from p2c.problem import Problem

ProblemFile = Annotated[Path, typer.Argument(help="The problem, a TOML or JSON file.")]
RowFile = Annotated[
    Path, typer.Argument(help="The person: a JSON object, or a CSV or JSON lines file of rows.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of words.")]
RowNumber = Annotated[int, typer.Option("--row", min=1, help="Which row of the file, from 1.")]
NormOption = Annotated[
    Norm | None, typer.Option(help="How efforts add up; the problem's own by default.")
]
EffectsOption = Annotated[Effects | None, typer.Option(help="When effects happen.")]
MinimizeOption = Annotated[Minimize | None, typer.Option(help="What comes first.")]


def given(**keys: Any) -> dict[str, str]:
    """Return the overrides that were given, as the problem's keys hold them."""
    return {
        key: value.value if isinstance(value, Enum) else value
        for key, value in keys.items()
        if value is not None
    }


def load_problem(path: Path) -> Problem:
    """Return a problem; rules that have no say in it because of a slip in a name are named on standard error."""
    from p2c.problem import Problem
    from p2c.rules.lint import misspelt_heads

    loaded = Problem.load(path)
    for finding in misspelt_heads(loaded.theory):
        complain(f"{path}: {finding}")
    return loaded


def read_person(problem: Problem, path: Path, number: int) -> dict[str, Any]:
    """Return the person in the numbered row of a file."""
    rows = read_rows(problem.theory.features, path)
    if not rows:
        raise P2CError(f"{path}: expected at least one row, found none")
    if number > len(rows):
        raise P2CError(f"{path}: expected a row number up to {len(rows)}, found {number}")
    return dict(rows[number - 1])


ELSEWHERE = "choose another name or folder"
"""What to do about a file that is there already."""


def read_document(path: Path) -> dict[str, Any]:
    """Return a plan read from a JSON file."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise P2CError(f"{path}: cannot be read: {unreadable(error)}") from None
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise P2CError(f"{path}: not JSON: {misread(error, text)}") from None
    if not isinstance(document, dict):
        raise P2CError(f"{path}: expected a plan, which is a JSON object")
    return document


def write_new(
    path: Path, content: str | bytes, *, replace: bool = False, way_out: str = ELSEWHERE
) -> None:
    """Write a file unless it would replace another one, and say where it is."""
    data = content.encode() if isinstance(content, str) else content
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not replace and path.exists() and path.read_bytes() != data:
            raise P2CError(f"{path}: exists and differs; it is left as it is, {way_out}")
        path.write_bytes(data)
    except OSError as error:
        raise P2CError(f"{path}: cannot be written: {error.strerror}") from None
    out.print(str(path), markup=False)


def refuse_existing(*paths: Path | None) -> None:
    """Refuse files that exist before any work is put into what would be written there."""
    for path in paths:
        if path is not None and path.exists():
            raise P2CError(f"{path}: exists; it is left as it is, {ELSEWHERE}")


def print_json(data: Any) -> None:
    """Print data as JSON, in letters that the terminal has."""
    text = json.dumps(data, indent=2, ensure_ascii=False)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
        safe = visible(text) == text
    except UnicodeEncodeError:
        safe = False
    print(text if safe else json.dumps(data, indent=2))  # noqa: T201
