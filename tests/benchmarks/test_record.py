"""What scripts print, kept for the report."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from benchmarks import page
from benchmarks.record import recorded, results

if TYPE_CHECKING:
    from pathlib import Path


def script() -> None:
    sys.stdout.write(f"took {len(sys.argv)} s\n")
    sys.stdout.write("  <and> more\n")


def test_what_is_printed_is_kept_with_the_command_and_shown_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["clock.py", "--rows", "5", "--record"])
    recorded("clock", script, folder=tmp_path)
    (found,) = results(tmp_path)
    assert found.command == "python -m benchmarks.clock --rows 5"
    assert found.script == "clock"
    assert found.lines == ("took 3 s", "  <and> more")
    assert "took 3 s\n" in capsys.readouterr().out


def test_another_command_is_another_result_and_the_same_one_replaces_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for options in (["--rows", "5"], ["--rows", "6"], ["--rows", "5"]):
        monkeypatch.setattr(sys, "argv", ["clock.py", *options, "--record"])
        recorded("clock", script, folder=tmp_path)
    assert [each.command.split()[-1] for each in results(tmp_path)] == ["5", "6"]


def test_nothing_is_kept_unasked_or_of_a_script_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["clock.py"])
    recorded("clock", script, folder=tmp_path)

    def fail() -> None:
        sys.stdout.write("half\n")
        raise RuntimeError("no time")

    monkeypatch.setattr(sys, "argv", ["clock.py", "--record"])
    with pytest.raises(RuntimeError, match="no time"):
        recorded("clock", fail, folder=tmp_path)
    assert results(tmp_path) == []


def test_the_report_shows_results_word_for_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["clock.py", "--record"])
    recorded("clock", script, folder=tmp_path)
    part = page.Section("Other measurements", listings=tuple(results(tmp_path)))
    assert "```text\ntook 1 s\n  <and> more\n```" in page.markdown([part])
    assert "<pre>took 1 s\n  &lt;and&gt; more</pre>" in page.html([part])
