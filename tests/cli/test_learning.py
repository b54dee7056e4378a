from __future__ import annotations

import json
import shlex
import signal
import subprocess
import sys
import time
import tomllib
from typing import TYPE_CHECKING

import pytest
import typer
from typer.testing import CliRunner

import p2c
from p2c.cli.learning import learning
from p2c.datasets import load_frame
from p2c.errors import MissingExtra, P2CError, ReviewError
from p2c.learn.causal.review import read_review
from p2c.learn.tables.files import read_frame
from p2c.rules import parse

if TYPE_CHECKING:
    from pathlib import Path

    from typer.testing import Result

START = "from p2c.cli.learning import learning; learning()"
APPROVE = "approve\n\nseen in practice\n"
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


def run(*arguments: object, typed: str = "") -> Result:
    return CliRunner().invoke(
        learning, [str(each) for each in arguments], input=typed, catch_exceptions=False
    )


def test_the_commands_can_be_mounted_beside_others() -> None:
    app = typer.Typer()
    app.command("other")(lambda: None)
    app.add_typer(learning)
    shown = CliRunner().invoke(app, ["--help"])
    for name in ("learn", "causal", "review", "adopt", "other"):
        assert name in shown.output


def test_learning_prints_the_rules_and_how_they_fare_on_rows_not_seen(adult: Path) -> None:
    shown = run("learn", adult, "--target", "label", "--positive", "<=50K")
    assert shown.exit_code == 0
    assert "label(X,'<=50K') :- not marital_status(X,'Married-civ-spouse')" in shown.output
    assert "held out      800 " in shown.output
    assert "where none holds, the class is '>50K'" in shown.output


def test_a_table_of_parquet_is_learned_from_like_one_of_csv(adult: Path, tmp_path: Path) -> None:
    path = tmp_path / "adult.parquet"
    read_frame(adult).to_parquet(path)
    asked = ("--target", "label", "--positive", "<=50K")
    assert run("learn", path, *asked).output == run("learn", adult, *asked).output


def test_a_learned_problem_can_be_planned(adult: Path, tmp_path: Path) -> None:
    rules, problem = tmp_path / "rules.lp", tmp_path / "adult.toml"
    wanted = ("--positive", "<=50K", "--wanted", ">50K", "--scale", "std")
    shown = run("learn", adult, "--target", "label", *wanted, "-o", rules, "--problem", problem)
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
    with pytest.raises(P2CError, match="--positive; known: 'acc', 'good', 'unacc', 'vgood'"):
        run("learn", path, "--target", "label")
    shown = run("learn", path, "--target", "label", "--positive", "unacc")
    assert "the class is 'not unacc'" in shown.output


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "expected a line with the names of the columns, found nothing"),
        ("a,label\n", "found no rows"),
        ("a,label\n1,x\n2,\n", "1 row without a class: leave out what has none"),
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
        run("learn", path, "--target", "label")
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
    asked = ("learn", path, "--target", "paid", "--decimal-comma")
    shown = run(*asked, "--problem", problem)
    for words in (
        "column 'case' is left out: it is different in every row; keep it with --keep 'case'",
        "column 'day' is left out: rules cannot count in dates; keep it with --keep 'day'",
        "children number 0 to 4",
        "pay number 0.5 to 8.5",
        "area code 00, 01, 02, 03",
        "paid category no, yes",
    ):
        assert words in " ".join(shown.output.split())
    assert set(p2c.Problem.load(problem).theory.feature) == {"children", "pay", "area"}
    other = tmp_path / "kept.toml"
    shown = run(*asked, "--keep", "case", "--problem", other)
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
    shown = run("learn", path, "--target", "b", "--ratio", "0")
    assert "no rule was learned: the columns do not tell the classes apart" in shown.output


def test_a_missing_file_is_an_error_of_ours(tmp_path: Path) -> None:
    with pytest.raises(P2CError, match="cannot be read"):
        run("causal", tmp_path / "none.csv", "-o", tmp_path / "r.jsonl")
    with pytest.raises(ReviewError, match="cannot be read"):
        run("review", tmp_path / "none.jsonl")


def test_a_file_of_another_is_not_replaced(adult: Path, tmp_path: Path) -> None:
    rules = tmp_path / "rules.lp"
    rules.write_text("mine\n", encoding="utf-8")
    with pytest.raises(P2CError, match="exists; it is left as it is"):
        run("learn", adult, "--target", "label", "-o", rules)
    assert rules.read_text(encoding="utf-8") == "mine\n"


def test_numbers_are_cut_where_the_decision_rules_cut_them(adult: Path, tmp_path: Path) -> None:
    rules, path = tmp_path / "rules.lp", tmp_path / "review.jsonl"
    rules.write_text("rich(X) :- age(X,N), not(N=<29.0).\n", encoding="utf-8")
    run("causal", adult, "--target", "age", "--ignore", "label", "--cuts", rules, "-o", path)
    texts = [each.rule for each in read_review(path).candidates.values()]
    assert texts
    assert all("N<30." in text or "N>=30." in text for text in texts)


def test_an_expert_is_shown_the_evidence_and_every_answer_is_kept(review: Path) -> None:
    answers = f"{APPROVE}{APPROVE}reject\ntoo rough\n"
    shown = run("review", review, "--by", "Expert", typed=answers)
    assert shown.exit_code == 0
    assert "1 of 3" in shown.output
    assert "P(head|body)" in shown.output
    assert "counterexamples" in shown.output
    assert "3 of 3 rules answered, 0 left" in shown.output
    verdicts = [each.verdict.value for each in read_review(review).answers]
    assert verdicts == ["approved", "approved", "rejected"]


def test_the_counterexamples_are_shown_with_their_rows(review: Path) -> None:
    shown = run("review", review, "--by", "Expert", typed="skip\nskip\nquit\n")
    assert shown.exit_code == 1
    assert "Married-AF-spouse" in shown.output
    assert read_review(review).answers == []


def test_the_end_of_the_input_stops_the_interview_and_keeps_the_answers(review: Path) -> None:
    shown = run("review", review, "--by", "Expert", typed=f"{APPROVE}approve\n")
    assert shown.exit_code == 1
    assert "every answer so far is saved" in shown.output
    assert len(read_review(review).answers) == 1


def test_an_interview_goes_on_where_it_stopped(review: Path) -> None:
    run("review", review, "--by", "Expert", typed=APPROVE)
    shown = run("review", review, typed=f"Other\n{APPROVE}r\nrough\n")
    assert "1 of 2" in shown.output
    assert [each.by for each in read_review(review).answers] == ["Expert", "Other", "Other"]


def test_an_answer_that_was_given_is_asked_for_again_by_its_id(review: Path) -> None:
    run("review", review, "--by", "Expert", typed=f"{APPROVE}{APPROVE}{APPROVE}")
    first = read_review(review).answers[0].rule
    shown = run("review", review, "--by", "Expert", "--again", first, typed="reject\na slip\n")
    assert "1 of 1" in shown.output
    assert read_review(review).verdicts()[first].verdict.value == "rejected"
    with pytest.raises(P2CError, match=r"no rule 'nobody'"):
        run("review", review, "--again", "nobody")


def test_ctrl_c_stops_the_interview_and_keeps_the_answers(
    review: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = iter(["approve", "iff", "seen in practice"])

    def prompt(*_: object, **__: object) -> str:
        try:
            return next(words)
        except StopIteration:
            raise KeyboardInterrupt from None

    monkeypatch.setattr("p2c.cli.interview.typer.prompt", prompt)
    shown = run("review", review, "--by", "Expert")
    assert shown.exit_code == 1
    assert "1 of 3 rules answered, 2 left" in shown.output
    assert len(read_review(review).answers) == 1


def test_a_contradiction_is_refused_on_the_spot_with_the_reason(review: Path) -> None:
    against = "marital_status(X,'Divorced') :- age(X,N), N>40."
    typed = f"{APPROVE}edit\n{against}\nyes\niff\nolder\nskip\nskip\n"
    shown = run("review", review, "--by", "Expert", typed=typed)
    assert "refused: " in shown.output
    assert "both fire where age is 41 and relationship is 'Husband'" in shown.output
    assert len(read_review(review).answers) == 1


def test_an_edited_rule_is_checked_and_measured(review: Path, adult: Path) -> None:
    wrong = "edit\nmarital_status(X,'Maried') :- relationship(X,'Husband').\n"
    right = f"edit\n{HUSBAND[:-1]}, age(X,N), N>=18.\nyes\niff\nadults only\nquit\n"
    shown = run("review", review, "--by", "Expert", "--data", adult, typed=wrong + right)
    assert "'Maried' is not a value of marital_status" in shown.output
    (answer,) = read_review(review).answers
    assert answer.verdict.value == "edited"
    assert answer.evidence is not None
    assert answer.evidence.precision > 0.99
    assert answer.direction == "age, relationship -> marital_status"


def test_an_expert_reads_sentences_laws_with_examples_and_how_many_rows_break_them(
    review: Path,
) -> None:
    shown = " ".join(run("review", review, "--by", "Expert", typed="quit\n").output.split())
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
    shown = run("review", review, "--by", "Expert", "--language", "de", typed="quit\n").output
    assert "Wenn gilt: „relationship“ ist Husband" in " ".join(shown.split())
    with pytest.raises(P2CError, match="no catalogue 'fr'"):
        run("review", review, "--language", "fr")


def test_the_figures_of_an_edited_rule_come_before_it_is_saved_and_it_can_be_taken_back(
    review: Path, adult: Path
) -> None:
    edited = f"edit\n{HUSBAND[:-1]}, age(X,N), N>=60.\nno\nquit\n"
    shown = run("review", review, "--by", "Expert", "--data", adult, typed=edited)
    words = " ".join(shown.output.split())
    told = words.index("If relationship is Husband and age is at least 60, then marital status is")
    figures = words.index(" of 4,000", told)
    assert told < figures < words.index("take this text")
    assert read_review(review).answers == []


def test_an_edited_rule_about_a_column_that_the_data_lack_is_said(
    review: Path, adult: Path, tmp_path: Path
) -> None:
    data = tmp_path / "other.csv"
    data.write_text("relationship,label\nHusband,x\nWife,y\n", encoding="utf-8")
    edited = f"edit\n{HUSBAND[:-1]}, age(X,N), N>=60.\nquit\n"
    shown = run("review", review, "--by", "Expert", "--data", data, typed=edited)
    assert "the data have no column 'marital_status'" in shown.output


def test_the_end_of_a_review_is_the_command_that_comes_next(
    review: Path, adult: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = run("review", review, "--by", "Expert", typed=f"{APPROVE}{APPROVE}reject\nrough\n")
    (line,) = [each for each in shown.output.splitlines() if "p2c adopt" in each]
    assert line.startswith("all done, 2 approved, 1 rejected: p2c adopt problem.toml")
    monkeypatch.chdir(tmp_path)
    run("learn", adult, "--target", "label", "--positive", "<=50K", "--problem", "problem.toml")
    assert run(*shlex.split(line.partition("p2c ")[2])).exit_code == 0
    assert p2c.Problem.load(tmp_path / "problem-causal.toml")


def test_no_sign_of_a_review_reaches_the_terminal_as_a_command(review: Path) -> None:
    run("review", review, "--by", "Ex\x1b[31mpert", typed="reject\nbad\x1b]0;owned\x07\nquit\n")
    shown = run("review", review, "--log")
    assert "Ex\ufffd[31mpert" in shown.output
    assert "\x1b" not in shown.output


def test_the_log_shows_every_answer_without_a_question(review: Path) -> None:
    run("review", review, "--by", "Expert", typed="reject\nchance\nquit\n")
    shown = run("review", review, "--log")
    assert shown.exit_code == 1
    assert "chance" in shown.output
    assert "verdict (" not in shown.output


def test_no_command_to_the_terminal_comes_through_the_log(review: Path) -> None:
    run("review", review, "--by", "Ex\x1b[2Jpert", typed="reject\nchance\x1b]0;owned\x07\nquit\n")
    shown = run("review", review, "--log")
    assert "pert" in shown.output
    assert not {"\x1b", "\x07"} & set(shown.output)


def test_a_review_killed_in_the_middle_keeps_its_answers_and_goes_on(review: Path) -> None:
    command = [sys.executable, "-c", START, "review", str(review), "--by", "Expert"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        assert process.stdin is not None
        process.stdin.write(f"{APPROVE}approve\n".encode())
        process.stdin.flush()
        while not read_review(review).answers and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    with review.open("ab") as file:
        file.write(b'{"record": "answer", "rule": "marit')
    killed = read_review(review)
    assert len(killed.answers) == 1
    shown = run("review", review, "--by", "Expert", typed=f"{APPROVE}reject\nrough\n")
    assert shown.exit_code == 0
    assert "was cut short while it was written and is passed over" in shown.output
    assert len(read_review(review).answers) == 3


def test_a_problem_adopts_what_was_approved_and_nothing_before(
    review: Path, adult: Path, tmp_path: Path
) -> None:
    problem, adopted = tmp_path / "adult.toml", tmp_path / "causal.toml"
    run("learn", adult, "--target", "label", "--positive", "<=50K", "--problem", problem)
    with pytest.raises(ReviewError, match="3 rules are not reviewed: marital_status-"):
        run("adopt", problem, review, "-o", adopted)
    run("review", review, "--by", "Expert", typed=f"{APPROVE}{APPROVE}reject\nrough\n")
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
