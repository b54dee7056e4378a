"""The solver of clauses against every assignment, on lists and compiled."""

from __future__ import annotations

import random
from itertools import product
from typing import TYPE_CHECKING

import pytest

from p2c._plan.search import objective, solver
from p2c._plan.search.cdcl import Literal
from p2c._plan.search.objective import Objective
from p2c._plan.search.solver import Solver, opposite

if TYPE_CHECKING:
    from collections.abc import Sequence

Clause = list[Literal]
NEVER = 10**12


@pytest.fixture(params=["lists", "compiled"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Let the solver run on lists only, or compiled from the start."""
    warm = NEVER if request.param == "lists" else 0
    if not warm:
        pytest.importorskip("numba")
    monkeypatch.setattr(solver, "WARM", warm)
    monkeypatch.setattr(solver, "WARMER", warm)
    return str(request.param)


def unlimited() -> None:
    """Let a search go on."""


def true_in(bits: Sequence[int], literal: int) -> bool:
    return bool(bits[literal >> 1] ^ (literal & 1))


def models(variables: int, clauses: list[Clause]) -> list[tuple[int, ...]]:
    every = product((0, 1), repeat=variables)
    return [bits for bits in every if all(any(true_in(bits, each) for each in c) for c in clauses)]


def random_clause(rng: random.Random, variables: int) -> Clause:
    return [Literal(rng.randrange(2 * variables)) for _ in range(rng.randint(1, 4))]


@pytest.mark.usefixtures("way")
def test_a_model_is_found_just_where_one_exists_and_a_core_cannot_hold() -> None:
    rng = random.Random(1)
    count = 0
    for _ in range(300):
        variables = rng.randint(1, 9)
        own, clauses = Solver(), []
        for _ in range(variables):
            own.literal()
        for _ in range(4):
            for _ in range(rng.randint(0, 12)):
                clauses.append(random_clause(rng, variables))
                own.add(clauses[-1])
            some = rng.sample(range(variables), rng.randint(0, variables))
            assumed = [Literal(2 * each + rng.randint(0, 1)) for each in some]
            exists = bool(models(variables, [*clauses, *([each] for each in assumed)]))
            assert own.solve(assumed, unlimited) is exists
            if exists:
                count += 1
                assert all(own.holds(each) for each in assumed)
                assert all(any(own.holds(each) for each in clause) for clause in clauses)
            else:
                assert set(own.core) <= set(assumed)
                assert not models(variables, [*clauses, *([each] for each in own.core)])
    assert count >= 200


@pytest.mark.parametrize("cores", [0.0, 3.0])
@pytest.mark.usefixtures("way")
def test_the_least_weight_and_the_models_of_that_weight_are_exact(
    cores: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(objective, "MOST_CORES", cores)
    rng = random.Random(2)
    for _ in range(150):
        variables = rng.randint(1, 8)
        own, clauses = Solver(), []
        literals = [own.literal() for _ in range(variables)]
        weights = {
            each: rng.choice((1, 2, 3, 10**20, rng.randint(1, 10**30)))
            for literal in literals
            for each in (literal, opposite(literal))
            if rng.random() < 0.6
        }
        least = Objective(own)
        for each, weight in weights.items():
            least.add(each, weight)
        for _ in range(3):
            for _ in range(rng.randint(0, 8)):
                clauses.append(random_clause(rng, variables))
                own.add(clauses[-1])
            every = models(variables, clauses)
            assert least.minimize(unlimited) is bool(every)
            if not every:
                break
            weighed = {
                bits: sum(w for each, w in weights.items() if true_in(bits, each)) for bits in every
            }
            best = min(weighed.values())
            assert least.bound == best == least.weight()
            optima = [bits for bits in every if weighed[bits] == best]
            wished = rng.sample(range(2 * variables), rng.randint(0, 2 * variables))
            preferred = [Literal(each) for each in wished]
            assert least.best_with((), preferred, unlimited)
            first = max([true_in(bits, each) for each in preferred] for bits in optima)
            assert [own.holds(each) for each in preferred] == first
            for literal in map(Literal, range(2 * variables)):
                possible = any(true_in(bits, literal) for bits in optima)
                assert least.best_with((literal,), (), unlimited) is possible


@pytest.mark.usefixtures("way")
def test_more_pigeons_than_holes_are_refuted_after_learned_clauses_were_dropped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(solver, "FIRST_LEARNED", 50)
    own = Solver()
    places = [[own.literal() for _ in range(5)] for _ in range(6)]
    for each in places:
        own.add(each)
    for hole in range(5):
        for one in range(6):
            for other in range(one):
                own.add([opposite(places[one][hole]), opposite(places[other][hole])])
    assert own.solve([], unlimited) is False
    assert not own.consistent


def test_a_search_without_enough_work_tells_nothing() -> None:
    own = Solver()
    places = [[own.literal() for _ in range(7)] for _ in range(8)]
    for each in places:
        own.add(each)
    for hole in range(7):
        for one in range(8):
            for other in range(one):
                own.add([opposite(places[one][hole]), opposite(places[other][hole])])
    assert own.solve([], unlimited, most=1000) is None
