"""The printed form: order, numbering, folding, bounds, quotes and rounding."""

from __future__ import annotations

from p2c._learn.foldse.literals import (
    LearnedLiteral,
    LearnedRule,
    Relation,
    count_literals,
    simplify,
    to_program,
    unite,
)
from p2c._rules.parse import parse
from p2c._rules.render import render


def at_most(feature: str, value: float, *, negated: bool = False) -> LearnedLiteral:
    return LearnedLiteral(feature, Relation.AT_MOST, value, negated)


def above(feature: str, value: float, *, negated: bool = False) -> LearnedLiteral:
    return LearnedLiteral(feature, Relation.ABOVE, value, negated)


def equal(feature: str, value: str, *, negated: bool = False) -> LearnedLiteral:
    return LearnedLiteral(feature, Relation.EQUAL, value, negated)


def printed(*rules: LearnedRule) -> str:
    text = render(to_program([simplify(rule) for rule in rules]))
    assert render(parse(text)) == text
    return text


def test_strings_come_first_and_numbers_follow_as_learned() -> None:
    rule = LearnedRule((at_most("gain", 5.0), equal("sex", "M"), at_most("age", 30.0)), label="low")
    assert (
        printed(rule) == "label(X,'low') :- sex(X,'M'), gain(X,N1), N1=<5.0, age(X,N2), N2=<30.0."
    )


def test_two_bounds_on_a_feature_become_one_pair() -> None:
    rule = LearnedRule((at_most("age", 60.0), at_most("age", 27.0, negated=True)), label="a")
    assert printed(rule) == "label(X,'a') :- age(X,N1), N1>27.0, N1=<60.0."


def test_of_several_bounds_the_tightest_stays() -> None:
    bounds = [at_most("age", 60.0), at_most("age", 50.0), above("age", 3.0), above("age", 8.0)]
    assert unite(bounds) == (above("age", 8.0), at_most("age", 50.0))


def test_a_lone_negated_bound_stays_negated() -> None:
    rule = LearnedRule((at_most("age", 27.0, negated=True),), label="a")
    assert printed(rule) == "label(X,'a') :- age(X,N1), not(N1=<27.0)."


def test_two_negated_bounds_stay_negated_because_strings_satisfy_both() -> None:
    rule = LearnedRule(
        (at_most("age", 27.0, negated=True), above("age", 60.0, negated=True)), label="a"
    )
    assert printed(rule) == "label(X,'a') :- age(X,N1), not(N1=<27.0), not(N1>60.0)."


def test_an_exception_of_one_literal_folds_into_the_body() -> None:
    rule = LearnedRule(
        (equal("bird", "yes"),), (LearnedRule((equal("kind", "penguin"),)),), "flies"
    )
    assert printed(rule) == "label(X,'flies') :- bird(X,'yes'), not kind(X,'penguin')."


def test_an_exception_whose_own_exception_folds_to_one_bound_folds_too() -> None:
    inner = LearnedRule(
        (at_most("age", 5.0),), (LearnedRule((at_most("age", 3.0, negated=True),)),)
    )
    rule = LearnedRule((equal("bird", "yes"),), (inner,), "flies")
    assert printed(rule) == "label(X,'flies') :- bird(X,'yes'), age(X,N1), not(N1=<3.0)."


def test_other_exceptions_get_names_inner_ones_first() -> None:
    inner = LearnedRule((equal("e", "1"), equal("f", "2")))
    outer = LearnedRule((equal("c", "3"), equal("d", "4")), (inner,))
    plain = LearnedRule((equal("g", "5"), at_most("h", 1.0)))
    rules = [
        LearnedRule((at_most("a", 1.0),), (outer, plain), "x"),
        LearnedRule((equal("b", "6"),), (plain,), "x"),
    ]
    assert printed(*rules).splitlines() == [
        "label(X,'x') :- a(X,N1), N1=<1.0, not ab2(X,'True'), not ab3(X,'True').",
        "label(X,'x') :- b(X,'6'), not ab3(X,'True').",
        "ab1(X,'True') :- e(X,'1'), f(X,'2').",
        "ab2(X,'True') :- c(X,'3'), d(X,'4'), not ab1(X,'True').",
        "ab3(X,'True') :- g(X,'5'), h(X,N2), N2=<1.0.",
    ]


def test_a_feature_keeps_its_variable_through_the_program() -> None:
    rules = [
        LearnedRule(
            (at_most("months", 21.0), at_most("amount", 428.0, negated=True)), label="good"
        ),
        LearnedRule((at_most("amount", 1345.0),), label="good"),
    ]
    assert printed(*rules).splitlines()[1] == "label(X,'good') :- amount(X,N2), N2=<1345.0."


def test_values_are_rounded_to_three_places_unless_asked_otherwise() -> None:
    rule = LearnedRule((at_most("ph", 4.63349),), label="0")
    assert printed(rule) == "label(X,'0') :- ph(X,N1), N1=<4.633."
    assert "4.63349" in render(to_program([rule], decimals=None))


def test_names_and_quotes_survive() -> None:
    rule = LearnedRule(
        (equal("Native Country", "Cote d'Ivoire"), equal("hours.per-week", "")), label="it's"
    )
    assert printed(rule) == (
        "label(X,'it\\'s') :- native_country(X,'Cote d\\'Ivoire'), 'hours.per_week'(X,'')."
    )


def test_rules_and_literals_are_counted_as_printed() -> None:
    inner = LearnedRule((equal("c", "3"), at_most("a", 0.0)))
    rule = LearnedRule((at_most("a", 1.0), at_most("a", 0.5, negated=True)), (inner,), "x")
    assert count_literals(to_program([simplify(rule)])) == (2, 4)
