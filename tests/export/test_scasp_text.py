from __future__ import annotations

import subprocess
import tomllib
from typing import TYPE_CHECKING

import pytest

from p2c.datasets import problem_text, rows
from p2c.engines.scasp.solver import find_solver
from p2c.export import EXPORTS
from p2c.problem import Problem

if TYPE_CHECKING:
    from pathlib import Path


def exported(name: str, row: str) -> str:
    problem = Problem.from_dict(tomllib.loads(problem_text(name)))
    [text] = EXPORTS["scasp"](problem.compiled, problem.read_row(rows(name)[row])).values()
    return text


def test_a_reader_of_the_paper_finds_its_algorithms() -> None:
    text = exported("loan", "john")
    heads = ("find_path", "intervene", "make_consistent", "is_counterfactual", "not_member")
    assert all(f"\n{head}(" in text for head in heads)
    assert "% reject_loan(X) :- bank_balance(X,N), N<60000." in text
    assert "start([5000, 40000, 599])." in text
    assert text.rstrip().splitlines()[-1].startswith("?- plan(1, 2, ")


@pytest.mark.skipif(find_solver() is None, reason="s(CASP) is not installed here")
def test_it_runs_as_its_header_says(tmp_path: Path) -> None:
    text = exported("loan", "john")
    (tmp_path / "loan.pl").write_text(text, encoding="utf-8")
    command = next(line[1:].split() for line in text.splitlines() if "scasp -s1" in line)
    solver = find_solver()
    assert solver is not None
    done = subprocess.run(
        [*solver.command, *command[1:]], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    path = "do(debt,5000,0),then(credit_score,599,620),do(bank_balance,40000,60000)"
    assert f"Path = [{path}]" in done.stdout
