from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from p2c._learn.extract.logic import Extraction, extract_logic
from p2c._learn.extract.ruleset import read_written
from p2c._learn.extract.source import read_source
from p2c._learn.foldse import FoldSE
from p2c._learn.model.floats import single_bound
from p2c._learn.tables.domains import domain_from_frame
from p2c._learn.tables.view import as_frame, feature_names, view_of
from p2c._rules.parse import parse
from p2c.errors import P2CError
from p2c.problem import Problem
from tests import lending


def loans(count: int = 400, seed: int = 0) -> pd.DataFrame:
    return lending.loans(count, seed).drop(columns="age")


def accepts(rows: pd.DataFrame) -> Any:
    return ((rows["income"] >= 50) & (rows["job"] != "none")).to_numpy()


def holds(found: Extraction, table: pd.DataFrame) -> list[bool]:
    """Evaluate extracted rules by the reference meaning, through a problem built from the table."""
    written = read_written(found.program, table, found.goal)
    return [bool(each) for each in written.accepts(table)]


def test_a_function_is_approximated_by_rules_that_a_problem_can_read() -> None:
    table = loans()
    found = extract_logic(accepts, table)
    assert found.fidelity > 0.95
    assert not found.exact
    keys = domain_from_frame(table)
    Problem.from_dict({"goal": found.goal, "rules": found.program, "features": keys})
    assert np.mean(np.array(holds(found, table)) == accepts(table)) > 0.95


@pytest.mark.parametrize(
    ("no", "yes"),
    [
        (False, True),
        (0, 1),
        ("bad", "good"),
        (np.int64(3), np.int64(7)),
        (np.str_("n"), np.str_("y")),
        (-1.0, 1.0),
    ],
)
def test_labels_of_any_type_name_the_desired_outcome(no: Any, yes: Any) -> None:
    table = loans()
    labels = np.where(accepts(table), yes, no)

    def model(rows: pd.DataFrame) -> Any:
        return np.where(accepts(rows), yes, no)

    for desired in (yes, labels[accepts(table)][0]):
        found = extract_logic(model, table, labels, desired=desired)
        assert found.fidelity > 0.95
        assert found.accuracy == found.fidelity
        assert np.mean(np.array(holds(found, table)) == accepts(table)) > 0.95
    refused = extract_logic(model, table, desired=no)
    assert np.mean(np.array(holds(refused, table)) == ~accepts(table)) > 0.95


def test_a_pipeline_with_encoders_is_asked_with_the_columns_it_knows() -> None:
    table = loans()
    encoder = make_column_transformer((OneHotEncoder(), ["job"]), remainder="passthrough")
    model = make_pipeline(encoder, LogisticRegression(max_iter=2_000))
    model.fit(table, np.where(accepts(table), "yes", "no"))
    found = extract_logic(model, table.assign(extra=1.5), desired="yes")
    assert found.fidelity > 0.8
    assert found.decision == "label"


def test_a_threshold_moves_the_border() -> None:
    table = loans()[["income"]]
    model = LogisticRegression(max_iter=2_000).fit(table, table["income"] >= 50)
    strict = extract_logic(model, table, desired=True, threshold=0.999999)
    plain = extract_logic(model, table, desired=True)
    assert sum(holds(strict, table)) < sum(holds(plain, table))
    scored = extract_logic(lambda rows: rows["income"] / 100, table, threshold=0.8)
    assert sum(holds(scored, table)) == pytest.approx((table["income"] >= 80).sum(), abs=3)


def test_recorded_decisions_are_enough_as_values_or_as_a_column() -> None:
    table = loans()
    decisions = np.where(accepts(table), "paid", "lost")
    by_value = extract_logic(decisions, table, desired="paid")
    by_name = extract_logic("outcome", table.assign(outcome=decisions), desired="paid")
    assert by_value == by_name
    assert by_value.fidelity > 0.95


def test_a_rare_outcome_still_gets_rules() -> None:
    table = loans(2_000)
    rare = (table["income"] == 99) & (table["debt"] < 10)
    assert 0 < rare.sum() < 10
    share: Any = np.float32(0)
    found = extract_logic(rare.to_numpy(), table, desired=True, held_out=share)
    assert np.array(holds(found, table))[rare].mean() > 0.5


@pytest.mark.parametrize("answer", [True, False])
def test_a_model_that_always_says_the_same_is_a_fact(answer: bool) -> None:
    table = loans()
    found = extract_logic(lambda rows: np.full(len(rows), answer), table, desired=answer)
    assert holds(found, table) == [True] * len(table)


def test_a_foldse_model_is_taken_as_it_is() -> None:
    table = loans()
    table.loc[::7, "job"] = None
    model = FoldSE().fit(table, np.where(accepts(table), "yes", "no"))
    for desired in ("yes", "no"):
        found = extract_logic(model, table, desired=desired)
        assert found.exact
        assert found.fidelity == 1.0
        assert holds(found, table) == (model.predict(table) == desired).tolist()


def test_a_foldse_model_of_several_classes_keeps_the_order_of_its_rules() -> None:
    table = loans(900)
    grade = np.digitize(table["income"] - table["debt"], [10, 40]).astype(str)
    model = FoldSE().fit(table, grade)
    for desired in ("0", "1", "2"):
        found = extract_logic(model, table, desired=desired)
        assert found.exact
        assert holds(found, table) == (model.predict(table) == desired).tolist()


def test_rules_are_taken_from_text_and_from_a_file(tmp_path: Any) -> None:
    table = loans()
    text = "reject(X) :- income(X,N), N<50.\nreject(X) :- job(X,'none')."
    path = tmp_path / "bank.lp"
    path.write_text(text)
    for model in (text, path, str(path), parse(text)):
        found = extract_logic(model, table)
        assert (found.goal, found.exact, found.fidelity) == ("not reject(X)", True, 1.0)
        assert holds(found, table) == accepts(table).tolist()
    labelled = extract_logic("label(X,'bad') :- income(X,N), N<50.", table, desired="good")
    assert labelled.goal == "not label(X,'bad')"


def test_a_text_that_is_nothing_says_so() -> None:
    with pytest.raises(P2CError, match="neither rules, nor a column, nor a file"):
        extract_logic("nowhere.lp", loans())


def test_an_unknown_class_names_the_known_ones() -> None:
    with pytest.raises(P2CError, match="the classes are False, True"):
        extract_logic(accepts, loans(), desired="maybe")
    with pytest.raises(P2CError, match="which class is to be reached"):
        extract_logic(lambda rows: rows["job"], loans())


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"seed": "x"}, "seed: expected a whole number from 0 on, found 'x'"),
        ({"held_out": "x"}, "held_out: expected a share below 1 such as 0.2, .* found 'x'"),
        ({"held_out": np.array([True])}, "or a mask of the rows, found array"),
    ],
)
def test_what_cannot_be_held_out_is_one_line(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(P2CError, match=message):
        extract_logic(lambda rows: rows["income"] > 50, lending.loans(), **keys)


def test_disagreements_are_rows_where_model_and_rules_differ() -> None:
    table = loans()

    def model(rows: pd.DataFrame) -> Any:
        return rows["income"] * 7 % 13 > 6

    found = extract_logic(model, table)
    wrong = np.array(holds(found, table)) != model(table).to_numpy()
    assert found.disagreements
    assert all(wrong[place] for place in found.disagreements)
    assert sum(region.wrong for region in found.regions) == len(found.disagreements)


@given(st.floats(-1e30, 1e30), st.integers(-3, 3))
def test_the_constant_of_a_rule_decides_as_rounding_to_32_bits_does(
    threshold: float, steps: int
) -> None:
    limit = float(single_bound(np.array(threshold)))
    value = limit
    for _ in range(abs(steps)):
        value = float(np.nextafter(value, np.inf if steps > 0 else -np.inf))
    assert (value <= limit) == bool(float(np.float32(value)) <= threshold)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000), whole=st.booleans(), holes=st.booleans())
def test_a_tree_is_translated_exactly_at_its_thresholds_too(
    seed: int, whole: bool, holes: bool
) -> None:
    chance = np.random.default_rng(seed)
    values = chance.integers(0, 30, (120, 3)) if whole else chance.normal(size=(120, 3)) / 3
    X = pd.DataFrame(values, columns=["a", "b", "c"])
    X["flag"] = chance.random(120) < 0.5
    y = (X["a"] + X["b"] * X["flag"] > X["c"]).to_numpy()
    if holes:
        X.loc[chance.random(120) < 0.2, "a"] = np.nan
    tree = DecisionTreeClassifier(max_depth=4, random_state=seed).fit(X, y)
    found = extract_logic(tree, X, desired=True)
    assert found.exact
    assert found.fidelity == 1.0
    cuts = tree.tree_.threshold[tree.tree_.feature >= 0]
    probes = [*chance.normal(size=20) / 3, *cuts[np.isfinite(cuts)]]
    near = [np.nextafter(each, side) for each in probes for side in (-np.inf, np.inf)]
    exact = single_bound(np.array(probes))
    past = [np.nextafter(each, np.inf) for each in exact]
    points = np.array([*probes, *near, *exact, *past])
    if whole:
        points = np.unique(np.floor(points))
    table = pd.DataFrame({name: chance.choice(points, 300) for name in ("a", "b", "c")})
    table["flag"] = chance.random(300) < 0.5
    if holes:
        table.loc[::9, "a"] = np.nan
    both = pd.concat([X, table])
    source = read_source(tree, X, desired=True)
    assert source.own_rules is not None
    features = source.view.table(both)
    assert source.own_rules.accepts(features).tolist() == tree.predict(both).tolist()
    assert holds(found, features) == tree.predict(both).tolist()


def test_columns_with_clashing_names_become_distinct_features() -> None:
    assert feature_names(["A b", "a-b", "label"]) == ["a_b", "a_b_2", "label_2"]
    table = pd.DataFrame({"A b": [1, 2, 3, 4] * 5, "a-b": [4, 3, 2, 1] * 5})
    found = extract_logic(lambda rows: rows["a-b"] > 2, table)
    assert "a_b(X" in found.program or "a_b_2(X" in found.program


def test_an_array_is_asked_as_an_array() -> None:
    values = np.random.default_rng(0).normal(size=(200, 2))
    model = LogisticRegression().fit(values, values[:, 0] > 0.3)
    found = extract_logic(model, values)
    assert found.fidelity > 0.9
    assert "x0(X" in found.program


def test_what_did_not_change_reaches_the_model_untouched() -> None:
    table = pd.DataFrame({"flag": [True, False], "size": pd.Categorical(["s", "m"]), "n": [1.5, 2]})
    view = view_of(table)
    asked = view.ask(table.iloc[0], [{"flag": "True", "size": "m", "n": 1.5}])
    assert asked["flag"].tolist() == [True]
    assert asked["flag"].dtype == bool
    assert asked["size"].dtype == table["size"].dtype
    assert asked["size"].tolist() == ["m"]
    assert as_frame(asked).equals(asked)
