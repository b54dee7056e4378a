"""Models that are read: plans proved against the model itself, and why it refuses."""

from __future__ import annotations

import json
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    OneHotEncoder,
    StandardScaler,
)
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from p2c._learn.extract import logic
from p2c._learn.extract.logic import extract_logic, learn_ruleset
from p2c._learn.model import NotRead, Read
from p2c.errors import P2CError
from p2c.problem import Problem
from tests.evidence import evidence_of, extraction_of, surrogate_of

if TYPE_CHECKING:
    from pathlib import Path

MODELS: dict[str, Any] = {
    "tree": DecisionTreeClassifier(max_depth=4, random_state=0),
    "forest": RandomForestClassifier(15, max_depth=4, random_state=0),
    "extra": ExtraTreesClassifier(15, max_depth=4, random_state=0),
    "boosted": GradientBoostingClassifier(n_estimators=15, max_depth=2, random_state=0),
    "histogram": HistGradientBoostingClassifier(max_iter=15, max_depth=3, random_state=0),
    "logistic": LogisticRegression(),
    "ridge": RidgeClassifier(),
    "svm behind steps and a scale": make_pipeline(
        make_column_transformer(
            (KBinsDiscretizer(3, encode="onehot-dense", strategy="uniform"), ["debt"]),
            remainder=StandardScaler(),
        ),
        LinearSVC(random_state=0),
    ),
    "calibrated folds": CalibratedClassifierCV(LogisticRegression(), cv=3),
    "calibrated forests": CalibratedClassifierCV(
        RandomForestClassifier(8, max_depth=4, random_state=0), cv=3, method="isotonic"
    ),
    "mean of probabilities": VotingClassifier(
        [
            ("a", LogisticRegression()),
            ("b", RandomForestClassifier(8, max_depth=4, random_state=0)),
        ],
        voting="soft",
        weights=[1, 3],
    ),
    "votes": VotingClassifier(
        [
            ("a", LogisticRegression()),
            ("b", DecisionTreeClassifier(max_depth=3)),
            ("c", GradientBoostingClassifier(n_estimators=5, max_depth=2)),
        ]
    ),
    "bag": BaggingClassifier(LogisticRegression(), n_estimators=4, max_features=3, random_state=0),
    "stack": StackingClassifier(
        [
            ("a", DecisionTreeClassifier(max_depth=3)),
            ("b", GradientBoostingClassifier(n_estimators=8, max_depth=2, random_state=0)),
            ("c", RidgeClassifier()),
        ],
        passthrough=True,
        cv=3,
    ),
}
CAUSAL = "score(X,N) :- debt(X,D), D=<2, N>=6. score(X,N) :- debt(X,D), D>2, N<6."


def people() -> pd.DataFrame:
    """Return every combination of a few small numbers."""
    values = product(range(4), range(5), range(9), range(3))
    return pd.DataFrame(list(values), columns=["age", "debt", "score", "saved"])


def answers(table: pd.DataFrame) -> Any:
    return ((table["score"] + 2 * table["saved"] - table["debt"] + table["age"]) >= 7).astype(int)


@pytest.fixture(scope="module", params=MODELS)
def fitted(request: pytest.FixtureRequest) -> tuple[Any, Problem]:
    table = people()
    model = MODELS[request.param].fit(table, answers(table))
    return model, Problem.from_model(model, table, desired=1, actions={"age": "fixed"})


def cheapest(model: Any, row: dict[str, int]) -> float | None:
    """Return the least L1 cost of a state that the model accepts, all states tried."""
    table = people()
    ends = table[(model.predict(table) == 1) & (table["age"] == row["age"])]
    if ends.empty:
        return None
    spans = {"debt": 4, "score": 8, "saved": 2}
    return float(min(sum((ends[name] - row[name]).abs() / span for name, span in spans.items())))


def test_the_least_cost_is_that_of_brute_force_and_proved(fitted: tuple[Any, Problem]) -> None:
    model, recourse = fitted
    assert isinstance(recourse.reading, Read)
    refused = people()[model.predict(people()) == 0].sample(12, random_state=3)
    for row in refused.to_dict("records"):
        answer = recourse.plan(row)
        assert answer.optimal
        expected = cheapest(model, row)
        assert answer.status == ("found" if expected is not None else "infeasible")
        assert answer.cost == (None if expected is None else pytest.approx(expected))
        assert evidence_of(answer).verified is (expected is not None)
        assert recourse.check(answer) or answer.status == "infeasible"
        assert answer.to_dict()["model"]["proved"] is True


def test_what_forces_a_refusal_is_a_smallest_set(fitted: tuple[Any, Problem]) -> None:
    model, recourse = fitted
    table = people()
    said = model.predict(table)
    for row in table[said == 0].sample(6, random_state=5).to_dict("records"):
        forcing = recourse.why(row).reasons
        assert forcing is not None

        def forces(names: tuple[str, ...], row: dict[Any, int] = row) -> bool:
            held = (table[list(names)] == [row[name] for name in names]).all(axis=1)
            return not said[held].any()

        assert forces(forcing)
        for size in range(len(forcing)):
            assert not any(forces(names) for names in combinations(table.columns, size))


def test_effects_lead_where_the_model_says_yes() -> None:
    table = people()
    model = MODELS["boosted"].fit(table, answers(table))
    recourse = Problem.from_model(model, table, desired=1, actions={"age": "fixed"}, causal=CAUSAL)
    answer = recourse.plan({"age": 0, "debt": 4, "score": 3, "saved": 1})
    assert answer.optimal
    assert evidence_of(answer).verified
    kinds = [type(each).__name__ for step in answer.steps for each in step.actions]
    assert "CausalAction" in kinds
    assert recourse.check(answer)
    scores = [score for score, _ in evidence_of(answer).scores]
    assert scores[0] < evidence_of(answer).scores[-1][1] <= scores[-1]


def level(**keys: Any) -> Problem:
    """Return a model that accepts from 8 on where nobody is seen above 5."""
    table = pd.DataFrame({"n": [1, 2, 3, 4, 5, 1] * 2, "c": [0, 1] * 6})
    model = LogisticRegression().fit(table, [0, 1] * 6)
    model.coef_, model.intercept_ = np.array([[1.0, 0.0]]), np.array([-7.5])
    return Problem.from_model(model, table, **keys)


@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"effects": "supported"},
        {
            "effects": "supported",
            "causal": "c(X,1) :- n(X,N), N>=3.",
            "actions": {"c": "free"},
        },
        {"causal": "n(X,N) :- c(X,1), N>=2.", "actions": {"n": "free"}, "law": "if"},
    ],
    ids=["plain", "supported", "supported and caused", "governed"],
)
def test_the_limits_of_a_weighed_number_block_whatever_else_the_problem_has(
    keys: dict[str, Any],
) -> None:
    plan = level(**keys).plan({"n": 1, "c": 0})
    assert plan.status == "infeasible"
    told = plan.to_dict()
    assert told["blockers"] == [{"feature": "n", "restriction": "limits"}]
    assert told["opened"]["counterfactual"]["n"] == 8


def test_the_limits_of_a_weighed_number_block_beside_a_feature_with_moves() -> None:
    table = pd.DataFrame({"k": list("abc") * 4, "n": [1, 2, 3, 4, 5, 1] * 2})
    spread = make_column_transformer((OneHotEncoder(), ["k"]), ("passthrough", ["n"]))
    model = make_pipeline(spread, LogisticRegression()).fit(table, [0, 1] * 6)
    model[-1].coef_ = np.array([[0.0, 0.0, 0.1, 1.0]])
    model[-1].intercept_ = np.array([-7.5])
    recourse = Problem.from_model(model, table, features={"k": {"moves": {"a": ["b"], "b": ["c"]}}})
    told = recourse.plan({"k": "a", "n": 1}).to_dict()
    assert told["blockers"] == [{"feature": "n", "restriction": "limits"}]
    assert told["opened"]["counterfactual"] == {"k": "a", "n": 8}


@pytest.mark.parametrize("kind", [DecisionTreeClassifier, GradientBoostingClassifier])
def test_a_goal_of_ones_own_and_constraints_speak_of_what_the_model_accepts(
    kind: type[Any], tmp_path: Path
) -> None:
    table = pd.DataFrame({"a": [0, 1, 2, 3] * 5, "b": [0, 1, 0, 1, 2] * 4})
    model = kind(random_state=0).fit(table, (table["a"] + table["b"] > 2).astype(int))
    row = {"a": 0, "b": 1}
    barred = Problem.from_model(model, table, causal=":- accepted(X), b(X,2).")
    own = Problem.from_model(model, table, goal="accepted( X ), b(X,0)")
    other = Problem.from_model(model, table, goal="not accepted(X), b(X,0)")
    ends = [each.plan(row).counterfactual for each in (barred, own, other)]
    assert ends == [{"a": 2, "b": 1}, {"a": 3, "b": 0}, {"a": 0, "b": 0}]
    for place, each in enumerate((barred, own)):
        each.save(tmp_path / str(place))
        assert Problem.load(tmp_path / str(place)).plan(row) == each.plan(row)
    with pytest.raises(P2CError, match="'label'"):
        Problem.from_model(model, table, goal="label(X,'1')")


def test_a_pipeline_that_fills_holes_is_kept_without_a_pickle(tmp_path: Path) -> None:
    table = pd.DataFrame({"a": [0, 1, 2, 3, None] * 4, "b": [0, 1, 0, 1] * 5})
    model = make_pipeline(SimpleImputer(), LogisticRegression()).fit(table, [0, 0, 1, 1] * 5)
    recourse = Problem.from_model(model, table)
    recourse.save(tmp_path / "kept")
    row = {"a": None, "b": 0}
    assert Problem.load(tmp_path / "kept").plan(row) == recourse.plan(row)


def test_somebody_beyond_the_range_of_the_data_is_planned_for() -> None:
    table = people()
    model = MODELS["forest"].fit(table, answers(table))
    recourse = Problem.from_model(model, table, desired=1, actions={"age": "fixed"})
    answer = recourse.plan({"age": 1, "debt": 9, "score": 0, "saved": 0})
    assert answer.status == "found"
    assert evidence_of(answer).verified
    end = answer.counterfactual
    assert end is not None
    assert 0 <= end["debt"] <= 9


@pytest.mark.parametrize("kind", ["forest", "logistic"])
def test_a_float_is_offered_as_people_say_it_and_the_model_says_yes(kind: str) -> None:
    draws = np.random.default_rng(4)
    table = pd.DataFrame({"hours": draws.normal(40, 12, 400), "rate": draws.uniform(0, 1, 400)})
    model = MODELS[kind].fit(table, (table["hours"] + 30 * table["rate"] > 60).astype(int))
    recourse = Problem.from_model(model, table, desired=1)
    for row in table[model.predict(table) == 0].head(12).to_dict("records"):
        answer = recourse.plan(row)
        assert evidence_of(answer).verified
        assert answer.optimal
        end = answer.counterfactual
        assert end is not None
        for name, decimals in (("hours", 1), ("rate", 3)):
            assert end[name] in (row[name], round(float(str(end[name])), decimals))
        assert model.predict(pd.DataFrame([end]))[0] == 1


@pytest.mark.parametrize("norm", ["l0", "l1", "l2", "linf"])
@pytest.mark.parametrize("classes", [2, 3])
def test_of_many_values_the_cheapest_end_is_found(norm: str, classes: int) -> None:
    draws = np.random.default_rng(classes)
    every = pd.DataFrame(
        list(product(range(121), range(61), ("a", "b", "c"))), columns=["income", "hours", "job"]
    )
    table = every.sample(600, random_state=classes).reset_index(drop=True)
    worth = table["income"] + 1.7 * table["hours"] + 25 * (table["job"] == "c")
    label = pd.cut(worth + draws.normal(0, 12, 600), classes, labels=False)
    columns = make_column_transformer((OneHotEncoder(), ["job"]), remainder=StandardScaler())
    model = make_pipeline(columns, LogisticRegression()).fit(table, label)
    recourse = Problem.from_model(model, every, desired=1, norm=norm)
    ends = every[model.predict(every) == 1]
    for row in table[model.predict(table) != 1].head(4).to_dict("records"):
        apart = [
            (ends[name] - row[name]).abs() / span for name, span in (("income", 120), ("hours", 60))
        ]
        lengths = np.array([*apart, ends["job"] != row["job"]], dtype=float)
        costs = {
            "l0": (lengths > 0).sum(axis=0),
            "l1": lengths.sum(axis=0),
            "l2": np.sqrt((lengths**2).sum(axis=0)),
            "linf": lengths.max(axis=0),
        }
        answer = recourse.plan(row)
        assert answer.optimal
        assert answer.cost == pytest.approx(costs[norm].min(), rel=1e-9)


def test_where_values_are_too_many_to_follow_one_by_one_the_model_is_asked() -> None:
    draws = np.random.default_rng(2)
    table = pd.DataFrame(
        {"income": draws.integers(0, 90_000, 300), "stage": draws.choice(["a", "b", "c"], 300)}
    )
    label = (table["income"] + 20_000 * (table["stage"] == "c") > 60_000).astype(int)
    columns = make_column_transformer((OneHotEncoder(), ["stage"]), remainder=StandardScaler())
    model = make_pipeline(columns, LogisticRegression()).fit(table, label)
    moves = {"stage": {"moves": {"a": ["b"], "b": ["c"], "c": []}}}
    recourse = Problem.from_model(model, table, desired=1, features=moves)
    answer = recourse.plan({"income": 30_000, "stage": "a"})
    assert evidence_of(answer).verified
    assert not answer.optimal


def test_a_model_that_is_no_sum_is_asked_and_nothing_is_proved() -> None:
    table = people()
    model = KNeighborsClassifier(3).fit(table, answers(table))
    recourse = Problem.from_model(model, table, desired=1, actions={"age": "fixed"})
    assert isinstance(recourse.reading, NotRead)
    assert "KNeighborsClassifier" in str(recourse.reading)
    answer = recourse.plan({"age": 0, "debt": 4, "score": 3, "saved": 1})
    assert evidence_of(answer).verified
    assert not answer.optimal
    assert recourse.why({"age": 0, "debt": 4, "score": 3, "saved": 1}).reasons is None


def test_a_limit_ends_the_search_and_says_so() -> None:
    table = people()
    model = MODELS["boosted"].fit(table, answers(table))
    recourse = Problem.from_model(model, table, desired=1, actions={"age": "fixed"})
    answer = recourse.plan({"age": 0, "debt": 4, "score": 0, "saved": 0}, time_limit=0)
    assert (answer.status, evidence_of(answer).verified, answer.optimal) == (
        "gave_up",
        False,
        False,
    )


@pytest.mark.parametrize("norm", ["l0", "l2"])
def test_places_of_a_weighed_number_are_put_in_order_where_a_path_passes_the_goal(
    norm: str,
) -> None:
    draws = np.random.default_rng(0)
    sizes = {"income": 40, "debt": 9, "years": 5, "cards": 4}
    table = pd.DataFrame({name: draws.integers(0, size, 200) for name, size in sizes.items()})
    worth = table["income"] / 5 - table["debt"] + 2 * table["years"] - table["cards"]
    model = LogisticRegression().fit(table, (worth + draws.normal(0, 2, 200) > 4).astype(int))
    recourse = Problem.from_model(model, table, norm=norm)
    for _, row in table[model.predict(table) == 0].head(30).iterrows():
        answer = recourse.plan(row)
        assert answer.optimal
        assert recourse.check(answer)


@pytest.fixture
def lessons(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Count the times that rules are learned."""
    found: list[int] = []

    def counted(table: pd.DataFrame, *given: Any, **how: Any) -> Any:
        found.append(len(table))
        return learn_ruleset(table, *given, **how)

    monkeypatch.setattr(logic, "learn_ruleset", counted)
    return found


def test_rules_in_the_place_of_a_model_that_was_read_are_learned_when_they_are_asked_for(
    lessons: list[int], tmp_path: Path
) -> None:
    table = people()
    model = LogisticRegression().fit(table, answers(table))
    how: dict[str, Any] = {"desired": 1, "actions": {"age": "fixed"}, "causal": CAUSAL}
    recourse = Problem.from_model(model, table, **how)
    row = table[model.predict(table) == 0].iloc[3]
    answer = recourse.plan(row)
    recourse.nearest(row, 2)
    recourse.plan(row, restrict={"saved": "fixed"})
    recourse.plan_many(table.head(20))
    recourse.audit(table.head(20))
    assert recourse.why(row).reasons
    assert recourse.check(answer)
    assert recourse.report(answer, format="md", audience="expert")
    assert "model read" in repr(recourse)
    assert lessons == []
    assert extraction_of(recourse) == extract_logic(model, table, desired=1)
    assert len(lessons) == 2
    assert surrogate_of(recourse).theory.model is None
    recourse.save(tmp_path / "late")
    assert len(lessons) == 2
    assert recourse.plan(row).to_dict() == answer.to_dict()
    # A folder is the same, whether rules were asked for before or are learned for it.
    Problem.from_model(model, table, **how).save(tmp_path / "early")
    late, early = (
        {file.name: file.read_bytes() for file in (tmp_path / name).iterdir()}
        for name in ("late", "early")
    )
    written = {"problem.toml", "sample.csv", "stand_in.lp"}
    assert {name: late[name] for name in written} == {name: early[name] for name in written}
    told = [json.loads(each["manifest.json"]) for each in (late, early)]
    for key in ("extraction", "learned"):
        assert told[0][key] == told[1][key]
        assert told[0][key]
    assert Problem.load(tmp_path / "late").plan(row).to_dict() == answer.to_dict()


def test_rules_of_a_model_that_is_only_asked_are_learned_at_once(lessons: list[int]) -> None:
    table = people()
    model = KNeighborsClassifier(3).fit(table, answers(table))
    recourse = Problem.from_model(model, table, desired=1)
    assert len(lessons) == 1
    recourse.plan(table[model.predict(table) == 0].iloc[3])
    assert extraction_of(recourse).fidelity > 0.5
    assert len(lessons) == 1


@pytest.mark.parametrize("kind", ["category", "ordinal"])
@pytest.mark.parametrize("weight", [1, 0.3])
def test_numbers_that_a_model_weighs_may_be_categories(kind: str, weight: float) -> None:
    table, codes = people(), [8, 0, 3, 5]
    model = LogisticRegression().fit(table, table["score"] + table["saved"] - table["debt"] > 5)
    told = {"score": {"type": kind, "values": codes, "weight": weight}}
    recourse = Problem.from_model(model, table, features=told, actions={"age": "fixed"})

    def distance(start: int, end: int) -> float:
        if kind == "category":
            return float(start != end)
        return abs(codes.index(start) - codes.index(end)) / 3

    for row in ({"age": 1, "debt": 4, "score": s, "saved": v} for s in codes for v in (0, 2)):
        ends = [
            {"age": 1, "debt": d, "score": s, "saved": v}
            for d in range(5)
            for s in codes
            for v in range(3)
        ]
        yes = model.predict(pd.DataFrame(ends))
        costs = [
            abs(end["debt"] - row["debt"]) / 4
            + weight * distance(row["score"], end["score"])
            + abs(end["saved"] - row["saved"]) / 2
            for end, accepted in zip(ends, yes, strict=True)
            if accepted
        ]
        answer = recourse.plan(row)
        assert answer.optimal
        assert answer.cost == pytest.approx(min(costs))


def test_a_number_that_hardly_counts_is_no_reason_to_fail() -> None:
    table = people()
    model = LogisticRegression().fit(table, table["score"] > 4)
    model.coef_[0, 0] = 1e-310
    recourse = Problem.from_model(model, table)
    assert recourse.plan({"age": 1, "debt": 2, "score": 1, "saved": 0}).optimal


def test_three_classes_that_weigh_a_number_and_its_logarithm_are_searched_whole() -> None:
    places = range(41)
    table = pd.DataFrame(list(product(places, places)), columns=["x", "y"])
    columns = make_column_transformer(
        ("passthrough", ["x", "y"]), (FunctionTransformer(np.log1p), ["x"])
    )
    classes = np.array(["a", "b", "c"])[np.arange(len(table)) % 3]
    model = make_pipeline(columns, LogisticRegression(max_iter=5_000)).fit(table, classes)
    model[-1].coef_ = np.array([[0, 0, 0], [-0.1, -1, -10], [1, 1, 0.1]], float)
    model[-1].intercept_ = np.array([0, 34.97, -20.25])
    (accepted,) = table[model.predict(table) == "a"].to_dict("records")
    recourse = Problem.from_model(model, table, desired="a")
    assert isinstance(recourse.reading, Read)
    assert recourse.plan({"x": 0, "y": 0}).counterfactual == accepted
