"""Commands stay in their files until they are asked for; none is forgotten there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from typer.main import get_group

import p2c.cli
from p2c.cli import group
from p2c.cli.app import app
from p2c.cli.group import HOMES
from p2c.domain.toml import problem_to_toml
from tests.loan import JOHN, LOAN

if TYPE_CHECKING:
    import typer


@pytest.mark.parametrize("home", HOMES)
def test_every_command_of_a_file_is_listed(home: str) -> None:
    found = get_group(getattr(import_module(f"p2c.cli.{home}"), home))
    assert tuple(found.commands) == HOMES[home]


def test_every_file_with_commands_is_listed() -> None:
    folder = Path(p2c.cli.__file__).parent
    groups = {path.stem for path in folder.glob("*.py") if "= command_group()" in path.read_text()}
    assert groups == set(HOMES)


def test_all_commands_are_there() -> None:
    names = [name for names in HOMES.values() for name in names]
    assert list(get_group(app).commands) == names


def test_the_list_of_all_commands_builds_the_group_of_each_file_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    built = []

    def counted(each: typer.Typer) -> object:
        built.append(each)
        return get_group(each)

    monkeypatch.setattr(group, "get_group", counted)
    group._commands_of.cache_clear()
    app(["--help"], standalone_mode=False)
    assert "nearest" in capsys.readouterr().out
    assert len(built) == len(HOMES)


def test_a_command_does_not_wait_for_what_others_need() -> None:
    loaded = (
        "import sys\n"
        "from p2c.cli import main\n"
        "try:\n"
        "    main()\n"
        "finally:\n"
        "    print(*sorted(sys.modules), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", loaded, "example"], capture_output=True, text=True, check=True
    )
    names = set(done.stderr.split())
    assert "p2c.cli.planning" in names
    assert not names & {"p2c.cli.batching", "p2c.engines.clingo.engine", "numpy", "pandas"}


@pytest.mark.parametrize("name", [name for names in HOMES.values() for name in names])
def test_a_command_whose_reader_has_gone_ends_quietly_and_not_as_if_there_were_no_way(
    name: str,
) -> None:
    assert _ending_without_reader([name, "--help"]) == (141, "")


@pytest.mark.parametrize(
    "arguments",
    [["plan"], ["plan", "--json"], ["nearest"], ["why"], ["explain"]],
)
def test_an_answer_that_nobody_reads_ends_quietly(tmp_path: Path, arguments: list[str]) -> None:
    (tmp_path / "loan.toml").write_text(problem_to_toml(LOAN))
    (tmp_path / "john.json").write_text(json.dumps(JOHN))
    files = [str(tmp_path / "loan.toml"), str(tmp_path / "john.json")]
    assert _ending_without_reader([arguments[0], *files, *arguments[1:]]) == (141, "")


def _ending_without_reader(arguments: list[str]) -> tuple[int, str]:
    """Return the exit code and the complaints of a command that writes to a pipe which nobody reads."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        line = [sys.executable, "-m", "p2c", *arguments]
        done = subprocess.run(line, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    finally:
        os.close(writing)
    return done.returncode, done.stderr
