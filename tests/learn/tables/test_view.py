"""What a model is given where a value is missing: the row that it is asked about is of the kind that its table has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from p2c._learn.model import Read
from p2c._learn.tables.view import view_of
from p2c.errors import P2CError
from p2c.problem import Problem
from tests.evidence import decider_of

if TYPE_CHECKING:
    from pathlib import Path

GAPS = (None, float("nan"), "")
"""How tables write that a value is missing. An imputer fills NaN alone: None and the empty text are words to it."""


def people(gap: Any) -> pd.DataFrame:
    """Return people some of whom lack a job, or a level, which is a number in a column of anything."""
    rng = np.random.default_rng(0)
    jobs: list[Any] = rng.choice(["clerk", "cook", "none"], 200).tolist()
    levels: list[Any] = rng.integers(1, 5, 200).tolist()
    for number in rng.choice(200, 40, replace=False):
        jobs[number] = gap
        levels[199 - number] = gap or None
    figures = rng.integers(0, 20, 200)
    return pd.DataFrame(
        {"job": np.array(jobs, object), "level": np.array(levels, object), "saved": figures}
    )


def fitted(table: pd.DataFrame) -> Any:
    """Return a model to which it matters whether a job is missing, and how."""
    lacking = table["job"].isin([None, ""]) | table["job"].isna()
    y = 10 * lacking + 5 * table["level"].isna() + table["saved"] > 14
    words = make_pipeline(
        SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore")
    )
    columns = make_column_transformer((words, ["job", "level"]), remainder="passthrough")
    return make_pipeline(columns, DecisionTreeClassifier(max_depth=6, random_state=0)).fit(table, y)


class Case(NamedTuple):
    """A model, the table that it was trained on, and the plans that it confirms."""

    model: Any
    table: pd.DataFrame
    recourse: Problem


@pytest.fixture(scope="module", params=GAPS, ids=repr)
def case(request: pytest.FixtureRequest) -> Case:
    """Return a model for each way to write that a value is missing."""
    table = people(request.param)
    model = fitted(table)
    return Case(model, table, Problem.from_model(model, table))


def test_a_model_that_tells_kinds_of_missing_values_apart_is_read(case: Case) -> None:
    assert isinstance(case.recourse.reading, Read)


def test_however_a_person_says_that_a_value_is_missing_the_model_is_given_its_tables_way(
    case: Case,
) -> None:
    model, table, recourse = case
    for number in table.index[table["job"].isna() | (table["job"] == "")][:5]:
        accepted = bool(model.predict(table.loc[[number]])[0])
        said = [{**table.loc[number].to_dict(), "job": each} for each in GAPS]
        answers = [recourse.plan(row) for row in said]
        assert [each.status == "already" for each in answers] == [accepted] * 3
        assert len({each.cost for each in answers}) == 1
        assert recourse.decide(pd.DataFrame(said)).tolist() == [accepted] * 3
        assert set(recourse.plan_many(pd.DataFrame(said))["cost"]) == {answers[0].cost}


def test_a_folder_keeps_how_a_missing_value_is_written(case: Case, tmp_path: Path) -> None:
    case.recourse.save(tmp_path / "folder")
    loaded = Problem.load(tmp_path / "folder")
    for row in case.table.head(20).to_dict("records"):
        assert loaded.plan(row) == case.recourse.plan(row)


def test_a_missing_value_stays_what_it_is_whatever_stands_beside_it() -> None:
    view = view_of(pd.DataFrame({"job": pd.Series(["clerk", None], dtype=object)}))
    for other in ("clerk", None):
        asked = view.ask({"job": float("nan")}, [{"job": None}, {"job": other}])
        assert asked["job"].tolist() == [None, other]


def test_where_a_table_has_several_kinds_of_missing_values_each_person_keeps_their_own() -> None:
    view = view_of(pd.DataFrame({"job": pd.Series(["clerk", None, np.nan], dtype=object)}))
    for own in (None, np.nan):
        assert view.ask({"job": own}, [{"job": None}])["job"].tolist() == [own]


def test_a_missing_truth_value_is_not_taken_for_true() -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"owner": rng.random(200) < 0.5, "saved": rng.integers(0, 20, 200)})
    model = HistGradientBoostingClassifier(max_iter=8).fit(table, ~table["owner"])
    recourse = Problem.from_model(model, table)
    row = {"owner": None, "saved": 3}
    lacking = pd.DataFrame({"owner": [np.nan], "saved": [3]})
    assert (recourse.plan(row).status == "already") == bool(model.predict(lacking)[0])
    assert (
        decider_of(recourse)
        .source.view.ask(row, [{"owner": None, "saved": 3}])["owner"]
        .isna()
        .all()
    )


def test_a_table_of_people_with_a_column_twice_is_refused(case: Case) -> None:
    twice = pd.concat([case.table, case.table[["saved"]]], axis=1)
    for ask in (case.recourse.decide, case.recourse.plan_many):
        with pytest.raises(P2CError, match="two columns called 'saved'"):
            ask(twice)
