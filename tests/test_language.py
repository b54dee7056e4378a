"""The check of language: its rules, and the ratchet that only goes down."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tools import language
from tools.language import check_page, check_python, count, lowered, read_baseline, write_baseline

if TYPE_CHECKING:
    from pathlib import Path

LONG = "Return the names of the features of the problem in the order of their definition."


def rules_of(source: str, path: str = "src/p2c/_plan/planner.py") -> list[tuple[int, str]]:
    return [(each.line, each.rule) for each in check_python(path, source)]


@pytest.mark.parametrize(
    ("summary", "expected"),
    [
        ("Return the cost.", []),
        ("Return `some` cost.", []),
        ("Return what is left.", [(2, "summary")]),
        ("Return the cost of\n    those.", []),
        ("Return so many\tof them.", [(2, "summary")]),
        (LONG, [(2, "summary")]),
    ],
)
def test_a_first_line_is_short_and_has_no_vague_pronoun(
    summary: str, expected: list[tuple[int, str]]
) -> None:
    assert rules_of(f'def cost():\n    """{summary}"""\n') == expected


def test_a_forbidden_phrase_is_reported_on_its_own_line_also_across_a_line_break() -> None:
    source = '"""Read rows.\n\nA row is kept as it\nis.\n"""\n# made anew\nfail("nobody was told")\nkey = "told"\n'
    assert rules_of(source) == [(3, "words"), (6, "words"), (7, "words")]


def test_a_phrase_in_code_and_the_messages_of_a_letter_are_free() -> None:
    letter = '"""Write `told`."""\nline = "there is no way"  # no way\n'
    assert rules_of(letter, "src/p2c/_explain/letter.py") == [(2, "words")]
    page = "It is `told`.\n\n```sh\necho told\n```\n\nWhoever asks\n"
    assert [each.line for each in check_page("docs/a.md", page)] == [7]


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("def f(rows):\n    found = rows[0]\n    return found\n", []),
        ("def f(rows):\n    found = 1\n    x = 2\n    y = 3\n    return found\n", [2]),
        ("def f(\n    asked,\n    x,\n    y,\n    z,\n): return asked\n", [2]),
        ("def told(): pass\n", [1]),
        ("class Row:\n    known: int\n", [2]),
        ("class Row:\n    def f(self): self.given = 1\n", [2]),
        ("rows = [found for found in range(3)]\n", []),
        ("from a import b as known\n", [1]),
        ("print(asked)\n", []),
        ("founder = known_rows = 1\n", []),
    ],
)
def test_a_forbidden_name_may_live_for_three_lines(source: str, lines: list[int]) -> None:
    assert rules_of(source) == [(line, "names") for line in lines]


def test_the_baseline_is_only_lowered(tmp_path: Path) -> None:
    before = {"a": {"words": 3, "names": 1}, "gone": {"words": 1}}
    after = lowered(before, {"a": {"words": 2, "names": 4}, "new": {"words": 5}})
    assert after == {"a": {"words": 2, "names": 1}}
    write_baseline(after, tmp_path / "baseline.toml")
    assert read_baseline(tmp_path / "baseline.toml") == after


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a repository with one finding, which its baseline allows."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/a.md").write_text("No way.\n")
    monkeypatch.setattr(language, "ROOT", tmp_path)
    monkeypatch.setattr(language, "BASELINE", tmp_path / "baseline.toml")
    write_baseline(count(language.findings(tmp_path)), tmp_path / "baseline.toml")
    return tmp_path


def test_one_finding_more_fails_and_an_update_does_not_allow_it(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert language.main([]) == 0
    assert capsys.readouterr().out == ""
    (repository / "docs/b.md").write_text("Made anew.\n")
    assert language.main([]) == 1
    assert capsys.readouterr().out.startswith("docs: 2 findings of `words`, 1 allowed\n")
    assert language.main(["--update"]) == 1


def test_one_finding_less_asks_for_a_lower_baseline(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repository / "docs/a.md").write_text("No plan.\n")
    assert language.main([]) == 0
    assert "lower it with" in capsys.readouterr().out
    assert language.main(["--update"]) == 0
    assert read_baseline(repository / "baseline.toml") == {}


def test_the_lines_that_a_diff_adds_are_those_of_the_new_file() -> None:
    diff = "--- a/x.py\n+++ b/x.py\n@@ -3 +3,2 @@ def f\n-a\n+b\n+c\n@@ -9,2 +10,0 @@\n-d\n-e\n"
    assert language.added_lines(diff) == {"x.py": {3, 4}}
