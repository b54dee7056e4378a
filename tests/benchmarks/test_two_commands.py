"""From a model's file to a confirmed plan by two commands: a kind of model that needs no library, and what counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.two_commands import KINDS, Outcome, measure, two_commands

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_a_scorecard_is_stored_and_two_commands_lead_to_a_confirmed_plan(tmp_path: Path) -> None:
    desk = KINDS["scorecard"](tmp_path)
    assert desk.options == ("--target", "label", "--fixed", "age")
    found = two_commands(desk, tmp_path / "desk")
    assert found.is_confirmed
    assert found.answer["model"]["proved"]
    assert min(found.fit, found.plan) > 0


def test_a_plan_counts_only_where_the_model_has_accepted_its_end() -> None:
    told = {"status": "found", "model": {"verified": False}}
    assert not Outcome(1, 1, told).is_confirmed
    assert not Outcome(1, 1, {"status": "infeasible", "model": {"verified": True}}).is_confirmed


def test_a_kind_whose_library_is_missing_is_named_and_one_that_takes_long_is_no_success(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing(folder: Path) -> None:
        raise ImportError("no", name="catboost")

    monkeypatch.setitem(KINDS, "catboost", missing)
    assert measure(["catboost"], most=60)
    assert "left out: catboost is not installed" in capsys.readouterr().out
    assert not measure(["scorecard"], most=0)
    assert "TOO SLOW" in capsys.readouterr().out
