"""The commands `export` and `doctor`: other tools and installed engines."""

from __future__ import annotations

import sys
from pathlib import Path  # noqa: TC003 - typer needs it at run time
from typing import Annotated

import typer

from p2c._engines.policy import examine
from p2c._export import EXPORTS
from p2c._export.opb import VERSIONS, proved_files
from p2c._markup import visible
from p2c._report.terminal import show_examinations
from p2c.cli.app import command_group, out, spread
from p2c.cli.desk import AsJson, Keys, OnePerson, print_json, write_new
from p2c.errors import P2CError, check_word

asp = command_group()

HOLD_MODELS = ("json", "json-schema")
"""Languages that can hold a problem with a model."""


@asp.command()
@spread
def export(
    who: OnePerson,
    keys: Keys,
    *,
    to: Annotated[str, typer.Option(help=f"The language: {', '.join(EXPORTS)}.")],
    folder: Annotated[
        Path | None, typer.Option("--out", help="The folder for the files; printed by default.")
    ] = None,
    proof: Annotated[
        bool, typer.Option("--proof", help="With --to opb: add a VeriPB log of the answer.")
    ] = False,
    proof_version: Annotated[
        str, typer.Option(help=f"The version of the log: {' or '.join(VERSIONS)}.")
    ] = VERSIONS[0],
) -> None:
    """Write the question of one person in the language of another tool."""
    check_word("--to: no language", to, EXPORTS)
    loaded = who.load()
    if loaded.model is not None and to not in HOLD_MODELS:
        can = " and ".join(HOLD_MODELS)
        raise P2CError(f"--to {to}: it cannot hold a model, which decides here; {can} can")
    keyed = loaded.with_keys(**keys.overrides)
    if proof and to != "opb":
        raise P2CError(f"--proof: --to {to} has no proof log, only --to opb has one")
    row = keyed.read_row(who.read(loaded))
    if proof:
        claim = keyed.plan(row).to_dict()
        files = proved_files(keyed.compiled, row, claim, version=proof_version)
    else:
        files = EXPORTS[to](keyed.compiled, row)
    if folder is None and len(files) > 1:
        raise P2CError(f"--to {to} makes {len(files)} files: name a folder for them with --out")
    for name, text in files.items():
        if folder is None:
            # A file has to hold what the problem says; only a terminal is spared it.
            sys.stdout.write(visible(text) if sys.stdout.isatty() else text)
        else:
            write_new(folder / name, text)


@asp.command()
def doctor(*, as_json: AsJson = False) -> None:
    """List the installed engines, and have each solve a small problem."""
    examinations = examine()
    if as_json:
        print_json([each.to_dict() for each in examinations])
    else:
        show_examinations(out, examinations)
    raise typer.Exit(0 if all(each.healthy for each in examinations) else 1)
