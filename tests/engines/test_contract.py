"""One suite over the registry: every engine gives the same status and cost, and a plan that replays."""

from __future__ import annotations

import math
import sys
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

from p2c._engines import ENGINES
from p2c._engines.scasp.engine import find_solver
from p2c._export import EXPORTS
from p2c.datasets import names, rows
from p2c.errors import EngineError, MissingExtra, P2CError
from p2c.problem import Problem
from tests.embedded import embedded, refused_people
from tests.oracle import best_plan
from tests.strategies import seeded_problems

if TYPE_CHECKING:
    from collections.abc import Callable

    from p2c._plan.outcome import Plan

Document = dict[str, Any]

PER_SEED = 50

INSTALLED = {
    "scasp": pytest.mark.skipif(find_solver() is None, reason="s(CASP) is not installed here"),
}
engines = pytest.mark.parametrize(
    "engine", [pytest.param(name, marks=INSTALLED.get(name, ())) for name in ENGINES]
)
quick_engines = pytest.mark.parametrize("engine", [name for name in ENGINES if name != "scasp"])


def ask(engine: str, problem: Problem, row: Document, **options: Any) -> Plan:
    return ENGINES[engine].plan(problem.compiled, problem.read_row(row), **options)


def difference(engine: str, document: Document, row: Document, **options: Any) -> str:
    """Return where an engine and the slow planner differ on a row, or nothing."""
    problem = Problem.from_dict(document)
    expected = best_plan(problem.theory, problem.read_row(row))
    try:
        plan = ask(engine, problem, row, **options)
    except EngineError:
        raise
    except P2CError as error:
        return f"refused: {error}" if expected else ""
    if expected is None:
        return f"expected the row to be refused, found {plan.status}"
    if expected.status != plan.status:
        return f"status: expected {expected.status}, found {plan.status}"
    if not same_cost(expected.cost, plan.cost):
        return f"cost: expected {expected.cost}, found {plan.cost}"
    return "" if plan.status == "infeasible" else "\n".join(map(str, problem.check(plan).faults))


def same_cost(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)


def assert_agreement(engine: str, seed: int) -> None:
    for document, row in seeded_problems(seed, PER_SEED):
        found = difference(engine, document, row)
        assert not found, f"{found}\n{document!r}\n{row!r}"


@quick_engines
@pytest.mark.parametrize("seed", range(2000, 2006))
def test_an_engine_agrees_with_the_slow_planner(engine: str, seed: int) -> None:
    assert_agreement(engine, seed)


@pytest.mark.slow
@quick_engines
@pytest.mark.parametrize("seed", range(3000, 3100))
def test_an_engine_agrees_with_the_slow_planner_on_many_more(engine: str, seed: int) -> None:
    assert_agreement(engine, seed)


@quick_engines
@pytest.mark.parametrize("name", names())
@pytest.mark.parametrize("norm", ["l0", "l1", "l2"])
def test_an_engine_agrees_on_the_named_rows(engine: str, name: str, norm: str) -> None:
    problem = embedded(name).with_keys(norm=norm)
    for row in rows(name).values():
        expected, plan = ask("native", problem, row), ask(engine, problem, row)
        assert expected.status == plan.status
        assert same_cost(expected.cost, plan.cost)


def test_other_engines_and_exports_refuse_a_norm_whose_costs_are_no_sums() -> None:
    problem, row = embedded("loan").with_keys(norm="linf"), rows("loan")["john"]
    state = problem.read_row(row)
    refused: list[Callable[[], Any]] = [
        partial(ask, "clingo", problem, row),
        partial(problem.nearest, row, engine="clingo"),
        *(partial(EXPORTS[name], problem.compiled, state) for name in ("clingo", "scasp", "pddl")),
    ]
    for each in refused:
        with pytest.raises(EngineError, match="under linf the largest counts; ask the native"):
            each()
    assert ask("auto", problem, row).cost == ask("native", problem, row).cost == 0.005


@engines
def test_john_pays_his_debt_and_the_score_follows(engine: str) -> None:
    plan = ask(engine, embedded("loan"), rows("loan")["john"])
    assert plan.cost == pytest.approx(0.00502)
    kinds = sorted((a.feature, type(a).__name__) for step in plan.steps for a in step.actions)
    assert kinds == [
        ("bank_balance", "DirectAction"),
        ("credit_score", "CausalAction"),
        ("debt", "DirectAction"),
    ]


@quick_engines
def test_an_engine_agrees_on_every_rejected_car(engine: str) -> None:
    problem = embedded("cars")
    values = {f.name: f.domain.values for f in problem.theory.features}  # type: ignore[union-attr]
    cars = [dict(zip(values, car, strict=True)) for car in product(*values.values())]
    rejected = [car for car in cars if ask("native", problem, car).status != "already"]
    assert len(rejected) == 92
    for car in rejected:
        expected, plan = ask("native", problem, car), ask(engine, problem, car)
        assert (expected.status, expected.cost) == (plan.status, plan.cost)


@quick_engines
@pytest.mark.parametrize("name", ["adult", "german"])
def test_an_engine_agrees_on_fifty_refused_people_of_the_data(engine: str, name: str) -> None:
    people = refused_people(name, 50)
    assert len(people) == 50
    for row in people:
        expected, plan = ask("native", embedded(name), row), ask(engine, embedded(name), row)
        assert expected.status == plan.status
        assert same_cost(expected.cost, plan.cost)


@engines
def test_an_engine_gives_up_in_time_and_can_be_asked_again(engine: str) -> None:
    problem, row = embedded("adult"), rows("adult")["wait_and_marry"]
    plan = ask(engine, problem, row, time_limit=0)
    assert plan.status == "gave_up"
    assert ask(engine, problem, row).status == "found"


@engines
def test_an_engine_names_its_version(engine: str) -> None:
    assert ENGINES[engine].version()


def test_without_clingo_the_engine_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "clingo", None)
    assert ENGINES["clingo"].version() is None
    with pytest.raises(MissingExtra, match="clingo") as raised:
        ask("clingo", embedded("loan"), rows("loan")["john"])
    assert raised.value.extra in ENGINES["clingo"].install


def test_rounding_does_not_hide_the_cheapest_way() -> None:
    document: Document = {
        "goal": "not reject(X)",
        "rules": "reject(X) :- a(X,'n'), b(X,'n'), c(X,'n'), d(X,'n').",
        "features": {
            name: {"type": "category", "values": ["n", "y"], "weight": weight}
            for name, weight in {"a": 1e9, "b": 3.1e-3, "c": 3e-3, "d": 3.2e-3}.items()
        },
    }
    problem = Problem.from_dict(document)
    plan = ask("clingo", problem, dict.fromkeys("abcd", "n"))
    assert plan.cost == pytest.approx(3e-3)
    assert plan.counterfactual == {"a": "n", "b": "n", "c": "y", "d": "n"}
