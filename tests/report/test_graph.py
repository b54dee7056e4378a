"""The causal graph: causes before effects, every arrow drawn, cycles and long arrows included."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from p2c import Problem, datasets
from p2c._report.graph import graph_told, lay_out_graph
from tests.embedded import embedded
from tests.loan import category

SVG = "{http://www.w3.org/2000/svg}"
NODES = "abcdefgh"


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[str], list[tuple[str, str]]]:
    pairs = st.tuples(st.sampled_from(NODES), st.sampled_from(NODES)).filter(lambda e: e[0] != e[1])
    return list(NODES), draw(st.lists(pairs, unique=True, max_size=20))


def leads(edges: list[tuple[str, str]], start: str, end: str) -> bool:
    seen, waiting = {start}, [start]
    while waiting:
        here = waiting.pop()
        fresh = [b for a, b in edges if a == here and b not in seen]
        seen.update(fresh)
        waiting += fresh
    return end in seen


@given(graphs())
def test_a_cause_stands_left_of_its_effect_unless_they_are_on_a_cycle(
    graph: tuple[list[str], list[tuple[str, str]]],
) -> None:
    nodes, edges = graph
    layered = lay_out_graph(nodes, edges)
    assert sorted(n for layer in layered.layers for n in layer if n is not None) == nodes
    where = {n: c for c, layer in enumerate(layered.layers) for n in layer if n is not None}
    for start, end in edges:
        if leads(edges, end, start):
            assert where[start] == where[end]
        else:
            assert where[start] < where[end]
        columns = [column for column, _ in layered.routes[start, end]]
        if where[start] != where[end]:
            assert columns == list(range(where[start], where[end] + 1))
    places = [p for route in layered.routes.values() for p in route[1:-1]]
    assert len(places) == len(set(places))
    assert all(layered.layers[column][row] is None for column, row in places)


def test_the_graph_of_the_loan_is_told_in_words() -> None:
    assert graph_told(embedded("loan").theory) == (
        "Debt leads to credit score. Bank balance leads to the decision. Credit score leads to the decision."
    )


def test_the_graph_of_the_loan_is_told_in_german() -> None:
    assert graph_told(embedded("loan").theory, language="de") == (
        "„Schulden“ führt zu „Kreditwürdigkeit“. „Kontostand“ geht in die Entscheidung ein."
        " „Kreditwürdigkeit“ geht in die Entscheidung ein."
    )


@pytest.mark.parametrize("name", datasets.names())
def test_every_feature_that_matters_is_a_node(name: str) -> None:
    root = ET.fromstring(embedded(name).to_svg(theme="dark"))
    titles = {each.text for each in root.iter(f"{SVG}title")}
    theory = embedded(name).theory
    read = theory.reads(theory.goal)
    assert {theory.feature[each].label for each in read} <= titles


def test_a_problem_that_reads_nothing_still_has_a_picture() -> None:
    problem = Problem.from_dict(
        {"goal": "good(X)", "rules": "good(X).", "features": {"a": category("x")}}
    )
    told = ET.fromstring(problem.to_svg()).find(f"{SVG}desc")
    assert told is not None
    assert told.text == "Nothing follows from anything else."
