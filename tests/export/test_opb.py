"""Pseudo-Boolean problems and proof logs of questions without order."""

from __future__ import annotations

import shutil
import subprocess
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest

from p2c._export.opb import VERSIONS, Encoder, proof_log, proved_files
from p2c.errors import P2CError
from p2c.problem import Problem
from tests.export.pseudo_boolean import Opb, check_log
from tests.growing import hitting_sets, pigeonhole, vertex_cover
from tests.strategies import seeded_problems

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Document = dict[str, Any]
VERIPB = shutil.which("veripb")


def unordered(seed: int, count: int) -> Iterator[tuple[Problem, Document, Encoder]]:
    """Yield random questions in which no order of actions counts."""
    for number, (document, row) in enumerate(seeded_problems(seed, count)):
        features = {
            name: {key: value for key, value in keys.items() if key not in ("law", "moves")}
            for name, keys in document["features"].items()
        }
        for keys in features.values():
            if keys.get("action") == "effect":
                del keys["action"]
        heads = tuple(f"{name}(" for name in features)
        lines = [
            line
            for line in document["rules"].split("\n")
            if not line.strip().lower().startswith((*heads, ":-"))
        ]
        plain = {**document, "features": features, "rules": "\n".join(lines)}
        if plain.get("norm") == "linf":
            plain["norm"] = ("l0", "l1", "l2")[number % 3]
        try:
            problem = Problem.from_dict({**plain, "effects": "triggered"})
            encoder = Encoder(problem.theory, problem.read_row(row))
        except P2CError:
            continue
        yield problem, row, encoder


def measured(encoder: Encoder, optimum: int | None, cost: float | None) -> bool:
    """Tell whether an optimum is the cost of a plan (with fewest actions, a bound)."""
    if optimum is None or cost is None:
        return optimum is None and cost is None
    if encoder.problem.fewest:
        return True
    power = 2 if encoder.problem.norm == "l2" else 1
    exact = Fraction(optimum, encoder.cover.common)
    return abs(float(exact) - cost**power) <= 1e-9 * max(1.0, cost**power)


def logged(problem: Problem, row: Document, encoder: Encoder, version: str) -> tuple[str, str]:
    """Return the problem and the log of a question."""
    plan = problem.plan(row)
    written = encoder.encoded()
    end = None if plan.status == "infeasible" else plan.to_dict()["counterfactual"]
    return str(written), proof_log(written, encoder.solution(end) if end else [], version=version)


def assert_proved(seed: int, count: int) -> None:
    proved = 0
    for problem, row, encoder in unordered(seed, count):
        text, log = logged(problem, row, encoder, VERSIONS[seed % 2])
        read = Opb.of(text)
        optimum = check_log(read, log)
        assert optimum == read.optimum()
        assert measured(encoder, optimum, problem.plan(row).cost)
        proved += 1
    assert proved > count / 2


def test_logs_prove_the_optimum_that_a_solver_finds() -> None:
    assert_proved(1, 40)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 12))
def test_logs_prove_the_optimum_that_a_solver_finds_of_many(seed: int) -> None:
    assert_proved(seed, 300)


@pytest.mark.parametrize("world", [pigeonhole(4), hitting_sets(8), vertex_cover(8)])
@pytest.mark.parametrize("version", VERSIONS)
def test_a_log_with_a_better_or_a_missing_step_is_refused(world: Any, version: str) -> None:
    problem, row = Problem.from_dict(world[0]), world[1]
    encoder = Encoder(problem.theory, problem.read_row(row))
    text, log = logged(problem, row, encoder, version)
    read = Opb.of(text)
    assert check_log(read, log) == read.optimum()
    lines = log.splitlines()
    steps = [number for number, line in enumerate(lines) if line.startswith("rup")]
    shorter = [line for number, line in enumerate(lines) if number not in steps[:-1]]
    with pytest.raises((AssertionError, IndexError)):
        check_log(read, "\n".join(shorter))


@pytest.mark.skipif(VERIPB is None, reason="VeriPB is not installed")
@pytest.mark.parametrize("world", [pigeonhole(4), hitting_sets(8), vertex_cover(8)])
def test_veripb_verifies_a_log(world: Any, tmp_path: Path) -> None:
    problem, row = Problem.from_dict(world[0]), world[1]
    encoder = Encoder(problem.theory, problem.read_row(row))
    text, log = logged(problem, row, encoder, "1.1")
    files = tmp_path / "question.opb", tmp_path / "question.pbp"
    for path, content in zip(files, (text, log), strict=True):
        path.write_text(content)
    assert VERIPB is not None
    done = subprocess.run([VERIPB, *map(str, files)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"rules": "a(X,1) :- b(X,1)."}, "causal rules"),
        ({"norm": "linf"}, "linf"),
    ],
)
def test_a_question_whose_cost_is_no_sum_over_ends_is_refused(
    changes: Document, fault: str
) -> None:
    features = {name: {"type": "int", "min": 0, "max": 1} for name in ("a", "b")}
    document = {"goal": "a(X,1)", "rules": "", "features": features} | changes
    with pytest.raises(P2CError, match=fault):
        Encoder(Problem.from_dict(document).theory, {"a": 0, "b": 0})


def test_a_dearer_end_has_no_log() -> None:
    document, row = hitting_sets(6)
    problem = Problem.from_dict(document)
    encoder = Encoder(problem.theory, problem.read_row(row))
    written = encoder.encoded()
    everything = encoder.solution(dict.fromkeys(row, "y"))
    with pytest.raises(P2CError, match="cheaper end state"):
        proof_log(written, everything)


def test_an_infeasible_or_a_finished_question_has_a_log() -> None:
    features: Document = {"a": {"type": "int", "min": 0, "max": 1}}
    problem = Problem.from_dict({"goal": "a(X,1)", "rules": "", "features": features})
    for row, optimum in (({"a": 0}, 1), ({"a": 1}, 0)):
        files = proved_files(problem.compiled, row, problem.plan(row).to_dict(), version="2.0")
        text, log = files.values()
        assert check_log(Opb.of(text), log) == optimum
        assert f"conclusion BOUNDS {optimum} {optimum}" in log
    fixed = problem.restricted({"a": "fixed"})
    files = proved_files(fixed.compiled, {"a": 0}, fixed.plan({"a": 0}).to_dict())
    text, log = files.values()
    assert check_log(Opb.of(text), log) is None
