"""Random syntax trees: every program that the rule language can say."""

from __future__ import annotations

from hypothesis import strategies as st

from p2c._rules.syntax import Atom, Comparator, Comparison, Constant, Not, Program, Rule, Variable

names = st.one_of(
    st.sampled_from(
        ["age", "not", "Husband", "it's", "a\\b", "", "x y", "<=50K", "é", "2", "tab\t"]
    ),
    st.text(max_size=8),
)
variables = st.from_regex(r"[A-Z_][A-Za-z0-9_]{0,3}", fullmatch=True).map(Variable)
numbers = st.one_of(
    st.integers(-(10**20), 10**20), st.floats(allow_nan=False, allow_infinity=False)
)
constants = st.one_of(names, numbers).map(Constant)
terms = st.one_of(variables, constants)
atoms = st.builds(Atom, names, st.lists(terms, min_size=1, max_size=3).map(tuple))
comparisons = st.builds(Comparison, terms, st.sampled_from(Comparator), terms)
literals = st.one_of(atoms, comparisons, st.builds(Not, st.one_of(atoms, comparisons)))
bodies = st.lists(literals, min_size=1, max_size=4).map(tuple)
rules = st.one_of(
    st.builds(Rule, atoms, bodies),
    st.builds(Rule, atoms, st.just(())),
    st.builds(Rule, st.none(), bodies),
)
programs = st.lists(rules, max_size=5).map(lambda each: Program(tuple(each)))
