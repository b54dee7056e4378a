"""The command that reads rules off a model: a stored one, or decisions that were recorded.

Exit codes: 0 done, 2 bad input.
"""

from __future__ import annotations

from pathlib import Path  # noqa: TC003  typer reads the annotations
from typing import Annotated

import typer

from p2c.cli.app import command_group, out
from p2c.cli.desk import TrustOption, refuse_existing, write_new
from p2c.cli.fitting import Weights, who_changes
from p2c.cli.learning import (
    DecimalComma,
    Desired,
    Down,
    Empty,
    Fixed,
    Free,
    HeldOut,
    Ignored,
    ScaleName,
    ScaleOption,
    Seed,
    Threshold,
    Truth,
    Up,
    hint_actions,
)
from p2c.domain.spec import Trust
from p2c.domain.toml import problem_to_toml
from p2c.errors import P2CError, need_learning

extraction = command_group()


@extraction.command()
def extract(
    model: Annotated[
        Path | None,
        typer.Argument(
            help="The model: a .joblib, .pkl, .skops, .onnx, .json, .ubj, .txt, .cbm, .csv or rules (.lp) file, or a folder of MLflow."
        ),
    ] = None,
    *,
    data: Annotated[Path, typer.Option(help="Rows to ask it about, a CSV or Parquet file.")],
    decisions: Annotated[
        str | None, typer.Option(help="Instead of a model: the column of recorded decisions.")
    ] = None,
    desired: Desired = None,
    threshold: Threshold = None,
    target: Truth = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Where to write the rules.")
    ] = None,
    problem: Annotated[
        Path | None, typer.Option(help="Where to write a problem around them, a TOML file.")
    ] = None,
    scale: ScaleOption = ScaleName.RANGE,
    fixed: Fixed = None,
    up: Up = None,
    down: Down = None,
    free: Free = None,
    weight: Weights = None,
    ignore: Ignored = None,
    decimal_comma: DecimalComma = False,
    empty: Empty = None,
    held_out: HeldOut = 0.2,
    seed: Seed = 0,
    trust_pickle: Annotated[
        bool, typer.Option("--trust-pickle", help="Open a pickle, which may run any code.")
    ] = False,
    trust: TrustOption = None,
) -> None:
    """Read the rules of a model, or learn them from its answers, and write a problem around them."""
    need_learning()
    from p2c.project import FitRequest, open_table
    from p2c.project.fitting import extract_problem, feature_remarks, open_recorded, open_stored
    from p2c.report.learned import show_changes, show_extraction, show_unused

    if (model is None) == (decisions is None):
        raise P2CError("expected a model file or --decisions COLUMN, and not both")
    refuse_existing(output, problem)
    table = open_table(data, ignore=ignore or (), decimal_comma=decimal_comma, empty=empty)
    if model is not None:
        words = [*(trust or ()), *(["pickle"] if trust_pickle else [])]
        opened = open_stored(model, table, target=target, trust=Trust.of(words))
    else:
        opened = open_recorded(table, decisions or "", target=target)
    named = {"fixed": fixed, "up": up, "down": down, "free": free}
    request = FitRequest(
        desired=desired,
        threshold=threshold,
        assumptions=who_changes(opened.table, weight, yes=True, **named),
        scale=scale.value,
        name=problem.stem if problem else data.stem,
        seed=seed,
    )
    found, described = extract_problem(opened, request, held_out=held_out)
    show_changes(out, opened.table.seen, request.assumptions)
    show_unused(out, opened.unused)
    truth = "it too" if opened.labels is None else f"the column {opened.labels.name}"
    show_extraction(out, found, truth=truth)
    if problem is not None:
        hint_actions(described)
        remarks = feature_remarks(opened.table, request.assumptions, described["features"])
        write_new(problem, problem_to_toml(described, remarks))
    if output is not None:
        write_new(output, f"{found.program}\n")
