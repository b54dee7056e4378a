"""The command line as people and scripts meet it: stories, JSON, exit codes, and one line for whatever is wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import metadata
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from p2c import datasets
from p2c.cli.app import app
from p2c.domain.toml import problem_to_toml
from p2c.problem import Problem
from tests.cli.desk import Desk
from tests.loan import CREDIT_RULE, JOHN, LOAN, category, whole

if TYPE_CHECKING:
    from pathlib import Path

STUCK = JOHN | {"debt": 0}
RICH = {"age": 31, "debt": 0, "bank_balance": 70000, "credit_score": 700}


@pytest.fixture
def desk(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Desk:
    return Desk(tmp_path, capsys, monkeypatch)


# The stories.


def test_a_plan_is_told_in_numbered_steps(desk: Desk) -> None:
    shown = desk.run("plan", desk.loan, desk.john)
    assert shown.code == 0
    assert [line.rstrip() for line in shown.out.splitlines()] == [
        "1. Change your debt from 5,000 to 0.",
        "   → By itself, your credit score then goes from 599 to 620.",
        f"     because {CREDIT_RULE}",
        "2. Change your bank balance from 40,000 to 60,000.",
        " feature       now     then",
        " debt          5,000   0",
        " bank_balance  40,000  60,000",
        " credit_score  599     620",
        "The effort is 0.00502, measured as L1.",
        "No cheaper way exists; this is proved.",
    ]


def test_a_rule_that_has_no_say_because_of_a_slip_in_its_head_is_named(desk: Desk) -> None:
    rules = LOAN["rules"] + "debts(X,0) :- age(X,50)."
    problem = desk.write("slip.toml", problem_to_toml(LOAN | {"rules": rules}))
    shown = desk.run("plan", problem, desk.john)
    assert shown.code == 0
    assert shown.out == desk.run("plan", desk.loan, desk.john).out
    (line,) = shown.err.splitlines()
    assert "nothing uses debts(X,0)" in line
    assert line.endswith("did you mean 'debt'?")


def test_who_is_there_already_is_told_so(desk: Desk) -> None:
    shown = desk.run("plan", desk.loan, desk.row(RICH))
    assert shown == (
        0,
        "Nothing has to change: the decision is already the one you want.\n",
        "",
    )


def test_who_has_no_way_is_told_what_blocks_it(desk: Desk) -> None:
    shown = desk.run("plan", desk.loan, desk.row(STUCK))
    assert shown.code == 1
    exception, *rest = shown.out.splitlines()
    assert exception.endswith(
        "is an exception to what usually follows from the rest, and is taken as it is."
    )
    assert rest == [
        "There is no way from here; this is proved.",
        "A way would open if it were not for this: your credit score cannot be changed directly.",
    ]


def test_giving_up_is_said_and_has_its_exit_code(desk: Desk) -> None:
    request = ("plan", desk.loan, desk.john, "--node-limit", 0)
    shown = desk.run(*request)
    assert shown.code == 1
    assert shown.out.startswith("The search stopped at its limit")
    assert desk.run(*request, "--json").json()["status"] == "gave_up"
    assert desk.run("plan", desk.loan, desk.john, "--time-limit", 60).code == 0


def test_the_nearest_are_a_table_cheapest_first(desk: Desk) -> None:
    shown = desk.run("nearest", desk.loan, desk.john, "-k", 3, "--distinct", "points")
    assert shown.code == 0
    assert "0.005020002" in shown.out
    assert "60,002" in shown.out
    by_kind = desk.run("nearest", desk.loan, desk.john, "-k", 3)
    assert "60,001" not in by_kind.out
    assert "no more than this one that differ" in " ".join(by_kind.out.split())
    assert desk.run("nearest", desk.loan, desk.row(STUCK)) == (
        1,
        "There is no way from here; this is proved.\n",
        "",
    )
    already = desk.run("nearest", desk.loan, desk.row(RICH))
    assert (already.code, already.out[:21]) == (0, "Nothing has to change")


def test_a_person_adds_what_they_cannot_change_own_limits_and_weights(desk: Desk) -> None:
    fixed = desk.run("plan", desk.loan, desk.john, "--fixed", "debt", "--json")
    assert (fixed.code, fixed.json()["status"]) == (1, "infeasible")
    assert fixed.json()["blockers"] == [{"feature": "debt", "restriction": "fixed"}]
    limited = desk.run("plan", desk.loan, desk.john, "--limit", "bank_balance=..59999", "--json")
    assert limited.json()["blockers"] == [{"feature": "bank_balance", "restriction": "limits"}]
    heavy = desk.run("plan", desk.loan, desk.john, "--weight", "debt=3", "--json")
    assert heavy.json()["cost"] == pytest.approx(3 * 0.005 + 0.00002)
    for options, said in (
        (("--limit", "debt=5"), "--limit: expected FEATURE=LOW..HIGH, found 'debt=5'"),
        (("--weight", "debt=much"), "--weight: expected a number, found 'much'"),
        (("--fixed", "dept"), "dept: no such feature; did you mean 'debt'?"),
    ):
        shown = desk.run("plan", desk.loan, desk.john, *options)
        assert shown.code == 2
        assert said in shown.err


def test_what_is_not_known_and_what_was_learned_stands_beside_every_answer(desk: Desk) -> None:
    source = {"from": "model", "fidelity": 0.983}
    problem = desk.write("learned.toml", problem_to_toml(LOAN | {"source": source}))
    row = desk.row(JOHN | {"bank_balance": None})
    unknown = "Not known: bank balance. The answer rests on that"
    by = "by rules that agree with the model on 98.3% of the rows"
    for command in ("plan", "nearest", "why"):
        shown = desk.run(command, problem, row)
        assert unknown in shown.out
        assert by in shown.out
        assert shown.out.count("proved") == shown.out.count(f"proved {by}")
    assert unknown in desk.run("plan", desk.loan, row).out
    assert desk.run("why", problem, row, "--json").json()["unknown"] == ["bank_balance"]
    assert desk.run("plan", problem, row, "--json").json()["source"] == source
    stuck = desk.row(STUCK)
    for command in ("plan", "nearest"):
        assert (
            f"There is no way from here; this is proved {by}."
            in desk.run(command, problem, stuck).out
        )


def test_why_speaks_in_sentences_and_shows_the_tree(desk: Desk) -> None:
    shown = desk.run("why", desk.loan, desk.john)
    assert shown.code == 0
    assert shown.out.startswith("You do not reach the goal: “reject loan” applies to you.\n")
    assert "\n✗ not reject_loan(X)\n  ✓ reject_loan(X)\n" in shown.out
    short = desk.run("why", desk.loan, desk.john, "--no-tree")
    assert "✗" not in short.out


def test_a_plan_of_the_program_passes_its_own_check(desk: Desk) -> None:
    found = desk.run("plan", desk.loan, desk.john, "--json")
    plan = desk.write("plan.json", found.out)
    shown = desk.run("check", desk.loan, plan)
    assert shown.code == 0
    assert shown.out.splitlines() == [
        "the path is valid: every step, the cost and the end",
        "not checked: that no cheaper path exists",
    ]
    assert "proved by a second search" in desk.run("check", desk.loan, plan, "--prove").out
    wrong = found.json()
    wrong["cost"] = 1
    shown = desk.run("check", desk.loan, desk.write("wrong.json", json.dumps(wrong)))
    assert shown.code == 1
    assert shown.out == "cost: the path costs 0.00502 in l1, found 1\n"


def test_a_proof_on_learned_rules_says_whose_rules_they_are(desk: Desk) -> None:
    source = {"from": "model", "fidelity": 0.983}
    learned = desk.write("learned.json", json.dumps(LOAN | {"source": source}))
    plan = desk.write("plan.json", desk.run("plan", learned, desk.john, "--json").out)
    shown = desk.run("check", learned, plan, "--prove")
    assert "by rules that agree with the model on 98.3% of the rows" in " ".join(shown.out.split())


def test_a_proof_that_was_asked_for_is_given_or_refused(desk: Desk) -> None:
    plan = desk.run("plan", desk.loan, desk.john, "--json").json()
    forged = plan | {"status": "infeasible", "cost": None, "counterfactual": None, "steps": []}
    path = desk.write("forged.json", json.dumps(forged))
    assert desk.run("check", desk.loan, path).code == 0
    shown = desk.run("check", desk.loan, path, "--prove")
    assert (shown.code, shown.out) == (1, "status: a path exists: it costs 0.00502\n")
    assert desk.run("check", desk.loan, path, "--prove", "--engine", "clingo").code == 1
    assert "no engine 'x'" in desk.refuses("check", desk.loan, path, "--prove", "--engine", "x")
    stuck = desk.run("plan", desk.loan, desk.row(STUCK), "--json")
    assert stuck.code == 1
    known = desk.write("stuck.json", stuck.out)
    assert desk.run("check", desk.loan, known, "--prove").code == 0
    slow = ("check", desk.loan, known, "--prove", "--engine", "clingo", "--time-limit", 0)
    left = desk.run(*slow)
    assert (left.code, "not checked: that no path exists" in left.out) == (1, True)


def test_a_plan_saved_with_a_byte_order_mark_is_read(desk: Desk) -> None:
    found = desk.run("plan", desk.loan, desk.john, "--json")
    plan = desk.write("plan.json", b"\xef\xbb\xbf" + found.out.encode())
    assert desk.run("check", desk.loan, plan).code == 0


def test_lint_warns_and_says_where_there_is_nothing_to_report(desk: Desk) -> None:
    shown = desk.run("lint", desk.loan)
    assert shown.code == 1
    assert "features.age: no rule reads this feature" in shown.out
    features = {"n": whole(0, 9)}
    clean = {"goal": "n(X,N), N>=5", "rules": "", "features": features}
    path = desk.write("clean.toml", problem_to_toml(clean))
    assert desk.run("lint", path) == (0, "nothing to report\n", "")


SCORES = {
    "goal": "score(X,N), N>=50, account(X,'no')",
    "rules": "score(X,N) :- account(X,'yes'), arrears(X,'no'), N>=95.",
    "features": {
        "account": {"type": "category", "values": ["no", "yes"]},
        "arrears": {"type": "category", "values": ["no", "yes"]},
        "score": {"type": "int", "min": 0, "max": 100, "unit": "points"},
    },
}


def test_lint_reads_the_laws_back_and_counts_the_exceptions(desk: Desk) -> None:
    problem = desk.write("scores.toml", problem_to_toml(SCORES))
    people = desk.write("p.csv", "account,arrears,score\nno,no,97\nyes,no,40\nno,no,1\nyes,no,95\n")
    shown = desk.run("lint", problem, "--rows", people)
    assert (shown.code, shown.out.splitlines()) == (
        0,
        [
            "score, law 'iff':",
            "  Score is at least 95 points exactly where account is yes and arrears is no, or where another rule for score says so.",
            "  Where no rule applies, score is one of the values that no rule names: 0 points – 94 points.",
            "exceptions: 2 of 4 rows",
            f"  1: score is what the rule names and no such rule applies: {SCORES['rules']}",
            f"  1: the rule applies and score is something else: {SCORES['rules']}",
            "nothing to report",
        ],
    )
    loose = desk.write("loose.toml", problem_to_toml(SCORES | {"causal": "if"}))
    shown = desk.run("lint", loose, "--rows", people)
    assert "  Where no rule applies, score may be anything." in shown.out.splitlines()
    assert "exceptions: 1 of 4 rows" in shown.out.splitlines()


def test_a_plan_says_which_law_made_an_effect_happen(desk: Desk) -> None:
    problem = desk.write("scores.toml", problem_to_toml(SCORES))
    row = desk.row({"account": "yes", "arrears": "no", "score": 97})
    reason = "the rules let your score be 97 points only where account is yes and arrears is no, which is not so"
    assert f"because {reason} (iff)\n" in desk.run("plan", problem, row).out
    assert f"This is because {reason}." in desk.run("explain", problem, row).out
    german = desk.run("explain", problem, row, "--language", "de").out
    assert "nach den Regeln nur dann 97 points, wenn gilt: " in german


def test_a_finding_that_a_problem_accepts_is_shown_and_does_not_count(desk: Desk) -> None:
    accept = {"unread_feature": {"age": "the bank asks for it"}}
    loan = desk.write("known.toml", problem_to_toml(LOAN | {"lint": {"accept": accept}}))
    shown = desk.run("lint", loan)
    assert shown.code == 0
    assert "leave it out (accepted: the bank asks for it)\n" in shown.out
    accept = {"unread_feature": {"debt": "x"}, "unread": {"age": "x"}}
    wrong = desk.write("wrong.toml", problem_to_toml(LOAN | {"lint": {"accept": accept}}))
    shown = desk.run("lint", wrong)
    assert shown.code == 1
    assert shown.out.splitlines()[-2:] == [
        "lint.accept.unread_feature.debt: nothing of this kind is found: drop it; known: 'age'",
        "lint.accept.unread.age: nothing of this kind is found: drop it; did you mean 'unread_feature'?",
    ]
    empty = desk.write(
        "empty.toml", problem_to_toml(LOAN | {"lint": {"accept": {"unread_feature": {"age": " "}}}})
    )
    assert desk.refuses("lint", empty).endswith(
        "lint.accept.unread_feature.age: expected the reason why this is known, found ' '"
    )


@pytest.mark.parametrize("name", datasets.names())
def test_an_embedded_problem_has_nothing_to_report(desk: Desk, name: str) -> None:
    shown = desk.run("lint", desk.write("embedded.toml", datasets.problem_text(name)))
    assert (shown.code, shown.out.splitlines()[-1]) == (0, "nothing else to report")


def test_space_counts_the_states(desk: Desk) -> None:
    shown = desk.run("space", desk.loan)
    assert shown.code == 0
    assert shown.out.endswith(" states, of which the rules can tell 8 apart\n")
    report = desk.run("space", desk.loan, "--json").json()
    assert (report["cells"], len(report["features"])) == (8, 4)


def test_an_example_is_listed_and_written_and_can_be_planned(desk: Desk) -> None:
    listed = desk.run("example")
    assert listed.code == 0
    for name in datasets.names():
        assert f"{name}: rows " in listed.out
        folder = desk.folder / "examples"
        assert desk.run("example", name, "--to", folder).code == 0
        for row in datasets.rows(name):
            shown = desk.run("plan", folder / f"{name}.toml", folder / f"{name}-{row}.json")
            assert shown.code in (0, 1)
            assert shown.err == ""


def test_an_example_never_writes_over_what_somebody_changed(desk: Desk) -> None:
    assert desk.run("example", "loan", "--to", desk.folder / "new").code == 0
    again = desk.run("example", "loan", "--to", desk.folder / "new")
    assert again.code == 0
    desk.write("new/loan.toml", b"\xff\xfe mine")
    line = desk.refuses("example", "loan", "--to", desk.folder / "new")
    assert "exists and differs" in line


def test_help_names_every_command(desk: Desk) -> None:
    shown = desk.run("--help")
    assert shown.code == 0
    for name in ("plan", "nearest", "why", "check", "lint", "space", "example"):
        assert f"  {name} " in shown.out
    assert desk.run("plan", "--help").code == 0


# JSON is the contract's.


@pytest.mark.parametrize("row", [JOHN, RICH, STUCK])
def test_json_is_what_the_library_returns(desk: Desk, row: dict[str, Any]) -> None:
    problem = Problem.from_dict(LOAN)
    path = desk.row(row)
    assert desk.run("plan", desk.loan, path, "--json").json() == problem.plan(row).to_dict()
    assert desk.run("nearest", desk.loan, path, "-k", 4, "--json").json() == [
        plan.to_dict() for plan in problem.nearest(row, k=4)
    ]
    assert desk.run("why", desk.loan, path, "--json").json() == problem.why(row).to_dict()


def test_options_override_the_problems_keys(desk: Desk) -> None:
    plan = desk.run("plan", desk.loan, desk.john, "--json", "--norm", "l0").json()
    assert (plan["norm"], plan["cost"]) == ("l0", 2)
    plan = desk.run("plan", desk.loan, desk.john, "--json", "--effects", "supported").json()
    assert plan["status"] == "found"
    plan = desk.run("plan", desk.loan, desk.john, "--json", "--minimize", "actions").json()
    assert plan["cost"] == 0.00502
    plans = desk.run("nearest", desk.loan, desk.john, "--json", "--distinct", "cells").json()
    assert len(plans) == 1


def test_all_norms_gives_a_plan_for_each(desk: Desk) -> None:
    plans = desk.run("plan", desk.loan, desk.john, "--all-norms", "--json").json()
    assert [plan["norm"] for plan in plans] == ["l0", "l1", "l2"]
    shown = desk.run("plan", desk.loan, desk.john, "--all-norms")
    assert [f"measured as {norm}." in shown.out for norm in ("L0", "L1", "L2")] == [True] * 3
    assert desk.run("plan", desk.loan, desk.row(STUCK), "--all-norms").code == 1


# Rows.


CSV = "age,debt,bank_balance,credit_score,name\n31,5000,40000,599,John\n31,0,70000,700,Ann\n31,0,,599,Bo\n"


def test_a_row_of_a_table_is_chosen_by_its_number(desk: Desk) -> None:
    people = desk.write("people.csv", CSV)
    found = [
        desk.run("plan", desk.loan, people, "--json", "--row", number).json()
        for number in (1, 2, 3)
    ]
    assert [plan["status"] for plan in found] == ["found", "already", "infeasible"]
    assert found[0]["initial"] == JOHN
    assert found[2]["initial"]["bank_balance"] is None
    assert desk.run("plan", desk.loan, people, "--json").json() == found[0]


def test_rows_may_be_json_lines_or_a_list(desk: Desk) -> None:
    lines = desk.write("people.jsonl", f"{json.dumps(JOHN)}\n\n{json.dumps(RICH)}\n")
    listed = desk.write("people.json", json.dumps([JOHN, RICH]))
    for path in (lines, listed):
        assert desk.run("plan", desk.loan, path, "--row", 2, "--json").json()["initial"] == RICH


def test_words_of_any_language_come_through(desk: Desk) -> None:
    document = {
        "name": "Büro",
        "goal": "'größe'(X,'大')",
        "rules": "",
        "features": {"größe": category("klein", "大", label="Größe 📏")},
    }
    problem = desk.write("büro.toml", problem_to_toml(document))
    row = desk.row({"größe": "klein"})
    shown = desk.run("plan", problem, row)
    assert shown.out.startswith("1. Change your Größe 📏 from klein to 大.\n")
    plan = desk.run("plan", problem, row, "--json")
    assert '"größe": "大"' in plan.out
    assert plan.json()["problem"] == "Büro"


ORDERS = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e"
"""What would change a terminal's title, clear it, colour it and turn its lines around."""


@pytest.mark.parametrize("command", ["plan", "why", "space", "lint", "nearest", "explain", "check"])
@pytest.mark.parametrize("options", [(), ("--json",)])
def test_no_command_to_the_terminal_comes_through(
    desk: Desk, command: str, options: tuple[str, ...]
) -> None:
    odd = f"b{ORDERS}"
    features: dict[str, Any] = {
        "a": {"type": "category", "values": [odd, "good", f"c{ORDERS}"], "label": odd, "unit": odd}
    }
    features |= {f"n{ORDERS}": {"type": "int", "min": 0, "max": 9}}
    rules = f"bad(X) :- a(X,'{odd}').\nbad(X) :- 'n{ORDERS}'(X,N), N<1."
    problem = desk.write(
        "odd.json",
        json.dumps({"name": odd, "goal": "not bad(X)", "rules": rules, "features": features}),
    )
    row = desk.row({"a": odd, f"n{ORDERS}": 0})
    third = {"space": [], "lint": [], "check": [desk.write("plan.json", json.dumps({odd: odd}))]}
    shown = desk.run(command, problem, *third.get(command, [row]), *options)
    unseen = set("\x1b\x07\x9b\u202e\x7f\r") & set(shown.out + shown.err)
    assert not unseen
    assert shown.out or shown.err


def test_no_command_to_the_terminal_comes_through_a_complaint(desk: Desk) -> None:
    wrong = desk.refuses("plan", desk.folder / f"a{ORDERS}.toml", desk.john)
    assert wrong.endswith("cannot be read: No such file or directory")
    assert wrong.isprintable()


def test_a_name_too_long_for_the_table_is_broken_and_not_cut(desk: Desk) -> None:
    name = "the_length_of_this_name_" * 8
    features = {name: whole(0, 9)}
    document = {"goal": f"{name}(X,N), N>=5", "rules": "", "features": features}
    problem = desk.write("long.toml", problem_to_toml(document))
    for command in (("plan", problem, desk.row({name: 1})), ("space", problem)):
        shown = desk.run(*command)
        assert "…" not in shown.out
        cells = [line[1:].split("  ")[0].strip() for line in shown.out.splitlines()]
        assert name in "".join(cells)


# Bad input: one line, exit code 2.


DEEP = "[" * 100_000


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("bad.toml", "goal = [", "bad.toml: not TOML: "),
        ("bad.json", '{"goal": ', "bad.json: not JSON: "),
        ("empty.toml", "", "empty.toml: goal: this key is missing; "),
        ("empty.json", "", "empty.json: not JSON: "),
        ("binary.toml", bytes(range(256)), "binary.toml: cannot be read: it is not UTF-8 text"),
        ("nul.toml", b"\x00\x00", "nul.toml: not TOML: "),
        ("deep.json", DEEP, "deep.json: not JSON: "),
        ("deep.toml", f"a = {DEEP}", "deep.toml: not TOML: "),
        ("list.json", "[1, 2]", "list.json: expected a table of keys"),
        ("number.json", "9" * 5000, "number.json: not JSON: line 1: a number of 5,000 digits; numbers go up to about 1.8e308"),
        (
            "rules.json",
            json.dumps(LOAN | {"rules": "reject_loan(X) :- dept(X,N), N>5."}),
            "rules.json: rules: line 1, column 19: unknown feature or decision 'dept'; did you mean 'debt'?",
        ),
        ("norm.json", json.dumps(LOAN | {"norm": "l7"}), "norm.json: norm: expected 'l0', 'l1'"),
        (
            "file.json",
            json.dumps({"goal": "a(X)", "rules_file": "none.lp", "features": {"a": {"type": "int"}}}),
            "file.json: rules_file: cannot read 'none.lp': No such file or directory",
        ),
    ],
)  # fmt: skip
def test_a_problem_that_cannot_be_read_is_one_line(
    desk: Desk, name: str, content: str | bytes, message: str
) -> None:
    problem = desk.write(name, content)
    for command in (
        ("plan", problem, desk.john),
        ("nearest", problem, desk.john),
        ("why", problem, desk.john),
        ("check", problem, desk.john),
        ("lint", problem),
        ("space", problem),
    ):
        assert message in desk.refuses(*command)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("bad.json", "{", "bad.json: not JSON: "),
        ("empty.json", "", "empty.json: not JSON: "),
        ("empty.csv", "", "empty.csv: expected a line with the names of the columns"),
        ("empty.jsonl", "", "empty.jsonl: expected at least one row, found none"),
        ("binary.json", bytes(range(256)), "binary.json: cannot be read: it is not UTF-8 text"),
        ("binary.csv", bytes(range(256)), "binary.csv: cannot be read: it is not UTF-8 text"),
        ("deep.json", DEEP, "deep.json: not JSON: "),
        ("deep.json", '{"age":' * 100_000, "deep.json: not JSON: "),
        ("number.json", "5", "expected an object with a value for each feature, found a int"),
        ("row.json", json.dumps({"age": 31}), "row.json, debt: this feature is missing"),
        ("row.json", json.dumps(JOHN | {"age": "old"}), "age: expected a whole number"),
        ("row.json", json.dumps(JOHN | {"age": 500}), "age: 500 is outside its range, 1 to 99"),
        ("row.json", '{"age": 1, "age": 2}', "the name 'age' stands there 2 times"),
        ("row.csv", "age,debt\n31,5000,7\n", "row 1, line 2: expected 2 cells"),
        ("row.txt", "{}", "expected a file of rows whose name ends in one of .json"),
    ],
)
def test_a_row_that_cannot_be_read_is_one_line(
    desk: Desk, name: str, content: str | bytes, message: str
) -> None:
    row = desk.write(name, content)
    for command in ("plan", "nearest", "why"):
        assert message in desk.refuses(command, desk.loan, row)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "plan.json: not JSON: "),
        ("", "plan.json: not JSON: "),
        (b"\xff\x00", "plan.json: cannot be read: it is not UTF-8 text"),
        (DEEP, "plan.json: not JSON: "),
        ("[]", "plan.json: expected a plan, which is a JSON object"),
        ("{}", "plan: the key 'status' is missing"),
        ('{"status": "fuond", "initial": {}}', "status: expected one of 'found'"),
    ],
)
def test_a_plan_that_cannot_be_read_is_one_line(
    desk: Desk, content: str | bytes, message: str
) -> None:
    assert message in desk.refuses("check", desk.loan, desk.write("plan.json", content))


def test_a_file_that_is_not_there_or_is_a_folder_is_one_line(desk: Desk) -> None:
    (desk.folder / "folder.toml").mkdir()
    (desk.folder / "folder.json").mkdir()
    for name, reason in (("none", "No such file or directory"), ("folder", "Is a directory")):
        problem, row = desk.folder / f"{name}.toml", desk.folder / f"{name}.json"
        assert f"{name}.toml: cannot be read: {reason}" in desk.refuses("lint", problem)
        assert f"{name}.json: cannot be read: {reason}" in desk.refuses("plan", desk.loan, row)
        assert f"{name}.json: cannot be read: {reason}" in desk.refuses("check", desk.loan, row)


def test_a_row_number_past_the_end_is_one_line(desk: Desk) -> None:
    people = desk.write("people.csv", CSV)
    line = desk.refuses("plan", desk.loan, people, "--row", 4)
    assert line.endswith("people.csv: expected a row number up to 3, found 4")


@pytest.mark.parametrize(
    "options",
    [
        ("--norm", "l9"),
        ("--norm", ""),
        ("--effects", "never"),
        ("--minimize", "effort"),
        ("--row", "0"),
        ("--row", "first"),
        ("--time-limit", "-1"),
        ("--time-limit", "nan"),
        ("--node-limit", "1.5"),
        ("--nrom", "l1"),
        ("--norm",),
        ("one", "too", "many"),
    ],
)
def test_a_wrong_option_is_one_line_that_names_it(desk: Desk, options: tuple[str, ...]) -> None:
    line = desk.refuses("plan", desk.loan, desk.john, *options)
    assert line.startswith("p2c")
    assert options[0] in line


@pytest.mark.parametrize("options", [("-k", "0"), ("-k", "many"), ("--distinct", "regions")])
def test_a_wrong_option_of_nearest_is_one_line(desk: Desk, options: tuple[str, str]) -> None:
    assert options[0] in desk.refuses("nearest", desk.loan, desk.john, *options)


def test_a_command_that_is_none_or_lacks_something_is_one_line(desk: Desk) -> None:
    assert "'paln'" in desk.refuses("paln")
    assert "row" in desk.refuses("plan", desk.loan)
    assert "known: 'adult', 'cars', 'german', 'loan'" in desk.refuses("example", "titanic")


def test_a_strict_problem_refuses_a_row_in_one_line(desk: Desk) -> None:
    strict = desk.write("strict.toml", problem_to_toml(LOAN | {"exceptions": "strict"}))
    line = desk.refuses("plan", strict, desk.row(STUCK))
    assert line == f"credit_score: the value 599 breaks the causal rule {CREDIT_RULE}"


def test_a_folder_that_cannot_be_written_is_one_line(desk: Desk) -> None:
    line = desk.refuses("example", "loan", "--to", desk.loan)
    assert "cannot be written: " in line


# The program as a process of its own.


def process(*arguments: object, **options: Any) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-c", "from p2c.cli import main; main()", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, check=False, timeout=300, **options)


def test_exit_codes_and_streams_of_the_process(desk: Desk) -> None:
    for row, code in ((JOHN, 0), (STUCK, 1)):
        shown = process("plan", desk.loan, desk.row(row))
        assert (shown.returncode, shown.stderr) == (code, b"")
        assert b"\x1b" not in shown.stdout, "no colours in a pipe"
    shown = process("plan", desk.loan, desk.folder / "none.json")
    assert (shown.returncode, shown.stdout) == (2, b"")
    assert shown.stderr.count(b"\n") == 1


def test_where_a_sign_has_no_code_the_rest_is_still_read(desk: Desk) -> None:
    ascii_only = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    shown = process("why", desk.loan, desk.john, env=ascii_only)
    assert shown.returncode == 0
    assert b"\\u2713 reject_loan(X)" in shown.stdout
    features = {"c": category("é", "大")}
    document = {"goal": "c(X,'大')", "rules": "", "features": features}
    problem = desk.write("words.toml", problem_to_toml(document))
    shown = process("plan", problem, desk.row({"c": "é"}), "--json", env=ascii_only)
    assert json.loads(shown.stdout)["counterfactual"] == {"c": "大"}


@pytest.mark.skipif(sys.platform != "linux", reason="needs /dev/full")
def test_a_full_disk_is_one_line(desk: Desk) -> None:
    command = [sys.executable, "-c", "from p2c.cli import main; main()"]
    with open("/dev/full", "wb") as full:
        shown = subprocess.run(
            [*command, "plan", str(desk.loan), str(desk.john), "--json"],
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            timeout=300,
        )
    assert shown.returncode == 2
    assert shown.stderr == b"the output cannot be written: No space left on device\n"


def test_the_commands_can_be_mounted_in_another_program(desk: Desk) -> None:
    shown = CliRunner().invoke(app, ["plan", str(desk.loan), str(desk.john), "--json"])
    assert shown.exit_code == 0
    assert json.loads(shown.output)["status"] == "found"


def test_what_was_proved_is_said_of_what_was_asked(desk: Desk) -> None:
    shown = process("plan", desk.loan, desk.john, "--minimize", "actions").stdout.decode()
    assert (
        "No way with fewer actions exists, and none as short is cheaper; this is proved." in shown
    )


def test_the_version_is_printed_without_a_command() -> None:
    shown = process("--version")
    assert (shown.returncode, shown.stderr) == (0, b"")
    assert shown.stdout.decode() == f"p2c {metadata.version('p2c')}\n"


def test_a_norm_that_is_none_is_told_which_there_are(desk: Desk) -> None:
    line = desk.refuses("plan", desk.loan, desk.john, "--norm", "L1")
    assert line == "p2c plan: Invalid value for '--norm': 'L1' is not one of 'l0', 'l1', 'l2'."
