"""A stored model opened and asked for the first time in a process of its own: of a torn or forged file, libraries die.

XGBoost, LightGBM and CatBoost follow the numbers in their files without a look, so that one wrong byte can end the process
that asks. Here it ends another one, and that is said.
"""

from __future__ import annotations

import multiprocessing
import os
from contextlib import suppress
from typing import TYPE_CHECKING

from p2c.errors import P2CError
from p2c.learn.model.asking import open_model
from p2c.learn.model.stored import PICKLES, RULES, load_model

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from p2c.domain.spec import Trust

ROWS = 1_000
"""How many rows the model is asked about."""
SECONDS = 60
"""How long a model may take for them; a tree that leads back to itself takes for ever."""


def try_model(path: Path, frame: pd.DataFrame, trust: Trust | None = None) -> None:
    """Refuse a file by which its library ends, or does not end; what else is wrong with it, opening it tells."""
    if path.suffix.lower() in (*PICKLES, *RULES, ".csv") or not path.is_file():
        return
    context = multiprocessing.get_context("spawn")
    process = context.Process(target=_ask_once, args=(path, frame.head(ROWS), trust), daemon=True)
    process.start()
    process.join(SECONDS)
    if process.is_alive():
        process.kill()
        process.join()
    if process.exitcode is None or process.exitcode < 0:
        raise P2CError(
            f"{path}: torn or forged: the library that wrote such files dies of it, or never answers"
        )


def _ask_once(path: Path, frame: pd.DataFrame, trust: Trust | None) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    with suppress(Exception):
        model = load_model(path, frame, trust)
        open_model(model, frame, desired=list(model.classes_)[-1]).answer(frame)
