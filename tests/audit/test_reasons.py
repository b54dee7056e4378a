"""Principal reasons: each turns the decision, brings it nearer, or holds the refusal up, as the slow meaning tells."""

from __future__ import annotations

from itertools import combinations, product
from pathlib import Path
from typing import Any

import pytest

from p2c._audit.reasons import MOST, Catalogue, read_catalogue
from p2c._rules.evaluate import goal_holds
from p2c.errors import P2CError
from p2c.problem import Problem
from tests.audit.worlds import Populated, judged, populated
from tests.loan import JOHN, LOAN, category, whole

CODES = """feature,direction,code,text
bank_balance,low,R01,Too little money in the bank
bank_balance,high,R02,Too much money in the bank
credit_score,,R07,Credit score
"""


def assert_checked(world: Populated, protected: tuple[str, ...]) -> int:
    """Check every reason by the meaning of the rules alone; return how many there are."""
    theory, count = world.problem.theory, 0
    for row, answer in zip(world.rows, world.answers, strict=True):
        reasons = world.problem.reasons(row, protected=protected)
        assert len(reasons) <= MOST
        assert not {each.feature for each in reasons} & set(protected)
        if answer.status == "already":
            assert reasons == ()
        state = world.problem.read_row(row)
        for each in reasons:
            mended = {**state, each.feature: each.mended}
            assert each.mended != each.own
            assert (each.check == "flips") == goal_holds(theory, mended)
            if each.check == "needed" and answer.status == "found":
                end = answer.document["counterfactual"]
                assert not goal_holds(theory, {**end, each.feature: each.own})
            count += 1
    return count


@pytest.mark.parametrize("worlds", [populated, judged])
@pytest.mark.parametrize("protect", [False, True])
def test_every_reason_is_checked_against_the_decision(worlds: Any, protect: bool) -> None:
    count = 0
    for world in worlds(11, 12, people=6):
        count += assert_checked(world, (next(iter(world.rows[0])),) if protect else ())
    assert count > 5


def forces(world: Populated, row: dict[str, Any], held: set[str]) -> bool:
    """Tell by trying all values whether the held ones force the refusal."""
    features = world.problem.theory.features
    state = world.problem.read_row(row)
    values = [
        [state[f.name]]
        if f.name in held
        else [state[f.name], *(f.domain.value(p) for p in range(f.domain.size))]
        for f in features
    ]
    names = [f.name for f in features]
    theory = world.problem.theory
    return not any(
        goal_holds(theory, dict(zip(names, some, strict=True))) for some in product(*values)
    )


def test_without_a_way_the_fewest_values_that_force_the_refusal_are_among_the_reasons() -> None:
    seen = 0
    for world in judged(21, 30, people=5):
        for row in world.stuck():
            reasons = {each.feature for each in world.problem.reasons(row)}
            if len(reasons) == MOST or not reasons:
                continue
            sizes = range(1, len(row) + 1)
            every = [set(some) for size in sizes for some in combinations(row, size)]
            least = min(len(some) for some in every if forces(world, row, some))
            assert any(
                forces(world, row, some) for some in every if some <= reasons and len(some) == least
            )
            seen += 1
    assert seen > 3


def test_a_lender_has_codes_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "codes.csv").write_text(CODES, encoding="utf-8")
    loan = Problem.from_dict(LOAN)
    reasons = loan.reasons(JOHN, codes=tmp_path / "codes.csv")
    assert [(each.code, each.direction, each.check) for each in reasons] == [
        ("R01", "low", "moves"),
        ("R07", "low", "moves"),
    ]
    codes = read_catalogue(tmp_path / "codes.csv", ["credit_score"])
    assert [each.feature for each in loan.reasons(JOHN, codes=codes)] == ["bank_balance"]
    page = loan.report(JOHN, format="md", reasons=codes).decode()
    assert "## Principal reasons\n\n1. R01: Too little money in the bank\n" in page
    plain = loan.report(JOHN, format="md", language="de", reasons=Catalogue()).decode()
    assert "## Hauptgründe" in plain
    assert "ist zu niedrig (40.000)" in plain


def test_a_protected_value_is_held_and_never_blamed() -> None:
    features = {"sex": category("f", "m", action="fixed"), "income": whole(0, 9, action="fixed")}
    document = {
        "goal": "not no(X)",
        "rules": "no(X) :- sex(X,f), income(X,N), N<5.",
        "features": features,
    }
    problem = Problem.from_dict(document)
    row = {"sex": "f", "income": 3}
    (reason,) = problem.reasons(row, protected=["sex"])
    assert (reason.feature, reason.mended, reason.check) == ("income", 5, "flips")
    assert problem.reasons(row, protected=["sex", "income"]) == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "feature,code,text\n",
            "codes.csv: no column 'direction'; expected feature, direction, code, text",
        ),
        (
            "feature,direction,code,text\ndebt,up,R1,x\n",
            "codes.csv: direction: expected low, high or nothing, found 'up'",
        ),
        (
            "feature,direction,code,text\ndept,,R1,x\n",
            "reasons: no feature 'dept'; did you mean 'debt'?",
        ),
        (
            "feature,direction,code,text\ncredit_score,,R1,x\nbank_balance,low,R2,x\n",
            "reasons: the catalogue has no code for 'bank_balance' (high)",
        ),
    ],
)
def test_a_catalogue_that_cannot_be_used_is_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("codes.csv").write_text(text, encoding="utf-8")
    with pytest.raises(P2CError) as refused:
        Problem.from_dict(LOAN).reasons(JOHN, codes="codes.csv")
    assert str(refused.value) == message
