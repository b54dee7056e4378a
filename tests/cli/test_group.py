"""Commands stay in their files until they are asked for; none is forgotten there."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from typer.main import get_group

import p2c.cli
from p2c.cli.app import AllCommands, app


@pytest.mark.parametrize("home", AllCommands.homes)
def test_every_command_of_a_file_is_listed(home: str) -> None:
    group = get_group(getattr(import_module(f"p2c.cli.{home}"), home))
    assert tuple(group.commands) == AllCommands.homes[home]


def test_every_file_with_commands_is_listed() -> None:
    folder = Path(p2c.cli.__file__).parent
    groups = {path.stem for path in folder.glob("*.py") if "= command_group()" in path.read_text()}
    assert groups == set(AllCommands.homes)


def test_all_commands_are_there() -> None:
    names = [name for names in AllCommands.homes.values() for name in names]
    assert list(get_group(app).commands) == names


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
    assert not names & {"p2c.cli.batching", "p2c.engines.clingo_engine", "numpy", "pandas"}
