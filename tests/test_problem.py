"""`Problem` from outside: what the contract's section 4 shows, overrides, round trips and refusals."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import p2c
from p2c._spec.overrides import OVERRIDES
from p2c._spec.toml import problem_to_toml
from p2c.errors import P2CError, ProblemError, RowError
from p2c.problem import Problem
from tests.loan import JOHN, LOAN
from tests.strategies import seeded_problems

if TYPE_CHECKING:
    from collections.abc import Callable

FEW = np.array(["html", "expert"])
PEOPLE = pd.DataFrame([JOHN])
AGES = {
    "goal": "age(X,N), N>=18",
    "rules": "",
    "features": {"age": {"type": "int", "min": 0, "max": 99}},
}
OTHER = Problem.from_dict(AGES).plan({"age": 16})
RICH = {"age": 31, "debt": 0, "bank_balance": 70000, "credit_score": 700}


@pytest.fixture(scope="module")
def loan() -> Problem:
    return Problem.from_dict(LOAN)


def test_the_plan_of_the_contract(loan: Problem) -> None:
    plan = loan.plan(JOHN, norm="l1").to_dict()
    assert plan["status"] == "found"
    assert plan["cost"] == 0.00502
    assert plan["optimal"] is True
    assert plan["initial"] == JOHN
    assert plan["counterfactual"] == JOHN | {
        "debt": 0,
        "bank_balance": 60000,
        "credit_score": 620,
    }
    first, second = plan["steps"]
    assert first["actions"] == [
        {"kind": "direct", "feature": "debt", "from": 5000, "to": 0, "cost": 0.005},
        {
            "kind": "causal",
            "feature": "credit_score",
            "from": 599,
            "to": 620,
            "cost": 0,
            "because": ["credit_score(X,N) :- debt(X,D), D=<0, N>=620."],
            "assumed": False,
        },
    ]
    assert first["state"] == JOHN | {"debt": 0, "credit_score": 620}
    assert second["actions"] == [
        {"kind": "direct", "feature": "bank_balance", "from": 40000, "to": 60000, "cost": 2e-05}
    ]
    assert json.loads(json.dumps(plan)) == plan


def test_an_override_changes_the_question_and_not_the_problem(loan: Problem) -> None:
    assert loan.plan(JOHN, norm="l0").cost == 2
    assert loan.plan(JOHN, norm="l0").to_dict()["norm"] == "l0"
    assert loan.plan(JOHN).to_dict()["norm"] == "l1"
    assert loan.plan(JOHN, goal="age(X,N), N>=31").status == "already"
    assert [plan.cost for plan in loan.nearest(JOHN, norm="l0")] == [2]


def test_every_key_that_can_be_overridden_is(loan: Problem) -> None:
    values: dict[str, Any] = {
        "goal": "reject_loan(X)",
        "law": "if",
        "exceptions": "strict",
        "effects": "supported",
        "norm": "l2",
        "minimize": "actions",
    }
    assert {*values, "limits", "max_actions"} == set(OVERRIDES)
    for key, value in values.items():
        assert loan.with_keys(**{key: value}).to_dict()[key] == value


def test_the_same_overrides_give_the_same_object(loan: Problem) -> None:
    assert loan.with_keys() is loan
    assert loan.with_keys(norm="l2", law="if") is loan.with_keys(law="if", norm="l2")


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"nrom": "l2"}, "'nrom' is no keyword here; did you mean 'norm'?"),
        ({"time_limt": 2}, "'time_limt' is no keyword here; did you mean 'time_limit'?"),
        ({"restrct": {}}, "'restrct' is no keyword here; did you mean 'restrict'?"),
        ({"rules": ""}, "'rules' cannot be overridden; known: 'certificate', 'effects'"),
        ({"features": {}}, "'features' cannot be overridden"),
        ({"norm": "l3"}, "norm: expected 'l0', 'l1', 'l2' or 'linf', found 'l3'"),
        ({"norm": 2}, "norm: expected 'l0', 'l1', 'l2' or 'linf', found 2"),
        ({"goal": "reject(X)"}, "goal: line 1, column 1: unknown feature or decision 'reject'"),
        ({"goal": ""}, "goal: line 1, column 1"),
        ({"goal": None}, "goal: expected text"),
    ],
)
def test_an_override_that_does_not_fit_is_one_line_that_says_so(
    loan: Problem, keys: dict[str, Any], message: str
) -> None:
    with pytest.raises(P2CError, match=r"^[^\n]*$") as refused:
        loan.plan(JOHN, **keys)
    assert message in str(refused.value)


NO_LIMITS: list[Any] = ["x", -1, math.nan, math.inf, True, [1], np.array([1, 2])]


@pytest.mark.parametrize(
    ("name", "limit"),
    [
        *(("time_limit", each) for each in [*NO_LIMITS, 10**400]),
        *(("node_limit", each) for each in [*NO_LIMITS, 1.5]),
    ],
)
def test_a_limit_that_is_none_is_said(loan: Problem, name: str, limit: Any) -> None:
    with pytest.raises(P2CError, match=rf"^{name}: expected [^\n]*, found [^\n]*$"):
        loan.plan(JOHN, **{name: limit})


def test_a_dict_in_the_place_of_a_path_is_told_where_it_belongs() -> None:
    document: Any = LOAN
    with pytest.raises(
        P2CError, match="expected the path of a file or folder, found a dict; from_dict"
    ):
        Problem.load(document)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda loan: loan.plan(JOHN, engine=["native"]), "no engine ['native']; known: 'auto'"),
        (lambda loan: loan.plan(JOHN, engine=None), "no engine None; known: 'auto', 'clingo'"),
        (lambda loan: loan.nearest(JOHN, distinct=["points"]), "or cells, found ['points']"),
        (lambda loan: loan.check(loan.plan(JOHN), engine="x"), "no engine 'x'"),
        (lambda loan: loan.to_svg(language=["de"]), "language: no catalogue ['de']; known"),
        (lambda loan: loan.to_svg(theme=None), "theme: there is no None; known: 'auto', 'dark'"),
        (lambda loan: loan.report(JOHN, format=["html"]), "format: no report as ['html']; known"),
        (lambda loan: loan.report(JOHN, audience=FEW), "audience: no report for array(["),
        (lambda loan: loan.report(JOHN, reasons="gone.csv"), "gone.csv: cannot be read"),
        (lambda loan: loan.report(OTHER), "expected a plan of 'loan', found one without 'debt'"),
        (lambda loan: loan.reasons(OTHER), "expected a plan of 'loan', found one without 'debt'"),
        (lambda loan: loan.reasons(loan.plan(JOHN), time_limit="z"), "time_limit: expected sec"),
        (lambda loan: loan.reasons(JOHN, protected=5), "protected: expected names of features, f"),
        (lambda loan: loan.reasons(JOHN, codes=5), "expected the path of a file, found a int"),
        (lambda loan: loan.audit(PEOPLE, by=5), "by: expected columns such as 'sex' or 'age:<30,"),
        (lambda loan: loan.audit(PEOPLE, by=[["age"]]), "'age:<30,30-50,>50', found [['age']]"),
        (lambda loan: loan.audit(PEOPLE, seed="x"), "seed: expected a whole number from 0 on"),
        (lambda loan: loan.audit(PEOPLE, against="x"), "against: expected a problem, found a str"),
        (
            lambda loan: loan.audit(PEOPLE, asked="x"),
            "asked: expected a p2c._audit.audit.Asked, found 'x'",
        ),
        (lambda loan: loan.audit(PEOPLE, answers="x"), "expected a pandas, polars or pyarrow ta"),
        (lambda loan: loan.audit(PEOPLE, answers=PEOPLE), "answers: no column 'status': expected"),
        (lambda loan: loan.audit(PEOPLE, after=PEOPLE), "after: these are the answers of another"),
        (lambda loan: loan.save(None), "expected the path of a file or folder, found a NoneType"),
        (lambda loan: loan.save("a\0b"), "cannot be written: it is no file name"),
        (lambda loan: Problem.outline(None), "expected the path of a file, found a NoneType"),  # type: ignore[arg-type]
        (lambda loan: Problem.example(None), "datasets: no problem None; known: 'adult'"),  # type: ignore[arg-type]
    ],
)
def test_what_cannot_be_meant_is_one_line_that_says_so(
    loan: Problem, ask: Callable[[Any], Any], message: str
) -> None:
    with pytest.raises(P2CError, match=r"^[^\n]*$") as refused:
        ask(loan)
    assert message in str(refused.value)


def test_a_problem_survives_the_way_through_a_dict() -> None:
    for document, row in seeded_problems(11, 25):
        problem = Problem.from_dict(document)
        again = Problem.from_dict(problem.to_dict())
        assert again.theory == problem.theory
        assert again.to_dict() == problem.to_dict()
        assert json.loads(json.dumps(problem.to_dict())) == problem.to_dict()
        try:
            plan = problem.plan(row, node_limit=1000, time_limit=60).to_dict()
        except RowError:
            continue
        assert again.plan(row, node_limit=1000, time_limit=60).to_dict() == plan


def test_a_problem_survives_the_way_through_a_file(tmp_path: Any, loan: Problem) -> None:
    toml, text = tmp_path / "loan.toml", tmp_path / "loan.json"
    toml.write_text(problem_to_toml(loan.to_dict()), encoding="utf-8")
    text.write_text(json.dumps(loan.to_dict()), encoding="utf-8")
    assert Problem.load(toml).theory == Problem.load(str(text)).theory == loan.theory


def test_rules_of_another_file_are_kept_with_the_overrides(tmp_path: Any) -> None:
    (tmp_path / "loan.lp").write_text(LOAN["rules"], encoding="utf-8")
    path = tmp_path / "loan.json"
    document = {key: value for key, value in LOAN.items() if key != "rules"}
    path.write_text(json.dumps(document | {"rules_file": "loan.lp"}), encoding="utf-8")
    problem = Problem.load(path)
    assert problem.plan(JOHN, norm="l0").cost == 2
    assert Problem.from_dict(problem.to_dict()).theory == problem.theory


def test_a_row_may_be_a_series(loan: Problem) -> None:
    plan = loan.plan(JOHN).to_dict()
    whole: Any = pd.Series(JOHN)
    mixed: Any = pd.Series({**JOHN, "name": "John"})
    floats: Any = pd.Series({key: float(value) for key, value in JOHN.items()})
    first: Any = pd.DataFrame([JOHN, RICH]).iloc[0]
    for series in (whole, mixed, floats, first):
        found = loan.plan(series).to_dict()
        assert found == plan
        assert all(type(value) is int for value in found["initial"].values())
    assert loan.why(whole).to_dict() == loan.why(JOHN).to_dict()
    assert [each.cost for each in loan.nearest(whole, k=2)] == [
        each.cost for each in loan.nearest(JOHN, k=2)
    ]


def test_every_kind_of_missing_value_is_missing(loan: Problem) -> None:
    for missing in (None, float("nan"), np.nan, pd.NA, pd.NaT):
        row = {**JOHN, "debt": missing}
        assert loan.plan(row).to_dict()["initial"]["debt"] is None
    series: Any = pd.Series(JOHN | {"debt": None})
    assert loan.plan(series).to_dict()["initial"]["debt"] is None


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({key: JOHN[key] for key in ("age", "debt")}, "bank_balance: this feature is missing"),
        (JOHN | {"debt": "much"}, "debt: expected a whole number, found 'much'"),
        (JOHN | {"debt": -1}, "debt: -1 is outside its range, 0 to 1000000"),
        (JOHN | {"debt": 0.5}, "debt: expected a whole number, found 0.5"),
        (JOHN | {"debt": True}, "debt: expected a whole number, found True"),
        ([1, 2, 3], "expected a row of values by feature, found [1, 2, 3]"),
        (None, "expected a row of values by feature"),
    ],
)
def test_a_row_that_does_not_fit_is_one_line_that_says_so(
    loan: Problem, row: Any, message: str
) -> None:
    for ask in (loan.plan, loan.nearest, loan.why):
        with pytest.raises(RowError, match=r"^[^\n]*$") as refused:
            ask(row)
        assert message in str(refused.value)


def test_a_strict_problem_refuses_who_breaks_a_rule(loan: Problem) -> None:
    odd = JOHN | {"debt": 0}
    for ask in (loan.plan, loan.nearest):
        with pytest.raises(RowError, match="credit_score: the value 599 breaks the causal rule"):
            ask(odd, exceptions="strict")
    assert loan.plan(JOHN, exceptions="strict").status == "found"


def test_a_plan_is_checked_as_an_object_and_as_json(loan: Problem) -> None:
    plan = loan.plan(JOHN)
    assert loan.check(plan)
    document = json.loads(json.dumps(plan.to_dict()))
    assert loan.check(document)
    document["steps"][0]["actions"][1]["to"] = 700
    assert not loan.check(document)


def test_the_answers_that_are_no_plan_have_the_contracts_shape(loan: Problem) -> None:
    already = loan.plan(RICH).to_dict()
    assert (already["status"], already["cost"], already["steps"]) == ("already", 0, [])
    assert already["counterfactual"] == RICH
    stuck = loan.plan(JOHN | {"debt": 0}).to_dict()
    assert (stuck["status"], stuck["cost"], stuck["steps"]) == ("infeasible", None, [])
    assert stuck["blockers"] == [{"feature": "credit_score", "restriction": "effect"}]
    assert stuck["exceptions"] == [
        {"feature": "credit_score", "rules": ["credit_score(X,N) :- debt(X,D), D=<0, N>=620."]}
    ]
    assert json.loads(json.dumps(stuck)) == stuck


def test_faults_are_reported_when_a_problem_is_read() -> None:
    with pytest.raises(ProblemError, match="line 1, column 12: unknown feature"):
        Problem.from_dict(LOAN | {"rules": "good(X) :- nothing(X,1)."})


def test_the_names_of_the_outside_are_there() -> None:
    assert p2c.Problem is Problem
    assert issubclass(ProblemError, p2c.P2CError)
    assert issubclass(RowError, p2c.P2CError)


def test_the_size_of_the_space_is_counted_feature_by_feature(loan: Problem) -> None:
    report = loan.space()
    assert report.raw == 99 * 1_000_001 * 1_000_000_001 * 551
    assert report.cells == 8
    assert [each.cells for each in report.features] == [
        ("1..99",),
        ("0", "1..1000000"),
        ("0..59999", "60000..1000000000"),
        ("300..619", "620..850"),
    ]
    assert report.features[1].rules == ("credit_score(X,N) :- debt(X,D), D=<0, N>=620.",)
    assert json.loads(json.dumps(report.to_dict())) == report.to_dict()


def test_the_parts_of_the_package_are_there_without_importing_them_one_by_one() -> None:
    asked = "import p2c; print(p2c.errors.RuleError.__name__, p2c.datasets.__name__, hasattr(p2c, 'plans'))"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert done.stdout == "RuleError p2c.datasets False\n"


@pytest.mark.parametrize("absent", [["pandas"], ["sklearn"], ["pandas", "sklearn"], []])
def test_help_and_a_look_at_all_members_work_without_any_extra(absent: list[str]) -> None:
    asked = (
        f"import sys; sys.modules.update(dict.fromkeys({absent}))\n"
        "import inspect, p2c; help(p2c)\n"
        "print('FoldSE' in dict(inspect.getmembers(p2c)))"
    )
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert "Plans from a refusal to an acceptance" in done.stdout
    assert done.stdout.endswith(f"{not absent}\n")
