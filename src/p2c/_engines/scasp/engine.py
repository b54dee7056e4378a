"""s(CASP) as an engine, with a program that follows the paper's algorithms.

s(CASP) finds paths; that one of them is the cheapest is proved by asking on: the depth, which is the number of direct
actions, grows until there is a path, and then the effort that a path may take shrinks until there is none left.
Each plan is replayed by the validator before it is given out.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from p2c._engines.instance import Instance, conclude, read_path
from p2c._engines.places import most_effort
from p2c._engines.scasp.program import ScaspProgram
from p2c._engines.scasp.rules import read_term
from p2c._plan.answer import ask
from p2c._plan.outcome import Already
from p2c.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from p2c._engines.instance import Named
    from p2c._plan.compiled.space import Space
    from p2c._plan.outcome import Plan
    from p2c._plan.search.best_first import Arrival
    from p2c._spec.feature import Value


VARIABLE = "SCASP"
HOME = "https://github.com/SWI-Prolog/sCASP"
INSTALL = f"see {HOME}, then put `scasp` on the PATH or name it in ${VARIABLE}"
OPTIONS = ("--forall=prev", "--unknown=error", "--no-nmr")
AS_JSON = ("--json=-", "--width=0")
LIBRARY = ("swipl", "-g", "use_module(library(scasp/main))", "-t", "halt", "--")
PROBE = ("swipl", "-q", "-g", "exists_source(library(scasp/main)) -> halt(0) ; halt(1)")
ANSWERING = 10.0
"""Seconds that it may take to tell a version."""
LONGEST = 3600.0
"""Seconds after which a process is ended although the caller set no limit."""


class OutOfTime(Exception):
    """Tells that the deadline passed before there was an answer."""


def run(command: Sequence[str], deadline: float | None) -> tuple[int, str, str]:
    """Run a command with a time limit; its whole process group is ended."""
    left = LONGEST if deadline is None else min(deadline - time.monotonic(), LONGEST)
    if left <= 0:
        raise OutOfTime
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            encoding="utf-8",
            errors="replace",
        )
    except OSError as error:
        raise EngineError(f"scasp: '{command[0]}' cannot be started: {error.strerror}") from None
    try:
        out, complaint = process.communicate(timeout=left)
    except subprocess.TimeoutExpired:
        if deadline is None:
            raise EngineError(f"scasp: no answer within {LONGEST:.0f} seconds") from None
        raise OutOfTime from None
    finally:
        end_group(process)
    return process.returncode, out, complaint


def end_group(process: subprocess.Popen[str]) -> None:
    """Kill and collect the rest of a process group."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()
    process.wait()


@dataclass(frozen=True)
class ScaspSolver:
    """A command that starts s(CASP), which vouches for one query in a process."""

    command: tuple[str, ...]

    def solve(
        self,
        program: str,
        query: str,
        *,
        answers: int,
        deadline: float | None,
        options: Sequence[str] = (),
    ) -> list[dict[str, Any]]:
        """Return the answers to a query, as many as asked for; 0 asks for all."""
        given = (*AS_JSON, *options, f"-s{answers}")
        code, out, complaint = self._ask(program, query, given, deadline)
        _refuse_failure(code, complaint)
        return _answers(out, complaint)

    def tell(
        self, program: str, query: str, *, deadline: float | None, options: Sequence[str]
    ) -> str:
        """Return the printed first answer to a query."""
        code, out, complaint = self._ask(program, query, (*options, "-s1"), deadline)
        _refuse_failure(code, complaint)
        return out

    def _ask(
        self, program: str, query: str, options: Sequence[str], deadline: float | None
    ) -> tuple[int, str, str]:
        with tempfile.TemporaryDirectory(prefix="p2c-scasp-") as folder:
            path = Path(folder) / "program.pl"
            path.write_text(f"{program}\n?- {query}.\n", encoding="utf-8")
            return run((*self.command, *OPTIONS, *options, str(path)), deadline)

    def version(self) -> str | None:
        """Return the version of the command, or None if it does not start."""
        try:
            _, out, complaint = run((*self.command, "--version"), time.monotonic() + ANSWERING)
        except (EngineError, OutOfTime):
            return None
        said = re.search(r"version (\d[\w.]*)", out + complaint)
        return said.group(1) if said else None


def find_solver() -> ScaspSolver | None:
    """Return the s(CASP) of $SCASP, of the PATH, or of SWI-Prolog's library."""
    named = os.environ.get(VARIABLE, "").strip()
    if named:
        return ScaspSolver(_words(named))
    found = shutil.which("scasp")
    if found:
        return ScaspSolver((found,))
    swipl = shutil.which("swipl")
    return ScaspSolver(LIBRARY) if swipl and _has_library(swipl) else None


def require_solver() -> ScaspSolver:
    """Return s(CASP), or say how to get it."""
    solver = find_solver()
    if solver is None:
        raise EngineError(f"scasp: there is no s(CASP) here: {INSTALL}")
    return solver


def _words(command: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(command))
    except ValueError as error:
        what = f"expected a command as a shell reads it in ${VARIABLE}, found {command!r}"
        raise EngineError(f"scasp: {what}: {str(error).lower()}") from None


@cache
def _has_library(swipl: str) -> bool:
    probe = (swipl, *PROBE[1:])
    try:
        return run(probe, time.monotonic() + ANSWERING)[0] == 0
    except (EngineError, OutOfTime):
        return False


def _refuse_failure(code: int, complaint: str) -> None:
    """Raise if s(CASP) failed; faults may end with code 0 as well."""
    if code < 0:
        raise EngineError(f"scasp: the process was ended by {signal.Signals(-code).name}")
    if code != 0 or "ERROR" in complaint:
        said = _first_line(complaint) or "no word why"
        raise EngineError(f"scasp: it failed with code {code}: {said}")


def _answers(out: str, complaint: str) -> list[dict[str, Any]]:
    """Return the answers in the JSON that s(CASP) printed."""
    said = _first_line(complaint)
    try:
        data = json.loads(out)
        answers = data["answers"]
        bindings = [answer["bindings"] for answer in answers]
    except (ValueError, KeyError, TypeError, RecursionError):
        start = _first_line(out)[:80]
        found = f"'{start}'" if start else f"nothing{f' but: {said}' if said else ''}"
        raise EngineError(f"scasp: expected answers as JSON, found {found}") from None
    if not all(isinstance(each, dict) for each in bindings):
        raise EngineError("scasp: expected answers with their bindings, found others")
    return list(answers)


def _first_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return next((line for line in lines if "ERROR" in line), lines[0] if lines else "")


ONLY_PLANS = "#show plan/4."
"""The option that omits the rest of a model, which is slow to print."""

AT_ONCE = 20
"""Paths that are asked for at a time, once there is one to beat."""


@dataclass(frozen=True)
class ScaspEngine:
    """Goal-directed answer set programming in another process."""

    install: str = INSTALL

    def version(self) -> str | None:
        """Return the version of s(CASP), or None where there is none."""
        solver = find_solver()
        return None if solver is None else solver.version()

    def plan(
        self, space: Space, state: Mapping[str, Value], *, time_limit: float | None = None
    ) -> Plan:
        """Return the path of least cost from a state to the goal."""
        deadline = None if time_limit is None else time.monotonic() + time_limit
        solver = require_solver()
        instance = Instance.of(space, state)
        dynamics = instance.dynamics
        if dynamics.judge(dynamics.person.places).goal:
            return Already(ask(dynamics))
        return Quest(solver, instance, deadline).plan()


@dataclass
class Quest:
    """One person's question, asked on until the cheapest path is proved."""

    solver: ScaspSolver
    instance: Instance
    deadline: float | None
    best: Arrival | None = None

    def plan(self) -> Plan:
        """Return the path of least cost, or another outcome."""
        try:
            self._improve()
        except OutOfTime:
            return conclude(self.instance.dynamics, self.best, engine="scasp", bound=0.0)
        return conclude(self.instance.dynamics, self.best, engine="scasp")

    @cached_property
    def program(self) -> ScaspProgram:
        """Return the program of the person."""
        return ScaspProgram(self.instance)

    def _improve(self) -> None:
        """Find a path with the fewest direct actions, then cheaper ones to the end."""
        most = self.instance.most_actions
        paths = self._ask(1, most, most_effort(self.instance.reaches.values()), answers=1)
        if not paths:
            return
        self.best = paths[0]
        wanted = AT_ONCE
        while True:
            bound = self.best.effort - 1
            paths = self._ask(most, most, bound, answers=wanted)
            cheapest = min(paths, key=lambda path: path.effort, default=self.best)
            better = cheapest.effort < self.best.effort
            self.best = cheapest if better else self.best
            if not wanted or len(paths) < wanted:
                return
            # Where moves add up under l2, prices are bounds only: then all paths below them have to be seen.
            wanted = AT_ONCE if better else 0

    def _ask(self, depth: int, most: int, budget: int, *, answers: int) -> list[Arrival]:
        query = f"plan({depth}, {most}, {budget}, Path)"
        program = f"{ONLY_PLANS}\n{self.program.text}"
        told = self.solver.solve(program, query, answers=answers, deadline=self.deadline)
        return [self._read(answer["bindings"].get("Path")) for answer in told]

    def _read(self, path: Any) -> Arrival:
        """Return the path that an answer names, as the planner knows paths."""
        steps = read_term(path)
        if not isinstance(steps, list) or not steps:
            raise EngineError("scasp: expected a path of actions in its answer, found another term")
        return read_path(self.instance.dynamics, map(self._named, steps), engine="scasp")

    def _named(self, step: Any) -> Named:
        match step:
            case ("do" | "then" as kind, str() as name, _, end) if (
                name,
                end,
            ) in self.program.values:
                index = self.instance.dynamics.person.space.index[name]
                return kind == "do", index, self.program.values[name, end]
        raise EngineError(f"scasp: its answer has an action that is none of ours: {step}")
