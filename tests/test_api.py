"""The Python API as it is guessed: public names, saving, tables, refusals of slips, and how things show themselves."""

from __future__ import annotations

import json
import pickle
import pkgutil
import pydoc
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from mypy import api as mypy
from sklearn.tree import DecisionTreeClassifier

import p2c
from p2c import datasets
from p2c._release import DISTRIBUTION
from p2c._rules.evaluate import goal_holds
from p2c.errors import MissingExtra, P2CError, PlanError, RowError
from p2c.problem import Problem
from tests.evidence import evidence_of
from tests.loan import JOHN, LOAN
from tests.strategies import seeded_problems

if TYPE_CHECKING:
    from collections.abc import Mapping

ROWS = p2c.datasets.rows("loan")
PUBLIC = {
    "FoldSE",
    "P2CError",
    "Plan",
    "Problem",
    "equations_from",
    "learn_causal_rules",
    "read_review",
    "write_review",
}


@pytest.fixture(scope="module")
def loan() -> Problem:
    return Problem.example("loan")


@pytest.fixture(scope="module")
def recourse() -> p2c.Problem:
    table = pd.DataFrame({"income": range(20, 80), "age": [20 + i % 40 for i in range(60)]})
    return p2c.Problem.from_model(lambda rows: rows["income"] > 51, table, actions={"age": "fixed"})


@pytest.fixture(scope="module")
def tree() -> p2c.Problem:
    table = pd.DataFrame({"income": range(20, 80), "age": [20 + i % 40 for i in range(60)]})
    model = DecisionTreeClassifier(max_depth=2).fit(table, table["income"] > 51)
    return p2c.Problem.from_model(model, table, actions={"age": "fixed"})


def test_the_package_shows_its_public_names_and_no_others() -> None:
    shown = {name for name in dir(p2c) if not name.startswith("__")}
    assert shown == PUBLIC | {"datasets"}
    assert {getattr(p2c, name).__name__ for name in PUBLIC} == PUBLIC
    assert all(getattr(p2c, name).__doc__ for name in PUBLIC)


def test_the_help_of_the_package_names_each_task_with_a_call_that_exists() -> None:
    summary = pydoc.plain(pydoc.render_doc(p2c)).partition("PACKAGE CONTENTS")[0]
    calls = re.findall(r"(?:p2c\.Problem|problem)\.(\w+)\(", summary)
    assert {"plan", "nearest", "why", "audit", "save", "load", "from_model"} <= set(calls)
    assert all(callable(getattr(p2c.Problem, name)) for name in calls)
    assert 'restrict={"debt": "fixed"}' in summary
    assert 'actions={"age": "fixed"}' in summary


def test_importing_the_package_imports_nothing_else_of_it() -> None:
    asked = "import sys, p2c; print([m for m in sys.modules if m.startswith('p2c.')])"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert done.stdout == "['p2c._release']\n"


def test_a_misspelt_name_of_the_package_is_told_the_right_one() -> None:
    with pytest.raises(AttributeError, match=r"no attribute 'Probelm'; did you mean 'Problem'\?"):
        p2c.Probelm  # noqa: B018


def test_the_version_and_the_name_of_the_distribution_each_stand_in_one_place() -> None:
    import tomllib

    root = Path(__file__).parents[1]
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["name"] == DISTRIBUTION
    assert "version" in project["project"]["dynamic"]
    assert project["tool"]["hatch"]["version"]["path"] == "src/p2c/_release.py"
    assert f"version: {p2c.__version__}\n" in (root / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\n## {p2c.__version__}" in (root / "CHANGELOG.md").read_text(encoding="utf-8")
    assert DISTRIBUTION in str(MissingExtra("pandas", extra="pandas"))


@pytest.mark.parametrize("name", datasets.names())
@pytest.mark.parametrize("ending", ["toml", "json"])
def test_what_is_saved_is_loaded_again(name: str, ending: str, tmp_path: Path) -> None:
    problem = Problem.example(name)
    path = problem.save(tmp_path / f"problem.{ending}")
    assert Problem.load(path).theory == problem.theory


def test_what_cannot_be_saved_is_said_in_one_line(loan: Problem, tmp_path: Path) -> None:
    with pytest.raises(P2CError, match=r"^[^\n]*cannot be written: [^\n]*$"):
        loan.save(tmp_path / "none" / "loan.toml")
    with pytest.raises(P2CError, match="one person's restrictions is not saved"):
        loan.restricted({"debt": "fixed"}).save(tmp_path / "loan.toml")
    assert list(tmp_path.iterdir()) == []


def test_a_problem_is_saved_beside_its_model_and_nowhere_else(
    tree: p2c.Problem, tmp_path: Path
) -> None:
    tree.save(tmp_path / "folder")
    problem = Problem.load(tmp_path / "folder")
    with pytest.raises(
        P2CError,
        match=r"the model is not beside it; save the problem as a folder, such as 'elsewhere'",
    ):
        problem.save(tmp_path / "elsewhere.toml")
    again = Problem.load(problem.save(tmp_path / "folder" / "copy.toml"))
    row = {"income": 40, "age": 30}
    assert again.plan(row).to_dict() == problem.plan(row).to_dict()


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_a_plan_survives_the_way_through_its_json(loan: Problem, row: Mapping[str, Any]) -> None:
    plan = loan.plan(row)
    assert isinstance(plan, p2c.Plan)
    again = p2c.Plan.from_dict(json.loads(plan.to_json()))
    assert again == plan
    assert again.to_dict() == plan.to_dict()
    with pytest.raises(P2CError, match=r"does not know its problem's words: .* Problem\.read_plan"):
        again.explain()


@pytest.mark.parametrize("document", [None, [], {}, {"status": "found", "initial": 3}])
def test_what_is_no_plan_is_refused_in_one_line(document: Any) -> None:
    with pytest.raises(PlanError, match=r"^[^\n]*$"):
        p2c.Plan.from_dict(document)


def test_a_plan_as_a_table_has_a_row_for_each_action(loan: Problem) -> None:
    table = loan.plan(ROWS["john"]).to_frame()
    assert table["feature"].tolist() == ["debt", "credit_score", "bank_balance"]
    assert table["step"].tolist() == [1, 1, 2]
    assert table["kind"].tolist() == ["direct", "causal", "direct"]
    assert table["because"].tolist() == ["", "credit_score(X,N) :- debt(X,D), D=<0, N>=620.", ""]
    assert list(loan.plan(ROWS["no_way"]).to_frame().columns) == list(table.columns)
    several = loan.nearest(ROWS["john"], k=2).to_frame()
    assert several["plan"].tolist() == [1, 1, 1, 2, 2, 2]


ATTRIBUTES = {
    "found": {"proof": "exhausted", "optimal": True, "blockers": (), "opened": None, "bound": None},
    "already": {"proof": "exhausted", "optimal": True, "changes": {}, "actions": (), "steps": ()},
    "infeasible": {"proof": "exhausted", "optimal": True, "cost": None, "counterfactual": None},
    "gave_up": {"proof": "none", "optimal": False, "bound": 2e-05, "changes": {}},
}


@pytest.mark.parametrize("status", ATTRIBUTES)
def test_every_plan_has_all_attributes(loan: Problem, status: str) -> None:
    row = ROWS[{"already": "already", "infeasible": "no_way"}.get(status, "john")]
    plan = loan.plan(row, node_limit=1 if status == "gave_up" else None)
    assert plan.status == status
    assert {name: getattr(plan, name) for name in ATTRIBUTES[status]} == ATTRIBUTES[status]
    uses = {"months": 14, "dollars": 25000} if status == "found" else {}
    assert (plan.slack is not None) == (status == "found")
    assert (plan.uses, plan.model, plan.unknown) == (uses, None, ())
    assert plan.exceptions == plan.question.exceptions
    document = plan.to_dict()
    assert (document["proof"], document["optimal"]) == (plan.proof, plan.optimal)


def test_the_counterfactual_can_be_given_back_to_the_model() -> None:
    table = pd.DataFrame(
        {"net income": range(20, 80), "is-member": [i % 2 == 0 for i in range(60)]}
    )
    model = DecisionTreeClassifier(max_depth=2).fit(
        table, (table["net income"] > 51) & table["is-member"]
    )
    plan = p2c.Problem.from_model(model, table).plan({"net income": 30, "is-member": False})
    assert plan.counterfactual == {"net income": 52, "is-member": True}
    assert plan.changes == {"net_income": (30, 52), "is_member": ("False", "True")}
    assert model.predict(pd.DataFrame([plan.counterfactual])).tolist() == [True]


def test_all_public_names_are_listed_and_can_be_imported_with_a_star() -> None:
    assert set(p2c.__all__) == PUBLIC | {"__version__", "datasets"}
    names: dict[str, Any] = {}
    exec("from p2c import *", names)
    assert set(p2c.__all__) <= set(names)


def test_all_modules_but_the_surfaces_are_private_by_name() -> None:
    modules = {each.name for each in pkgutil.iter_modules(p2c.__path__) if each.name[0] != "_"}
    assert modules == {"cli", "datasets", "errors", "problem"}


def test_a_saved_model_answers_as_the_fitted_one(tmp_path: Path) -> None:
    table = pd.DataFrame({"net income": range(20, 80), "rooms": [i % 4 for i in range(60)]})
    tree = DecisionTreeClassifier(max_depth=2).fit(table, table["net income"] > 51)
    fitted = Problem.from_model(tree, table, name="bank")
    loaded = Problem.load(fitted.save(tmp_path / "bank"))
    for row in ({"net income": 30, "rooms": 1}, {"net income": 60, "rooms": 1}):
        assert loaded.plan(row) == fitted.plan(row)
        assert loaded.plan(row).to_json() == fitted.plan(row).to_json()
        assert loaded.plan(row).counterfactual == fitted.plan(row).counterfactual
    assert loaded.predict(table).tolist() == fitted.predict(table).tolist()
    assert loaded.decide(table).tolist() == tree.predict(table).tolist()


def test_assumed_actions_are_listed_with_their_reasons() -> None:
    table = pd.DataFrame(
        {
            "age": [20 + i % 40 for i in range(60)],
            "sex": ["f", "m"] * 30,
            "income": range(20, 80),
            "rooms": [i % 4 for i in range(60)],
        }
    )
    accepted = table["income"] > 51
    by_model = Problem.from_model(lambda rows: rows["income"] > 51, table, actions={"rooms": "up"})
    by_label = Problem.from_table(table, accepted, actions={"rooms": "up"})
    for problem in (by_model, by_label):
        actions = {each.column: each.action for each in problem.assumptions}
        assert actions == {"age": "up", "sex": "fixed", "income": "free", "rooms": "up"}
        assert [each.column for each in problem.assumptions if not each.why] == ["rooms"]
        built = {each.name: each.action.value for each in problem.theory.features}
        assert built == actions
    freed = Problem.from_table(table, accepted, actions={"age": "free"})
    assert freed.theory.feature["age"].action.value == "free"


def test_rules_from_labels_take_rows_and_tables_by_column() -> None:
    table = pd.DataFrame(
        {"none": [None] * 60, "net income": range(20, 80), "rooms": [i % 4 for i in range(60)]}
    )
    problem = Problem.from_table(table.assign(paid=table["net income"] > 51), "paid")
    plan = problem.plan({"net income": 40, "rooms": 1})
    assert plan.changes["net_income"][0] == 40
    assert problem.plan_many(table.head(2))["status"].tolist() == ["found", "found"]
    assert problem.predict(table).tolist() == (table["net income"] > 51).tolist()


def test_the_wanted_label_is_chosen_by_the_caller() -> None:
    table = pd.DataFrame({"income": range(20, 80), "rooms": [i % 4 for i in range(60)]})
    labels = np.where(table["income"] > 51, "good", "bad")
    with pytest.raises(P2CError, match="desired"):
        Problem.from_table(table, labels)
    for wanted in ("good", "bad"):
        problem = Problem.from_table(table, labels, desired=wanted)
        assert problem.predict(table).tolist() == (labels == wanted).tolist()


def test_everything_shows_itself_in_less_than_a_line(loan: Problem, recourse: p2c.Problem) -> None:
    shown = [repr(loan), repr(recourse), repr(recourse.plan({"income": 40, "age": 30}))]
    shown += [repr(loan.plan(row)) for row in ROWS.values()]
    assert shown == [
        "<Problem 'loan': 5 features, 3 rules, goal: not reject_loan(X)>",
        "<Problem 'problem': 2 features, model asked>",
        "<Plan 'problem': found, cost 0.20339, income 40 -> 52, verified>",
        "<Plan 'loan': found, cost 0.00502, debt 5000 -> 0, bank_balance 40000 -> 60000>",
        "<Plan 'loan': found, cost 2e-05, bank_balance 40000 -> 60000>",
        "<Plan 'loan': found, cost 2e-05, bank_balance 40000 -> 60000>",
        "<Plan 'loan': infeasible, blocked by credit_score (effect)>",
        "<Plan 'loan': already, cost 0>",
    ]


def test_what_is_asked_for_shows_itself_in_a_line(loan: Problem, tree: p2c.Problem) -> None:
    john = ROWS["john"]
    audit = loan.audit(pd.DataFrame(ROWS.values()))
    assert repr(audit) == "<Audit 'loan': 4 of 5 refused, 1 without a way>"
    assert repr(loan.why(john)) == "<Proof: ✗ not reject_loan(X)>"
    shown = [loan, loan.plan(john), loan.space(), loan.check(loan.plan(john)), tree, tree.reading]
    assert [each for each in map(repr, shown) if len(each) > 150 or "\n" in each] == []


def test_a_list_of_plans_is_a_list_that_shows_itself_in_a_notebook(loan: Problem) -> None:
    plans = loan.nearest(ROWS["john"], k=3)
    assert isinstance(plans, list)
    html = plans._repr_html_()
    assert html.count("<details") == html.count("<svg") == 3
    assert html.count("<details open") == 1
    assert "3. &#x27;loan&#x27;: found, cost 0.00502, debt 5000 -&gt; 0" in html
    assert loan.nearest(ROWS["no_way"])._repr_html_() == "<div></div>"


def test_a_restriction_holds_for_every_kind_of_question(loan: Problem) -> None:
    john, kept = ROWS["john"], {"debt": "fixed"}
    assert loan.plan(john, restrict=kept).status == "infeasible"
    assert loan.nearest(john, restrict=kept) == []
    table = loan.plan_many(pd.DataFrame([john]), restrict=kept)
    assert table["status"].tolist() == ["infeasible"]
    assert b"There is no way" in loan.report(john, format="txt", restrict=kept)


def test_a_restriction_holds_for_a_model_too(tree: p2c.Problem, recourse: p2c.Problem) -> None:
    row = {"income": 40, "age": 30}
    for each in (tree, recourse):
        assert evidence_of(each.plan(row)).verified
        kept = each.plan(row, restrict={"income": "fixed"})
        assert not evidence_of(kept).verified
        with pytest.raises(P2CError, match="no column is called 'incom'; did you mean 'income'"):
            each.plan(row, restrict={"incom": "fixed"})


def test_the_reasons_of_a_model_are_names_that_tell_themselves(tree: p2c.Problem) -> None:
    reasons: Any = tree.why({"income": 40, "age": 30}).reasons
    assert reasons is not None
    assert list(reasons) == ["income"]
    assert "<li>Your value for income is 40.</li>" in reasons._repr_html_()
    assert tree.why({"income": 70, "age": 30}).reasons is None


def test_principal_reasons_tell_themselves_in_a_notebook_and_travel(loan: Problem) -> None:
    reasons: Any = loan.reasons(ROWS["john"])
    assert "<li>Credit score is too low (599 points).</li>" in reasons._repr_html_()
    assert pickle.loads(pickle.dumps(reasons))._repr_html_() == reasons._repr_html_()
    assert loan.reasons(ROWS["already"]) == ()


# Decisions for a table.


def test_decisions_for_a_table_are_those_for_each_row() -> None:
    for document, _ in seeded_problems(3, 40):
        problem = Problem.from_dict(document)
        table = _random_table(problem, 40)
        said = problem.decide(table).tolist()
        people: list[Any] = table.to_dict("records")
        rows = [problem.read_row(row) for row in people]
        assert said == [goal_holds(problem.theory, row) for row in rows]


def _random_table(problem: Problem, size: int) -> pd.DataFrame:
    """Return rows of values on the grid, between its points, and missing."""
    generator = np.random.default_rng(7)
    columns: dict[str, list[Any]] = {}
    for feature in problem.theory.features:
        places = generator.integers(0, feature.domain.size, size)
        values: list[Any] = [feature.domain.value(int(place)) for place in places]
        if feature.kind.value == "float":
            values = [min(each + 1e-7, feature.maximum) for each in values]
        absent = generator.random(size) < 0.1
        columns[feature.name] = [
            None if gone else v for v, gone in zip(values, absent, strict=True)
        ]
    return pd.DataFrame({name: pd.Series(v, dtype=object) for name, v in columns.items()})


def test_decisions_come_as_the_column_of_the_frame_that_was_given(loan: Problem) -> None:
    rows = [ROWS["john"], ROWS["already"]]
    column = loan.decide(pd.DataFrame(rows, index=["a", "b"]))
    assert column.to_dict() == {"a": False, "b": True}
    assert column.name == "accepted"
    assert loan.decide(pl.DataFrame(rows)).to_list() == [False, True]
    assert loan.decide(ROWS["already"]) is True
    assert loan.decide(pd.Series(ROWS["john"])) is False


def test_a_row_that_cannot_be_decided_is_named(loan: Problem) -> None:
    table = pd.DataFrame([ROWS["john"], {**ROWS["john"], "debt": -1}])
    with pytest.raises(RowError, match=r"^row 2, debt: -1 is outside its range"):
        loan.decide(table)
    with pytest.raises(RowError, match="debt: no such column; "):
        loan.decide(table.drop(columns="debt"))


def test_a_model_decides_for_a_table_itself(recourse: p2c.Problem) -> None:
    table = pd.DataFrame({"income": [51, 52], "age": [30, 30]}, index=[7, 9])
    assert recourse.decide(table).to_dict() == {7: False, 9: True}


# Slips.


def test_a_misspelt_keyword_is_refused_before_anything_is_learned() -> None:
    def never(rows: pd.DataFrame) -> Any:
        raise AssertionError("the model was asked")

    slips: dict[str, Any] = {"desird": 1}
    with pytest.raises(P2CError, match=r"'desird' is no keyword here; did you mean 'desired'\?"):
        p2c.Problem.from_model(never, pd.DataFrame({"a": [1]}), **slips)


SLIPS = """
import p2c
problem = p2c.Problem.example()
problem.plan({}, nrom="l1")
problem.nearest({}, 3, distnct="cells")
problem.plan_many(None, causl="if")
plan: p2c.Plan = problem.plan({}, norm="l2", time_limit=1, restrict={"a": "fixed"})
print(plan.cost, plan.steps, plan.to_frame())
"""


def test_a_misspelt_keyword_is_refused_by_type(tmp_path: Path) -> None:
    script = tmp_path / "slips.py"
    script.write_text(SLIPS, encoding="utf-8")
    cache = str(Path(__file__).parents[1] / ".mypy_cache")
    shown, _, _ = mypy.run([str(script), "--cache-dir", cache])
    lines = sorted({int(line.split(":")[1]) for line in shown.splitlines() if ": error:" in line})
    assert lines == [4, 5, 6], shown


# Rows from standard input.

FORMS = {
    "json": json.dumps(JOHN, indent=2),
    "list": json.dumps([JOHN, JOHN]),
    "lines": f"{json.dumps(JOHN)}\n{json.dumps(JOHN)}\n",
    "csv": ",".join(JOHN) + "\n" + ",".join(map(str, JOHN.values())) + "\n",
}


def asked(tmp_path: Path, *words: str, typed: str) -> subprocess.CompletedProcess[str]:
    Problem.from_dict(LOAN).save(tmp_path / "loan.toml")
    command = [sys.executable, "-m", "p2c", *words]
    return subprocess.run(
        command, cwd=tmp_path, input=typed, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("form", FORMS)
def test_a_row_is_read_from_standard_input(tmp_path: Path, form: str) -> None:
    done = asked(tmp_path, "plan", "loan.toml", "-", "--json", typed=FORMS[form])
    assert json.loads(done.stdout)["cost"] == 0.00502
    several = "-: this is for the first of 2 rows; --row chooses another\n"
    assert done.stderr == (several if form in ("list", "lines") else "")


def test_a_plan_goes_from_one_command_to_the_next(tmp_path: Path) -> None:
    plan = Problem.from_dict(LOAN).plan(JOHN).to_json()
    done = asked(tmp_path, "check", "loan.toml", "-", typed=plan)
    assert done.stdout.startswith("the path is valid")


@pytest.mark.parametrize("typed", ["", "{", "no\nrow", "[]"])
def test_standard_input_that_holds_no_row_is_one_line(tmp_path: Path, typed: str) -> None:
    done = asked(tmp_path, "why", "loan.toml", "-", typed=typed)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr
