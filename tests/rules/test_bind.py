"""What is said when rules do not fit the features: every fault once, with its place and what would be right."""

from __future__ import annotations

from typing import Any

import pytest

from p2c import Problem
from p2c._rules.evaluate import goal_holds
from p2c.errors import ProblemError
from tests.loan import LOAN, small, theory_of, whole

FEATURES: dict[str, Any] = {
    "age": {"type": "int", "min": 1, "max": 99},
    "debt": {"type": "int", "min": 0, "max": 1000},
    "rate": {"type": "float", "min": 0, "max": 1},
    "job": {"type": "category", "values": ["clerk", "nurse", "It's"]},
    "grade": {"type": "ordinal", "values": ["low", "mid", "high"]},
    "rooms": {"type": "category", "values": [1, 2, "many"]},
}

# fmt: off
WRONG_RULES = [
    ('ok(X) :- dbt(X,N), N<5.', ["rules: line 1, column 10: unknown feature or decision 'dbt'; did you mean 'debt'?"]),
    ('ok(X) :- dbt(X,5).', ["rules: line 1, column 10: unknown feature or decision 'dbt'; did you mean 'debt'?"]),
    ('ok(X) :- zzz(X,N), not(N=<3).', ["rules: line 1, column 10: unknown feature or decision 'zzz'; known: 'age', 'debt', 'grade', 'job', 'ok', 'rate', 'rooms'"]),
    ("ok(X) :- job(X,'clark').", ["rules: line 1, column 10: 'clark' is not a value of job; did you mean 'clerk'?"]),
    ("ok(X) :- job(X,'It''').", ["rules: line 1, column 10: 'It\\'' is not a value of job; did you mean 'It's'?"]),
    ("ok(X) :- job(X,N), N = 'nrse'.", ["rules: line 1, column 20: 'nrse' is not a value of job; did you mean 'nurse'?"]),
    ("ok(X) :- job(X,N), N<'clerk'.", ["rules: line 1, column 20: '<' needs an order, and job is a category: use = or \\=, or make it an ordinal"]),
    ('ok(X) :- job(X,5).', ["rules: line 1, column 10: 5 is not a value of job; known: 'It's', 'clerk', 'nurse'"]),
    ("ok(X) :- rooms(X,'2').", ["rules: line 1, column 10: '2' is not a value of rooms; write 2"]),
    ('ok(X) :- rooms(X,3).', ["rules: line 1, column 10: 3 is not a value of rooms; known: '1', '2', 'many'"]),
    ("ok(X) :- grade(X,N), N>='hgh'.", ["rules: line 1, column 22: 'hgh' is not a value of grade; did you mean 'high'?"]),
    ('ok(X) :- grade(X,2).', ["rules: line 1, column 10: 2 is not a value of grade; known: 'high', 'low', 'mid'"]),
    ("ok(X) :- age(X,'old').", ["rules: line 1, column 10: age is a number, found 'old'"]),
    ("ok(X) :- age(X,N), N<'old'.", ["rules: line 1, column 20: age is a number, found 'old'"]),
    ('ok(X) :- age(X,100).', ['rules: line 1, column 10: 100 is outside the range of age, 1 to 99']),
    ('ok(X) :- age(X,5.5).', ['rules: line 1, column 10: age is a whole number, found 5.5']),
    ('ok(X) :- rate(X,1.5).', ['rules: line 1, column 10: 1.5 is outside the range of rate, 0.0 to 1.0']),
    ('ok(X) :- age(X).', ['rules: line 1, column 10: a feature has two arguments, as in age(X,N)']),
    ('ok(X) :- age(X,N,M), N<M.', ['rules: line 1, column 10: a feature has two arguments, as in age(X,N)', 'rules: line 1, column 22: expected a variable compared with a constant, found N<M']),
    ('ok(X) :- N<5.', ['rules: line 1, column 10: the variable N is unsafe: no feature in this rule gives it a value, as age(X,N) would']),
    ('ok(X) :- not age(X,N), N<5.', ['rules: line 1, column 10: the variable N is unsafe under not: write age(X,N), not(N>=1)']),
    ('ok(X) :- age(X,N), debt(X,N), N<5.', ['rules: line 1, column 20: the variable N already stands for age: give each feature its own variable and compare the two, as in N = N2']),
    ('ok(X) :- age(X,N), N>1, 5<6.', ['rules: line 1, column 25: expected a variable compared with a constant, found 5<6']),
    ('ok(X) :- age(Y,5).', ['rules: line 1, column 10: one rule speaks of one person: expected X, found Y']),
    ('ok(X) :- age(joe,5).', ["rules: line 1, column 10: the first argument is the person, a variable such as X, found 'joe'"]),
    ('ok(joe) :- age(X,5).', ["rules: line 1, column 1: the first argument is the person, a variable such as X, found 'joe'"]),
    ('age(joe,5) :- debt(X,5).', ["rules: line 1, column 1: the first argument is the person, a variable such as X, found 'joe'"]),
    ('ok(X) :- age(X,X).', ['rules: line 1, column 10: the variable X is the person, not a value']),
    ('ok(X) :- ko(X).', ["rules: line 1, column 10: unknown feature or decision 'ko'; known: 'age', 'debt', 'grade', 'job', 'ok', 'rate', 'rooms'"]),
    ('ok(X) :- ok(X).', ['rules: line 1, column 1: a decision may not depend on itself: ok(X) -> ok(X)']),
    ('ok(X) :- b(X).\nb(X) :- c(X).\nc(X) :- not ok(X).', ['rules: line 1, column 1: a decision may not depend on itself: ok(X) -> b(X) -> c(X) -> ok(X)']),
    ("ok(X) :- lab(X,'a').\nlab(X,'b') :- age(X,5).", ["rules: line 1, column 10: no rule defines lab(X,'a'); defined: lab(X,'b')"]),
    ("ok(X) :- lab(X,N), N<5.\nlab(X,'b') :- age(X,5).", ["rules: line 1, column 10: a decision takes constants only, found lab(X,N); defined: lab(X,'b')"]),
    ('ok(X,N) :- age(X,N), N<5.', ["rules: line 1, column 1: 'ok' is no feature, so its further arguments are constants; known: 'age', 'debt', 'grade', 'job', 'rate', 'rooms'"]),
    ('agee(X,N) :- debt(X,5), N>=5.', ["rules: line 1, column 1: 'agee' is no feature, so its further arguments are constants; did you mean 'age'?"]),
    ('age(X,N) :- debt(X,5).', ['rules: line 1, column 1: the head variable N is not restricted: compare it with constants, as in N>=1']),
    ('job(X,V) :- debt(X,5).', ["rules: line 1, column 1: the head variable V is not restricted: write job(X,'V') for one value, or compare it with constants, as in V = 'clerk'"]),
    ('age(X,N) :- debt(X,N).', ['rules: line 1, column 1: the head variable N may only be compared with constants, not read from another feature']),
    ('age(X,N) :- debt(X,N), N<5.', ['rules: line 1, column 1: the head variable N may only be compared with constants, not read from another feature']),
    ('age(X,N) :- debt(X,M), N<M.', ['rules: line 1, column 24: expected a variable compared with a constant, found N<M']),
    ('age(X,X) :- debt(X,5), X<5.', ['rules: line 1, column 1: the variable X is the person, not a value']),
    ('age(X) :- debt(X,5).', ["rules: line 1, column 1: a feature has two arguments, as in age(X,'value')"]),
    ('age(X,5) :- age(X,N), N<3.', ["rules: line 1, column 1: a causal rule of 'age' may not read 'age' itself"]),
    ('age(X,5) :- old(X).\nold(X) :- age(X,N), N>60.', ["rules: line 1, column 1: a causal rule of 'age' may not read 'age' itself"]),
    ('age(X,500) :- debt(X,5).', ['rules: line 1, column 1: 500 is outside the range of age, 1 to 99']),
    ("ok(X) :- job(X,Nurse).", ["rules: line 1, column 10: the variable Nurse is used nowhere else, so it stands for any value: write job(X,'nurse') for that one value, or write job(X,_) for any value"]),
    ("ok(X) :- age(X,5),\n  job(X,Berlin).", ["rules: line 2, column 3: the variable Berlin is used nowhere else, so it stands for any value: write job(X,'Berlin') for that one value, or write job(X,_) for any value"]),
    ("ok(X) :- not job(X,Nurse).", ["rules: line 1, column 10: the variable Nurse is used nowhere else, so it stands for any value: write not job(X,'nurse') for that one value"]),
    ("ok(X) :- not job(X,_), rooms(X,_).", ["rules: line 1, column 10: '_' is any value, and not job(X,_) never holds; for one value, write not job(X,'clerk')"]),
    (":- rooms(X,Many).", ["rules: line 1, column 4: the variable Many is used nowhere else, so it stands for any value: write rooms(X,'many') for that one value, or write rooms(X,_) for any value"]),
    ("age(X,5) :- job(X,Nurse).", ["rules: line 1, column 13: the variable Nurse is used nowhere else, so it stands for any value: write job(X,'nurse') for that one value, or write job(X,_) for any value"]),
    ("job(X,Nurse) :- age(X,5).", ["rules: line 1, column 1: the head variable Nurse is not restricted: write job(X,'nurse') for one value, or compare it with constants, as in Nurse = 'clerk'"]),
    ("ok(X) :- age(X,N).", ["rules: line 1, column 10: the variable N is used nowhere else, so it stands for any value: compare it, as in N>=1, or write age(X,_) for any value"]),
    ("ok(X) :- not age(X,N).", ["rules: line 1, column 10: the variable N is used nowhere else, so it stands for any value: write age(X,N), not(N>=1)"]),
    ("ok(X) :- age(X,_), _>5.", ["rules: line 1, column 20: '_' is any value and cannot be compared: give it a name such as N"]),
    ("ok(X) :- job(X,J), J \\= Nurse.", ["rules: line 1, column 20: expected a variable compared with a constant, found J \\= Nurse; write J \\= 'nurse'"]),
    ("ok(X) :- lab(X,Good).\nlab(X,good) :- age(X,5).", ["rules: line 1, column 10: a decision takes constants only, found lab(X,Good); write lab(X,'good')"]),
    (':- age(X,N), N<M.', ['rules: line 1, column 14: expected a variable compared with a constant, found N<M']),
    ("ok(X) :- job(X,'clark'), dbt(X,5).\nok(X) :- N<5.", ["rules: line 1, column 10: 'clark' is not a value of job; did you mean 'clerk'?", "rules: line 1, column 26: unknown feature or decision 'dbt'; did you mean 'debt'?", 'rules: line 2, column 10: the variable N is unsafe: no feature in this rule gives it a value, as age(X,N) would']),
]
WRONG_GOALS = [
    ('job(X,Nurse)', ["goal: line 1, column 1: the variable Nurse is used nowhere else, so it stands for any value: write job(X,'nurse') for that one value, or write job(X,_) for any value"]),
    ('not agee(X,5)', ["goal: line 1, column 1: unknown feature or decision 'agee'; did you mean 'age'?"]),
    ('age(X,N), N<M', ['goal: line 1, column 11: expected a variable compared with a constant, found N<M']),
    ('job(X,clark)', ["goal: line 1, column 1: 'clark' is not a value of job; did you mean 'clerk'?"]),
    ('', ['goal: line 1, column 1: expected a literal such as age(X,N) or N=<5, found the end of the text']),
    ('age(X,5', ["goal: line 1, column 8: expected ')' or ',', found the end of the text"]),
    ('ok(X)', ["goal: line 1, column 1: unknown feature or decision 'ok'; known: 'age', 'debt', 'grade', 'job', 'rate', 'rooms'"]),
    ('age(X,5), debt(Y,3)', ['goal: line 1, column 11: one rule speaks of one person: expected X, found Y']),
]
# fmt: on


def faults(**keys: Any) -> list[str]:
    """Return what is said of a problem, fault by fault."""
    problem = {"goal": "age(X,5)", "rules": "", "features": FEATURES} | keys
    with pytest.raises(ProblemError) as caught:
        Problem.from_dict(problem)
    return [str(fault) for fault in caught.value.faults]


@pytest.mark.parametrize(("rules", "expected"), WRONG_RULES)
def test_a_rule_that_does_not_fit_gives_its_faults_once_each(
    rules: str, expected: list[str]
) -> None:
    assert faults(rules=rules) == expected


@pytest.mark.parametrize(("goal", "expected"), WRONG_GOALS)
def test_a_goal_that_does_not_fit_gives_its_faults_once_each(
    goal: str, expected: list[str]
) -> None:
    assert faults(goal=goal) == expected


def test_faults_of_features_rules_and_goal_are_reported_together() -> None:
    wrong = FEATURES | {"size": {"type": "int", "min": 5, "max": 1}}
    found = faults(features=wrong, rules="ok(X) :- dbt(X,5).", goal="agee(X,5)")
    assert [each.split(":")[0] for each in found] == ["features.size.min", "rules", "goal"]


def test_a_rule_about_a_faulty_feature_is_not_blamed_for_it() -> None:
    wrong = FEATURES | {"size": {"type": "int", "min": 5, "max": 1}}
    assert faults(features=wrong, rules="ok(X) :- size(X,3).", goal="ok(X), size(X,4)") == [
        "features.size.min: expected at most max = 1, found 5"
    ]


def test_rules_that_cannot_be_read_do_not_make_an_effect_feature_faulty() -> None:
    wrong = FEATURES | {"age": {"type": "int", "min": 1, "max": 9, "action": "effect"}}
    assert faults(features=wrong, rules="age(X,5) :- debt(X 5).", goal="ok(X)") == [
        "rules: line 1, column 20: expected ')' or ',', found '5'"
    ]


def test_any_value_passes_where_a_rule_says_so_a_missing_one_too() -> None:
    theory = small(
        "good(X) :- age(X,_), age(X,_), n(X,5).", {"age": whole(1, 99), "n": whole(1, 9)}
    )
    for age in (1, 99, None):
        assert goal_holds(theory, {"age": age, "n": 5})
        assert not goal_holds(theory, {"age": age, "n": 6})


def test_constants_of_comparisons_may_lie_outside_the_range() -> None:
    small("good(X) :- age(X,N), N<500, N \\= -3, N>0.5.", {"age": whole(1, 99)})


def test_a_decision_may_have_the_name_of_another_with_other_constants() -> None:
    rules = "good(X) :- label(X,'a'), not label(X,'b').\nlabel(X,'a').\nlabel(X,'b') :- age(X,1)."
    theory = small(rules, {"age": whole(1, 99)})
    assert [decision.arguments for decision, _ in theory.decisions] == [("a",), ("b",), ()]


def test_the_contract_s_loan_binds_its_head_variable_to_a_set_of_values() -> None:
    (name, (clause,)), *rest = theory_of(LOAN).causes
    assert not rest
    assert name == "credit_score"
    assert [(test.comparator.value, test.constant) for test in clause.head] == [(">=", 620)]
    assert [(test.comparator.value, test.constant) for test in clause.body] == [("=<", 0)]  # type: ignore[union-attr]


def test_decisions_may_be_nested_to_any_depth() -> None:
    chain = [f"d{n}(X) :- d{n + 1}(X)." for n in range(3000)]
    theory = small("\n".join([*chain, "d3000(X) :- age(X,1)."]), {"age": whole(1, 9)}, goal="d0(X)")
    assert theory.reads(theory.goal) == {"age"}
