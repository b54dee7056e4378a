"""What the rule language takes, what it refuses, and what it says then."""

from __future__ import annotations

import pytest
from hypothesis import given

from p2c._rules.parse import parse, parse_query
from p2c._rules.render import render, render_body
from p2c._rules.syntax import Atom, Comparison, Constant, Literal, Not, Position
from p2c.errors import RuleError
from tests.paper import LISTINGS, RULES_IN
from tests.programs import bodies

# fmt: off
WRONG_RULES = [
    ('a(X) :- b(X,N), N<=5.', 1, 19, "expected a term such as X, 5 or 'name', found '=' (write '=<' for at most)"),
    ('a(X) :- b(X,N), N=>5.', 1, 19, "expected a term such as X, 5 or 'name', found '>' (write '>=' for at least)"),
    ('a(X) :- b(X,N), N==5.', 1, 19, "expected a term such as X, 5 or 'name', found '=' (write '=' for equal)"),
    ('a(X) :- b(X,N), N!=5.', 1, 18, "found '!', which has no place in a rule (write '\\=' for different)"),
    ('a(X) :- b(X,N), N<>5.', 1, 19, "expected a term such as X, 5 or 'name', found '>' (write '\\=' for different)"),
    ('a(X) :- b(X,N), N=\\=5.', 1, 19, "expected a term such as X, 5 or 'name', found '\\=' (write '\\=' for different)"),
    ('a(X) :- b(X,N), N=:=5.', 1, 19, "found ':', which has no place in a rule (write '=' for equal)"),
    ('a(X) :- \\+ b(X).', 1, 9, "found '\\\\', which has no place in a rule (write 'not')"),
    ('a(X) :- b(X,‘c’).', 1, 13, "found '‘', which has no place in a rule (write names in straight single quotes)"),
    ('a(X) :- b(X,N), N<1 or N>9.', 1, 21, "expected ',' or '.', found 'or' (write two rules instead of 'or')"),
    ('a(X) - b(X,1).', 1, 6, "found '-', which has no place in a rule (write ':-' after a head)"),
    ('a(X) :- b(X,N), N - <3.', 1, 19, "found '-', which has no place in a rule"),
    ('a(X) :- b(X,"c").', 1, 13, 'found \'"\', which has no place in a rule (write names in single quotes)'),
    ('a(X) :- b(X) & c(X).', 1, 14, "found '&', which has no place in a rule (write ',' between literals)"),
    ('a(X) :- b(X); c(X).', 1, 13, "found ';', which has no place in a rule (write two rules instead of ';')"),
    ('a(X) | c(X).', 1, 6, "found '|', which has no place in a rule (write two rules instead of '|')"),
    ('# a comment', 1, 1, "found '#', which has no place in a rule (write '%' before a comment)"),
    ('// a comment', 1, 1, "found '/', which has no place in a rule (write '%' before a comment)"),
    ('a(X) :- b(X,N), N≤5.', 1, 18, "found '≤', which has no place in a rule (write '=<' for at most)"),
    ('a(X) :- b(X,N), N≥5.', 1, 18, "found '≥', which has no place in a rule (write '>=' for at least)"),
    ('a(X) :- b(X,N), N≠5.', 1, 18, "found '≠', which has no place in a rule (write '\\=' for different)"),
    ('a(X) :- roof-age(X,N), N<5.', 1, 13, "found '-', which has no place in a rule (a name with a dash is written in single quotes)"),
    ('a(X).\n - b(X).', 2, 2, "found '-', which has no place in a rule (a constraint begins with ':-')"),
    ('a(X) <- b(X).', 1, 6, "expected ':-' or '.', found '<' (write ':-' after a head)"),
    ('a(X) := b(X).', 1, 6, "found ':', which has no place in a rule (write ':-' after a head)"),
    ('?- a(X).', 1, 1, "expected a rule such as 'reject(X) :- age(X,N), N<18.', found '?-' (a query is the problem's goal, not one of its rules)"),
    ('A(X) :- b(X).', 1, 1, "expected a rule such as 'reject(X) :- age(X,N), N<18.', found 'A' (a name with a capital is written in single quotes)"),
    ('a(X) :- B(X).', 1, 10, "expected a comparison sign such as =<, found '(' (a name with a capital is written in single quotes)"),
    ('a :- b(X).', 1, 1, "expected a rule such as 'reject(X) :- age(X,N), N<18.', found 'a' (an atom names the person, as in a(X))"),
    ('a(X) :- c.', 1, 10, "expected a comparison sign such as =<, found '.' (an atom names the person, as in c(X))"),
    ('a(X) :- c, d(X).', 1, 10, "expected a comparison sign such as =<, found ',' (an atom names the person, as in c(X))"),
    ('a(X)', 1, 5, "expected ':-' or '.', found the end of the text"),
    ('a(X) :-', 1, 8, 'expected a literal such as age(X,N) or N=<5, found the end of the text'),
    ('a(X) b(X).', 1, 6, "expected ':-' or '.', found 'b(X)'"),
    ('a(X) :- b(X) c(X).', 1, 14, "expected ',' or '.', found 'c(X)'"),
    ('a(X) :- b(X)\nc(X).', 2, 1, "expected ',' or '.', found 'c(X)'"),
    ('a(X) :- b(X) c(X) :- d(X).', 1, 14, "expected ',' or '.', found 'c(X)'"),
    ('a(X) :- b(X) :- c(X).', 1, 14, "expected ',' or '.', found ':-'"),
    ('a(X) :- b(X,N) N<5.', 1, 16, "expected ',' or '.', found 'N'"),
    ('a(X) :- b(X), .', 1, 15, "expected a literal such as age(X,N) or N=<5, found '.'"),
    ('a(X) :- b(X),\n', 1, 14, 'expected a literal such as age(X,N) or N=<5, found the end of the text'),
    ('a(X) :- b(X)).', 1, 13, "expected ',' or '.', found ')'"),
    ('a(X) :- (b(X)).', 1, 9, "expected a literal such as age(X,N) or N=<5, found '('"),
    ('a() :- b(X).', 1, 3, "expected a term such as X, 5 or 'name', found ')'"),
    ('a(X) :- b(X,).', 1, 13, "expected a term such as X, 5 or 'name', found ')'"),
    ('a(X) :- b(X,N', 1, 14, "expected ')' or ',', found the end of the text"),
    ("a(X) :- b(X,'c).", 1, 13, 'this quoted name has no closing quote on its line'),
    ("a(X) :- b(X,'c\n').", 1, 13, 'this quoted name has no closing quote on its line'),
    ('a(X) :- /* b(X).', 1, 9, "this comment has no closing '*/'"),
    ('a(X) :- not not b(X).', 1, 13, "expected an atom or a comparison or '(', found 'not'"),
    ('a(X) :- not (b(X), c(X)).', 1, 18, "expected ')', found ','"),
    ('a(X) :- not.', 1, 12, "expected an atom or a comparison or '(', found '.'"),
    ('not a(X) :- b(X).', 1, 1, "expected a rule such as 'reject(X) :- age(X,N), N<18.', found 'not'"),
    ('a(X) :- 5.', 1, 10, "expected a comparison sign such as =<, found '.'"),
    ('a(X) :- b(X,N), 5<N<7.', 1, 20, "expected ',' or '.', found '<'"),
    ('a(X) :- b(X,N), N < .', 1, 21, "expected a term such as X, 5 or 'name', found '.'"),
    ('a(X) :- b(X,f(Y)).', 1, 13, "expected a term such as X, 5 or 'name', found 'f(Y)'"),
    ('a(X) :- b(X,[1]).', 1, 13, "found '[', which has no place in a rule"),
    ("a(X) :- b(X,'\\q').", 1, 9, "unknown escape '\\q' in a quoted name; known: \\\\ \\' \\n \\r \\t"),
    ('a(X) :- b(X,1e999).', 1, 9, "the number '1e999' is too large; numbers go up to about 1.8e308"),
    (f'a(X) :- b(X,{"9" * 5000}).', 1, 9, f"the number '{'9' * 39}…' is too large; numbers go up to about 1.8e308"),
    ('a(X) :- b(X,N), N<2400,50.', 1, 26, "expected a comparison sign such as =<, found '.' (write decimals with a point, 2400.50)"),
    ('a(X) :- b(X,N), N<2400,50, c(X).', 1, 26, "expected a comparison sign such as =<, found ',' (write decimals with a point, 2400.50)"),
    ('a(X) :- b(X,N), not(N<2400,50).', 1, 27, "expected ')', found ',' (write decimals with a point, 2400.50)"),
    ('a(X) :- b(X,N), N>40,000.', 1, 25, "expected a comparison sign such as =<, found '.' (write thousands without a comma, 40000, and decimals with a point, 40.000)"),
    ('a(X) :- b(X,N), N>40_000.', 1, 21, "expected ',' or '.', found '_000' (write numbers without '_', 40000)"),
    ('a(X) :- b(X,.5).', 1, 13, "expected a term such as X, 5 or 'name', found '.'"),
    ('a(X) :- b(X,5.).', 1, 14, "expected ')' or ',', found '.'"),
    ('a(X) :- b(X,N), N<5\n  and c(X).', 2, 3, "expected ',' or '.', found 'and' (write ',' between literals)"),
    ('\n\n  a(X) :- b(X)..', 3, 16, "expected a rule such as 'reject(X) :- age(X,N), N<18.', found '.'"),
    (':- .', 1, 4, "expected a literal such as age(X,N) or N=<5, found '.'"),
    ('a(X) :- b(X,N), N-1<foo.', 1, 18, "expected a comparison sign such as =<, found '-1'"),
]
WRONG_GOALS = [
    ('', 1, 1, 'expected a literal such as age(X,N) or N=<5, found the end of the text'),
    ('not refuse', 1, 11, "expected a comparison sign such as =<, found the end of the text (an atom names the person, as in refuse(X))"),
    ('not', 1, 4, "expected an atom or a comparison or '(', found the end of the text"),
    ('a(X) :- b(X).', 1, 6, "found ':-', but a goal is the body of a rule, without a head"),
    ('a(X), ', 1, 6, 'expected a literal such as age(X,N) or N=<5, found the end of the text'),
    ('?- ', 1, 3, 'expected a literal such as age(X,N) or N=<5, found the end of the text'),
    ('a(X). b(X).', 1, 7, "expected the end of the text, found 'b(X)'"),
]
# fmt: on


@pytest.mark.parametrize(("text", "line", "column", "problem"), WRONG_RULES)
def test_a_wrong_rule_gives_one_error_with_its_place_and_a_remedy(
    text: str, line: int, column: int, problem: str
) -> None:
    with pytest.raises(RuleError) as caught:
        parse(text)
    assert str(caught.value) == f"line {line}, column {column}: {problem}"
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("text", "line", "column", "problem"), WRONG_GOALS)
def test_a_wrong_goal_gives_one_error_with_its_place_and_a_remedy(
    text: str, line: int, column: int, problem: str
) -> None:
    with pytest.raises(RuleError) as caught:
        parse_query(text)
    assert str(caught.value) == f"line {line}, column {column}: {problem}"


def test_a_snippet_shows_the_source_line_and_a_caret_below_the_column() -> None:
    with pytest.raises(RuleError) as caught:
        parse("a(X) :- b(X).\n\tc(X) :- d(X,N), N<=5.\n")
    assert caught.value.snippet == ("     c(X) :- d(X,N), N<=5.\n                       ^")
    assert caught.value.__notes__ == [caught.value.snippet]


@pytest.mark.parametrize("name", LISTINGS)
def test_a_listing_of_the_paper_is_read_as_it_is_printed(name: str) -> None:
    assert len(parse(LISTINGS[name]).rules) == RULES_IN[name]


def test_a_negated_comparison_and_an_exception_with_a_constant_are_read() -> None:
    body = parse(LISTINGS["german"]).rules[1].body
    assert isinstance(body[-2], Not)
    assert isinstance(body[-2].inner, Comparison)
    assert isinstance(body[-1], Not)
    assert isinstance(body[-1].inner, Atom)
    assert body[-1].inner.arguments[1] == Constant("True")


def test_a_missing_full_stop_is_forgiven_before_a_rule_on_the_next_line_and_at_the_end() -> None:
    text = "a(X) :- b(X,N), N=<5.5\nc(X) :- d(X)"
    assert render(parse(text)) == "a(X) :- b(X,N), N=<5.5.\nc(X) :- d(X)."


def test_literals_keep_their_places() -> None:
    first, second = parse("% one\na(X) :- b(X,N),\n  not c(X,5), N=<2.\n:- d(X).").rules
    assert first.at == Position(2, 1)
    assert [literal.at for literal in first.body] == [(2, 9), (3, 3), (3, 15)]
    assert second.at == Position(4, 1)
    assert second.body[0].at == Position(4, 4)


@given(bodies)
def test_a_body_read_piece_by_piece_says_the_same(body: tuple[Literal, ...]) -> None:
    whole = parse(f"a(X) :- {render_body(body)}.")
    assert parse(f"a(X) :- /* why */ {render_body(body)}.") == whole
    assert parse(f"a(X) :- {render_body(body)} % because\n.") == whole


@pytest.mark.parametrize(
    "text",
    ["", "  \n", "% only a comment", "/* two\nlines */", "a(X).%", "a(X) :- b(X) % no stop"],
)
def test_blanks_and_comments_are_no_rules(text: str) -> None:
    assert len(parse(text).rules) == text.count("a(X)")


def test_numbers_stay_whole_or_decimal_as_written() -> None:
    rule = parse("a(X) :- b(X,5), c(X,5.0), d(X,-3), e(X,123456789012345678901234567890).").rules[0]
    values = [each.arguments[1] for each in rule.body if isinstance(each, Atom)]
    assert [repr(each) for each in values] == [
        "Constant(value=5)",
        "Constant(value=5.0)",
        "Constant(value=-3)",
        "Constant(value=123456789012345678901234567890)",
    ]


@pytest.mark.parametrize("text", ["not reject(X)", "?- not reject(X).", " not(reject(X)) . "])
def test_a_goal_may_be_written_as_a_query(text: str) -> None:
    assert parse_query(text) == (Not(parse("reject(X).").rules[0].head or Atom("", ())),)


def test_nesting_does_not_exhaust_the_stack() -> None:
    with pytest.raises(RuleError):
        parse("a(X) :- " + "not(" * 100_000 + "b(X)" + ")" * 100_000 + ".")
