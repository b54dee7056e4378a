"""The nightly batch as it is deployed: the very command of the unit, with the environment of the documentation."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from p2c._spec.toml import problem_to_toml
from tests.batch.people import loan_people, read, write_parquet
from tests.loan import LOAN

DEPLOY = Path(__file__).parents[1] / "deploy"
GUIDE = Path(__file__).parents[1] / "docs" / "operators.md"


@pytest.fixture
def night(tmp_path: Path) -> list[str]:
    """Return what runs the unit's command in a place of its own: the script of `deploy`, and p2c beside it."""
    unit = (DEPLOY / "p2c-batch@.service").read_text()
    command = Path(re.findall(r"^ExecStart=(\S+)$", unit, re.MULTILINE)[0])
    place = tmp_path / "bin"
    place.mkdir()
    shutil.copy(DEPLOY / command.name, place)
    program = place / "p2c"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m p2c "$@"\n')
    program.chmod(0o755)
    lines = re.findall(r"printf '(.+)' > /etc/p2c/loan\.env", GUIDE.read_text())[0]
    settings = [line for line in lines.split(r"\n") if line]
    places = {"/etc/p2c": str(tmp_path), "/var/lib/p2c": str(tmp_path)}
    for before, after in places.items():
        settings = [line.replace(before, after) for line in settings]
    (tmp_path / "loan.toml").write_text(problem_to_toml(LOAN))
    return ["env", *settings, str(place / command.name)]


def run(night: list[str]) -> tuple[int, str]:
    done = subprocess.run(night, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def deliver(tmp_path: Path, count: int, when: int) -> None:
    path = write_parquet(tmp_path / "in" / "people.parquet", loan_people(count))
    os.utime(path, (when, when))


def test_every_night_has_its_answers_also_when_the_input_has_changed(
    tmp_path: Path, night: list[str]
) -> None:
    for count, when in ((30, 1_700_000_000), (30, 1_700_000_000), (50, 1_700_086_400)):
        deliver(tmp_path, count, when)
        assert run(night) == (0, f"{count} of {count} rows\n")
    nights = sorted((tmp_path / "out").iterdir())
    assert [len(read(folder)) for folder in nights] == [30, 50]
    assert all((folder / "_summary.json").exists() for folder in nights)


def test_a_night_without_any_input_is_bad_input(tmp_path: Path, night: list[str]) -> None:
    (tmp_path / "in").mkdir()
    code, complaint = run(night)
    assert (code, complaint.count("\n")) == (2, 1)
    assert "found none" in complaint


def test_the_image_has_every_extra_that_a_folder_or_a_report_may_need() -> None:
    project = tomllib.loads((DEPLOY.parent / "pyproject.toml").read_text(encoding="utf-8"))
    (everything,) = project["project"]["optional-dependencies"]["all"]
    recipe = (DEPLOY / "Containerfile").read_text(encoding="utf-8")
    (installed,) = re.findall(r"pip install .*'\.\[(.*)\]'", recipe)
    wanted = everything.partition("[")[2].rstrip("]").split(",")
    assert {*wanted} - {*installed.split(",")} == {"notebook"}


def test_workflows_pin_every_action_by_its_commit() -> None:
    workflows = sorted((DEPLOY.parent / ".github/workflows").glob("*.yml"))
    used = [
        line
        for path in workflows
        for line in re.findall(r"uses: (.*)", path.read_text(encoding="utf-8"))
    ]
    assert used
    assert [line for line in used if not re.fullmatch(r"\S+@[0-9a-f]{40}  # v[\d.]+", line)] == []
