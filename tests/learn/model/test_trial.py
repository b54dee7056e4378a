"""Files of which a library dies are refused in a line; who asked lives on."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from p2c._learn.model.stored import try_model
from p2c._project.draft import read_draft, take_model, take_table
from p2c.errors import P2CError
from tests.cli.desk import Desk

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def torn(tmp_path: Path) -> Path:
    """Return a model of LightGBM with another number of leaves than it has: reading it ends the process."""
    lightgbm = pytest.importorskip("lightgbm")
    rows = people()
    model = lightgbm.LGBMClassifier(n_estimators=4, verbose=-1).fit(rows, rows["income"] > 4)
    path = tmp_path / "model.txt"
    model.booster_.save_model(path)
    try_model(path, rows)
    path.write_text(re.sub(r"num_leaves=\d+", "num_leaves=9000000", path.read_text()))
    rows.to_csv(tmp_path / "people.csv", index=False)
    return path


def people() -> pd.DataFrame:
    return pd.DataFrame({"income": np.arange(600) % 10, "debt": np.arange(600) // 10 % 6})


def test_p2c_fit_lives_on(
    torn: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = Desk(tmp_path, capsys, monkeypatch)
    shown = desk.refuses("fit", torn, "--data", tmp_path / "people.csv", "-o", tmp_path / "desk")
    assert "model.txt: torn or modified" in shown


def test_a_project_in_the_browser_lives_on(torn: Path, tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    take_table(folder, tmp_path / "people.csv")
    with pytest.raises(P2CError, match="torn or modified"):
        take_model(folder, torn)
    assert not read_draft(folder).model
