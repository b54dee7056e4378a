"""Messages about inputs of any size: bounded, first faults, number of the rest."""

from __future__ import annotations

from typing import Any

import pytest

from p2c.errors import LONGEST_MESSAGE, MOST_FAULTS, P2CError, ProblemError, RowError, RuleError
from p2c.problem import Problem
from tests.loan import LOAN, whole


def test_a_problem_with_thousands_of_faults_is_refused_in_a_bounded_message() -> None:
    wrong = {f"f{number}": {"type": "intt"} for number in range(3_000)}
    with pytest.raises(ProblemError) as refused:
        Problem.from_dict({**LOAN, "features": LOAN["features"] | wrong})
    lines = str(refused.value).splitlines()
    assert len(lines) == MOST_FAULTS + 1
    assert lines[-1] == f"and {3_000 - MOST_FAULTS:,} more"
    assert len(refused.value.faults) == 3_000


def test_a_row_with_thousands_of_faults_is_refused_in_one_bounded_line() -> None:
    features = {f"f{number}": whole(0, 9) for number in range(300)}
    problem = Problem.from_dict({"goal": "f0(X,1)", "rules": "", "features": features})
    with pytest.raises(RowError, match=r"; and 290 more$") as refused:
        problem.plan(dict.fromkeys(features, 10))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("row", [{}, dict.fromkeys(map(str, range(100_000)), 1)])
def test_an_absent_or_a_wide_row_is_refused_in_a_bounded_message(row: dict[str, Any]) -> None:
    features = {f"{'f' * 200}{number}": whole(0, 9) for number in range(300)}
    problem = Problem.from_dict(
        {"goal": f"{next(iter(features))}(X,1)", "rules": "", "features": features}
    )
    with pytest.raises(RowError) as refused:
        problem.plan(row)
    assert len(str(refused.value)) < 1_000


def test_the_end_of_a_long_message_is_kept() -> None:
    message = str(P2CError(f"{'7' * 100_000} is outside its range, 0 to 9"))
    assert len(message) == LONGEST_MESSAGE
    assert message.endswith("is outside its range, 0 to 9")


def test_the_snippet_of_a_long_line_shows_the_part_around_the_fault() -> None:
    error = RuleError("wrong", line=1, column=5_001, source=f"{'a' * 5_000}!{'b' * 5_000}")
    text, caret = error.snippet.splitlines()
    assert len(text) < 300
    assert text[len(caret) - 1] == "!"
