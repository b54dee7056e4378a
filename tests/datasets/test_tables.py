"""Rows come out complete, decoded and typed."""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from p2c.datasets import load_frame, load_rows
from p2c.datasets.tables import layout
from p2c.errors import MissingExtra, P2CError

if TYPE_CHECKING:
    from p2c.datasets.tables import Split


@pytest.mark.parametrize(
    ("name", "split", "count"),
    [
        ("adult", "train", 32_561),
        ("adult", "all", 48_842),
        ("german", "train", 1_000),
        ("german", "all", 1_000),
        ("cars", "train", 1_728),
        ("cars", "all", 1_728),
    ],
)
def test_no_row_is_lost(name: str, split: Split, count: int) -> None:
    assert len(load_rows(name, split)) == count


@pytest.mark.parametrize(
    ("name", "labels"),
    [
        ("adult", {"<=50K": 37_155, ">50K": 11_687}),
        ("german", {"good": 700, "bad": 300}),
        ("cars", {"unacc": 1_210, "acc": 384, "good": 69, "vgood": 65}),
    ],
)
def test_the_labels_are_those_of_the_documentation(name: str, labels: dict[str, int]) -> None:
    assert Counter(row["label"] for row in load_rows(name, "all")) == labels


def test_the_first_adult_is_decoded() -> None:
    assert load_rows("adult")[0] == {
        "age": 39,
        "workclass": "State-gov",
        "fnlwgt": 77_516,
        "education": "Bachelors",
        "education_num": 13,
        "marital_status": "Never-married",
        "occupation": "Adm-clerical",
        "relationship": "Not-in-family",
        "race": "White",
        "sex": "Male",
        "capital_gain": 2_174,
        "capital_gain_raw": 2_174,
        "capital_loss": 0,
        "hours_per_week": 40,
        "native_country": "United-States",
        "label": "<=50K",
    }


def test_the_first_german_loan_is_decoded() -> None:
    assert load_rows("german")[0] == {
        "checking_account_status": "less_than_0_dm",
        "duration_months": 6,
        "credit_history": "critical_account",
        "purpose": "radio/television",
        "credit_amount": 1_169,
        "savings_account": "unknown/no_savings_account",
        "present_employment_since": "at_least_7_years",
        "installment_rate": 4,
        "personal_status_and_sex": "male:single",
        "other_debtors": "none",
        "present_residence_since": 4,
        "property": "real_estate",
        "age": 67,
        "other_installment_plans": "none",
        "housing": "own",
        "existing_credits": 2,
        "job": "skilled_employee/official",
        "people_liable": 1,
        "telephone": "registered",
        "foreign_worker": "yes",
        "label": "good",
    }


def test_the_last_car_is_decoded() -> None:
    assert load_rows("cars")[-1] == {
        "buying": "low",
        "maint": "low",
        "doors": "5more",
        "persons": "more",
        "lug_boot": "big",
        "safety": "high",
        "label": "vgood",
    }


def test_capital_gain_is_gain_minus_loss() -> None:
    losses = 0
    for row in load_rows("adult", "all"):
        gain, raw, loss = row["capital_gain"], row["capital_gain_raw"], row["capital_loss"]
        assert isinstance(gain, int)
        assert isinstance(raw, int)
        assert isinstance(loss, int)
        assert gain == raw - loss
        losses += gain < 0
    assert losses == 2_282


def test_an_unknown_workclass_stays_a_question_mark() -> None:
    assert sum(row["workclass"] == "?" for row in load_rows("adult", "all")) == 2_799


def test_no_two_codes_of_one_german_attribute_share_a_name() -> None:
    codes = layout()["german"]["codes"]
    attributes = Counter((code[:-1] if len(code) < 5 else "A4", codes[code]) for code in codes)
    assert max(attributes.values()) == 1


def test_a_caller_may_change_the_rows() -> None:
    load_rows("cars")[0]["safety"] = "high"
    assert load_rows("cars")[0]["safety"] == "low"


def test_a_frame_holds_the_same_rows() -> None:
    frame = load_frame("german")
    rows = load_rows("german")
    assert list(frame.columns) == list(rows[0])
    assert frame.to_dict("records") == rows


def test_a_frame_without_pandas_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtra, match="pip install"):
        load_frame("cars")


def test_an_unknown_name_is_answered_with_the_nearest_known_one() -> None:
    with pytest.raises(P2CError, match="no data set 'germany'; did you mean 'german'"):
        load_rows("germany")


def test_an_unknown_split_is_answered_with_the_known_ones() -> None:
    with pytest.raises(P2CError, match=r"no split 'test'.*'all', 'train'"):
        load_rows("adult", "test")  # type: ignore[arg-type]
