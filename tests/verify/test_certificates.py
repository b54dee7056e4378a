"""Certificates of the planner's answers, and false claims, in the checker."""

from __future__ import annotations

import itertools
import json
import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import p2c_verify
from p2c import datasets
from p2c._plan.certificate import certify
from p2c.errors import UncertifiedError
from p2c.problem import Problem
from p2c_verify import VerifyError
from tests.growing import hitting_sets, pigeonhole, vertex_cover
from tests.oracle import best_plan
from tests.plan.judged import judged_problems, unruled_problems
from tests.plan.test_restriction import random_restrictions
from tests.strategies import random_problem, seeded_problems
from tests.verify.certified import Certified, certified, certified_answers

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

EXAMPLES = [
    (name, person) for name in ("loan", "cars", "adult", "german") for person in datasets.rows(name)
]
MOST_BYTES = 20_000


def ruled(seed: int, count: int) -> Iterator[tuple[Problem, Mapping[str, Any]]]:
    """Yield random problems of rules with a person each."""
    for document, row in seeded_problems(seed, count):
        yield Problem.from_dict(document), row


@pytest.mark.parametrize(("name", "person"), EXAMPLES)
def test_answers_of_embedded_problems_are_certified_in_few_bytes(name: str, person: str) -> None:
    problem, row = Problem.example(name), datasets.rows(name)[person]
    answer = certified(problem, row, problem.plan(row).to_dict())
    assert answer.verify().claim
    assert len(json.dumps(answer.certificate)) <= MOST_BYTES


@pytest.mark.parametrize("seed", range(4))
def test_every_answer_by_rules_is_certified(seed: int) -> None:
    verified = [answer.verify() for answer in certified_answers(ruled(seed, 25))]
    assert len(verified) > 15


@pytest.mark.parametrize("seed", range(3))
def test_every_answer_of_a_parsed_model_is_certified(seed: int) -> None:
    pairs = [*judged_problems(seed, 15), *unruled_problems(seed, 10)]
    verified = [answer.verify() for answer in certified_answers(pairs)]
    assert len(verified) > 15


def test_every_answer_of_a_model_with_lines_and_curves_is_certified() -> None:
    pairs = [*judged_problems(5, 15, lined=True), *unruled_problems(5, 10, lined=True)]
    answers = list(certified_answers(pairs))
    reports = [answer.verify() for answer in answers]
    assert len(reports) > 15
    curves = [each for report in reports for each in report.assumptions if "curve" in each]
    assert curves
    listed = [answer for answer in answers if answer.certificate["points"]]
    for answer in listed:
        forged = answer.certificate | {"points": answer.certificate["points"][1:]}
        with pytest.raises(VerifyError):
            replace(answer, certificate=forged).verify()


def learned(monkeypatch: pytest.MonkeyPatch, world: Any) -> Certified:
    """Return an answer that is certified by lemmas."""
    monkeypatch.setattr(certify, "TREE", 0)
    document, row = world
    problem = Problem.from_dict(document)
    return certified(problem, row, problem.plan(row).to_dict())


@pytest.mark.parametrize("world", [pigeonhole(5), hitting_sets(8), vertex_cover(8)])
def test_lemmas_close_the_box_of_all_action_sets(
    monkeypatch: pytest.MonkeyPatch, world: Any
) -> None:
    answer = learned(monkeypatch, world)
    lemmas, cover = answer.certificate["lemmas"], answer.certificate["cover"]
    assert lemmas
    assert len(cover) == 1
    assert answer.verify().claim
    for number in range(len(lemmas)):
        fewer = answer.certificate | {"lemmas": lemmas[:number] + lemmas[number + 1 :]}
        with pytest.raises(VerifyError):
            replace(answer, certificate=fewer).verify()


def test_a_lemma_may_not_cite_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = learned(monkeypatch, pigeonhole(4))
    for lemmas in ([[[], [["p", 0]]]], [[[], [["p", -1]]]], [[[], ["p"]]]):
        forged = answer.certificate | {"lemmas": lemmas, "cover": [["p", 0]]}
        with pytest.raises(VerifyError):
            replace(answer, certificate=forged).verify()


def test_lemmas_and_trees_certify_the_same_claims(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(certify, "TREE", 0)
    verified = [answer.verify() for answer in certified_answers(ruled(17, 40))]
    assert len(verified) > 25


def test_unit_propagation_closes_a_chain_of_constraints() -> None:
    names = [f"x{each}" for each in range(60)]
    rules = [f":- {one}(X,y), {other}(X,n)." for one, other in itertools.pairwise(names)]
    features = {name: {"type": "category", "values": ["n", "y"]} for name in names}
    features["x59"]["action"] = "fixed"
    document = {"goal": "x0(X,y)", "rules": "\n".join(rules), "features": features}
    problem, row = Problem.from_dict(document), dict.fromkeys(names, "n")
    plan = problem.plan(row).to_dict()
    assert plan["status"] == "infeasible"
    assert certified(problem, row, plan).certificate["cover"] == ["p"]


def restricted(seed: int, count: int) -> Iterator[tuple[Problem, Mapping[str, Any]]]:
    """Yield random questions of people with restrictions and missing values."""
    for number in range(count):
        rng = random.Random(f"{seed}/{number}")
        document, row = random_problem(rng, tiny=bool(number % 2))
        problem = Problem.from_dict(document)
        row |= {name: None for name in row if rng.random() < 0.2}
        yield problem.restricted(random_restrictions(rng, problem.theory.features)), row


@pytest.mark.parametrize("seed", range(4))
def test_every_answer_to_a_restricted_question_is_certified(seed: int) -> None:
    verified = [answer.verify() for answer in certified_answers(restricted(seed, 40))]
    assert len(verified) > 20


def test_a_dearer_path_gets_no_certificate() -> None:
    refused = 0
    for answer in certified_answers(ruled(11, 40)):
        problem, row = answer.problem, answer.row
        plan = problem.plan(row)
        for other in problem.nearest(row, k=3)[1:]:
            assert plan.cost is not None
            assert other.cost is not None
            if other.cost > plan.cost * 1.001:
                with pytest.raises(UncertifiedError):
                    certified(problem, row, other.to_dict())
                refused += 1
    assert refused > 5


def test_an_infeasible_claim_of_a_feasible_person_gets_no_certificate() -> None:
    problem, row = Problem.example("loan"), datasets.rows("loan")["john"]
    plan = problem.plan(row, restrict={"debt": "fixed"}).to_dict()
    assert plan["status"] == "infeasible"
    with pytest.raises(UncertifiedError):
        certified(problem, row, plan)


def truthful(answer: Certified) -> bool:
    """Tell by brute force whether the claim of a plan is true."""
    due = best_plan(answer.problem.theory, answer.row)
    assert due is not None
    if due.status != answer.plan["status"]:
        return False
    cost = answer.plan["cost"]
    return due.cost == cost or (cost is not None and abs(due.cost - cost) <= 1e-8 * max(1, cost))


def mutants(answer: Certified, other: Certified, rng: random.Random) -> Iterator[Certified]:
    """Yield changed copies: of the cover, of the plan, and of the claim."""
    cover = answer.certificate["cover"]
    for _ in range(3):
        if cover:
            place = rng.randrange(len(cover))
            changed = list(cover)
            match rng.randrange(5):
                case 0:
                    del changed[place]
                case 1:
                    changed[place] = rng.choice(["p", "o", ["p", 0]])
                case 2:
                    changed[place] = [rng.randrange(6), rng.randrange(-3, 9)]
                case 3:
                    changed[place:] = ["p"]
                case _:
                    changed.insert(place, rng.randrange(6))
            yield replace(answer, certificate=answer.certificate | {"cover": changed})
    plan = answer.plan
    if plan["cost"] is not None:
        yield replace(answer, plan=plan | {"cost": plan["cost"] * 0.9 + 0.01})
    for status in ("found", "already", "infeasible"):
        certificate = answer.certificate | {"status": status}
        yield replace(answer, plan=plan | {"status": status}, certificate=certificate)
        emptied = plan | {"status": status, "steps": [], "cost": None}
        yield replace(answer, plan=emptied, certificate=certificate)
    if plan["steps"]:
        yield replace(answer, plan=plan | {"steps": plan["steps"][:-1]})
        yield replace(answer, plan=plan | {"steps": plan["steps"][::-1]})
    row = dict(answer.row)
    name = rng.choice(sorted(row))
    row[name] = rng.choice([None, *(each[name] for each in (other.row,) if name in each)])
    yield replace(answer, row=row, plan=plan | {"initial": row})


def accepted_mutants(seed: int, count: int) -> tuple[int, int]:
    """Return the number of mutants and of accepted ones, which are all true."""
    rng = random.Random(seed)
    answers = list(certified_answers(ruled(seed, count)))
    tried = kept = 0
    for answer, other in itertools.pairwise(answers):
        for mutant in mutants(answer, other, rng):
            tried += 1
            try:
                mutant.verify(forge=True)
            except VerifyError:
                continue
            kept += 1
            assert truthful(mutant), f"a false claim was accepted: {mutant}"
    return tried, kept


def test_no_false_claim_is_accepted() -> None:
    tried, _ = accepted_mutants(3, 25)
    assert tried > 200


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 120))
def test_no_false_claim_is_accepted_of_many(seed: int) -> None:
    tried, _ = accepted_mutants(seed, 40)
    assert tried > 300


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(200, 220))
def test_every_answer_by_rules_is_certified_of_many(seed: int) -> None:
    for answer in certified_answers(ruled(seed, 1_000)):
        answer.verify()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(200, 220))
def test_every_answer_of_a_parsed_model_is_certified_of_many(seed: int) -> None:
    for answer in certified_answers([*judged_problems(seed, 60), *unruled_problems(seed, 40)]):
        answer.verify()


def test_an_effect_on_a_missing_number_is_followed_to_each_cell() -> None:
    problem = Problem.from_dict(
        {
            "goal": "not reject(X), rank(X,N), N \\= 8",
            "rules": """
                reject(X) :- job(X,N), N>=1.
                reject(X) :- job(X,0).
                job(X,N) :- rank(X,M), M<8, N \\= 2.
                :- job(X,N), N>=1, rank(X,M), M>6.
            """,
            "features": {
                "rank": {"type": "int", "min": 5, "max": 8},
                "job": {"type": "int", "min": 0, "max": 1},
            },
        }
    )
    row = {"rank": 8, "job": None}
    plan = problem.plan(row)
    assert plan.status == "infeasible"
    assert certified(problem, row, plan.to_dict()).verify().claim == "no path exists"


def test_another_row_problem_or_model_is_refused_by_its_digest() -> None:
    answer = next(certified_answers(judged_problems(0, 5)))
    for part in ("problem", "model", "row"):
        with pytest.raises(VerifyError, match=f"another {part}"):
            replace(answer, certificate=answer.certificate | {part: "0" * 64}).verify()


def test_the_checker_runs_alone_in_an_isolated_interpreter(tmp_path: Path) -> None:
    problem, row = Problem.example("loan"), datasets.rows("loan")["john"]
    answer = certified(problem, row, problem.plan(row).to_dict())
    from p2c._plan.certificate.canonical import canonical

    files = []
    for name, document in (
        ("problem", canonical(problem.theory)),
        ("row", answer.row),
        ("plan", answer.plan),
        ("certificate", answer.certificate),
    ):
        files.append(tmp_path / f"{name}.json")
        files[-1].write_text(json.dumps(document))
    source = Path(p2c_verify.__file__).parent.parent
    run = "import sys; sys.path.insert(0, sys.argv.pop(1)); from p2c_verify.__main__ import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-I", "-S", "-c", run, str(source), *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("verified: the plan is a path of cost 0.00502")
    files[2].write_text(json.dumps(answer.plan | {"cost": 0.004}))
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("not verified: ")
