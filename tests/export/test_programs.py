from __future__ import annotations

import subprocess
import sys
import tomllib
from typing import TYPE_CHECKING, Any

import clingo
import pytest

from p2c._engines.clingo.encoding import Encoding
from p2c._engines.instance import Instance
from p2c._engines.scasp.engine import find_solver
from p2c._export import EXPORTS
from p2c.datasets import names, problem_text, rows
from p2c.errors import P2CError
from p2c.problem import Problem
from tests.engines.test_contract import same_cost
from tests.strategies import seeded_problems

if TYPE_CHECKING:
    from pathlib import Path

Document = dict[str, Any]


def solved(problem: Problem, row: Document) -> float | None:
    """Return the cost that clingo finds for an exported program."""
    state = problem.read_row(row)
    [text] = EXPORTS["clingo"](problem.compiled, state).values()
    control = clingo.Control(["--opt-strategy=bb,lin"])
    control.add("base", [], text)
    control.ground([("base", [])])
    costs: list[list[int]] = []
    control.solve(on_model=lambda model: costs.append(list(model.cost)))
    if not costs:
        return None
    first = 1 if problem.theory.minimize.value == "actions" else 0
    return Encoding(Instance.of(problem.compiled, state)).tariff.cost(costs[-1][first])


def assert_agreement(seed: int, count: int) -> None:
    compared = 0
    for document, row in seeded_problems(seed, count):
        problem = Problem.from_dict(document)
        try:
            expected = problem.plan(row, engine="native").cost
        except P2CError:
            continue
        assert same_cost(expected, solved(problem, row)), f"{document!r}\n{row!r}"
        compared += 1
    assert compared > count / 2


def test_it_has_the_cost_of_the_plan_on_small_problems() -> None:
    assert_agreement(2400, 25)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2401, 2411))
def test_it_has_the_cost_of_the_plan_on_many_more(seed: int) -> None:
    assert_agreement(seed, 100)


@pytest.mark.parametrize("name", names())
def test_it_has_the_cost_of_the_plan_on_the_named_rows(name: str) -> None:
    problem = Problem.from_dict(tomllib.loads(problem_text(name)))
    for row in rows(name).values():
        assert same_cost(problem.plan(row, engine="native").cost, solved(problem, row)), row


def test_clingo_runs_it_as_its_header_says(tmp_path: Path) -> None:
    problem = Problem.from_dict(tomllib.loads(problem_text("loan")))
    files = EXPORTS["clingo"](problem.compiled, problem.read_row(rows("loan")["john"]))
    [(name, text)] = files.items()
    (tmp_path / name).write_text(text, encoding="utf-8")
    command = next(line[1:].split() for line in text.splitlines() if name in line)
    assert command[0] == "clingo"
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert "Optimization: 251 3" in done.stdout
    assert "cost / 50000" in text
    assert not done.stderr


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
def test_scasp_runs_it_as_its_header_says(tmp_path: Path) -> None:
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
