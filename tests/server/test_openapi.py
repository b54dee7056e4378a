"""The service keeps to its own description, whatever it is asked."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from p2c import datasets
from tests.server.running import running

if TYPE_CHECKING:
    from pathlib import Path


def attacked(folder: Path, *arguments: str, examples: int) -> None:
    """Have schemathesis ask a server all that its description allows, and much that it does not."""
    with running(folder, *arguments, "--api") as server:
        command = [
            sys.executable,
            "-m",
            "schemathesis.cli",
            "run",
            f"{server.address}/openapi.json",
        ]
        # Whether a row fits depends on the problem, which no schema can say.
        command += ["--exclude-checks", "positive_data_acceptance", "--no-color", "--seed", "1"]
        command += ["--max-examples", str(examples), "--request-timeout", "60"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
        assert done.returncode == 0, done.stdout[-5_000:] + done.stderr[-2_000:]
        assert "8 passed" in done.stdout


@pytest.mark.slow
def test_the_service_of_every_problem_keeps_to_its_description(tmp_path: Path) -> None:
    attacked(tmp_path, examples=100)


@pytest.mark.slow
def test_the_service_of_one_problem_keeps_to_its_description(tmp_path: Path) -> None:
    file = tmp_path / "loan.toml"
    file.write_text(datasets.problem_text("loan"))
    attacked(tmp_path, str(file), examples=200)
