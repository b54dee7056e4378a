"""The program as a whole and as a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from p2c.cli.app import app
from p2c.domain.toml import problem_to_toml
from p2c.release import __version__
from tests.cli.desk import STUCK, Desk, process
from tests.loan import JOHN, category


def test_help_names_every_command(desk: Desk) -> None:
    shown = desk.run("--help")
    assert shown.code == 0
    for name in ("plan", "nearest", "why", "check", "lint", "space", "example"):
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
