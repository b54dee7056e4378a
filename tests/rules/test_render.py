"""Parsing undoes rendering, and rendering has one form."""

from __future__ import annotations

import pytest
from hypothesis import given

from p2c._rules.parse import parse, parse_query
from p2c._rules.render import render, render_body
from p2c._rules.syntax import Atom, Constant, Literal, Program, Rule, Variable
from tests.paper import LISTINGS
from tests.programs import bodies, programs


@given(programs)
def test_parsing_undoes_rendering(program: Program) -> None:
    assert parse(render(program)) == program


@given(programs)
def test_rendering_what_was_rendered_changes_nothing(program: Program) -> None:
    text = render(program)
    assert render(parse(text)) == text


@given(bodies)
def test_parsing_a_query_undoes_rendering_its_body(body: tuple[Literal, ...]) -> None:
    assert parse_query(render_body(body)) == body


@pytest.mark.parametrize("name", LISTINGS)
def test_a_listing_of_the_paper_survives_a_round_trip(name: str) -> None:
    program = parse(LISTINGS[name])
    text = render(program)
    assert parse(text) == program
    assert render(parse(text)) == text


def test_the_canonical_form_of_the_paper_s_rules() -> None:
    assert render(parse(LISTINGS["adult"])).splitlines()[5:7] == [
        "marital_status(X,'neither') :- not relationship(X,'Husband'), not relationship(X,'Wife').",
        "relationship(X,'Husband') :- not sex(X,'Male'), age(X,N1), not(N1=<27.0).",
    ]


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("a( X ):-b(X , 5).", "a(X) :- b(X,5)."),
        ("a(X) :- not(b(X)).", "a(X) :- not b(X)."),
        ("a(X) :- b(X,N),N\\='c'.", "a(X) :- b(X,N), N \\= 'c'."),
        ("a(X) :- b(X,N), N = c.", "a(X) :- b(X,N), N = 'c'."),
        ("a(X) :- b(X,N), not N>=+5.50.", "a(X) :- b(X,N), not(N>=5.5)."),
        ("'Odd one'(X) :- 'b'(X,'it''s').", "'Odd one'(X) :- b(X,'it\\'s')."),
        (":-b(X).", ":- b(X)."),
        ("a(X).", "a(X)."),
        ("a(X) :- b(X,1e3).", "a(X) :- b(X,1000.0)."),
    ],
)
def test_one_meaning_has_one_form(written: str, canonical: str) -> None:
    assert render(parse(written)) == canonical


@pytest.mark.parametrize(
    "name", ["not", "Upper", "two words", "it's", "", "line\nbreak", "2", "_x"]
)
def test_a_name_that_needs_quotes_gets_them(name: str) -> None:
    program = Program((Rule(Atom(name, (Variable("X"), Constant(name))), ()),))
    assert parse(render(program)) == program
