"""The command that reads rules off a model: a stored one, or decisions that were recorded.

Exit codes: 0 done, 2 bad input.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path  # noqa: TC003  typer reads the annotations
from typing import Annotated

import typer

from p2c.cli.app import command_group, out
from p2c.cli.desk import TrustOption, chosen_actions, refuse_existing, write_new
from p2c.cli.learning import (
    Down,
    Fixed,
    HeldOut,
    Ignored,
    ScaleName,
    ScaleOption,
    Seed,
    Up,
    hint_actions,
    need_learning,
)
from p2c.domain.spec import Trust
from p2c.domain.toml import problem_to_toml
from p2c.errors import P2CError
from p2c.problem import Problem

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
    desired: Annotated[str | None, typer.Option(help="The class that a person wants.")] = None,
    threshold: Annotated[
        float | None, typer.Option(min=0, max=1, help="Accept from this probability on.")
    ] = None,
    target: Annotated[
        str | None, typer.Option(help="The column of true labels, to measure the rules by.")
    ] = None,
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
    ignore: Ignored = None,
    held_out: HeldOut = 0.2,
    seed: Seed = 0,
    trust_pickle: Annotated[
        bool, typer.Option("--trust-pickle", help="Open a pickle, which may run any code.")
    ] = False,
    trust: TrustOption = None,
) -> None:
    """Read the rules of a model, or learn them from its answers, and write a problem around them."""
    need_learning()
    from p2c.learn.extract import logic
    from p2c.learn.extract.logic import outline_problem
    from p2c.learn.extract.source import read_source
    from p2c.learn.model.stored import load_model
    from p2c.learn.tables.files import find_column, read_frame
    from p2c.report.learned import show_extraction

    if (model is None) == (decisions is None):
        raise P2CError("expected a model file or --decisions COLUMN, and not both")
    refuse_existing(output, problem)
    frame = read_frame(data, without=ignore or ())
    truth = find_column(frame, target, source=str(data)) if target else None
    labels = frame[truth] if truth else None
    asked = frame.drop(columns=truth) if truth else frame
    column = partial(find_column, asked, source=str(data))
    actions = chosen_actions(column, fixed=fixed, up=up, down=down)
    if model is not None:
        words = [*(trust or ()), *(["pickle"] if trust_pickle else [])]
        opened = load_model(model, asked, Trust.of(words))
    else:
        opened = find_column(asked, decisions or "", source=str(data))
    source = read_source(opened, asked, desired=desired, threshold=threshold)
    found = logic.extract(source, labels, held_out=held_out, seed=seed)
    show_extraction(out, found, truth=f"the column {truth}" if truth else "it too")
    if problem is not None:
        described = outline_problem(
            source,
            found,
            name=problem.stem,
            scale=scale.value,
            actions=actions,
            origin=(model or data).name,
        )
        Problem.from_dict(described)
        hint_actions(described)
        write_new(problem, problem_to_toml(described))
    if output is not None:
        write_new(output, f"{found.program}\n")
