"""What stands in the way: every count of a lifted restriction, and what bars whom, beside the slow planner in edited problems."""

from __future__ import annotations

import time
from itertools import combinations
from typing import TYPE_CHECKING, Any

import pytest

from p2c._audit.lifting import Obstacles, Trials, find_obstacles
from p2c._plan.outcome import Blocker
from p2c._plan.search.best_first import Limits
from p2c.problem import Problem
from tests.audit.test_confined import people_in
from tests.loan import JOHN, LOAN
from tests.oracle import best_plan
from tests.plan.test_blockers import lifted, locked, restrictions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tests.audit.worlds import Populated

Set = frozenset[Blocker]


def opened_by(world: Populated, chosen: Iterable[Blocker]) -> list[float | None]:
    """Return what the slow planner says a way costs to each who has none, without some restrictions."""
    theory = lifted(world.problem, world.document, chosen).theory
    plans = [best_plan(theory, {**row}) for row in world.stuck()]
    return [each.cost if each and each.status == "found" else None for each in plans]


def opened_by_any(world: Populated, every: list[Blocker]) -> set[int]:
    """Return for whom lifting some set of restrictions opens a way; to lift more may close it again."""
    found: set[int] = set()
    for size in range(1, len(every) + 1):
        for chosen in combinations(every, size):
            costs = opened_by(world, chosen)
            found |= {number for number, cost in enumerate(costs) if cost is not None}
    return found


def assert_obstacles(world: Populated) -> bool:
    """Compare everything that is said of why there is no way with trying all sets; tell whether anybody has none."""
    found = find_obstacles(people_in(world.problem, world.rows), Limits())
    stuck = world.stuck()
    assert (found is not None) == bool(stuck)
    if found is None:
        return False
    shown = f"{found}\n{world.document!r}\n{stuck!r}"
    every = restrictions(world.problem, world.document)
    costs = {
        frozenset(chosen): opened_by(world, chosen)
        for size in (1, 2)
        for chosen in combinations(every, size)
    }
    assert_openings(found, costs, shown)
    assert_statements(found, world, every, costs, shown)
    return True


def assert_openings(found: Obstacles, costs: dict[Set, list[float | None]], shown: str) -> None:
    counts = {chosen: sum(each is not None for each in some) for chosen, some in costs.items()}
    singles = {frozenset(each.blockers): each for each in found.singles}
    assert {chosen: each.opened for chosen, each in singles.items()} == {
        chosen: count for chosen, count in counts.items() if len(chosen) == 1 and count
    }, shown
    better = {
        chosen: count
        for chosen, count in counts.items()
        if len(chosen) == 2 and count > max(counts[frozenset({each})] for each in chosen)
    }
    pairs = {frozenset(each.blockers): each for each in found.pairs}
    assert all(better[chosen] == each.opened for chosen, each in pairs.items()), shown
    assert [each.opened for each in found.pairs] == sorted(better.values(), reverse=True)[:5], shown
    for chosen, opening in (singles | pairs).items():
        known = sorted(each for each in costs[chosen] if each is not None)
        assert opening.costs["0%"] == pytest.approx(known[0]), shown
        assert opening.costs["50%"] == pytest.approx(known[(len(known) + 1) // 2 - 1]), shown
        assert opening.costs["100%"] == pytest.approx(known[-1]), shown


def assert_statements(
    found: Obstacles,
    world: Populated,
    every: list[Blocker],
    costs: dict[Set, list[float | None]],
    shown: str,
) -> None:
    """Everybody is counted once, where a smallest set that opens a way to them is named, and greedily."""
    size = len(world.stuck())
    opens = {
        chosen: {n for n, c in enumerate(some) if c is not None} for chosen, some in costs.items()
    }
    smallest: dict[int, set[Set]] = {}
    for number in range(size):
        sets = [chosen for chosen, some in opens.items() if number in some]
        least = min(map(len, sets), default=0)
        smallest[number] = {chosen for chosen in sets if len(chosen) == least}
    assert sum(each.people for each in found.statements) == size, shown
    left = set(range(size))
    for statement in found.statements:
        chosen = frozenset(statement.blockers)
        if len(chosen) > 2:
            continue
        if not chosen:
            assert statement.people == size - len(opened_by_any(world, every)), shown
            continue
        here = {number for number in left if chosen in smallest[number]}
        most = max(sum(some in smallest[n] for n in left) for some in opens)
        assert statement.people == len(here) == most, shown
        instead = {some for some in opens if all(some in smallest[n] for n in here)} - {chosen}
        assert set(map(frozenset, statement.instead)) == instead, shown
        left -= here


def test_what_lifting_opens_is_what_the_slow_planner_finds(worlds: Iterator[Populated]) -> None:
    assert sum(assert_obstacles(world) for world in worlds) > 2


def obstacles(problem: Problem, rows: list[dict[str, Any]]) -> Obstacles:
    found = find_obstacles(people_in(problem, rows), Limits())
    assert found is not None
    return found


def test_the_restriction_that_opens_most_ways_comes_first() -> None:
    problem, row = locked(4, needed=1)
    other = {**row, "f0": 9, "f1": 0}
    found = obstacles(problem, [row, row, other])
    assert [(each.blockers[0].feature, each.opened) for each in found.singles] == [
        ("f0", 2),
        ("f1", 1),
    ]
    assert [(each.people, each.blockers[0].feature) for each in found.statements] == [
        (2, "f0"),
        (1, "f1"),
    ]
    (pair,) = found.pairs
    assert (pair.opened, {each.feature for each in pair.blockers}) == (3, {"f0", "f1"})
    assert dict(found.rules) == {"bad(X) :- f0(X,N), N<5.": 2, "bad(X) :- f1(X,N), N<5.": 1}


def test_sets_of_three_and_more_are_named_too() -> None:
    problem, row = locked(5, needed=3)
    (statement,) = obstacles(problem, [row]).statements
    assert [each.feature for each in statement.blockers] == ["f0", "f1", "f2"]


def test_where_the_rules_alone_leave_no_way_no_restriction_is_blamed() -> None:
    document = {**LOAN, "rules": f"{LOAN['rules']}\nreject_loan(X) :- age(X,_)."}
    found = obstacles(Problem.from_dict(document), [JOHN])
    assert [(each.blockers, each.people) for each in found.statements] == [((), 1)]
    assert found.singles == found.pairs == ()


def test_where_time_ends_it_is_said_for_how_many() -> None:
    problem, row = locked(5, needed=3)
    found = find_obstacles(people_in(problem, [row, row]), Limits.within(0.0))
    assert found is not None
    assert found.unexplained == 2
    assert found.cut_short


def test_no_pair_is_looked_at_once_the_time_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, row = locked(12, needed=3)
    limits = Limits.within(3600.0)
    spaces: list[tuple[int, ...]] = []
    lifted_space = Trials.space

    def counted(self: Trials, lifted: tuple[int, ...]) -> Any:
        spaces.append(lifted)
        if len(spaces) == 5:
            limits.deadline = time.monotonic()
        return lifted_space(self, lifted)

    monkeypatch.setattr(Trials, "space", counted)
    found = find_obstacles(people_in(problem, [row]), limits)
    assert found is not None
    assert found.cut_short
    assert len(spaces) == 5
