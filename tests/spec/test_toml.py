from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from p2c._spec.toml import problem_to_toml
from p2c.datasets import names, problem_text

TEXTS = st.text(
    st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from("'\"\\\n\r\t\x00\x7f#=[]"))
)
SCALARS = st.one_of(
    TEXTS,
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
)
PLAIN = st.one_of(SCALARS, st.lists(SCALARS, max_size=12))
TABLES: Any = st.recursive(
    st.dictionaries(TEXTS, PLAIN, max_size=4),
    lambda inner: st.dictionaries(TEXTS, st.one_of(PLAIN, inner), max_size=4),
    max_leaves=12,
)


@given(TABLES)
def test_what_is_written_is_read_back_as_it_was(table: dict[str, Any]) -> None:
    assert tomllib.loads(problem_to_toml(table)) == table


@pytest.mark.parametrize("name", names())
def test_the_embedded_problems_survive_being_written(name: str) -> None:
    problem = tomllib.loads(problem_text(name))
    assert tomllib.loads(problem_to_toml(problem)) == problem


def test_rules_stay_readable() -> None:
    rules = "a(X) :- b(X,V), V \\= 'it''s'.\nc(X) :- d(X,\"e\").\n"
    text = problem_to_toml({"rules": rules})
    assert rules in text
    assert tomllib.loads(text)["rules"] == rules


def test_a_key_without_a_value_is_left_out() -> None:
    assert problem_to_toml({"goal": "a(X)", "rules": None}) == 'goal = "a(X)"\n'


def test_what_toml_cannot_hold_is_refused() -> None:
    with pytest.raises(TypeError, match="found nan"):
        problem_to_toml({"min": float("nan")})
