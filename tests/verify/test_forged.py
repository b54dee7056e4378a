"""False claims with certificates that a hostile author would try."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import pytest

from p2c._plan.certificate import certify
from p2c._plan.certificate.canonical import canonical
from p2c.errors import P2CError
from p2c.problem import Problem
from p2c_verify import VerifyError, verify
from p2c_verify.claims import digests
from p2c_verify.problem import parse
from tests.growing import pigeonhole
from tests.oracle import best_plan
from tests.plan.judged import judged_problems
from tests.strategies import seeded_problems
from tests.verify.certified import certified

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from p2c._plan.outcome import Plan

Document = dict[str, Any]
JUNK: list[Any] = [
    None, True, -1, 0, 1, 2, 10**6, 10**400, 0.5, -0.5, 1e308, "", "p", "o", "x", [], [[]], {}, ["p"],
    ["o"], ["p", 0], ["p", -1], ["p", 0, 0], ["p", 1.0], [0, 0], [0, 0.5], [0, -1], [1, 10**30], [0, 1, 2],
    ["0", 1], [None, 1], [True, False], {"p": 0},
]  # fmt: skip


def false_plans(problem: Problem, row: Mapping[str, Any], plan: Plan) -> Iterator[Document]:
    """Yield false claims: a dearer path, no path, the goal met at the start."""
    honest = plan.to_dict()
    emptied = honest | {"steps": [], "counterfactual": None}
    if plan.status == "found":
        yield emptied | {"status": "infeasible", "cost": None}
        if honest["cost"]:
            yield honest | {"cost": honest["cost"] * 0.5}
        yield honest | {"cost": honest["cost"] * 2 + 1}
        for other in problem.nearest(row, k=4)[1:]:
            assert other.cost is not None
            assert plan.cost is not None
            if other.cost > plan.cost * 1.001:
                yield other.to_dict() | {"optimal": True}
    if plan.status != "already":
        start = {"status": "already", "cost": 0, "counterfactual": honest["initial"]}
        yield emptied | start
    else:
        yield emptied | {"status": "infeasible", "cost": None}


def wide(rng: random.Random, size: int) -> list[Any]:
    """Return a lemma that holds all or most action sets, with an idle cover."""
    spans = rng.choice([[[-(10**9), 10**9]], [[0, 10**6]], [], [[5, 1]], [[-(10**1000), 10**1000]]])
    places = rng.sample(range(size), rng.randint(0, size))
    choices = [[place, rng.choice([True, True, False, 1]), spans] for place in places]
    if rng.random() < 0.2:
        choices += choices[:1]
    own = rng.choice([["p"], [], ["o"], [["p", 0]], [["p", -1]], [[0, 0], "p", "p"], [0, "p", "p"]])
    return [choices, own]


def forged(rng: random.Random, honest: Document, size: int) -> Document:
    """Return a certificate that claims more than it shows."""
    cover, lemmas = list(honest["cover"]), [list(each) for each in honest["lemmas"]]
    changed: Document = dict(honest)
    for _ in range(rng.randint(1, 3)):
        place = rng.randrange(len(cover) + 1)
        match rng.randrange(8):
            case 0:
                del cover[place : place + rng.randint(1, 3)]
            case 1:
                cover.insert(place, rng.choice(JUNK))
            case 2:
                cover[place:] = [rng.choice(["p", "o", ["p", 0], ["p", 0, 1]])]
            case 3:
                cover = [rng.choice(["p", "o", ["p", 0]])]
            case 4:
                lemmas.insert(rng.randint(0, len(lemmas)), wide(rng, size))
            case 5 if lemmas:
                choices, _ = lemmas[rng.randrange(len(lemmas))]
                if choices:
                    choices[rng.randrange(len(choices))][rng.randrange(3)] = rng.choice(JUNK)
            case 6 if lemmas:
                del lemmas[rng.randrange(len(lemmas))]
            case _:
                key = rng.choice(["answers", "points", "cover", "lemmas"])
                changed[key] = rng.choice([*JUNK, [[[0], True]], [[0, 0, [0]]], [[0, 0, [1e9]]]])
    return {"cover": cover, "lemmas": lemmas} | {
        key: changed[key] for key in changed if changed[key] != honest[key]
    }


def attempts(
    problem: Problem, row: Mapping[str, Any], rng: random.Random, tries: int
) -> Iterator[bool]:
    """Yield for each forged certificate of a false claim whether it is accepted."""
    plan = problem.plan(row)
    state = problem.read_row(row)
    due = best_plan(problem.theory, state)
    assert due is not None
    assert due.status == plan.status
    honest = certified(problem, row, plan.to_dict()).certificate
    documents = [parse(json.dumps(each)) for each in (canonical(problem.theory), state)]
    for false in false_plans(problem, row, plan):
        for number in range(tries):
            kept = {} if number == 0 else forged(rng, honest, len(state))
            certificate = honest | kept | {"status": false["status"]} | digests(*documents)
            try:
                text = json.dumps([false, certificate], default=str)
                verify(*documents, *parse(text))
            except VerifyError:
                yield False
            else:
                yield True


def assert_refused(seed: int, count: int, tries: int) -> int:
    """Return the number of forged certificates, all of which are refused."""
    rng, total = random.Random(f"forged/{seed}"), 0
    ruled = ((Problem.from_dict(document), row) for document, row in seeded_problems(seed, count))
    for problem, row in (*ruled, *judged_problems(seed, count // 3)):
        try:
            problem.plan(row)
        except P2CError:
            continue
        for accepted in attempts(problem, row, rng, tries):
            assert not accepted, f"a false claim was accepted: {problem.to_dict()} {row}"
            total += 1
    return total


def test_no_certificate_makes_a_false_claim_true() -> None:
    assert assert_refused(0, 15, 8) > 200


def test_no_lemma_makes_a_false_claim_true(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(certify, "TREE", 0)
    assert assert_refused(1, 10, 8) > 100
    document, row = pigeonhole(4)
    document["features"]["x0"]["values"] = [*document["features"]["x0"]["values"], "spare"]
    problem = Problem.from_dict(document)
    assert problem.plan(row).status == "found"
    rng = random.Random(7)
    assert not any(attempts(problem, row, rng, 60))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1_000, 1_020))
def test_no_certificate_makes_a_false_claim_true_of_many(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if seed % 2:
        monkeypatch.setattr(certify, "TREE", 0)
    assert assert_refused(seed, 60, 12) > 1_000
