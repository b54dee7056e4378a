"""The first command of a newcomer: it says which Python is needed, and comes through where it once failed."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

MAKEFILE = Path(__file__).parents[1] / "Makefile"
OLD = 'exec {python} -c "import sys; sys.version_info = (3, 10, 12); $2"'

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed here")


def older_python(path: Path) -> Path:
    """Write a program that says, asked by Python code, that it is Python 3.10."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{OLD.format(python=sys.executable)}\n")
    path.chmod(0o755)
    return path


def make_environment(folder: Path, python: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", "--silent", "-f", MAKEFILE, "environment", f"PYTHON={python}"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_an_older_python_is_refused_with_one_line_before_anything_is_made(tmp_path: Path) -> None:
    done = make_environment(tmp_path, older_python(tmp_path / "old"))
    line, stop = done.stderr.splitlines()
    assert line.startswith("p2c needs Python 3.11 or newer, and this is 3.10: name another with")
    assert "Error" in stop
    assert not (tmp_path / ".venv").exists()


def test_what_an_older_python_has_left_behind_is_made_anew(tmp_path: Path) -> None:
    older_python(tmp_path / ".venv/bin/python")
    (tmp_path / ".venv/pyvenv.cfg").write_text("version = 3.10.12\n")
    assert make_environment(tmp_path, sys.executable).returncode == 0
    asked = [str(tmp_path / ".venv/bin/python"), "-m", "pip", "--version"]
    shown = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    assert f"(python {sys.version_info[0]}.{sys.version_info[1]})" in shown


def test_a_folder_that_is_no_environment_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / ".venv").mkdir()
    kept = tmp_path / ".venv/thesis.txt"
    kept.write_text("years of work")
    done = make_environment(tmp_path, sys.executable)
    assert done.returncode != 0
    assert ".venv is there and is no environment of Python: remove it" in done.stderr
    assert kept.read_text() == "years of work"
