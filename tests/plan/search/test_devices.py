"""Every bound and every pruning may be left out: the same answers come, in the same order."""

from __future__ import annotations

from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any

import pytest

from p2c._plan.blockers import find_blockers
from p2c._plan.compiled.person import place_person
from p2c._plan.compiled.transitions import Transitions
from p2c._plan.planner import find_plan
from p2c._plan.search.arrivals import arrivals
from p2c._plan.search.best_first import Limits
from p2c._plan.search.devices import ALL, Device
from p2c.errors import P2CError
from p2c.problem import Problem
from tests.plan.test_read_models import read_worlds
from tests.strategies import seeded_problems
from tests.unplanted import unplanted

if TYPE_CHECKING:
    from pathlib import Path

    from p2c._plan.blockers import Explanation
    from p2c._plan.search.devices import Devices

Document = dict[str, Any]

SMALL = seeded_problems(900, 60)
LARGER = [unplanted(seed, 7, 9, 4) for seed in range(30)]
NONE: Devices = frozenset()
SEARCHED = ALL - {Device.CLASS_ROUTES}
"""All but what would answer small problems before they are searched."""
LEFT_OUT = [
    *(pytest.param(SEARCHED - {device}, id=device.value) for device in Device),
]


def planned(document: Document | Problem, row: Document, devices: Devices) -> tuple[Any, int]:
    """Return the plan without some devices, and how many nodes it took."""
    problem = document if isinstance(document, Problem) else Problem.from_dict(document)
    limits = Limits()
    try:
        plan = find_plan(problem.compiled, problem.read_row(row), limits, devices=devices)
    except P2CError as error:
        return {"status": str(error)}, 0
    return plan.to_dict(), limits.expanded


@cache
def answers() -> list[Any]:
    """Return the plans that are found with every device."""
    return [planned(*each, ALL)[0] for each in (*SMALL, *LARGER)]


@cache
def blocked() -> list[tuple[Document, Document, Explanation]]:
    """Return those who have no way, with what bars it as it is found with every device."""
    worlds = zip((*SMALL, *LARGER), answers(), strict=True)
    stuck = [each for each, answer in worlds if answer["status"] == "infeasible"]
    return [(*each, explained(*each, ALL)) for each in stuck]


def explained(document: Document, row: Document, devices: Devices) -> Explanation:
    """Return what bars every path, found without some devices."""
    problem = Problem.from_dict(document)
    return find_blockers(problem.compiled, problem.read_row(row), devices=devices)


def paths(document: Document, row: Document, devices: Devices) -> list[Any]:
    """Return the first paths that come, whatever is planned."""
    problem = Problem.from_dict(document)
    transitions = Transitions(place_person(problem.compiled, problem.read_row(row)))
    if transitions.judge(transitions.person.places).goal:
        return []
    found = arrivals(transitions, Limits(), first_only=False, every=True, devices=devices)
    return [each.key for each in islice(found, 4)]


@pytest.mark.parametrize("devices", [*LEFT_OUT, pytest.param(NONE, id="all")])
def test_a_device_that_is_left_out_changes_no_answer(devices: Devices) -> None:
    for each, expected in zip((*SMALL, *LARGER), answers(), strict=True):
        assert planned(*each, devices)[0] == expected, each


@pytest.mark.parametrize("devices", [*LEFT_OUT, pytest.param(NONE, id="all")])
def test_a_device_that_is_left_out_changes_no_further_path(devices: Devices) -> None:
    for document, row in SMALL[::4]:
        assert paths(document, row, devices) == paths(document, row, ALL), (document, row)


@pytest.mark.parametrize("devices", [*LEFT_OUT, pytest.param(NONE, id="all")])
def test_a_device_that_is_left_out_changes_nothing_about_what_bars_a_way(devices: Devices) -> None:
    for document, row, expected in blocked():
        assert explained(document, row, devices) == expected, (document, row)
    assert sum(bool(expected.blockers) for _, _, expected in blocked()) >= 20


def test_a_device_that_is_left_out_changes_no_answer_of_a_model(tmp_path: Path) -> None:
    found = 0
    for world in read_worlds("tree", 31, 4, people=4, folder=tmp_path):
        for row in world.people:
            expected = planned(world.problem, row, ALL)[0]
            for devices in (*(SEARCHED - {device} for device in Device), NONE):
                assert planned(world.problem, row, devices)[0] == expected, (devices, row)
            found += expected["status"] == "found"
    assert found >= 4


def test_without_any_device_more_is_searched() -> None:
    nodes = [(planned(*each, SEARCHED)[1], planned(*each, NONE)[1]) for each in LARGER]
    assert sum(many for _, many in nodes) > sum(few for few, _ in nodes)
