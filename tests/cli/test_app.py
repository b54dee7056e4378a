"""The program as a whole and as a process of its own."""

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
from typer.testing import CliRunner

import p2c.cli
from p2c._release import __version__
from p2c._spec.toml import problem_to_toml
from p2c.cli.app import HOMES, _commands_of, app
from tests.cli.desk import STUCK, Desk, process
from tests.loan import JOHN, LOAN, category

if TYPE_CHECKING:
    import typer


def test_help_names_every_command(desk: Desk) -> None:
    shown = desk.run("--help")
    assert shown.code == 0
    for name in ("plan", "nearest", "why", "check", "follow-up", "lint", "space", "example"):
        assert f"  {name} " in shown.out
    assert desk.run("plan", "--help").code == 0


# The program as a process of its own.


def test_exit_codes_and_streams_of_the_process(desk: Desk) -> None:
    for row, code in ((JOHN, 0), (STUCK, 1)):
        shown = process("plan", desk.loan, desk.row(row))
        assert (shown.returncode, shown.stderr) == (code, b"")
        assert b"\x1b" not in shown.stdout, "no colours in a pipe"
    shown = process("plan", desk.loan, desk.folder / "none.json")
    assert (shown.returncode, shown.stdout) == (2, b"")
    assert shown.stderr.count(b"\n") == 1


def test_where_a_sign_has_no_code_the_rest_is_still_read(desk: Desk) -> None:
    ascii_only = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    shown = process("why", desk.loan, desk.john, env=ascii_only)
    assert shown.returncode == 0
    assert b"\\u2713 reject_loan(X)" in shown.stdout
    features = {"c": category("é", "大")}
    document = {"goal": "c(X,'大')", "rules": "", "features": features}
    problem = desk.write("words.toml", problem_to_toml(document))
    shown = process("plan", problem, desk.row({"c": "é"}), "--json", env=ascii_only)
    assert json.loads(shown.stdout)["counterfactual"] == {"c": "大"}


@pytest.mark.skipif(sys.platform != "linux", reason="needs /dev/full")
def test_a_full_disk_is_one_line(desk: Desk) -> None:
    command = [sys.executable, "-c", "from p2c.cli import main; main()"]
    with open("/dev/full", "wb") as full:
        shown = subprocess.run(
            [*command, "plan", str(desk.loan), str(desk.john), "--json"],
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            timeout=300,
        )
    assert shown.returncode == 2
    assert shown.stderr == b"the output cannot be written: No space left on device\n"


def test_the_commands_can_be_mounted_in_another_program(desk: Desk) -> None:
    shown = CliRunner().invoke(app, ["plan", str(desk.loan), str(desk.john), "--json"])
    assert shown.exit_code == 0
    assert json.loads(shown.output)["status"] == "found"


def test_the_version_is_printed_without_a_command() -> None:
    shown = process("--version")
    assert (shown.returncode, shown.stderr) == (0, b"")
    assert shown.stdout.decode() == f"p2c {__version__}\n"


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

    monkeypatch.setattr("p2c.cli.app.get_group", counted)
    _commands_of.cache_clear()
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
    assert not names & {"p2c.cli.batching", "p2c._engines.clingo.engine", "numpy", "pandas"}


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
