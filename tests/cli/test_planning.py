"""The commands that plan, as people and scripts meet them: stories, JSON, exit codes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from p2c import datasets
from p2c._folder import accept_edit
from p2c._spec.toml import problem_to_toml
from p2c.problem import Problem
from tests.cli.desk import RICH, STUCK, Desk, process
from tests.folder.test_store import fitted
from tests.loan import CREDIT_RULE, JOHN, LOAN, whole

# The stories.


def test_a_plan_is_told_in_numbered_steps(desk: Desk) -> None:
    shown = desk.run("plan", desk.loan, desk.john)
    assert shown.code == 0
    assert [line.rstrip() for line in shown.out.splitlines()] == [
        "1. Change your debt from 5,000 to 0.",
        "   → By itself, your credit score will then go from 599 to 620.",
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
    desk.write("slip.lp", rules)
    keys = {key: value for key, value in LOAN.items() if key != "rules"}
    apart = desk.write("slip.toml", problem_to_toml(keys | {"rules_file": "slip.lp"}))
    assert (
        f"slip.lp: line {len(rules.splitlines())}: nothing uses debts(X,0)"
        in desk.run("plan", apart, desk.john).err
    )


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
    assert "There is no other that differs in kind;" in " ".join(by_kind.out.split())
    assert desk.run("nearest", desk.loan, desk.row(STUCK)) == (
        1,
        "There is no way from here; this is proved.\nWhat stands in the way is shown by p2c plan.\n",
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


def test_rules_that_say_otherwise_than_the_model_they_stand_for_give_no_reasons(desk: Desk) -> None:
    folder = desk.folder / "asked"
    fitted("kernel").save(folder)
    person = {"income": 20, "Debt now": 40, "job": "cook", "age": 30, "member": True}
    row, problem = desk.row(person), Problem.load(folder)
    assert not problem.decide(person)
    shown = desk.run("why", folder, row).out
    assert "These reasons come from rules that stand for the model." in shown
    assert "✗ accepted(X)" in shown
    (folder / "stand_in.lp").write_text("accepted(X) :- income(X,N), N>0.\n")
    accept_edit(folder)
    assert Problem.load(folder).why(person).holds
    assert desk.run("why", folder, row).out == (
        "The model says no.\nThis is what the model says. The rules that stand for it do not show why.\n"
    )
    told = desk.run("why", folder, row, "--json").json()
    assert told["model"] == {"accepted": False, "read": False, "forcing": None}


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
    assert (
        "proved by a certificate that p2c_verify has checked"
        in desk.run("check", desk.loan, plan, "--prove").out
    )
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
    modified = plan | {"status": "infeasible", "cost": None, "counterfactual": None, "steps": []}
    path = desk.write("modified.json", json.dumps(modified))
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


def test_lint_sums_up_many_findings_of_one_kind(desk: Desk) -> None:
    columns = {f"c{n}": {"type": "int", "min": 0, "max": 9} for n in range(3000)}
    problem = desk.write(
        "wide.json",
        json.dumps({"goal": "c0(X,N), N>5", "rules": "", "features": columns}),
    )
    lines = desk.run("lint", problem).out.splitlines()
    found = [each for each in lines if each.startswith("features.")]
    assert len(found) == 10
    assert "and 2,989 more of the kind unread_feature" in lines
    every = desk.run("lint", problem, "--all").out.splitlines()
    assert len([each for each in every if each.startswith("features.")]) == 2999


def test_lint_reads_the_laws_back_and_counts_the_exceptions(desk: Desk) -> None:
    problem = desk.write("scores.toml", problem_to_toml(SCORES))
    people = desk.write("p.csv", "account,arrears,score\nno,no,97\nyes,no,40\nno,no,1\nyes,no,95\n")
    shown = desk.run("lint", problem, "--rows", people)
    assert (shown.code, shown.out.splitlines()) == (
        0,
        [
            "score, law 'iff':",
            "  Score is at least 95 points exactly where account is yes and arrears is no.",
            "  Where no rule applies, score is 0 points – 94 points.",
            "exceptions: 2 of 4 rows",
            f"  1: score is what the rule names and no such rule applies: {SCORES['rules']}",
            f"  1: the rule applies and score is something else: {SCORES['rules']}",
            "nothing to report",
        ],
    )
    loose = desk.write("loose.toml", problem_to_toml(SCORES | {"law": "if"}))
    shown = desk.run("lint", loose, "--rows", people)
    assert "  Where no rule applies, score may be anything." in shown.out.splitlines()
    assert "exceptions: 1 of 4 rows" in shown.out.splitlines()


def test_lint_says_what_may_never_be_and_speaks_of_other_rules_only_where_there_are_some(
    desk: Desk,
) -> None:
    rules = (
        "score(X,N) :- account(X,'yes'), N>=95. score(X,N) :- arrears(X,'no'), N>=90, N=<96. "
        "score(X,0) :- arrears(X,'yes'). :- account(X,'yes'), score(X,N), N<10."
    )
    problem = desk.write("scores.toml", problem_to_toml(SCORES | {"rules": rules}))
    assert desk.run("lint", problem).out.splitlines()[:7] == [
        "score, law 'iff':",
        "  Score is at least 95 points exactly where account is yes, or where another rule for score says so.",
        "  Score is at least 90 points and at most 96 points exactly where arrears is no, or where another rule for score says so.",
        "  Score is 0 points exactly where arrears is yes.",
        "  Where no rule applies, score is 1 point – 89 points.",
        "constraints:",
        "  It may never be that account is yes and score is below 10 points.",
    ]


def test_a_plan_says_which_law_made_an_effect_happen(desk: Desk) -> None:
    problem = desk.write("scores.toml", problem_to_toml(SCORES))
    row = desk.row({"account": "yes", "arrears": "no", "score": 97})
    reason = "the rules let your score be 97 points only where account is yes and arrears is no, which is then not so"
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
        "lint.accept.unread_feature.age: line 32, column 1: expected the reason why this is known, found ' '"
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
    plan = desk.run("plan", desk.loan, desk.john, "--json", "--law", "only_if").json()
    assert plan["asked"] == {"law": "only_if"}
    plan = desk.run("plan", desk.loan, desk.john, "--json", "--minimize", "actions").json()
    assert plan["cost"] == 0.00502
    plans = desk.run("nearest", desk.loan, desk.john, "--json", "--distinct", "cells").json()
    assert len(plans) == 1


def test_all_norms_gives_a_plan_for_each(desk: Desk) -> None:
    plans = desk.run("plan", desk.loan, desk.john, "--all-norms", "--json").json()
    assert [plan["norm"] for plan in plans] == ["l0", "l1", "l2", "linf"]
    shown = desk.run("plan", desk.loan, desk.john, "--all-norms")
    assert [f"measured as {norm}." in shown.out for norm in ("L0", "L1", "L2", "LINF")] == [
        True
    ] * 4
    assert desk.run("plan", desk.loan, desk.row(STUCK), "--all-norms").code == 1


def test_what_was_proved_is_said_of_what_was_asked(desk: Desk) -> None:
    shown = process("plan", desk.loan, desk.john, "--minimize", "actions").stdout.decode()
    assert (
        "No way with fewer actions exists, and none as short is cheaper; this is proved." in shown
    )


def test_tradeoffs_are_listed_with_what_each_uses(desk: Desk) -> None:
    problem = {
        "goal": "debt(X,D), D=<0",
        "rules": "",
        "resources": {"months": {}},
        "features": {
            "debt": {"type": "int", "min": 0, "max": 10, "uses": {"months": {"per_unit": 1}}}
        },
        "actions": {
            "sell": {
                "label": "Sell the car",
                "sets": {"debt": 0},
                "cost": 3,
                "uses": {"months": {"fixed": 2}},
            }
        },
    }
    file, row = desk.write("sale.json", json.dumps(problem)), desk.row({"debt": 5})
    shown = desk.run("tradeoffs", file, row)
    assert shown.code == 0
    lines = [line.split() for line in shown.out.splitlines()]
    assert lines[0] == ["cost", "months", "what", "to", "do"]
    assert lines[-1] == ["2", "3", "2", "Sell", "the", "car."]
    quick = desk.run("plan", file, row, "--at-most", "months=3")
    assert "1. Sell the car.\n" in quick.out
    assert "It takes about 2 months." in quick.out


def test_a_follow_up_tells_what_is_done_and_what_is_left(desk: Desk) -> None:
    plan = desk.write("plan.json", Problem.from_dict(LOAN).plan(JOHN).to_json())
    now = desk.row({**JOHN, "debt": 0, "credit_score": 620})
    shown = desk.run("follow-up", desk.loan, plan, now)
    assert shown.code == 0
    assert "- Your debt is now 0." in shown.out
    assert (
        "Was Sie getan haben" in desk.run("follow-up", desk.loan, plan, now, "--language", "de").out
    )
    later = json.loads(desk.run("follow-up", desk.loan, plan, now, "--json").out)
    assert [each["feature"] for each in later["left"]] == ["bank_balance"]
    assert (later["valid"], later["cheapest"], later["plan"]["cost"]) == (True, True, 2e-05)
    done = desk.write(
        "done.json",
        Problem.from_dict(LOAN)
        .follow_up(
            json.loads(plan.read_text()),
            {**JOHN, "debt": 0, "credit_score": 620, "bank_balance": 60_000},
        )
        .plan.to_json(),
    )
    assert "needs a plan with steps" in desk.refuses("follow-up", desk.loan, done, now)
