"""`Problem.from_model`: plans for any model, each confirmed by it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from p2c._learn.causal.candidate import Candidate, Evidence
from p2c._learn.causal.learning import learn_causal_rules
from p2c._learn.causal.review import write_review
from p2c._learn.tables.domains import domain_from_frame
from p2c._plan.outcome import Already, Border, Found, GaveUp, Infeasible
from p2c._spec.feature import Law
from p2c.errors import P2CError
from p2c.problem import Problem
from tests.evidence import decider_of, evidence_of, surrogate_of
from tests.lending import Asked, loans

if TYPE_CHECKING:
    from pathlib import Path

    from p2c._plan.outcome import Plan

CAUSAL = """
score(X,N) :- debt(X,D), D=<0, N>=620.
"""


def end_of(confirmed: Plan) -> dict[str, Any]:
    assert isinstance(confirmed, Found)
    return dict(confirmed.end)


def accepted(model: Any, state: dict[str, Any]) -> bool:
    return bool(np.asarray(model(pd.DataFrame([state])))[0])


def test_a_plan_reaches_the_true_threshold_where_the_rules_put_it_elsewhere() -> None:
    table = loans()
    table["income"] = table["income"] // 20 * 20 + 5  # the rules can only guess between the steps

    def model(rows: pd.DataFrame) -> Any:
        return rows["income"] >= 58

    recourse = Problem.from_model(model, table, actions={"age": "fixed", "job": "fixed"})
    confirmed = recourse.plan({"income": 25, "debt": 9, "job": "cook", "age": 40})
    assert evidence_of(confirmed).verified
    guide = evidence_of(confirmed).guide
    assert guide is not None
    assert evidence_of(guide).accepted is False
    assert end_of(confirmed) == {"income": 58, "debt": 9, "job": "cook", "age": 40}
    assert confirmed.cost is not None
    assert guide.cost is not None
    assert confirmed.cost > guide.cost
    assert recourse.check(confirmed)


def test_a_person_does_not_overshoot_where_the_rules_ask_too_much() -> None:
    table = loans()
    table["income"] = table["income"] // 20 * 20 + 5

    def model(rows: pd.DataFrame) -> Any:
        return rows["income"] >= 46

    recourse = Problem.from_model(model, table, actions={"age": "fixed"})
    confirmed = recourse.plan({"income": 25, "debt": 9, "job": "cook", "age": 40})
    assert end_of(confirmed)["income"] == 46


def test_every_verified_plan_flips_the_model_and_replays() -> None:
    table = loans(600)
    y = (table["income"] - table["debt"] + 20 * (table["job"] == "clerk") > 45).astype(int)
    encoder = make_column_transformer((OneHotEncoder(), ["job"]), remainder="passthrough")
    model = make_pipeline(encoder, GradientBoostingClassifier(n_estimators=20, random_state=0))
    model.fit(table, y)
    actions = {"age": "fixed", "income": "up", "debt": "down"}
    recourse = Problem.from_model(model, table, y=y, actions=actions, desired=1, scale="std")
    refused = table[model.predict(table) == 0].head(8)
    table_of_plans = recourse.plan_many(refused)
    assert table_of_plans["verified"].all()
    assert table_of_plans["optimal"].all()
    for (place, row), cost in zip(refused.iterrows(), table_of_plans["cost"], strict=True):
        confirmed = recourse.plan(row)
        assert (confirmed.cost, place) == (cost, row.name)
        assert evidence_of(confirmed).verified
        end = end_of(confirmed)
        assert model.predict(pd.DataFrame([end]))[0] == 1
        assert recourse.check(confirmed)
        assert end["age"] == row["age"]
        assert end["income"] >= row["income"]
        assert end["debt"] <= row["debt"]


def test_only_the_last_state_of_a_path_is_accepted() -> None:
    table = loans(400)

    def model(rows: pd.DataFrame) -> Any:
        return (rows["income"] >= 60) & (rows["debt"] <= 10) & (rows["job"] != "none")

    recourse = Problem.from_model(model, table, actions={"age": "fixed"})
    confirmed = recourse.plan({"income": 20, "debt": 40, "job": "none", "age": 30})
    assert isinstance(confirmed, Found)
    states = [dict(step.state) for step in confirmed.steps]
    assert [accepted(model, state) for state in states] == [False] * (len(states) - 1) + [True]
    assert (end_of(confirmed)["income"], end_of(confirmed)["debt"]) == (60, 10)


def test_a_budget_that_runs_out_ends_without_a_verified_plan() -> None:
    table = loans()
    model = Asked(lambda rows: (rows["income"] == 77) & (rows["debt"] == 13))
    some = table.head(5).assign(income=77, debt=13)
    recourse = Problem.from_model(model, pd.concat([some, table]), budget=20)
    model.rows = 0
    confirmed = recourse.plan({"income": 20, "debt": 40, "job": "none", "age": 30})
    assert not evidence_of(confirmed).verified
    assert isinstance(confirmed, GaveUp)
    assert evidence_of(confirmed).queries == model.rows == 20


def test_the_model_is_asked_in_few_batches() -> None:
    table = loans()
    model = Asked(lambda rows: rows["income"] + rows["age"] >= 120)
    recourse = Problem.from_model(model, table, actions={"age": "up"})
    model.calls = model.rows = 0
    confirmed = recourse.plan({"income": 40, "debt": 10, "job": "cook", "age": 30})
    assert evidence_of(confirmed).verified
    assert (evidence_of(confirmed).calls, evidence_of(confirmed).queries) == (
        model.calls,
        model.rows,
    )
    assert evidence_of(confirmed).calls <= 40
    assert evidence_of(confirmed).queries <= decider_of(recourse).budget


def test_a_way_that_the_rules_know_nothing_of_is_found() -> None:
    table = loans()
    table["age"] = 30 + table["age"] % 10
    table.loc[table["income"] >= 95, "age"] = 79  # who is accepted anyway

    def model(rows: pd.DataFrame) -> Any:
        return (rows["income"] >= 70) | (rows["age"] >= 60)

    actions = {"income": "fixed", "job": "fixed", "debt": "fixed"}
    recourse = Problem.from_model(model, table, actions=actions)
    confirmed = recourse.plan({"income": 20, "debt": 40, "job": "none", "age": 30})
    assert isinstance(evidence_of(confirmed).guide, Infeasible)
    assert evidence_of(confirmed).verified
    assert end_of(confirmed)["age"] == 60


def test_effects_of_causal_rules_come_free_and_are_replayed() -> None:
    chance = np.random.default_rng(0)
    debt = chance.integers(0, 5, 300) * 1_000
    table = pd.DataFrame({"debt": debt, "score": np.where(debt > 0, 560, 640)})
    table["score"] += chance.integers(0, 50, 300)
    table["balance"] = chance.integers(0, 100_000, 300)

    def model(rows: pd.DataFrame) -> Any:
        return (rows["score"] >= 615) & (rows["balance"] >= 50_000)

    recourse = Problem.from_model(model, table, causal=CAUSAL, law="if")
    confirmed = recourse.plan({"debt": 2_000, "score": 580, "balance": 20_000})
    assert evidence_of(confirmed).verified
    assert end_of(confirmed) == {"debt": 0, "score": 620, "balance": 50_000}
    assert recourse.check(confirmed)
    plan = confirmed
    assert isinstance(plan, Found)
    assert {each.feature for each in plan.actions} == {"debt", "balance"}


def test_one_who_is_accepted_has_nothing_to_do() -> None:
    recourse = Problem.from_model(lambda rows: rows["income"] > 50, loans())
    confirmed = recourse.plan({"income": 80, "debt": 9, "job": "cook", "age": 40})
    assert isinstance(confirmed, Already)
    assert evidence_of(confirmed).verified
    assert evidence_of(confirmed).queries == 1


def test_a_model_made_of_rules_gives_proved_plans() -> None:
    table = loans().drop(columns="job")
    y = (table["income"] >= 50) & (table["debt"] < 20)
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(table, y)
    recourse = Problem.from_model(tree, table, desired=True, actions={"age": "fixed"})
    confirmed = recourse.plan({"income": 20, "debt": 40, "age": 30})
    assert isinstance(confirmed, Found)
    assert confirmed.optimal
    assert evidence_of(confirmed).verified
    assert (
        evidence_of(confirmed).queries == 3
    )  # the start and where both steps lead, with what it gives them
    states = [confirmed.question.initial, *(step.state for step in confirmed.steps)]
    scores = tree.predict_proba(pd.DataFrame(states))[:, 1]
    assert evidence_of(confirmed).scores == tuple((score, 0.5) for score in scores)
    assert tree.predict(pd.DataFrame([end_of(confirmed)]))[0]
    stuck = Problem.from_model(tree, table, actions=dict.fromkeys(table, "fixed"))
    nothing = stuck.plan({"income": 20, "debt": 40, "age": 30})
    assert isinstance(nothing, Infeasible)
    assert not evidence_of(nothing).verified


def test_recorded_decisions_give_plans_that_nobody_has_confirmed() -> None:
    table = loans()
    learned = Problem.from_table(table, table["income"] >= 50)
    plan = learned.plan({"income": 20, "debt": 40, "job": "none", "age": 30})
    assert isinstance(plan, Found)
    assert plan.model is None
    assert plan.to_dict()["source"]["from"] == "labels"
    with pytest.raises(P2CError, match=r"recorded decisions are no model: Problem.from_table"):
        Problem.from_model(table["income"] >= 50, table)


def test_the_nearest_plans_end_apart_and_are_all_confirmed() -> None:
    table = loans()

    def model(rows: pd.DataFrame) -> Any:
        return (rows["income"] >= 70) | (rows["debt"] <= 5)

    recourse = Problem.from_model(model, table, actions={"age": "fixed"})
    found = recourse.nearest({"income": 40, "debt": 30, "job": "none", "age": 30}, 3)
    ends = [tuple(end_of(each).values()) for each in found]
    assert len(set(ends)) == len(ends) == 3
    costs = [each.cost or 0.0 for each in found]
    assert costs == sorted(costs)
    assert all(evidence_of(each).verified and accepted(model, end_of(each)) for each in found)


def test_how_many_is_asked_for_alike_by_a_recourse_and_a_problem() -> None:
    recourse = Problem.from_model(lambda rows: rows["income"] >= 50, loans()[["income"]])
    assert recourse is not None
    doors: tuple[Any, ...] = (recourse, recourse)
    for door in doors:
        assert len(door.nearest({"income": 20}, np.int64(2))) == 2
        for wrong in (True, 0, 2.0, "2"):
            with pytest.raises(P2CError, match="k: expected a whole number from 1 on"):
                door.nearest({"income": 20}, wrong)


def test_a_threshold_on_the_probability_is_reached() -> None:
    table = loans()[["income", "debt"]]
    model = LogisticRegression(max_iter=2_000).fit(table, table["income"] - table["debt"] > 30)
    for threshold in (0.3, 0.5, 0.95):
        recourse = Problem.from_model(model, table, desired=True, threshold=threshold)
        confirmed = recourse.plan({"income": 20, "debt": 40})
        assert evidence_of(confirmed).verified
        share = model.predict_proba(pd.DataFrame([end_of(confirmed)]))[0, 1]
        assert share >= threshold


@pytest.mark.parametrize("norm", ["l0", "l1", "l2", "linf"])
def test_every_norm_is_kept(norm: str) -> None:
    table = loans()

    def model(rows: pd.DataFrame) -> Any:
        return rows["income"] - rows["debt"] >= 40

    recourse = Problem.from_model(model, table, norm=norm, actions={"age": "fixed", "job": "fixed"})
    confirmed = recourse.plan({"income": 40, "debt": 30, "job": "none", "age": 30})
    assert evidence_of(confirmed).verified
    assert recourse.check(confirmed)


def test_truth_values_and_missing_values_go_to_the_model_as_they_came() -> None:
    table = loans()
    table["member"] = table["debt"] % 2 == 0
    table["rent"] = np.where(table["age"] % 3 == 0, np.nan, table["age"] * 1.5)

    def model(rows: pd.DataFrame) -> Any:
        assert rows["member"].dtype == bool
        return rows["member"] & (rows["income"] >= 40)

    recourse = Problem.from_model(model, table, actions={"rent": "fixed"})
    row = {"income": 20, "debt": 40, "job": None, "age": 30, "member": False, "rent": np.nan}
    confirmed = recourse.plan(row)
    assert evidence_of(confirmed).verified
    assert end_of(confirmed)["rent"] is None
    assert end_of(confirmed)["member"] == "True"
    assert recourse.check(confirmed)


def test_names_that_rules_cannot_have_are_still_the_users_names() -> None:
    table = loans().rename(columns={"income": "Annual Income", "age": "label"})
    recourse = Problem.from_model(
        lambda rows: rows["Annual Income"] >= 50, table, actions={"label": "fixed"}
    )
    confirmed = recourse.plan({"Annual Income": 20, "debt": 4, "job": "cook", "label": 30})
    assert end_of(confirmed)["annual_income"] == 50
    with pytest.raises(P2CError, match="did you mean 'debt'"):
        Problem.from_model(lambda rows: rows["debt"] > 5, table, actions={"dept": "fixed"})


def test_a_column_called_as_the_models_decision_is_still_the_users(tmp_path: Path) -> None:
    table = loans()[["income", "age"]].rename(columns={"income": "accepted"})
    model = DecisionTreeClassifier(max_depth=1).fit(table, table["accepted"] > 50)
    recourse = Problem.from_model(model, table, desired=True)
    row = {"accepted": 20, "age": 40}
    assert end_of(recourse.plan(row)) == {"accepted_2": 51, "age": 40}
    recourse.save(tmp_path / "desk")
    assert Problem.load(tmp_path / "desk").plan(row).to_dict() == recourse.plan(row).to_dict()
    assert 'accepted_2 = "accepted"' in (tmp_path / "desk" / "problem.toml").read_text()


def test_values_that_are_named_stand_in_for_the_range_of_the_data() -> None:
    def model(rows: pd.DataFrame) -> Any:
        return rows["income"] >= 50

    table = loans()[["income", "job"]]
    named = Problem.from_model(model, table, features={"income": {"values": [20, 55, 90]}})
    assert end_of(named.plan({"income": 20, "job": "cook"})) == {"income": 55, "job": "cook"}
    with pytest.raises(P2CError, match="give either 'values' or"):
        Problem.from_model(model, table, features={"income": {"values": [1], "max": 9}})


def test_a_row_comes_in_any_shape() -> None:
    values = np.random.default_rng(0).integers(0, 50, (200, 2))
    model = LogisticRegression().fit(values, values[:, 0] > 30)
    recourse = Problem.from_model(model, values)
    frame = pd.DataFrame([[10, 5]], columns=["x0", "x1"])
    shapes = ([10, 5], np.array([10, 5]), {"x0": 10, "x1": 5}, frame, frame.iloc[0])
    costs = [recourse.plan(shape).cost for shape in shapes]
    assert len(set(costs)) == 1
    assert costs[0]
    with pytest.raises(P2CError, match="expected 2 values, found 3"):
        recourse.plan([1, 2, 3])


def test_an_approved_review_supplies_the_causal_rules(tmp_path: Path) -> None:
    debt = np.repeat([0, 1_000, 2_000], 100)
    table = pd.DataFrame({"debt": debt, "standing": np.where(debt > 0, "poor", "fine")})
    candidates = learn_causal_rules(table, targets=["standing"])
    review = write_review(tmp_path / "r.jsonl", candidates, features=domain_from_frame(table))
    for candidate in candidates:
        review.decide(candidate.id, "approved", by="an expert", why="by law", law="iff")
    recourse = Problem.from_model(lambda rows: rows["standing"] == "fine", table, causal=review)
    confirmed = recourse.plan({"debt": 2_000, "standing": "poor"})
    assert evidence_of(confirmed).verified
    assert end_of(confirmed) == {"debt": 0, "standing": "fine"}


def test_approved_rules_with_an_exception_keep_it(tmp_path: Path) -> None:
    table = pd.DataFrame({"debt": [0, 10, 10] * 80, "grace": ["no", "no", "yes"] * 80})
    table["standing"] = np.where((table["debt"] > 0) & (table["grace"] == "no"), "poor", "fine")
    candidate = Candidate(
        "standing-1",
        "standing",
        "standing(X,'poor') :- debt(X,N), N>0, not spared(X).\nspared(X) :- grace(X,'yes').",
        ("debt", "grace"),
        Evidence(240, 80, 80, 80, 80, 80),
        Law.IFF,
    )
    review = write_review(tmp_path / "r.jsonl", [candidate], features=domain_from_frame(table))
    review.decide("standing-1", "approved", by="an expert", why="by law")
    recourse = Problem.from_model(lambda rows: rows["standing"] == "fine", table, causal=review)
    confirmed = recourse.plan({"debt": 10, "grace": "no", "standing": "poor"})
    assert evidence_of(confirmed).verified
    assert end_of(confirmed)["standing"] == "fine"
    assert "spared(X)" in (recourse.spec.rules or "")


def test_the_problem_can_be_saved_edited_and_loaded() -> None:
    recourse = Problem.from_model(lambda rows: rows["income"] > 50, loans(), name="bank")
    saved = surrogate_of(recourse).to_dict()
    assert Problem.from_dict(saved).name == "bank"
    row = {"income": 20, "debt": 40, "job": "none", "age": 30}
    assert recourse.plan(row).to_dict()["model"]["verified"] is True


def test_a_wider_domain_does_not_make_a_known_value_missing() -> None:
    table = loans()
    table["job"] = table["job"].where(table["age"] % 3 > 0, None)
    wider = {"job": {"values": ["clerk", "cook", "none", "pilot"]}}
    recourse = Problem.from_table(table, table["job"].isna(), features=wider)
    assert "missing_job" in recourse.to_dict()["rules"]
    row = {"income": 20, "debt": 40, "job": "pilot", "age": 30}
    assert not isinstance(recourse.plan(row), Already)
    assert isinstance(recourse.plan({**row, "job": None}), Already)


def test_one_whom_only_the_model_accepts_has_a_plan_that_checks() -> None:
    table = loans()
    odd = {"income": 20, "debt": 40, "job": "none", "age": 30}

    def model(rows: pd.DataFrame) -> Any:
        return (rows["income"] >= 50) | ((rows["income"] == 20) & (rows["debt"] == 40))

    recourse = Problem.from_model(model, table)
    confirmed = recourse.plan(odd)
    assert isinstance(confirmed, Already)
    assert not surrogate_of(recourse).check(confirmed)
    assert recourse.check(confirmed)


def test_nobody_of_whom_anything_is_known_can_be_checked_too() -> None:
    recourse = Problem.from_model(lambda rows: ~(rows["income"] < 50), loans())
    confirmed = recourse.plan(dict.fromkeys(("income", "debt", "job", "age")))
    assert isinstance(confirmed, Already)
    assert recourse.check(confirmed)


def test_a_check_asks_the_model_once_more() -> None:
    table = loans()
    limit = [50]
    recourse = Problem.from_model(lambda rows: rows["income"] >= limit[0], table)
    confirmed = recourse.plan({"income": 20, "debt": 40, "job": "none", "age": 30})
    assert recourse.check(confirmed)
    limit[0] = 60
    assert "the model refuses this state" in str(recourse.check(confirmed))


def test_a_plan_says_how_far_the_rules_were_off() -> None:
    table = loans()
    table["income"] = table["income"] // 10 * 10
    recourse = Problem.from_model(
        lambda rows: rows["income"] >= 63, table, actions={"age": "fixed"}
    )
    confirmed = recourse.plan({"income": 20, "debt": 40, "job": "none", "age": 30})
    assert evidence_of(confirmed).verified
    assert end_of(confirmed)["income"] == 63
    guide = evidence_of(confirmed).guide
    assert guide is not None
    assert evidence_of(guide).accepted is False
    assert guide.changes == {"income": (20, 61)}
    assert evidence_of(confirmed).borders == (Border("income", refused=62, accepted=63),)


def test_a_model_trained_on_a_frame_takes_an_array() -> None:
    table = loans()[["income", "debt"]]
    model = LogisticRegression(max_iter=2_000).fit(table, table["income"] > 50)
    recourse = Problem.from_model(model, table.to_numpy())
    assert evidence_of(recourse.plan([20, 10])).verified
    assert recourse.plan_many(np.array([[20, 10], [30, 5]]))["verified"].tolist() == [True] * 2


ODD: Any = [{}] * 300
NAMED = loans().assign(odd=ODD)
YES = loans()["age"] > 30
GAPS = [None if place in (3, 5) else each for place, each in enumerate(YES)]


@pytest.mark.parametrize(
    ("model", "table", "keys", "message"),
    [
        (lambda rows: [True], loans(), {}, "gave 1 answers for 300 rows"),
        (lambda rows: True, loans(), {}, "the single answer True for 300 rows"),
        (lambda rows: np.ones((len(rows), 2)), loans(), {}, "2 values for each row"),
        (lambda rows: rows["gone"], loans(), {}, "cannot be asked: KeyError: 'gone'"),
        (LogisticRegression(), loans(), {}, "cannot be asked: NotFittedError"),
        (
            lambda rows: np.where(rows["age"] > 30, "yes", "no"),
            loans(),
            {},
            "classes are 'no', 'yes'",
        ),
        (lambda rows: rows["age"] > 30, loans(), {"budget": 0}, "budget: expected"),
        (lambda rows: rows["age"] > 30, loans(), {"budget": True}, "budget: expected a whole"),
        (lambda rows: rows["age"] > 30, loans(), {"seed": "a"}, "seed: expected a whole number"),
        (lambda rows: rows["age"] > 30, loans(), {"seed": -1}, "seed: expected a whole number"),
        (lambda rows: rows["age"] > 30, loans(), {"trust": 5}, "trust: expected 'pickle'"),
        (lambda rows: rows["age"] > 30, loans(), {"causal": 5}, "causal: expected rules"),
        (lambda rows: rows["age"] > 30, loans(), {"threshold": 2}, "threshold: expected"),
        (lambda rows: rows["age"] > 30, loans(), {"features": {"age": 5}}, "keys for 'age'"),
        (lambda rows: rows["age"] > 30, loans(), {"actions": ["age"]}, "actions: expected a table"),
        (lambda rows: rows["age"] > 30, loans(), {"features": ["age"]}, "features: expected a tab"),
        (
            lambda rows: rows["age"] / 7,
            loans(),
            {},
            r"found numbers such as .*; say which are a yes",
        ),
        (lambda rows: rows["age"] / 7, loans(), {"desired": "yes"}, "found numbers such as"),
        (lambda rows: rows["age"], loans(), {"desired": "yes"}, r"the classes are 18, .*, …$"),
        (
            LinearRegression().fit(loans()[["income", "debt"]], loans()["age"]),
            loans()[["income", "debt"]],
            {"desired": 30},
            "^model: LinearRegression gives numbers, not classes; say which are a yes",
        ),
        (lambda rows: rows["age"] > 30, loans(), {"threshold": True}, "threshold: expected"),
        (YES.to_list(), loans(), {"threshold": 0.5}, "threshold: rules and recorded decisions"),
        (YES.to_list(), loans(), {"desired": np.array([True])}, "^desired: expected one class, fo"),
        (lambda rows: rows["age"] > 30, loans(), {"desired": [True]}, "one class, found a list$"),
        (
            lambda rows: rows["age"] > 30,
            loans(),
            {"scale": ["range"]},
            r"no scale \['range'\]; known",
        ),
        (lambda rows: rows["age"] > 30, loans(), {"scale": None}, "no scale None; known: 'mad'"),
        (
            lambda rows: rows["age"] > 30,
            loans(),
            {"norm": np.array(["l1", "l2"])},
            "norm: expected",
        ),
        (lambda rows: rows["age"] > 30, loans(), {"source": "x"}, "source: expected { from ="),
        (
            lambda rows: rows["age"] > 30,
            loans(),
            {"y": YES[1:]},
            "y, the true labels: .*, found 299",
        ),
        (
            lambda rows: rows["age"] > 30,
            loans(),
            {"y": GAPS},
            "found none in 2 rows, first in row 4:",
        ),
        (
            LogisticRegression().fit(loans()[["age"]], YES.map({True: "yes", False: "no"})),
            loans()[["age"]],
            {"desired": "yes", "y": ["yes", "No", "no"] * 100},
            "true labels: expected 'yes' or 'no' as the model says it, found 'No'$",
        ),
        (lambda rows: rows["age"] > 30, loans(), {"trust": ""}, "trust: expected .*, found ''$"),
        (
            GAPS,
            loans(),
            {"desired": True},
            "^model: expected one recorded .* 2 rows, first in row 4:",
        ),
        (
            ["yes", float("nan"), *["no"] * 298],
            loans(),
            {"desired": "yes"},
            "found none in 1 row, first in row 2:",
        ),
        (
            np.c_[YES, YES],
            loans(),
            {},
            "one recorded decision for each of 300 rows, found 300 x 2$",
        ),
        (
            DecisionTreeClassifier().fit(loans()[["age"]], np.c_[YES, YES]),
            loans()[["age"]],
            {},
            "^model: it gives 2 labels for each row",
        ),
        (lambda rows: rows["age"] > 30, NAMED, {}, "'odd': expected numbers or text, found a dict"),
        (lambda rows: rows[:, 0] > 3, np.arange(9), {}, "found 1 dimension"),
        (
            lambda rows: rows["age"] > 30,
            pd.concat([loans(), loans()], axis=1),
            {},
            "two columns called 'income'",
        ),
    ],
)
def test_misuse_is_one_clear_line(model: Any, table: Any, keys: Any, message: str) -> None:
    with pytest.raises(P2CError, match=message) as caught:
        Problem.from_model(model, table, **keys)
    assert "\n" not in str(caught.value)


def test_probabilities_that_are_none_are_one_clear_line() -> None:
    class Raw:
        classes_ = np.array([0, 1])

        def predict(self, rows: pd.DataFrame) -> Any:
            return (rows["income"] > 50).astype(int)

        def predict_proba(self, rows: pd.DataFrame) -> Any:
            return rows["income"] - 50.0

    with pytest.raises(P2CError, match="expected a probability for each class") as found:
        Problem.from_model(Raw(), loans(), desired=1)
    assert "\n" not in str(found.value)


def test_a_row_that_is_none_is_one_clear_line() -> None:
    recourse = Problem.from_model(lambda rows: rows["income"] >= 50, loans())
    with pytest.raises(P2CError, match="expected a row of 4 values, found 5"):
        recourse.plan(5)
    with pytest.raises(P2CError, match=r"expected a row of 4 values, found \{"):
        recourse.plan({1, 2, 3, 4})
    with pytest.raises(P2CError, match="expected a row of 4 values, found array"):
        recourse.plan(np.array(5))
    with pytest.raises(P2CError, match="two columns called 'income'"):
        recourse.plan(pd.concat([loans().iloc[0], loans().iloc[1]]))


@pytest.mark.parametrize("recorded", [True, False])
def test_a_table_that_does_not_fit_is_refused_whoever_decides(recorded: bool) -> None:
    table = loans()
    recourse = (
        Problem.from_table(table, table["age"] > 30)
        if recorded
        else Problem.from_model(lambda rows: rows["age"] > 30, table)
    )
    for ask in (recourse.plan_many, recourse.decide):
        with pytest.raises(P2CError, match=r"two columns called 'income'|unique column names"):
            ask(pd.concat([loans(), loans()], axis=1))
    with pytest.raises(P2CError, match="age: no such column; known"):
        recourse.plan_many(loans().drop(columns="age"))


def test_a_folder_or_a_time_that_is_none_is_one_clear_line(tmp_path: Path) -> None:
    recourse = Problem.from_model(lambda rows: rows["age"] > 30, loans())
    nothing: Any = None
    for ask in (recourse.save, Problem.load):
        with pytest.raises(P2CError, match=r"^expected the path of a file or folder, found a None"):
            ask(nothing)
    for name in ("a\0b", "a" * 300):
        with pytest.raises(P2CError, match="cannot be written"):
            recourse.save(tmp_path / name)
    with pytest.raises(P2CError, match=r"^time_limit: expected seconds, [^\n]*, found 'z'$"):
        recourse.why(loans().iloc[0], time_limit="z")  # type: ignore[arg-type]


@pytest.mark.parametrize("number", [10**400, -(10**400), 1e308, -1e308])
@pytest.mark.parametrize("name", ["income", "share"])
@pytest.mark.parametrize("read", [True, False])
def test_a_number_that_nothing_can_be_reckoned_with_is_one_clear_line(
    number: float, name: str, read: bool
) -> None:
    table = loans()[["income"]].assign(share=np.linspace(0, 1, 300))
    wanted = table["income"] > 50
    tree = DecisionTreeClassifier(max_depth=1).fit(table, wanted)
    model = tree if read else lambda rows: rows["income"] > 50
    recourse = Problem.from_model(model, table, desired=True)
    with pytest.raises(P2CError, match=f"^{name}: ") as found:
        recourse.plan({"income": 20, "share": 0.5, name: number})
    assert "\n" not in str(found.value)
    assert evidence_of(recourse.plan({"income": -(10**15), "share": 1e30})).verified


def test_a_number_beyond_the_type_of_its_column_goes_to_the_model_as_it_is() -> None:
    wide = loans()[["income", "age"]]
    table = wide.astype("int8")
    model = LogisticRegression().fit(table, wide["income"] + wide["age"] > 100)
    recourse = Problem.from_model(model, table, desired=True, actions={"age": "fixed"})
    assert recourse.plan({"income": 10, "age": 200}).status == "already"
    assert evidence_of(recourse.plan({"income": -1_000, "age": 60})).verified


def test_a_target_between_whole_numbers_goes_to_the_model_as_it_is() -> None:
    table = loans()[["income"]]
    asked = Asked(lambda rows: rows["income"] >= 50.5)
    recourse = Problem.from_model(asked, table, features={"income": {"type": "float", "step": 0.5}})
    assert end_of(recourse.plan({"income": 20})) == {"income": 50.5}


def test_a_narrow_range_near_the_person_is_not_missed() -> None:
    table = loans(600)

    def model(rows: pd.DataFrame) -> Any:
        return (rows["income"] >= 90) | rows["income"].between(32, 33)

    recourse = Problem.from_model(model, table, actions={"age": "fixed", "job": "fixed"})
    confirmed = recourse.plan({"income": 45, "debt": 9, "job": "cook", "age": 40})
    assert end_of(confirmed) == {"income": 33, "debt": 9, "job": "cook", "age": 40}


def test_a_dear_single_change_gives_way_to_a_cheap_pair() -> None:
    table = loans(600)

    class Scored:
        classes_ = np.array([0, 1])

        def predict_proba(self, rows: pd.DataFrame) -> Any:
            pair = (rows["income"].between(48, 52)) & (rows["debt"].between(21, 24))
            single = rows["income"] >= 95
            share = np.where(pair | single, 0.9, 0.1 + 0.001 * rows["income"])
            return np.column_stack([1 - share, share])

        def predict(self, rows: pd.DataFrame) -> Any:
            return (self.predict_proba(rows)[:, 1] > 0.5).astype(int)

    recourse = Problem.from_model(
        Scored(), table, actions={"age": "fixed", "job": "fixed"}, desired=1
    )
    confirmed = recourse.plan({"income": 45, "debt": 30, "job": "cook", "age": 40})
    assert end_of(confirmed) == {"income": 48, "debt": 24, "job": "cook", "age": 40}


def test_plans_of_recorded_decisions_tell_what_was_asked_and_are_checked_by_it() -> None:
    table = loans()[["income", "debt"]]
    decisions = (table["income"] >= 50) | (table["debt"] <= 5)
    recourse = Problem.from_table(table, decisions.to_numpy())
    row = {"income": 40, "debt": 20}
    harder = recourse.plan(row, restrict={"income": {"weight": 9}, "debt": "fixed"})
    asked = harder.to_dict()["asked"]
    assert asked == {"restrict": {"income": {"weight": 9}, "debt": {"action": "fixed"}}}
    assert recourse.check(harder)
    first, second = recourse.nearest(row, 2, distinct="cells")
    assert "asked" not in first.to_dict()
    assert second.to_dict()["asked"] == {"nearest": 2, "distinct": "cells"}
    assert recourse.check(second, prove=True)


def test_the_nearest_plans_may_differ_in_what_the_model_tells_apart() -> None:
    table = loans()
    wanted = (table["income"] >= 50) | (table["debt"] <= 5)
    features = table[["income", "debt"]]
    model = DecisionTreeClassifier(random_state=0).fit(features, wanted)
    recourse = Problem.from_model(model, features)
    row = {"income": 40, "debt": 20}
    changed = [
        {name for name, value in end_of(each).items() if value != row[name]}
        for each in recourse.nearest(row, 2, distinct="cells")
    ]
    assert sorted(map(sorted, changed)) == [["debt"], ["income"]]
    narrowed = recourse.nearest(row, 2, distinct="cells", restrict={"debt": "fixed"})
    assert len(narrowed) == 1
    with pytest.raises(P2CError, match="distinct: expected points or cells, found 'kinds'"):
        recourse.nearest(row, 2, distinct="kinds")


def test_a_column_that_a_table_lacks_is_named_once() -> None:
    table = loans()
    recourse = Problem.from_model(lambda rows: rows["income"] >= 50, table)
    for ask in (recourse.decide, recourse.plan_many, recourse.plan_many):
        with pytest.raises(
            P2CError, match=r"^age: no such column; known: 'debt', 'income', 'job'$"
        ):
            ask(table.drop(columns="age").head(3))


def test_a_plan_alone_is_checked_and_reported_on() -> None:
    recourse = Problem.from_model(lambda rows: rows["income"] >= 50, loans())
    row: Any = loans().iloc[0]
    with pytest.raises(P2CError, match=r"plan: the key 'status' is missing"):
        recourse.check(row)


def test_a_number_that_is_not_known_is_a_number_to_the_model() -> None:
    kinds = []

    def model(rows: pd.DataFrame) -> Any:
        kinds.append(rows["age"].dtype.kind)
        return rows["income"] >= 50

    recourse = Problem.from_model(model, loans(), actions={"age": "fixed"})
    kinds.clear()
    person = {"income": 20, "debt": 9, "job": "cook", "age": None}
    assert evidence_of(recourse.plan(person)).verified
    assert set(kinds) <= {"i", "f"}


def test_faults_are_named_by_the_keywords_of_fit() -> None:
    def model(rows: pd.DataFrame) -> Any:
        return rows["income"] >= 50

    with pytest.raises(P2CError, match=r"^law: expected 'iff', 'if' or 'only_if', found 'maybe'$"):
        Problem.from_model(model, loans(), law="maybe")
    with pytest.raises(P2CError, match=r"^causal: line 1, column 1: 'jobs' is no feature"):
        Problem.from_model(model, loans(), causal="jobs(X,N) :- debt(X,D), D=<0, N>=620.")


def test_rules_of_any_length_in_the_place_of_a_model_are_one_clear_line() -> None:
    for count in (1, 40):
        bounds = ", ".join(f"income(X,N{place}), N{place}<{60 + place}" for place in range(count))
        with pytest.raises(P2CError, match=r"expected a model with .*, found a str"):
            Problem.from_model(f"reject(X) :- {bounds}.", loans())
