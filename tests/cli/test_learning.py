from __future__ import annotations

import json
import shlex
import sys
import tomllib
from typing import TYPE_CHECKING

import pytest
import typer
from typer.testing import CliRunner

import p2c
from p2c._learn.causal.review import read_review
from p2c._learn.tables.files import read_frame
from p2c._rules import parse
from p2c.cli.app import app
from p2c.cli.learning import learning
from p2c.datasets import load_frame
from p2c.errors import MissingExtra, P2CError, ReviewError

if TYPE_CHECKING:
    from pathlib import Path

    from typer.testing import Result

    from tests.cli.desk import Desk

BY = ("--by", "Expert", "--why", "seen in practice")
HUSBAND = "marital_status(X,'Married-civ-spouse') :- relationship(X,'Husband')."


@pytest.fixture(scope="module")
def adult(tmp_path_factory: pytest.TempPathFactory) -> Path:
    names = ["age", "education_num", "marital_status", "relationship", "sex", "capital_gain"]
    path = tmp_path_factory.mktemp("data") / "adult.csv"
    load_frame("adult")[[*names, "label"]].head(4000).to_csv(path, index=False)
    return path


@pytest.fixture
def review(adult: Path, tmp_path: Path) -> Path:
    path = tmp_path / "review.jsonl"
    causes = ("--feature", "relationship", "--feature", "age")
    found = run("causal", adult, "--target", "marital_status", *causes, "-o", path)
    assert found.exit_code == 0
    assert HUSBAND in found.output
    assert "3 left" in found.output
    return path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(learning, [str(each) for each in arguments], catch_exceptions=False)


def ids(review: Path) -> list[str]:
    return list(read_review(review).candidates)


def learned(data: Path, *options: object) -> Result:
    """Learn decision rules from a table, by default into a new file beside it."""
    output = (
        () if "-o" in options else ("-o", data.parent / f"{len([*data.parent.iterdir()])}.toml")
    )
    asked = ["fit", "--data", data, *options, *output]
    return CliRunner().invoke(app, [str(each) for each in asked], catch_exceptions=False)


def answer_all(review: Path) -> Result:
    """Approve the first two rules and reject the third."""
    first, second, third = ids(review)
    run("review", review, "--approve", first, "--approve", second, *BY)
    return run("review", review, "--reject", third, "--by", "Expert", "--why", "too rough")


def test_the_commands_can_be_mounted_beside_others() -> None:
    app = typer.Typer()
    app.command("other")(lambda: None)
    app.add_typer(learning)
    shown = CliRunner().invoke(app, ["--help"])
    for name in ("causal", "review", "adopt", "other"):
        assert name in shown.output


def test_learning_prints_the_rules_and_how_they_fare_on_rows_not_seen(adult: Path) -> None:
    shown = learned(adult, "--target", "label", "--positive", "<=50K", "--desired", ">50K")
    assert shown.exit_code == 0
    assert "label(X,'<=50K') :- not marital_status(X,'Married-civ-spouse')" in shown.output
    assert "held out      800 " in shown.output
    assert "where none holds, the class is '>50K'" in shown.output


def test_a_table_of_parquet_is_learned_from_like_one_of_csv(adult: Path, tmp_path: Path) -> None:
    path = tmp_path / "adult.parquet"
    read_frame(adult).to_parquet(path)
    asked = ("--target", "label", "--desired", ">50K")
    shown = [learned(each, *asked).output.partition(str(each.parent))[0] for each in (path, adult)]
    assert shown[0] == shown[1]


def test_a_learned_problem_can_be_planned(adult: Path, tmp_path: Path) -> None:
    rules, problem = tmp_path / "rules.lp", tmp_path / "adult.toml"
    wanted = ("--positive", "<=50K", "--desired", ">50K", "--scale", "std")
    shown = learned(adult, "--target", "label", *wanted, "--rules", rules, "-o", problem)
    assert shown.exit_code == 0
    loaded = p2c.Problem.load(problem)
    assert loaded.spec.goal == "not label(X,'<=50K')"
    source = loaded.to_dict()["source"]
    assert (source["from"], source["rows"], source["name"]) == ("labels", 800, adult.name)
    assert f" {source['fidelity']:.1%} " in shown.output
    assert parse(rules.read_text(encoding="utf-8")) == parse(loaded.spec.rules or "")
    rows = load_frame("adult")[list(loaded.theory.feature)].head(20).to_dict("records")
    plans = [loaded.plan({str(name): row[name] for name in row}) for row in rows]
    assert {plan.status for plan in plans} <= {"found", "already"}


def test_several_classes_are_one_against_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "cars.csv"
    load_frame("cars").to_csv(path, index=False)
    with pytest.raises(P2CError, match="The classes are 'acc', 'good', 'unacc', 'vgood'"):
        learned(path, "--target", "label")
    shown = learned(path, "--target", "label", "--desired", "unacc")
    assert "the class is 'not unacc'" in shown.output


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "expected a line with the names of the columns, found nothing"),
        ("a,label\n", "found no rows"),
        ("a,label\n1,x\n2,\n", "found none in 1 row, first in row 2: leave out rows"),
        ("a,label\n1,x\n2,x\n", "expected two classes"),
        ("a,lable\n1,x\n2,y\n", "no column 'label'; did you mean 'lable'"),
        ("a,label\n1,x\n2,y\n3,y,4\n", "row 3, line 4: expected 2 cells as in the header, found 3"),
        ("a;label\n" + "1;x\n2;y\n" * 9, "expected commas between .*, found ';'"),
        (
            f"a,a,label\n{'1,2,x|2,3,y|' * 9}".replace("|", "\n"),
            "the name 'a' stands there 2 times",
        ),
        ("a,label\n1,x\n2,y\n1,x\n2,y\n", "4 rows: too few to learn from .*, at least 10"),
        (
            f"a,label\n{'1,x|2,x|' * 9}3,y\n".replace("|", "\n"),
            "class 'y' is there in 1 row; at least 2",
        ),
        ("a,label\n" + '"1236,50",x\n"2,5",y\n' * 9, "such as '1236,50': write"),
        ("day,label\n" + "2024-01-31,x\n2024-02-01,y\n" * 9, "no column is left"),
        ("ab1,label\n1,x\n2,y\n1,x\n2,y\n", "name of an exception"),
    ],
)
def test_a_table_that_cannot_be_used_is_one_line_that_says_why(
    tmp_path: Path, content: str, message: str
) -> None:
    path = tmp_path / "data.csv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(P2CError, match=message) as refused:
        learned(path, "--target", "label", "--desired", "x")
    assert "\n" not in str(refused.value)


def test_the_columns_are_looked_at_first_and_what_is_useless_is_left_out_unless_kept(
    tmp_path: Path,
) -> None:
    path, problem = tmp_path / "data.csv", tmp_path / "loan.toml"
    lines = [
        f'{n},2024-01-{n % 28 + 1:02d},{n % 5},"{n % 9},50",0{n % 4},{"yes" if n % 5 > 2 else "no"}'
        for n in range(60)
    ]
    path.write_text("\n".join(["case,day,children,pay,area,paid", *lines]), encoding="utf-8")
    options = (path, "--target", "paid", "--desired", "yes", "--decimal-comma")
    shown = learned(*options, "-o", problem)
    for words in (
        "column 'case' is left out: it is different in every row; keep it with --keep 'case'",
        "column 'day' is left out: rules cannot count in dates; keep it with --keep 'day'",
        "children number 0 to 4",
        "pay number 0.5 to 8.5",
        "area code 00, 01, 02, 03",
    ):
        assert words in " ".join(shown.output.split())
    assert set(p2c.Problem.load(problem).theory.feature) == {"children", "pay", "area"}
    other = tmp_path / "kept.toml"
    shown = learned(*options, "--keep", "case", "-o", other)
    assert "column 'case' is left out" not in shown.output
    assert "case" in p2c.Problem.load(other).theory.feature


def test_candidates_too_are_learned_from_columns_that_were_looked_at(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    lines = [f"{n},{'a' if n % 2 else 'b'},{'c' if n % 2 else 'd'}" for n in range(40)]
    path.write_text("\n".join(["id,one,two", *lines]), encoding="utf-8")
    shown = run("causal", path, "-o", tmp_path / "r.jsonl")
    assert "column 'id' is left out" in shown.output
    assert set(read_review(tmp_path / "r.jsonl").features) == {"one", "two"}


def test_rules_that_tell_nothing_apart_are_not_passed_over_in_silence(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("a,b\n" + "1,x\n1,y\n2,x\n2,y\n" * 10, encoding="utf-8")
    with pytest.raises(P2CError, match="no rule was learned, so there is no problem"):
        learned(path, "--target", "b", "--desired", "x", "--ratio", "0")


def test_a_missing_file_is_an_error_of_ours(tmp_path: Path) -> None:
    with pytest.raises(P2CError, match="cannot be read"):
        run("causal", tmp_path / "none.csv", "-o", tmp_path / "r.jsonl")
    with pytest.raises(ReviewError, match="cannot be read"):
        run("review", tmp_path / "none.jsonl")


def test_a_file_of_another_is_not_replaced(adult: Path, tmp_path: Path) -> None:
    rules = tmp_path / "rules.lp"
    rules.write_text("mine\n", encoding="utf-8")
    with pytest.raises(P2CError, match="exists; it stays unchanged"):
        learned(adult, "--target", "label", "--desired", ">50K", "--rules", rules)
    assert rules.read_text(encoding="utf-8") == "mine\n"


def test_numbers_are_cut_where_the_decision_rules_cut_them(adult: Path, tmp_path: Path) -> None:
    rules, path = tmp_path / "rules.lp", tmp_path / "review.jsonl"
    rules.write_text("rich(X) :- age(X,N), not(N=<29.0).\n", encoding="utf-8")
    run("causal", adult, "--target", "age", "--ignore", "label", "--cuts", rules, "-o", path)
    texts = [each.text for each in read_review(path).candidates.values()]
    assert texts
    assert all("N<30." in text or "N>=30." in text for text in texts)


def test_answers_are_appended_and_the_last_one_counts(review: Path) -> None:
    shown = answer_all(review)
    assert shown.exit_code == 0
    assert "3 of 3 rules answered, 0 left" in shown.output
    first = ids(review)[0]
    run("review", review, "--reject", first, "--by", "Other", "--why", "a slip")
    answers = read_review(review).answers
    verdicts = [each.verdict.value for each in answers]
    assert verdicts == ["approved", "approved", "rejected", "rejected"]
    assert [each.by for each in answers] == ["Expert", "Expert", "Expert", "Other"]
    assert read_review(review).verdicts()[first].verdict.value == "rejected"


def test_the_list_shows_evidence_and_counterexamples_and_changes_nothing(review: Path) -> None:
    shown = run("review", review, "--list")
    assert shown.exit_code == 1
    for words in ("1 of 3", "P(head|body)", "counterexamples", "Married-AF-spouse"):
        assert words in shown.output
    assert read_review(review).answers == []
    assert run("review", review, "--approve", ids(review)[0], *BY).exit_code == 0
    assert "1 of 2" in run("review", review, "--list").output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--approve", "nobody", *BY), "no rule 'nobody'"),
        (("--approve", "FIRST", "--by", "Expert"), "'why' is empty"),
        (("--reject", "FIRST", "--why", "chance"), "'by' is empty"),
        (("--rule", HUSBAND, *BY), "--rule: expected exactly one --approve"),
        (("--approve", "FIRST", "--reject", "FIRST", "--rule", HUSBAND, *BY), "no --reject"),
    ],
)
def test_an_incomplete_answer_is_refused_and_not_written(
    review: Path, words: tuple[str, ...], message: str
) -> None:
    first = ids(review)[0]
    with pytest.raises(P2CError, match=message):
        run("review", review, *(first if each == "FIRST" else each for each in words))
    assert read_review(review).answers == []


def test_a_contradiction_is_refused_with_the_reason(review: Path) -> None:
    first, second, _ = ids(review)
    run("review", review, "--approve", first, *BY)
    against = "marital_status(X,'Divorced') :- age(X,N), N>40."
    with pytest.raises(P2CError, match="both fire where age is 41 and relationship is 'Husband'"):
        run("review", review, "--approve", second, "--rule", against, "--law", "iff", *BY)
    assert len(read_review(review).answers) == 1


def test_an_edited_rule_is_checked_measured_and_shown(review: Path, adult: Path) -> None:
    edit = ("review", review, "--approve", ids(review)[0], "--law", "iff", "--data", adult, *BY)
    with pytest.raises(P2CError, match="'Maried' is not a value of marital_status"):
        run(*edit, "--rule", "marital_status(X,'Maried') :- relationship(X,'Husband').")
    shown = run(*edit, "--rule", f"{HUSBAND[:-1]}, age(X,N), N>=18.")
    sentence = "If relationship is Husband and age is at least 18, then marital status is"
    assert sentence in " ".join(shown.output.split())
    (answer,) = read_review(review).answers
    assert answer.verdict.value == "edited"
    assert answer.evidence is not None
    assert answer.evidence.precision > 0.99
    assert answer.direction == "age, relationship -> marital_status"


def test_an_expert_reads_sentences_laws_with_examples_and_how_many_rows_break_them(
    review: Path,
) -> None:
    shown = " ".join(run("review", review, "--list").output.split())
    for words in (
        "1 of 3, marital status",
        "If relationship is Husband, then marital status is Married-civ-spouse.",
        "Marital status is Married-civ-spouse exactly where relationship is Husband",
        "elsewhere marital status may be anything",
        "Marital status is Married-civ-spouse only where relationship is Husband",
        "where relationship is Husband but marital status is Divorced, marital status changes by itself",
        "exceptions: 2 of 4,000 rows",
    ):
        assert words in shown


def test_an_expert_reads_german(review: Path) -> None:
    shown = run("review", review, "--list", "--language", "de").output
    assert "Wenn gilt: „relationship“ ist Husband" in " ".join(shown.split())
    with pytest.raises(P2CError, match="no catalogue 'xx'"):
        run("review", review, "--language", "xx")


def test_an_edited_rule_about_a_column_that_the_data_lack_is_said(
    review: Path, adult: Path, tmp_path: Path
) -> None:
    data = tmp_path / "other.csv"
    data.write_text("relationship,label\nHusband,x\nWife,y\n", encoding="utf-8")
    edited = ("--approve", ids(review)[0], "--rule", f"{HUSBAND[:-1]}, age(X,N), N>=60.")
    with pytest.raises(P2CError, match="the data have no column 'marital_status'"):
        run("review", review, *edited, "--data", data, *BY)


def test_the_end_of_a_review_is_the_command_that_comes_next(
    review: Path, adult: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = answer_all(review)
    (line,) = [each for each in shown.output.splitlines() if "p2c adopt" in each]
    assert line.startswith("all done, 2 approved, 1 rejected: p2c adopt problem.toml")
    monkeypatch.chdir(tmp_path)
    learned(adult, "--target", "label", "--desired", "<=50K", "-o", "problem.toml")
    assert run(*shlex.split(line.partition("p2c ")[2])).exit_code == 0
    assert p2c.Problem.load(tmp_path / "problem-causal.toml")


def test_no_sign_of_a_review_reaches_the_terminal_as_a_command(review: Path) -> None:
    who, reason = "Ex\x1b[31mpert", "bad\x1b]0;owned\x07"
    run("review", review, "--reject", ids(review)[0], "--by", who, "--why", reason)
    shown = run("review", review, "--log")
    assert "Ex\ufffd[31mpert" in shown.output
    assert "\x1b" not in shown.output


def test_the_log_shows_every_answer(review: Path) -> None:
    run("review", review, "--reject", ids(review)[0], "--by", "Expert", "--why", "chance")
    shown = run("review", review, "--log")
    assert shown.exit_code == 1
    assert "chance" in shown.output


def test_a_torn_answer_is_reported_and_answers_go_on(review: Path) -> None:
    run("review", review, "--approve", ids(review)[0], *BY)
    with review.open("ab") as file:
        file.write(b'{"record": "answer", "rule": "marit')
    shown = run("review", review, "--approve", ids(review)[1], *BY)
    assert "was cut short while it was written and is passed over" in shown.output
    assert len(read_review(review).answers) == 2


def test_a_problem_adopts_what_was_approved_and_nothing_before(
    review: Path, adult: Path, tmp_path: Path
) -> None:
    problem, adopted = tmp_path / "adult.toml", tmp_path / "causal.toml"
    learned(adult, "--target", "label", "--desired", "<=50K", "-o", problem)
    with pytest.raises(ReviewError, match="3 rules are not reviewed: marital_status-"):
        run("adopt", problem, review, "-o", adopted)
    answer_all(review)
    assert run("adopt", problem, review, "-o", adopted).exit_code == 0
    written = tomllib.loads(adopted.read_text(encoding="utf-8"))
    assert written["features"]["marital_status"]["law"] == "iff"
    assert HUSBAND in (p2c.Problem.load(adopted).spec.rules or "").splitlines()
    assert "by Expert" in written["rules"]


@pytest.mark.parametrize(("module", "package"), [("pandas", "pandas"), ("sklearn", "scikit-learn")])
def test_what_is_not_installed_is_named_with_the_command_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, package: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=rf"'{package}'.*pip install 'p2c-recourse\[learn\]'"):
        run("review", tmp_path / "review.jsonl")


def test_every_line_of_a_review_is_json(review: Path) -> None:
    for line in review.read_text(encoding="utf-8").splitlines():
        assert json.loads(line)["record"] in {"header", "feature", "candidate"}


def test_a_wide_table_is_described_in_a_bounded_number_of_lines(desk: Desk) -> None:
    names = [f"c{number}" for number in range(300)]
    rows = [[str((7 * row + place) % 5) for place in range(300)] for row in range(40)]
    lines = [
        ",".join([*names, "y"]),
        *(",".join([*cells, "yn"[int(cells[0]) % 2]]) for cells in rows),
    ]
    data = desk.write("wide.csv", "\n".join(lines))
    shown = desk.run("init", data, "--target", "y", "--desired", "y")
    assert shown.code == 0, shown
    assert "more columns" in shown.out
    assert len(shown.out.splitlines()) < 60
