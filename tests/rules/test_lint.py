"""One test a warning, the messages as people read them, and agreement with brute force on small worlds."""

from __future__ import annotations

import itertools
import random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings

from p2c import Problem
from p2c._rules.cells import cut, every_test
from p2c._rules.evaluate import clause_fires, goal_holds, in_head, passes
from p2c._rules.lint import Concern, lint
from p2c._rules.meaning import consistent
from p2c._rules.satisfy import Effort, Formulas, satisfiable
from p2c._spec.feature import Kind
from tests.loan import LOAN, category, ordinal, small, theory_of, whole
from tests.paper import CARS
from tests.strategies import problems

if TYPE_CHECKING:
    from collections.abc import Iterator

    from p2c._rules.theory import Clause, Theory
    from p2c._spec.feature import Feature, Value

FEATURES: dict[str, Any] = {
    "age": whole(0, 99),
    "debt": whole(0, 1_000_000_000),
    "job": category("clerk", "nurse"),
    "grade": ordinal("low", "mid", "high"),
}
USED = "good(X) :- age(X,N), N>=18, debt(X,M), M<5, job(X,'clerk'), not job(X,'nurse'), grade(X,G), G>'low'.\n"


def messages(rules: str, kind: Concern, **keys: Any) -> list[str]:
    theory = small(USED + rules, keys.pop("features", FEATURES), **keys)
    return [each.message for each in lint(theory) if each.kind is kind]


def test_a_sound_problem_has_no_findings() -> None:
    assert lint(small(USED, FEATURES)) == ()


@pytest.mark.parametrize(
    "body",
    [
        "age(X,N), N>5, N<5",
        "age(X,N), N>5, N<6",
        "age(X,N), N>99",
        "age(X,N), not(N>=0), N<200",
        "age(X,N), N = 5.5",
        "job(X,'clerk'), job(X,'nurse')",
        "job(X,V), V \\= 'clerk', V \\= 'nurse'",
        "grade(X,G), G<'low'",
        "good(X), age(X,N), N<18",
        "not good(X), not poor(X), age(X,N), N>5",
        "odd(X), even(X)",
    ],
)
def test_a_rule_whose_body_no_state_meets_is_found(body: str) -> None:
    helpers = (
        "poor(X) :- not good(X).\nodd(X) :- age(X,1).\nodd(X) :- age(X,3).\n"
        "even(X) :- age(X,2).\neven(X) :- age(X,4).\n"
    )
    assert messages(f"{helpers}bad(X) :- {body}.", Concern.NEVER_FIRES) == [
        "line 7: this rule can never fire, for no state meets its body: loosen a condition or drop the rule"
    ]


@pytest.mark.parametrize(
    "body",
    [
        "age(X,N), N>5, N<7",
        "age(X,N), not(N>5), not(N=<5)",  # a missing value
        "job(X,V), not(V = 'clerk'), not(V = 'nurse')",
        "age(X,99)",
    ],
)
def test_a_rule_that_some_state_meets_is_left_alone(body: str) -> None:
    assert messages(f"bad(X) :- {body}.", Concern.NEVER_FIRES) == []


def test_a_head_without_an_admissible_value_is_found() -> None:
    assert messages("debt(X,N) :- job(X,'clerk'), N<0.", Concern.EMPTY_HEAD) == [
        "line 2: the head of this rule names no admissible value of 'debt': correct its constants"
    ]


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ("bad(X) :- age(X,N), N<5.\nbad(X) :- age(X,N), N<9.", ["line 2: this rule says nothing beyond line 3: drop it"]),
        ("bad(X) :- age(X,5).\nbad(X) :- age(X,5).", ["line 3: this rule says nothing beyond line 2: drop it"]),
        ("bad(X) :- age(X,N), N<5, job(X,'clerk').\nbad(X) :- age(X,N), N<5.", ["line 2: this rule says nothing beyond line 3: drop it"]),
        ("bad(X) :- age(X,N), N<5.\nbad(X) :- age(X,N), N>=4.\nbad(X) :- age(X,N), N>1, N<8.", ["line 4: this rule says nothing beyond lines 2, 3 together: drop it"]),
        ("bad(X) :- good(X), age(X,20).\nbad(X) :- age(X,N), N>=18.", ["line 2: this rule says nothing beyond line 3: drop it"]),
        ("age(X,5) :- debt(X,3).\nage(X,N) :- debt(X,M), M<9, N = 5.", ["line 2: this rule says nothing beyond line 3: drop it"]),
        (":- age(X,5), debt(X,3).\n:- age(X,5).", ["line 2: this rule says nothing beyond line 3: drop it"]),
        ("age(X,5) :- debt(X,3).\nage(X,6) :- debt(X,M), M<9.", []),
        ("bad(X) :- age(X,N), N<5.\nworse(X) :- age(X,N), N<9.", []),
    ],
)  # fmt: skip
def test_a_rule_that_others_imply_is_found(rules: str, expected: list[str]) -> None:
    assert messages(rules, Concern.IMPLIED) == expected


def test_the_third_rule_of_the_paper_s_cars_follows_from_the_fourth() -> None:
    features = {
        "persons": category("2", "4", "more"),
        "safety": category("low", "med", "high"),
        "buying": category("vhigh", "high", "med", "low"),
        "maint": category("vhigh", "high", "med", "low"),
    }
    found = lint(small(CARS, features, goal="not label(X,'negative')"))
    assert [each.line for each in found if each.kind is Concern.IMPLIED] == [5]


def test_values_that_no_rule_mentions_are_found() -> None:
    features = FEATURES | {"job": category("clerk", "nurse", "pilot", "cook")}
    assert messages("", Concern.UNMENTIONED_VALUES, features=features) == [
        "features.job.values: no rule mentions 'pilot', 'cook':"
        " check the spelling, or leave them if the rules treat them alike"
    ]


def test_the_one_value_that_the_others_leave_is_no_fault() -> None:
    features = FEATURES | {"job": category("clerk", "nurse", "pilot")}
    assert messages("", Concern.UNMENTIONED_VALUES, features=features) == []


def test_a_feature_that_no_rule_reads_is_found() -> None:
    assert messages("", Concern.UNREAD_FEATURE, features=FEATURES | {"shoe": whole(1, 50)}) == [
        "features.shoe: no rule reads this feature: read it in a rule or leave it out"
    ]


def test_a_circle_of_causes_is_found() -> None:
    rules = "age(X,5) :- debt(X,3).\ndebt(X,7) :- rich(X).\nrich(X) :- job(X,'clerk').\njob(X,'nurse') :- age(X,9)."
    assert messages(rules, Concern.CAUSAL_CYCLE) == [
        "line 2: the causal rules go in a circle, age <- debt <- job <- age:"
        " check that this feedback is meant"
    ]


def test_a_governed_feature_that_nothing_can_change_is_found() -> None:
    features = FEATURES | {
        "age": whole(0, 99, action="fixed"),
        "job": category("clerk", "nurse", action="fixed"),
    }
    rules = (
        "job(X,'clerk') :- debt(X,3).\ngrade(X,'low') :- age(X,5).\ndebt(X,3) :- grade(X,'mid')."
    )
    assert messages(rules, Concern.UNCHANGEABLE, features=features) == [
        "line 2: 'job' is fixed, so its causal rules never change it:"
        " make its action 'effect' or drop them",
        "line 3: nothing can change 'grade', for nothing can change what its causal rules read:"
        " free one of its causes",
        "line 4: nothing can change 'debt', for nothing can change what its causal rules read:"
        " free one of its causes",
    ]
    assert len(messages(rules, Concern.UNCHANGEABLE, features=features, effects="supported")) == 1


@pytest.mark.parametrize(
    ("rules", "goal"),
    [
        ("", "good(X), age(X,N), N<18"),
        ("bad(X) :- good(X).\nbad(X) :- not good(X).", "not bad(X)"),
        ("", "debt(X,N), N>5, N<6"),
    ],
)
def test_a_goal_that_no_state_meets_is_found(rules: str, goal: str) -> None:
    assert messages(rules, Concern.GOAL_NEVER_MET, goal=goal) == [
        f"goal: no state meets '{goal}': correct the goal or the rules that it calls"
    ]


@pytest.mark.parametrize(
    ("exceptions", "rest"),
    [("strict", ""), ("abduce", ", but for people who break those at the start")],
)
@pytest.mark.parametrize("rules", [":- good(X).", "age(X,17) :- job(X,'clerk')."])
def test_a_goal_that_only_breaks_rules_is_found(rules: str, exceptions: str, rest: str) -> None:
    assert messages(rules, Concern.GOAL_NEVER_MET, exceptions=exceptions) == [
        "goal: no state that obeys the causal rules and constraints meets 'good(X)'"
        f"{rest}: correct the goal or those rules"
    ]


def test_a_variable_that_is_never_compared_is_found() -> None:
    rules = "bad(X) :- age(X,N), age(X,N), age(X,_), debt(X,M), M<3."
    assert messages(rules, Concern.UNUSED_VARIABLE, goal="good(X), age(X,A), age(X,A)") == [
        "line 2: age(X,N) tests nothing, for its variable is never compared: compare it or drop age(X,N)",
        "line 2: age(X,N) tests nothing, for its variable is never compared: compare it or drop age(X,N)",
        "goal: age(X,A) tests nothing, for its variable is never compared: compare it or drop age(X,A)",
        "goal: age(X,A) tests nothing, for its variable is never compared: compare it or drop age(X,A)",
    ]


def test_a_decision_that_nothing_uses_is_found() -> None:
    rules = "bad(X) :- worse(X).\nworse(X) :- age(X,3).\n:- odd(X).\nodd(X) :- age(X,1)."
    assert messages(rules, Concern.UNUSED_DECISION) == [
        "line 2: nothing uses bad(X), neither the goal nor a causal rule nor a constraint:"
        " use it or drop its rules",
        "line 3: nothing uses worse(X), neither the goal nor a causal rule nor a constraint:"
        " use it or drop its rules",
    ]


def test_a_decision_that_nothing_uses_may_be_a_feature_that_is_spelt_wrong() -> None:
    assert messages("depts(X,'1') :- age(X,3).", Concern.MISSPELT_HEAD) == [
        "line 2: nothing uses depts(X,'1'), neither the goal nor a causal rule nor a constraint:"
        " use it or drop its rules, did you mean 'debt'?"
    ]


def test_findings_about_rules_come_first_in_the_order_of_their_lines() -> None:
    found = lint(
        theory_of(LOAN | {"rules": LOAN["rules"] + "a(X) :- age(X,N), N<0.\nb(X) :- a(X)."})
    )
    lines = [each.line for each in found]
    assert lines == sorted(lines, key=lambda line: (line is None, line or 0))
    assert all("\n" not in str(each) for each in found)


def test_nothing_is_said_when_the_search_is_too_long() -> None:
    rng = random.Random(1)
    names = [f"f{n}" for n in range(40)]
    rules = "\n".join(
        "bad(X) :- "
        + ", ".join(f"{name}(X,'{rng.choice('ab')}')" for name in rng.sample(names, 3))
        + "."
        for _ in range(400)
    )
    theory = small(rules, {name: category("a", "b") for name in names}, goal="not bad(X)")
    formulas = Formulas(theory)
    assert satisfiable(formulas, formulas.parts(theory.goal), Effort(1000)) is None
    assert all(each.kind is Concern.IMPLIED for each in lint(theory))


def states(theory: Theory) -> Iterator[dict[str, Value]]:
    """Return a state for every way in which the tests of a theory can come out, by brute force."""
    columns = [_values(theory, feature) for feature in theory.features]
    for values in itertools.product(*columns):
        yield dict(zip(theory.feature, values, strict=True))


def _values(theory: Theory, feature: Feature) -> list[Value]:
    if not feature.kind.is_number:
        return [*feature.places, None]
    if feature.kind is Kind.INT:
        return [*range(int(feature.minimum), int(feature.maximum) + 1), None]
    tests = [test.constant for test in every_test(theory) if test.feature == feature.name]
    points = sorted(
        {feature.minimum, feature.maximum, *(each for each in tests if not isinstance(each, str))}
    )
    middles = [(left + right) / 2 for left, right in itertools.pairwise(points)]
    inside = [each for each in (*points, *middles) if feature.minimum <= each <= feature.maximum]
    return [*map(float, inside), None]


def clauses(theory: Theory) -> list[tuple[Clause, ...]]:
    groups = [each for _, each in (*theory.decisions, *theory.causes)]
    return [*groups, theory.constraints]


@settings(max_examples=80, deadline=None)
@given(problems(tiny=True))
def test_findings_agree_with_brute_force(drawn: tuple[dict[str, Any], dict[str, Any]]) -> None:
    theory = Problem.from_dict(drawn[0]).theory
    found = lint(theory)
    everything = list(states(theory))
    fires = {
        id(clause): [clause_fires(theory, clause, state) for state in everything]
        for group in clauses(theory)
        for clause in group
    }
    dead = {c.rule.at.line for group in clauses(theory) for c in group if not any(fires[id(c)])}
    assert dead == {each.line for each in found if each.kind is Concern.NEVER_FIRES}
    met = [state for state in everything if goal_holds(theory, state)]
    lawful = any(consistent(theory, state, ()) for state in met)
    assert lawful is not any(each.kind is Concern.GOAL_NEVER_MET for each in found)
    assert bool(met) is not any("goal: no state meets" in each.message for each in found)
    _check_implied(
        theory, fires, {each.line for each in found if each.kind is Concern.IMPLIED}, dead
    )


def _check_implied(
    theory: Theory, fires: dict[int, list[bool]], flagged: set[int | None], dead: set[int]
) -> None:
    """Check that what was flagged may go, and that nothing else may."""
    for group in clauses(theory):
        kept = [each for each in group if each.rule.at.line not in flagged | dead]
        for clause in group:
            if clause.rule.at.line in dead:
                continue
            others = [
                c for c in kept if c is not clause and _head(theory, c) == _head(theory, clause)
            ]
            covered = [any(each) for each in zip(*(fires[id(c)] for c in others), strict=True)]
            implied = bool(others) and all(
                not fired or other for fired, other in zip(fires[id(clause)], covered, strict=True)
            )
            assert implied is (clause.rule.at.line in flagged)


def _head(theory: Theory, clause: Clause) -> list[bool]:
    if not clause.head:
        return []
    return [
        in_head(theory, clause, value)
        for value in _values(theory, theory.feature[clause.head[0].feature])
    ]


@settings(max_examples=80, deadline=None)
@given(problems())
def test_cells_pass_a_test_just_as_their_values_do(
    drawn: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    theory = Problem.from_dict(drawn[0]).theory
    cells = cut(theory)
    for test in every_test(theory):
        feature = theory.feature[test.feature]
        expected = [
            passes(feature, value, test) is not test.negated
            for value in cells[test.feature].samples
        ]
        passing = cells[test.feature].passing(test)
        assert [bool(passing >> place & 1) for place in range(len(expected))] == expected
