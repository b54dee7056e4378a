"""What commands are given: rows in any form come through, and whatever is wrong is one line and exit code 2."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from p2c._spec.toml import problem_to_toml
from p2c.cli.desk import write_new
from p2c.errors import P2CError
from tests.cli.desk import RICH, STUCK, Desk
from tests.loan import CREDIT_RULE, JOHN, LOAN, category, whole

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
    first = desk.run("plan", desk.loan, people, "--json")
    assert json.loads(first.out) == found[0]
    told = "people.csv: this is for the first of 3 rows; --row chooses another"
    assert first.err.strip().endswith(told)


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
        ("empty.json", "", "empty.json: it is empty"),
        ("empty.csv", "", "empty.csv: expected a line with the names of the columns"),
        ("empty.jsonl", "", "empty.jsonl: expected at least one row, found none"),
        ("binary.json", bytes(range(256)), "binary.json: cannot be read: it is not UTF-8 text"),
        ("binary.csv", bytes(range(256)), "binary.csv: cannot be read: it is not UTF-8 text"),
        ("deep.json", DEEP, "deep.json: not JSON: "),
        ("deep.json", '{"age":' * 100_000, "deep.json: not JSON: "),
        ("number.json", "5", "expected an object with a value for each feature, found 5"),
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
        ("[]", "plan.json: expected a JSON object, found another value"),
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
    none, folder = desk.folder / "none.toml", desk.folder / "folder.toml"
    assert "none.toml: cannot be read: No such file or directory" in desk.refuses("lint", none)
    assert "folder.toml: no manifest.json in it" in desk.refuses("lint", folder)
    (folder / "loan.toml").write_text("")
    assert desk.refuses("lint", folder).endswith(
        f"so it is no folder of a model; name the problem's file, such as {folder / 'loan.toml'}"
    )
    for name, reason in (("none", "No such file or directory"), ("folder", "Is a directory")):
        row = desk.folder / f"{name}.json"
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
        ("--max-actions", "-1"),
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


def test_a_norm_that_is_none_is_told_which_there_are(desk: Desk) -> None:
    line = desk.refuses("plan", desk.loan, desk.john, "--norm", "L1")
    assert (
        line == "p2c plan: Invalid value for '--norm': 'L1' is not one of 'l0', 'l1', 'l2', 'linf'."
    )


def test_a_file_that_cannot_be_written_whole_leaves_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "letter.html"
    path.write_text("before")

    def full(made: Path, data: bytes) -> int:
        with made.open("wb") as file:
            file.write(data[:3])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(P2CError, match=r"letter\.html: cannot be written: No space left on device"):
        write_new(path, "afterwards", replace=True)
    assert [each.name for each in tmp_path.iterdir()] == ["letter.html"]
    assert path.read_text() == "before"


def test_limits_of_one_question_are_read_by_resource(desk: Desk) -> None:
    line = desk.refuses("plan", desk.loan, desk.john, "--at-most", "months")
    assert line == "--at-most: expected RESOURCE=LIMIT, found 'months'"
    line = desk.refuses("plan", desk.loan, desk.john, "--at-most", "months=12")
    assert line.startswith("limits: there is no resource 'months'")
