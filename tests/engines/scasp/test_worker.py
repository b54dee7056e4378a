"""The warm worker with fakes of Prolog, which fail in every way there is."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import time
from subprocess import PIPE
from typing import TYPE_CHECKING, Any

import pytest

from p2c._engines import ENGINES
from p2c._engines.scasp.engine import ScaspEngine
from p2c._engines.scasp.solver import COLD, find_solver
from p2c._engines.scasp.worker import ScaspWorker, run, workers_of
from p2c.errors import EngineError
from p2c.problem import Problem
from tests.loan import JOHN, LOAN

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from p2c._engines.scasp.worker import Workers
    from p2c._plan.outcome import Plan

FAKE = """
import os, re, signal, subprocess, sys, time

def noted(line):
    with open({noted!r}, "a") as file:
        file.write(line + " ")

if "-g" not in sys.argv:
    noted("cold")
    print('{{"answers": []}}')
    sys.exit()
noted(str(os.getpid()))
{start}
print("ready", flush=True)
for line in sys.stdin:
    out, complaint = re.findall(r"'([^']*)'", line)[:2]
    {answer}
"""
"""Prolog as a script of ours: it is started with a goal where it is to be a worker."""

NONE = "open(out, 'w').write('{\"answers\": []}'); print('exited(0)', flush=True)"
"""What a worker does that knows no answer."""


def pretend(monkeypatch: pytest.MonkeyPatch, folder: Path, script: str) -> None:
    """Put a program of our own in the place of s(CASP)."""
    path = folder / "scasp"
    path.write_text(f"#!{sys.executable}\nimport os, signal, subprocess, sys, time\n{script}\n")
    path.chmod(0o755)
    monkeypatch.setenv("SCASP", str(path))


def cold(time_limit: float | None = None) -> Plan:
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
        cold()
    assert ENGINES["scasp"].version() is None


def test_a_command_that_no_shell_could_read_is_one_clear_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SCASP", "scasp 'half")
    with pytest.raises(EngineError, match=r"in \$SCASP, found .*: no closing quotation"):
        cold()


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
        cold()
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
        cold()
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
        cold()


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
        assert cold(time_limit=limit).status == "gave_up"
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
    assert cold(time_limit=0).status == "gave_up"
    assert not noted.exists()


def test_a_killed_group_reports_its_signal() -> None:
    code, _, _ = run((sys.executable, "-c", "import os; os.kill(os.getpid(), 15)"), None)
    assert code == -signal.SIGTERM


class Stage:
    """A fake in the place of s(CASP), and what it noted of itself."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._path = folder / "swipl"
        self._noted = folder / "noted"
        monkeypatch.setenv("SCASP", f"{self._path} --")

    def put(self, *, start: str = "", answer: str = NONE) -> None:
        script = FAKE.format(noted=str(self._noted), start=start, answer=answer)
        self._path.write_text(f"#!{sys.executable}\n{script}")
        self._path.chmod(0o755)

    @property
    def workers(self) -> Workers:
        found = workers_of((str(self._path), "--"))
        assert found is not None
        return found

    @property
    def noted(self) -> list[str]:
        return self._noted.read_text().split() if self._noted.exists() else []


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    found = Stage(tmp_path, monkeypatch)
    yield found
    found.workers.end()


def ask(**options: Any) -> Plan:
    problem = Problem.from_dict(LOAN)
    return ScaspEngine().plan(problem.compiled, problem.read_row(JOHN), **options)


def test_one_worker_answers_every_question(stage: Stage) -> None:
    stage.put()
    assert [ask().status for _ in range(3)] == ["infeasible"] * 3
    assert stage.noted == [str(each) for each in stage.workers.processes]
    assert len(stage.noted) == 1


@pytest.mark.parametrize(
    "start",
    ["sys.exit(1)", "print('hello', flush=True)", "print('x' * 5000, flush=True)", "os.kill(0, 9)"],
)
def test_what_does_not_become_a_worker_is_started_for_each_question(
    stage: Stage, start: str
) -> None:
    stage.put(start=start)
    assert [ask().status for _ in range(2)] == ["infeasible"] * 2
    assert stage.noted[1:] == ["cold", "cold"]
    solver = find_solver()
    assert solver is not None
    assert solver.manner == COLD
    assert is_gone(int(stage.noted[0]))


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        ("print('what?', flush=True)", "expected how a question ended, found 'what"),
        ("print('z' * 5000, flush=True)", "expected how a question ended, found 'zzz"),
        ("print('exited(0)', flush=True)", "expected answers as JSON, found nothing"),
        (NONE.replace("answers", "reply"), "expected answers as JSON, found '{"),
        (
            "open(complaint, 'w').write('ERROR: no such thing'); print('exited(1)', flush=True)",
            "failed with code 1: ERROR: no such thing",
        ),
        ("print('signaled(9)', flush=True)", "the process was ended by SIGKILL"),
        ("os.kill(os.getpid(), 9)", "the warm worker ended by SIGKILL in the middle of a question"),
        ("sys.exit(3)", "the warm worker ended with code 3 in the middle of a question"),
        ("os.close(1); time.sleep(1000)", "the warm worker fell silent in the middle"),
    ],
)
def test_a_failing_worker_is_one_clear_error_and_the_next_question_is_answered(
    stage: Stage, answer: str, complaint: str
) -> None:
    stage.put(answer=answer)
    with pytest.raises(EngineError, match=complaint) as raised:
        ask()
    assert len(str(raised.value).splitlines()) == 1
    stage.workers.end()
    assert is_gone(int(stage.noted[0]))
    stage.put()
    assert ask().status == "infeasible"


def test_a_worker_that_ended_between_two_questions_is_replaced(stage: Stage) -> None:
    stage.put()
    ask()
    (first,) = stage.workers.processes
    os.kill(first, signal.SIGKILL)
    assert is_gone(first)
    assert ask().status == "infeasible"
    assert first not in stage.workers.processes


def test_time_that_is_up_ends_the_worker_and_what_it_started(stage: Stage) -> None:
    stage.put(
        answer="child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(1000)']);"
        "noted(str(child.pid)); signal.signal(15, signal.SIG_IGN); time.sleep(1000)"
    )
    limit = 2.0
    while len(stage.noted) < 2:
        assert ask(time_limit=limit).status == "gave_up"
        limit *= 2
    assert all(is_gone(int(each)) for each in stage.noted)
    assert stage.workers.processes == ()


def test_time_that_is_up_before_the_worker_is_ready_is_the_callers(stage: Stage) -> None:
    stage.put(start="time.sleep(1000)")
    limit = 1.0
    while not stage.noted:
        assert ask(time_limit=limit).status == "gave_up"
        limit *= 2
    assert "cold" not in stage.noted
    assert not stage.workers.refused
    assert all(is_gone(int(each)) for each in stage.noted)


def test_an_interrupt_ends_the_worker(stage: Stage) -> None:
    stage.put(answer="noted('asked'); time.sleep(1000)")

    def interrupt(_number: int, _frame: object) -> None:
        # Not before the question is put: a worker that is only starting is another test.
        if "asked" in stage.noted:
            signal.setitimer(signal.ITIMER_REAL, 0)
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.1, 0.1)
    try:
        with pytest.raises(KeyboardInterrupt):
            ask()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert stage.workers.processes == ()
    assert is_gone(int(stage.noted[0]))


def test_no_time_at_all_asks_no_worker(stage: Stage) -> None:
    stage.put()
    assert ask(time_limit=0).status == "gave_up"
    assert not stage.noted


def executable(path: Path, text: str) -> str:
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


def test_a_saved_state_is_kept_warm_by_prolog_and_anything_else_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = executable(tmp_path / "scasp", "#!/bin/sh\n# SWI-Prolog saved state\nexit 1\n")
    other = executable(tmp_path / "other", "#!/bin/sh\nexit 1\n")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert workers_of((state,)) is None
    swipl = executable(tmp_path / "swipl", "#!/bin/sh\nexit 1\n")
    found = workers_of((state,))
    assert found is not None
    assert found.command == (swipl, "-x", state)
    assert workers_of((other,)) is None
    assert workers_of((state, "--verbose")) is None
    assert workers_of((str(tmp_path / "nowhere"), "--")) is None


def test_a_state_that_prolog_cannot_start_is_run_for_each_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = f"#!{sys.executable}\n# SWI-Prolog saved state\nprint('{{\"answers\": []}}')\n"
    state = executable(tmp_path / "scasp", text)
    executable(tmp_path / "swipl", "#!/bin/sh\nexit 1\n")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("SCASP", state)
    assert ask().status == "infeasible"
    solver = find_solver()
    assert solver is not None
    assert solver.manner == COLD


def test_a_limit_may_be_as_long_as_one_likes() -> None:
    command = (sys.executable, "-c", "print('ready')")
    with subprocess.Popen(command, bufsize=0, stdin=PIPE, stdout=PIPE) as process:
        assert ScaspWorker(process).hear(math.inf) == "ready"
