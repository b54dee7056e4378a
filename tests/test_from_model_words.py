"""What confirmed plans tell: in words, pictures and reports, and only what was asked of the model."""

from __future__ import annotations

from typing import Any

import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier

from p2c._explain.phrases import ENGLISH, LANGUAGES
from p2c.problem import Problem
from tests.evidence import evidence_of, extraction_of, surrogate_of
from tests.lending import Asked, loans


def test_a_plan_tells_that_the_model_confirmed_its_end() -> None:
    table = loans()
    table["income"] = table["income"] // 20 * 20 + 5
    recourse = Problem.from_model(
        lambda rows: rows["income"] >= 58, table, actions={"age": "fixed"}
    )
    confirmed = recourse.plan({"income": 25, "debt": 9, "job": "cook", "age": 40})
    letter, german = confirmed.explain(), confirmed.explain(language="de")
    assert "Raise your income from 25 to 58." in letter
    assert ENGLISH.model_confirms in letter
    assert ENGLISH.model_not_proved in letter
    assert "This is proved" not in letter
    assert LANGUAGES["de"].model_confirms in german
    guide = evidence_of(confirmed).guide
    assert guide is not None
    assert ENGLISH.model_refuses in guide.explain()
    assert "58" in confirmed.to_svg()
    source = confirmed.to_dict()["source"]
    assert (source["from"], source["fidelity"]) == (
        "model",
        round(extraction_of(recourse).fidelity, 6),
    )


def test_a_report_on_a_confirmed_plan_replays_it_and_names_the_answer_of_the_model() -> None:
    table = loans(600)
    table = table[table["income"] != 33]  # so that no rule is learned from it

    def model(rows: pd.DataFrame) -> Any:
        return (rows["income"] >= 90) | (rows["income"] == 33)

    recourse = Problem.from_model(model, table, actions={"age": "fixed", "job": "fixed"})
    confirmed = recourse.plan({"income": 34, "debt": 9, "job": "cook", "age": 40})
    assert not surrogate_of(recourse).check(confirmed), "the rules alone would refuse this end"
    report = recourse.report(confirmed, format="md", audience="expert").decode()
    assert "| the model's answer at the end | accepted |" in report
    assert f"| states that the model was asked about | {evidence_of(confirmed).queries} |" in report
    assert (
        "| replayed by code that the planner does not share | the path is valid: every step, the cost and the end |"
        in report
    )
    page = recourse.report(confirmed, format="md", language="de").decode()
    assert LANGUAGES["de"].model_confirms in page


def test_reasons_are_not_told_where_the_rules_decide_otherwise_than_the_model() -> None:
    table = loans()
    table["income"] = table["income"] // 20 * 20 + 5
    recourse = Problem.from_model(
        lambda rows: rows["income"] >= 58, table, actions={"age": "fixed"}
    )
    told = recourse.plan({"income": 57, "debt": 9, "job": "cook", "age": 40}).explain()
    assert ENGLISH.verdict_no in told
    assert ENGLISH.model_unexplained in told
    assert ENGLISH.yes_because not in told


def test_plans_from_labels_tell_that_the_rules_were_learned_from_them() -> None:
    table = loans()
    decisions = (table["income"] >= 58).to_numpy()
    problem = Problem.from_table(table, decisions, actions={"age": "fixed"})
    told = problem.plan({"income": 25, "debt": 9, "job": "cook", "age": 40}).explain()
    assert "rules that agree with the recorded outcomes" in told
    assert ENGLISH.model_confirms not in told


def test_a_search_without_a_plan_tells_how_often_the_model_was_asked() -> None:
    table = loans()
    some = table.head(5).assign(income=77, debt=13)
    model = Asked(lambda rows: (rows["income"] == 77) & (rows["debt"] == 13))
    recourse = Problem.from_model(model, pd.concat([some, table]), budget=20)
    told = recourse.plan({"income": 20, "debt": 40, "job": "none", "age": 30}).explain()
    assert ENGLISH.stopped_without in told
    assert ENGLISH.model_asked.format(count=20) in told


def test_a_missing_value_is_told_in_words_and_a_models_yes_as_its_yes() -> None:
    rows = pd.DataFrame({"savings": [0, 1, 2, None] * 20, "years": [0, 1, 2, 3, 4] * 16})
    model = HistGradientBoostingClassifier(min_samples_leaf=5)
    model.fit(rows, (rows.years > 3) | (rows.savings > 1))
    recourse = Problem.from_model(model, rows, desired=True)
    refused = recourse.plan({"savings": None, "years": 1}).explain()
    assert "Your value for savings is unknown." in refused
    assert "None" not in refused
    assert "The model says yes." in recourse.plan({"savings": 2, "years": 4}).explain()
