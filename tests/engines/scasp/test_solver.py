"""The s(CASP) executable with fakes of it, which fail in every way there is."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from typing import TYPE_CHECKING

import pytest

from p2c._engines import ENGINES
from p2c._engines.scasp.engine import find_solver, run
from p2c.errors import EngineError
from p2c.problem import Problem
from tests.loan import JOHN, LOAN

if TYPE_CHECKING:
    from pathlib import Path

    from p2c._plan.outcome import Plan


def pretend(monkeypatch: pytest.MonkeyPatch, folder: Path, script: str) -> None:
    """Put a program of our own in the place of s(CASP)."""
    path = folder / "scasp"
    path.write_text(f"#!{sys.executable}\nimport os, signal, subprocess, sys, time\n{script}\n")
    path.chmod(0o755)
    monkeypatch.setenv("SCASP", str(path))


def ask(time_limit: float | None = None) -> Plan:
    problem = Problem.from_dict(LOAN)
    return ENGINES["scasp"].plan(problem.compiled, problem.read_row(JOHN), time_limit=time_limit)


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def is_gone(process: int) -> bool:
    """Wait until a process that was killed is collected by whoever inherited it."""
    for _ in range(500):
        try:
            with open(f"/proc/{process}/stat") as file:
                if file.read().rpartition(")")[2].split()[0] == "Z":
                    return True
        except OSError:
            return not is_alive(process)
        time.sleep(0.01)
    return False


def test_a_missing_binary_is_one_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCASP", "/nowhere/scasp")
    with pytest.raises(EngineError, match="'/nowhere/scasp' cannot be started"):
        ask()
    assert ENGINES["scasp"].version() is None


def test_a_command_that_no_shell_could_read_is_one_clear_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SCASP", "scasp 'half")
    with pytest.raises(EngineError, match=r"in \$SCASP, found .*: no closing quotation"):
        ask()


def test_a_blank_name_is_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SCASP", "  ")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_solver() is None


def test_where_there_is_none_the_message_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("SCASP", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EngineError, match=r"no s\(CASP\) here: see https://") as raised:
        ask()
    assert ENGINES["scasp"].install in str(raised.value)
    assert ENGINES["scasp"].version() is None


def test_the_path_is_searched_before_the_library(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pretend(monkeypatch, tmp_path, "print('{}')")
    monkeypatch.delenv("SCASP")
    monkeypatch.setenv("PATH", str(tmp_path))
    solver = find_solver()
    assert solver is not None
    assert solver.command == (str(tmp_path / "scasp"),)


def test_without_a_binary_the_library_of_prolog_will_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "swipl"
    path.write_text("#!/bin/sh\nexit 0\n")
    path.chmod(0o755)
    monkeypatch.delenv("SCASP", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    solver = find_solver()
    assert solver is not None
    assert solver.command[0] == "swipl"


@pytest.mark.parametrize(
    ("script", "complaint"),
    [
        ("print('Segmentation')", "expected answers as JSON, found 'Segmentation'"),
        ("pass", "expected answers as JSON, found nothing"),
        ("print('{\"answers\": [')", "expected answers as JSON"),
        ("print('{\"answers\": [{}]}')", "expected answers as JSON"),
        ('print(\'{"answers": [{"bindings": 3}]}\')', "answers with their bindings"),
        ('print(\'{"answers": [{"bindings": {}}]}\')', "none of ours: None"),
        ("sys.exit('ERROR: no such thing')", "failed with code 1: ERROR: no such thing"),
        ("print('ERROR: half', file=sys.stderr); print('{\"answers\": []}')", "ERROR: half"),
        ("os.kill(os.getpid(), signal.SIGKILL)", "ended by SIGKILL"),
    ],
)
def test_a_failing_solver_is_one_clear_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, script: str, complaint: str
) -> None:
    pretend(monkeypatch, tmp_path, script)
    with pytest.raises(EngineError, match=complaint) as raised:
        ask()
    assert len(str(raised.value).splitlines()) == 1


def answer_of(*path: object) -> str:
    return json.dumps({"answers": [{"bindings": {"Path": {"truth": True, "value": list(path)}}}]})


def whole(number: int) -> dict[str, object]:
    return {"type": "rational", "numerator": number, "denominator": 1}


def action(kind: str, feature: str, start: int, end: int) -> dict[str, object]:
    name = {"type": "atom", "value": feature}
    return {"type": "compound", "functor": kind, "args": [name, whole(start), whole(end)]}


@pytest.mark.parametrize(
    ("path", "complaint"),
    [
        ([action("do", "debt", 5000, 17)], "an action that is none of ours"),
        (
            [action("then", "credit_score", 599, 620)],
            "an effect that does not follow: credit_score",
        ),
        ([action("do", "bank_balance", 40_000, 60_000)], "does not lead to the goal"),
        ([action("do", "debt", 5000, 0)], "does not lead to the goal"),
    ],
)
def test_a_wrong_path_is_never_passed_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, path: list[object], complaint: str
) -> None:
    said = answer_of(*path)
    once = tmp_path / "asked"
    script = f"first = not os.path.exists({str(once)!r}); open({str(once)!r}, 'w').close()\n"
    pretend(monkeypatch, tmp_path, script + f"print({said!r} if first else '{{\"answers\": []}}')")
    with pytest.raises(EngineError, match=complaint):
        ask()


def test_time_that_is_up_leaves_no_process_behind(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    noted = tmp_path / "processes"
    script = (
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(1000)'])\n"
        f"open({str(noted)!r}, 'w').write(f'{{os.getpid()}} {{child.pid}}')\n"
        "time.sleep(1000)"
    )
    pretend(monkeypatch, tmp_path, script)
    limit = 2.0
    while not noted.exists():
        assert ask(time_limit=limit).status == "gave_up"
        limit *= 2
    assert all(is_gone(int(each)) for each in noted.read_text().split())


def test_a_child_that_outlives_its_answer_is_ended_too(tmp_path: Path) -> None:
    script = (
        "import subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(1000)'],\n"
        "    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)\n"
        "print(child.pid)"
    )
    code, out, _ = run((sys.executable, "-c", script), None)
    assert code == 0
    assert is_gone(int(out))


def test_no_time_at_all_starts_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    noted = tmp_path / "started"
    pretend(monkeypatch, tmp_path, f"open({str(noted)!r}, 'w').close()")
    assert ask(time_limit=0).status == "gave_up"
    assert not noted.exists()


def test_a_killed_group_reports_its_signal() -> None:
    code, _, _ = run((sys.executable, "-c", "import os; os.kill(os.getpid(), 15)"), None)
    assert code == -signal.SIGTERM
