"""The widget for notebooks, without a browser: what a turned knob sends, and what comes back."""

from __future__ import annotations

import builtins
from typing import Any

import pytest

from p2c import datasets
from p2c.errors import MissingExtra, RowError
from p2c.problem import Problem

LOAN, JOHN = Problem.example("loan"), datasets.rows("loan")["john"]


def widget(**keys: Any) -> Any:
    pytest.importorskip("anywidget", reason="anywidget is not installed here: the extra notebook")
    return LOAN.widget(JOHN, **keys)


def test_it_begins_with_the_plan_of_the_person() -> None:
    shown = widget()
    assert shown.plan == LOAN.plan(JOHN)
    assert shown.html == LOAN.plan(JOHN)._repr_html_()
    assert shown.row == JOHN


def test_a_turned_value_is_planned_for() -> None:
    shown = widget()
    shown.set_state({"row": {**JOHN, "debt": 0, "credit_score": 700}})  # as a browser sends it
    assert shown.plan == LOAN.plan({**JOHN, "debt": 0, "credit_score": 700})
    assert shown.html == shown.plan._repr_html_()


def test_what_the_person_cannot_change_stands_in_the_way() -> None:
    shown = widget()
    before = shown.html
    shown.set_state({"restrict": {"debt": {"action": "fixed"}}})
    assert shown.plan.status == "infeasible"
    assert shown.html != before
    shown.set_state({"restrict": {"debt": {}}})
    assert shown.html == before


def test_a_value_that_cannot_be_is_said_where_the_plan_stood() -> None:
    shown = widget()
    shown.set_state({"row": {**JOHN, "credit_score": 9000}})
    assert "credit_score" in shown.html
    assert shown.plan is None
    shown.set_state({"row": JOHN})
    assert shown.plan == LOAN.plan(JOHN)


def test_a_row_that_cannot_be_read_makes_no_widget() -> None:
    pytest.importorskip("anywidget", reason="anywidget is not installed here: the extra notebook")
    with pytest.raises(RowError):
        LOAN.widget({"debt": 3})


def test_a_knob_fits_its_feature() -> None:
    pytest.importorskip("anywidget", reason="anywidget is not installed here: the extra notebook")
    adult = Problem.example("adult")
    row = next(iter(datasets.rows("adult").values()))
    knobs = {each["name"]: each for each in adult.widget(row).knobs}
    assert knobs["age"]["slider"]
    assert not knobs["capital_gain"]["slider"]
    assert ["Wife", "wife"] in knobs["relationship"]["choices"]
    for each in adult.theory.features:
        assert knobs[each.name]["direct"] == each.action.is_direct


def test_it_speaks_german() -> None:
    shown = widget(language="de")
    assert shown.words["min"] == "Nicht unter"
    assert "Was Sie tun können" in shown.html


def test_a_model_plans_behind_it() -> None:
    pytest.importorskip("anywidget", reason="anywidget is not installed here: the extra notebook")
    import pandas as pd
    from sklearn.tree import DecisionTreeClassifier

    table = pd.DataFrame({"net income": range(20, 80), "age": [20 + i % 40 for i in range(60)]})
    model = DecisionTreeClassifier(max_depth=2).fit(table, table["net income"] > 51)
    recourse = Problem.from_model(model, table, actions={"age": "fixed"})
    shown = recourse.widget({"net income": 30, "age": 40})
    (income, _) = (each["name"] for each in shown.knobs)
    assert shown.plan.end[income] == 52
    shown.row = {**shown.row, income: 60}
    assert shown.plan.status == "already"


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any, **keys: Any) -> Any:
        if name == "anywidget":
            raise ModuleNotFoundError(name)
        return real(name, *rest, **keys)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtra, match=r"pip install 'p2c-recourse\[notebook\]'"):
        LOAN.widget(JOHN)
