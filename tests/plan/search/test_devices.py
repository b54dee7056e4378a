"""Every bound and every pruning may be left out: the same answers come, in the same order."""

from __future__ import annotations

from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.unplanted import unplanted
from p2c.errors import P2CError
from p2c.plan.compiled.person import place_person
from p2c.plan.compiled.transitions import Transitions
from p2c.plan.planner import find_plan
from p2c.plan.search.arrivals import arrivals
from p2c.plan.search.best_first import Limits
from p2c.plan.search.devices import ALL, Device
from p2c.problem import Problem
from tests.strategies import seeded_problems

if TYPE_CHECKING:
    from p2c.plan.search.devices import Devices

Document = dict[str, Any]

SMALL = seeded_problems(900, 60)
LARGER = [unplanted(seed, 7, 9, 4) for seed in range(30)]
NONE: Devices = frozenset()
SEARCHED = ALL - {Device.CLASS_ROUTES}
"""All but what would answer small problems before they are searched."""
LEFT_OUT = [pytest.param(SEARCHED - {device}, id=device.value) for device in Device]


def planned(document: Document, row: Document, devices: Devices) -> tuple[Any, int]:
    """Return the plan without some devices, and how many nodes it took."""
    problem, limits = Problem.from_dict(document), Limits()
    try:
        plan = find_plan(problem.compiled, problem.read_row(row), limits, devices=devices)
    except P2CError as error:
        return str(error), 0
    return plan.to_dict(), limits.expanded


@cache
def answers() -> list[Any]:
    """Return the plans that are found with every device."""
    return [planned(*each, ALL)[0] for each in (*SMALL, *LARGER)]


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


def test_without_any_device_more_is_searched() -> None:
    nodes = [(planned(*each, SEARCHED)[1], planned(*each, NONE)[1]) for each in LARGER]
    assert sum(many for _, many in nodes) > sum(few for few, _ in nodes)
