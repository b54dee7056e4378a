"""`[model]` in a problem file: the model's word in the place of decision rules, proved where it is read, asked where not."""

from __future__ import annotations

import json
import pickle
import tomllib
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

import jsonschema
import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from skops import io

from p2c._blackbox.decider import AskedJudge
from p2c._export.programs import plan_schema, problem_schema
from p2c._plan import outcome
from p2c._plan.rendered import Plan
from p2c._spec.toml import problem_to_toml
from p2c.errors import P2CError, ProblemError
from p2c.problem import Problem

if TYPE_CHECKING:
    from pathlib import Path

PERSON = {"income": 3, "debt": 4, "job": "cook", "years": 2}
PROBLEM: dict[str, Any] = {
    "model": {"file": "model.skops", "desired": "good", "columns": {"years": "age"}},
    "features": {
        "income": {"type": "int", "min": 0, "max": 9},
        "debt": {"type": "int", "min": 0, "max": 5},
        "job": {"type": "category", "values": ["clerk", "cook"], "action": "fixed"},
        "years": {"type": "int", "min": 0, "max": 3, "action": "up"},
    },
}


def people() -> pd.DataFrame:
    """Return every person that the problem allows, by the columns of the model."""
    grid = product(range(10), range(6), ("clerk", "cook"), range(4))
    return pd.DataFrame(list(grid), columns=["income", "debt", "job", "age"])


def fitted(kind: str) -> Any:
    table = people()
    good = table["income"] - table["debt"] + 3 * (table["job"] == "clerk") + table["age"] >= 5
    last = {
        "read": GradientBoostingClassifier(n_estimators=15, random_state=0),
        "asked": make_pipeline(KNeighborsClassifier(3, algorithm="brute")),
    }[kind]
    encoder = make_column_transformer((OneHotEncoder(), ["job"]), remainder="passthrough")
    return make_pipeline(encoder, last).fit(table, np.where(good, "good", "bad"))


@pytest.fixture(scope="module", params=["read", "asked"])
def model(request: pytest.FixtureRequest) -> tuple[str, Any]:
    return request.param, fitted(request.param)


def written(folder: Path, model: Any, /, **keys: Any) -> Path:
    io.dump(model, folder / "model.skops")
    path = folder / "problem.toml"
    path.write_text(problem_to_toml({**PROBLEM, **keys}))
    return path


def cheapest(model: Any, allowed: Any = lambda table: True) -> float | None:
    """Return the least L1 cost of an end that the model accepts, all of them tried."""
    table = people()
    ends = table[(model.predict(table) == "good") & (table["job"] == PERSON["job"])]
    ends = ends[(ends["age"] >= PERSON["years"]) & allowed(ends)]
    spans = {"income": ("income", 9), "debt": ("debt", 5), "age": ("years", 3)}
    costs = sum((ends[c] - PERSON[f]).abs() / span for c, (f, span) in spans.items())
    return float(np.min(costs)) if len(ends) else None


def test_a_problem_file_plans_against_its_model(model: tuple[str, Any], tmp_path: Path) -> None:
    kind, fitted_model = model
    problem = Problem.load(written(tmp_path, fitted_model))
    plan = problem.plan(PERSON)
    told = plan.to_dict()["model"]
    assert (told["verified"], told["proved"]) == (True, kind == "read")
    assert told["asked"] >= 1
    assert plan.cost == pytest.approx(cheapest(fitted_model))
    assert problem.check(plan)
    assert problem.nearest(PERSON, 3)[0].cost == plan.cost
    assert problem.plan(PERSON, norm="l0").cost == 1
    assert problem.plan({**PERSON, "income": 9, "debt": 0}).status == "already"


@pytest.mark.parametrize("goal", ["accepted(X)", "not accepted(X)"])
def test_what_the_model_said_survives_the_way_through_a_plans_json(
    model: tuple[str, Any], goal: str, tmp_path: Path
) -> None:
    problem = Problem.load(written(tmp_path, model[1], goal=goal))
    rich, held = {**PERSON, "income": 9, "debt": 0}, dict.fromkeys(("income", "debt"), "fixed")
    plans = [problem.plan(row, restrict=each) for row in (PERSON, rich) for each in ({}, held)]
    for plan in plans:
        document = json.loads(plan.to_json())
        jsonschema.validate(document, plan_schema(problem.theory.features))
        back = problem.read_plan(document)
        assert back == plan == Plan.from_dict(document)
        assert back.to_dict() == plan.to_dict()
        assert back.explain() == plan.explain()
    assert {plan.status for plan in plans} >= {"found", "already"}


def test_a_plan_of_the_rules_that_the_model_refuses_is_read_back_as_refused(tmp_path: Path) -> None:
    problem = Problem.load(written(tmp_path, fitted("asked")))
    plan = problem.plan(PERSON)
    refused = replace(
        plan, question=replace(plan.question, evidence=outcome.ModelEvidence(False, 7))
    )
    back = problem.read_plan(refused.to_dict())
    assert back == refused != plan
    assert "It says no." in back.explain()


def test_rows_go_by_features_or_by_the_columns_of_the_model(
    model: tuple[str, Any], tmp_path: Path
) -> None:
    problem = Problem.load(written(tmp_path, model[1]))
    by_column = {("age" if name == "years" else name): value for name, value in PERSON.items()}
    assert problem.plan(by_column).to_dict() == problem.plan(PERSON).to_dict()
    for name, text in (
        ("a.json", json.dumps(by_column)),
        ("a.csv", pd.DataFrame([by_column]).to_csv(index=False)),
    ):
        (tmp_path / name).write_text(text)
        assert problem.read_rows(tmp_path / name) == [PERSON]


def test_the_models_decision_stands_in_goals_constraints_and_decisions_also_under_not(
    model: tuple[str, Any], tmp_path: Path
) -> None:
    fitted_model = model[1]
    rules = "fine(X) :- accepted(X), not risky(X). risky(X) :- income(X,N), N>=8."
    goal = Problem.load(written(tmp_path, fitted_model, goal="fine(X)", rules=rules))
    plan = goal.plan(PERSON)
    assert plan.cost == pytest.approx(cheapest(fitted_model, lambda ends: ends["income"] < 8))
    assert goal.check(plan)
    barred = Problem.load(written(tmp_path, fitted_model, rules=":- accepted(X), debt(X,N), N>1."))
    plan = barred.plan(PERSON)
    assert plan.end is not None
    assert plan.end["debt"] <= 1
    assert plan.cost == pytest.approx(cheapest(fitted_model, lambda ends: ends["debt"] <= 1))
    rich = {**PERSON, "income": 9, "debt": 0}
    away = Problem.load(written(tmp_path, fitted_model, goal="not accepted(X)"))
    assert away.plan(PERSON).status == "already"
    down = away.plan(rich)
    assert down.status == "found"
    end = pd.DataFrame([down.end]).rename(columns={"years": "age"})
    assert fitted_model.predict(end) == ["bad"]
    assert away.check(down)
    assert away.check(down, prove=True)
    told = down.explain()
    assert "Its answer is the one that is wanted there." in told
    assert "It says yes" not in told
    modified = {**down.to_dict(), "model": {**down.to_dict()["model"], "verified": True}}
    refused = Problem.load(written(tmp_path, fitted_model, goal="accepted(X)")).check(modified)
    assert "counterfactual: the model refuses this state" in str(refused)


def test_a_model_is_asked_where_it_is_not_read_and_nothing_is_proved(tmp_path: Path) -> None:
    problem = Problem.load(written(tmp_path, fitted("asked")))
    assert isinstance(problem.model, AskedJudge)
    stuck = problem.plan(PERSON, restrict={"income": "fixed", "debt": "fixed", "years": "fixed"})
    assert stuck.status == "gave_up"
    with pytest.raises(P2CError, match="expected a parsed model, found a black box"):
        problem.space()


def test_an_engine_that_speaks_rules_alone_is_refused(tmp_path: Path) -> None:
    problem = Problem.load(written(tmp_path, fitted("read")))
    with pytest.raises(P2CError, match="'clingo' cannot hold a model"):
        problem.plan(PERSON, engine="clingo")


def test_a_feature_with_moves_is_not_handed_to_an_engine_without_the_model(tmp_path: Path) -> None:
    job = {"type": "category", "values": ["clerk", "cook"], "moves": {"cook": ["clerk"]}}
    features = {**PROBLEM["features"], "job": job}
    problem = Problem.load(written(tmp_path, fitted("read"), features=features))
    assert problem.plan(PERSON).to_dict()["model"]["verified"]


def test_nothing_is_found_wrong_with_a_rule_that_asks_the_model(tmp_path: Path) -> None:
    rules = ":- not accepted(X), income(X,N), N>=9. :- accepted(X), income(X,N), N=<0."
    assert Problem.load(written(tmp_path, fitted("read"), rules=rules)).lint() == ()


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"rules": "accepted(X) :- income(X,N), N>5."}, "the model's own decision"),
        ({"model": {"file": "none.skops", "desired": "good"}}, "no such file"),
        ({"model": {**PROBLEM["model"], "desired": "fine"}}, "'fine' is not a class"),
        ({"model": {"file": "model.skops"}}, "which class is to be reached"),
        ({"model": {"desired": "good"}}, "model.file: line 1, column 1: this key is missing"),
        ({"model": {"file": "model.skops", "cut": 1}}, "model.cut: line 3, column 1: unknown key"),
        ({"model": {"file": "model.skops", "threshold": 2}}, "a share from 0 to 1"),
        (
            {"model": {"file": "model.skops", "columns": {"year": "age"}}},
            "model.columns.year: line 5, column 1: no feature is called so; did you mean 'years'",
        ),
        (
            {"features": {**PROBLEM["features"], "accepted": {"type": "int", "min": 0, "max": 1}}},
            "features.accepted: line 29, column 1: this is what the model's decision is called",
        ),
    ],
)
def test_what_is_wrong_with_a_model_is_said_in_one_line(
    keys: dict[str, Any], message: str, tmp_path: Path
) -> None:
    path = written(tmp_path, fitted("read"), **keys)
    with pytest.raises(P2CError, match=message.replace("(", r"\(")) as found:
        Problem.load(path)
    assert "\n" not in str(found.value)


def test_a_pickle_is_opened_on_request_only_and_in_no_disguise(tmp_path: Path) -> None:
    path = written(tmp_path, fitted("read"))
    (tmp_path / "model.skops").write_bytes(pickle.dumps({"a": 1}))
    with pytest.raises(P2CError, match="whatever its name says"):
        Problem.load(path)
    (tmp_path / "model.pkl").write_bytes(pickle.dumps(fitted("read")))
    table = {**PROBLEM["model"], "file": "model.pkl"}
    path.write_text(problem_to_toml({**PROBLEM, "model": table}))
    with pytest.raises(P2CError, match="can run any code"):
        Problem.load(path)
    from p2c._spec.spec import Trust

    assert Problem.load(path, trust=Trust(pickle=True)).plan(PERSON).status == "found"


def test_the_exported_schema_knows_a_problem_with_a_model(tmp_path: Path) -> None:
    path = written(tmp_path, fitted("read"))
    jsonschema.validate(tomllib.loads(path.read_text()), problem_schema())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"features": PROBLEM["features"]}, problem_schema())
    with pytest.raises(ProblemError, match="goal: this key is missing"):
        Problem.from_dict({"rules": "", "features": PROBLEM["features"]})


def test_threshold_and_probability_decide_together(tmp_path: Path) -> None:
    fitted_model = fitted("read")
    ends = []
    for threshold in (0.5, 0.7):
        table = {**PROBLEM["model"], "threshold": threshold}
        plan = Problem.load(written(tmp_path, fitted_model, model=table)).plan(PERSON)
        assert plan.end is not None
        assert plan.cost is not None
        end = pd.DataFrame([plan.end]).rename(columns={"years": "age"})
        place = list(fitted_model.classes_).index("good")
        assert fitted_model.predict_proba(end)[0, place] >= threshold
        ends.append(plan.cost)
    assert ends[0] < ends[1]


def test_letters_of_a_read_model_name_the_values_that_force_it(tmp_path: Path) -> None:
    problem = Problem.load(written(tmp_path, fitted("read")))
    told = problem.plan(PERSON).explain()
    assert "The model says no as long as all of this stays as it is:" in told
    assert "It says yes." in told
    assert "Das Modell sagt nein, solange" in problem.plan(PERSON).explain(language="de")


def test_a_row_outside_the_range_of_a_written_problem_is_refused(tmp_path: Path) -> None:
    problem = Problem.load(written(tmp_path, fitted("read")))
    with pytest.raises(P2CError, match="outside its range"):
        problem.plan({**PERSON, "income": 10})


def test_scores_are_told_as_the_model_gives_them(tmp_path: Path) -> None:
    for kind, threshold in (("read", None), ("read", 0.7), ("asked", None)):
        last = fitted(kind)
        table = {**PROBLEM["model"], **({"threshold": threshold} if threshold else {})}
        problem = Problem.load(written(tmp_path, last, model=table))
        plan = problem.plan(PERSON)
        end = pd.DataFrame([plan.end]).rename(columns={"years": "age"})
        chance = last.predict_proba(end)[0, list(last.classes_).index("good")]
        told = plan.to_dict()["model"]
        assert (told["score"], told["threshold"]) == (pytest.approx(chance), threshold or 0.5)
    stuck = problem.plan(PERSON, restrict=dict.fromkeys(("income", "debt", "years"), "fixed"))
    now = pd.DataFrame([PERSON]).rename(columns={"years": "age"})
    chance = last.predict_proba(now)[0, list(last.classes_).index("good")]
    assert stuck.to_dict()["model"]["score"] == pytest.approx(chance)


def test_a_model_without_probabilities_tells_its_distance(tmp_path: Path) -> None:
    table = people()
    good = np.where(table["income"] + table["age"] > 4 + table["debt"], "good", "bad")
    for wanted, sign in (("good", 1), ("bad", -1)):
        encoder = make_column_transformer((OneHotEncoder(), ["job"]), remainder="passthrough")
        model = make_pipeline(encoder, LinearSVC(random_state=0)).fit(table, good)
        keys = {**PROBLEM["model"], "desired": wanted}
        features = {name: keys | {"action": "free"} for name, keys in PROBLEM["features"].items()}
        problem = Problem.load(written(tmp_path, model, model=keys, features=features))
        person = PERSON if wanted == "good" else {**PERSON, "income": 9, "debt": 0}
        plan = problem.plan(person)
        end = pd.DataFrame([plan.end]).rename(columns={"years": "age"})
        told = plan.to_dict()["model"]
        assert told["threshold"] == 0
        assert told["score"] == pytest.approx(sign * model.decision_function(end)[0])
        assert told["score"] >= 0


def test_one_of_several_classes_must_pass_the_next(tmp_path: Path) -> None:
    table = people()
    kinds = np.select([table["income"] < 4, table["income"] < 7], ["bad", "fair"], "good")
    encoder = make_column_transformer((OneHotEncoder(), ["job"]), remainder="passthrough")
    model = make_pipeline(encoder, GradientBoostingClassifier(n_estimators=5, random_state=0))
    model.fit(table, kinds)
    plan = Problem.load(written(tmp_path, model)).plan(PERSON)
    end = pd.DataFrame([plan.end]).rename(columns={"years": "age"})
    shares = dict(zip(model.classes_, model.predict_proba(end)[0], strict=True))
    told = plan.to_dict()["model"]
    assert told["score"] == pytest.approx(shares["good"])
    assert told["threshold"] == pytest.approx(max(shares["bad"], shares["fair"]))


@pytest.mark.parametrize("asked", [False, True], ids=["parsed", "asked"])
def test_a_category_that_the_encoder_has_not_met_is_refused_at_once(*, asked: bool) -> None:
    table = pd.DataFrame({"job": ["a", "b"] * 50, "income": range(100)})
    accepted = (table["job"] == "a") & (table["income"] > 50)
    added = {"job": {"values": ["a", "b", "c"]}}

    def fit(encoder: OneHotEncoder) -> Problem:
        columns = make_column_transformer((encoder, ["job"]), remainder="passthrough")
        model = make_pipeline(columns, DecisionTreeClassifier(random_state=0)).fit(table, accepted)
        return Problem.from_model(model.predict if asked else model, table, features=added)

    with pytest.raises(ProblemError, match=r"features.job.values: the model has no answer to 'c'"):
        fit(OneHotEncoder())
    plan = fit(OneHotEncoder(handle_unknown="ignore")).plan({"job": "c", "income": 30})
    assert plan.counterfactual is not None
    assert plan.counterfactual["job"] == "a"
