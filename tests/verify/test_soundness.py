"""False claims, changed problems and malformed documents in the checker."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import random
import re
import sys
import tokenize
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import p2c_verify
from p2c import datasets
from p2c._learn.model.read_model import ReadModel
from p2c._plan.certificate.canonical import canonical
from p2c.errors import P2CError
from p2c.problem import Problem
from p2c_verify import VerifyError, verify
from p2c_verify.claims import digests, opened
from p2c_verify.forest import Records
from p2c_verify.problem import parse
from tests.oracle import best_plan
from tests.plan.judged import judged_problems, never
from tests.strategies import seeded_problems
from tests.verify.certified import Certified, certified, certified_answers
from tests.verify.test_certificates import truthful

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_LINES = 1_225
SOURCE = Path(p2c_verify.__file__).parent


def loan(**keys: Any) -> Certified:
    """Return the certified answer of the embedded loan problem."""
    problem, row = Problem.example("loan"), datasets.rows("loan")["john"]
    return certified(problem, row, problem.plan(row, **keys).to_dict())


def document(**changes: Any) -> dict[str, Any]:
    """Return a canonical problem: `rank` follows from `flag`, the goal is rank 5."""
    grid = {"start": 0, "stop": 10, "step": 1}
    plain = {"action": "free", "weight": 1, "divisor": 1}
    return {
        "format": "p2c-problem/1",
        "name": "small",
        "norm": "l1",
        "minimize": "cost",
        "exceptions": "abduce",
        "effects": "triggered",
        "features": [
            {"name": "flag", "type": "category", "domain": {"values": ["no", "yes"]}} | plain,
            {"name": "rank", "type": "int", "domain": grid} | plain | {"action": "effect"},
            {"name": "half", "type": "float", "domain": grid | {"step": 0.5}} | plain,
        ],
        "decisions": [],
        "causes": [
            {
                "feature": "rank",
                "law": "iff",
                "rules": [
                    {
                        "head": [["test", "rank", ">=", 5]],
                        "body": [["test", "flag", "=", "yes"]],
                        "text": "rule",
                    }
                ],
            }
        ],
        "equations": [],
        "constraints": [],
        "goal": [["test", "rank", ">=", 5]],
        "model": None,
    } | changes


def model(**changes: Any) -> dict[str, Any]:
    """Return a parsed model that accepts a `half` above 2, with rounding."""
    axis = {"feature": "half", "size": 3, "uppers": [2], "places": {}, "missing": 2, "whole": False}
    return {
        "axes": [axis],
        "bias": [0],
        "parts": [[0, [[1, 1]], [1], [-1]]],
        "lines": [],
        "accepted_from": [0],
        "refused_below": [0],
        "rounding": 0,
        "magnitude": 1,
    } | changes


ROW = {"flag": "no", "rank": None, "half": 0}


def small_plan(rank: float) -> dict[str, Any]:
    """Return the plan of the small problem that ends at a rank."""
    end = {"flag": "yes", "rank": rank, "half": 0}
    actions = [
        {"kind": "direct", "feature": "flag", "from": "no", "to": "yes", "cost": 1},
        {"kind": "causal", "feature": "rank", "from": None, "to": rank, "cost": 0}
        | {"because": ["rule"], "assumed": True},
    ]
    return {
        "status": "found",
        "problem": "small",
        "norm": "l1",
        "cost": 1,
        "optimal": True,
        "initial": ROW,
        "counterfactual": end,
        "exceptions": [],
        "steps": [{"actions": actions, "state": end}],
    }


def verify_forged(problem: Any, row: Any, plan: Any, cover: Any, answers: Any = ()) -> str:
    """Return the verified claim of documents whose digests are made to fit."""
    problem, row, plan, cover = (parse(json.dumps(each)) for each in (problem, row, plan, cover))
    certificate = {
        "format": "p2c-certificate/1",
        "status": plan["status"],
        "answers": list(answers),
        "points": [],
        "lemmas": [],
        "cover": cover,
        **digests(problem, row),
    }
    return verify(problem, row, plan, certificate).claim


def test_an_effect_from_a_missing_value_may_take_any_allowed_value_on_the_grid() -> None:
    assert verify_forged(document(), ROW, small_plan(7), ["p"]).startswith("the plan is a path")
    for rank in (4, 5.5, 11):
        with pytest.raises(VerifyError):
            verify_forged(document(), ROW, small_plan(rank), ["p"])


@pytest.mark.parametrize(
    "cover",
    [
        [],
        [""],
        ["c"],
        [[]],
        [[2, 3.5], "p", "p"],
        [["0", 1], "p", "p"],
        [None],
        ["p", "p"],
        ["x"],
        [9, "p", "p"],
        [-1, "p", "p"],
        [[0, 1, 2], "p", "p"],
        [{}, "p", "p"],
        [[2, 3], "p"],
    ],
)
def test_a_cover_without_a_reason_for_each_box_is_refused(cover: list[Any]) -> None:
    with pytest.raises(VerifyError):
        verify_forged(document(), ROW, small_plan(7), cover)


def test_a_cut_between_two_values_does_not_lose_one() -> None:
    answer = loan()
    plan = answer.plan | {"status": "infeasible", "steps": [], "cost": None}
    for cover in ([[1, Fraction(1, 2)], "p", "p"], [[1, -0.5], "p", "p"]):
        text = {"status": "infeasible", "cover": json.loads(json.dumps(cover, default=float))}
        with pytest.raises(VerifyError, match="no split"):
            replace(answer, plan=plan, certificate=answer.certificate | text).verify()


@pytest.mark.parametrize("norm", ["l0", "l1", "l2", "linf"])
def test_a_cost_below_zero_is_refused(norm: str) -> None:
    problem, row = Problem.example("loan"), datasets.rows("loan")["john"]
    problem = Problem.from_dict(problem.to_dict() | {"norm": norm})
    answer = certified(problem, row, problem.plan(row).to_dict())
    assert answer.verify()
    with pytest.raises(VerifyError):
        replace(answer, plan=answer.plan | {"cost": -answer.plan["cost"]}).verify()


def test_an_initial_state_that_the_model_leaves_open_is_refused() -> None:
    rounded = document(model=model(rounding=2))
    rounded["causes"][0]["rules"][0]["body"] = [["not", ["call", None]]]
    rounded["causes"][0]["law"] = "only_if"
    row = ROW | {"rank": 3}
    infeasible: dict[str, Any] = {"status": "infeasible", "steps": [], "cost": None, "initial": row}
    with pytest.raises(VerifyError, match="left open"):
        verify_forged(rounded, row, small_plan(7) | infeasible, ["p"])
    opened(parse(json.dumps(rounded)), row, Records({(0,): True}, {}))


@pytest.mark.parametrize(
    ("part", "fault"),
    [
        ([1, [[0, 1]], [-1], [1]], "malformed"),
        ([-1, [[0, 1]], [-1], [1]], "malformed"),
        ([0, [[-1, 0]], [-1], [1]], "malformed"),
        ([0, [[0, 1]], [-1], [1, 1]], "margin"),
        ([0, [[0, 1]], [-1]], "margin"),
        ([0, [[0, 1]], [-1], [0, [[0, 0]], [1]]], "margin"),
        ([], "margin"),
        ([None], "no number|not a number"),
    ],
)
def test_a_malformed_tree_of_a_model_is_refused(part: Any, fault: str) -> None:
    judged = document(model=model(parts=[part]), goal=[["call", None]])
    with pytest.raises(VerifyError, match=fault):
        verify_forged(judged, ROW, small_plan(7), ["p"])


@pytest.mark.parametrize(
    "changes",
    [
        {"accepted_from": [0, 0]},
        {"rounding": -1},
        {"axes": [model()["axes"][0] | {"uppers": [2, 1], "size": 4}]},
        {"lines": [{"axis": 1, "slope": [1]}]},
    ],
)
def test_a_malformed_model_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(VerifyError):
        verify_forged(document(model=model(**changes)), ROW, small_plan(7), ["p"])


@pytest.mark.parametrize(
    ("place", "change"),
    [
        (0, {"weight": -1}),
        (0, {"divisor": 0}),
        (1, {"divisor": "1/0"}),
        (1, {"domain": {"start": 0, "stop": 5, "step": 0}}),
        (1, {"domain": {"values": [2, 1]}}),
        (0, {"domain": {"values": ["a", "a"]}}),
        (0, {"action": "any"}),
        (0, {"moves": {"other": ["no"]}}),
        (0, {"name": "rank"}),
    ],
)
def test_a_malformed_feature_is_refused(place: int, change: dict[str, Any]) -> None:
    changed = document()
    changed["features"][place] |= change
    with pytest.raises(VerifyError):
        verify_forged(changed, ROW, small_plan(7), ["p"])


def test_a_fixed_missing_value_with_moves_stays() -> None:
    changed, row = document(), ROW | {"flag": None}
    changed["features"][0] |= {"action": "fixed", "moves": {"no": ["yes"]}}
    judge = opened(parse(json.dumps(changed)), row, Records({}, {}))
    assert judge.problem.features[0].permitted(judge.initial[0][0][0]) == ()


@pytest.mark.parametrize(
    "text",
    ["NaN", "[1e999999999]", "-Infinity", '{"a": 1, "a": 1}', "[" * 100_000, "", "9" * 5_000],
)
def test_a_text_that_is_no_strict_json_is_refused(text: str) -> None:
    with pytest.raises(VerifyError):
        parse(text)


def places(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of each part of a document."""
    yield path
    items = (
        data.items()
        if isinstance(data, dict)
        else enumerate(data)
        if isinstance(data, list)
        else ()
    )
    for key, value in items:
        yield from places(value, (*path, key))


def with_part(data: Any, path: tuple[Any, ...], junk: Any) -> Any:
    """Return a copy of a document in which one part is another."""
    if not path:
        return junk
    copy = data.copy()
    copy[path[0]] = with_part(data[path[0]], path[1:], junk)
    return copy


def test_a_document_of_any_other_shape_is_refused_and_never_a_traceback() -> None:
    rng = random.Random(5)
    junk: list[Any] = [None, "", -1, 0, 10**400, True, [], {}, [[]], "x", 0.5, [[1, [2]]], {"a": 1}]
    answers = [loan(), *list(certified_answers(judged_problems(0, 4)))[:2]]
    for answer in answers:
        documents = [canonical(answer.problem.theory), answer.row, answer.plan, answer.certificate]
        parsed = [parse(json.dumps(each)) for each in documents]
        for _ in range(400):
            which = rng.randrange(4)
            changed = list(parsed)
            path = rng.choice(list(places(parsed[which])))
            changed[which] = with_part(parsed[which], path, rng.choice(junk))
            with contextlib.suppress(AttributeError, TypeError, KeyError):
                changed[3] = {**changed[3], **digests(changed[0], changed[1])}
            try:
                verify(*changed)
            except VerifyError:
                continue


def changed_problems(data: dict[str, Any], rng: random.Random) -> Iterator[dict[str, Any]]:
    """Yield problems with another weight, action, law, norm, effect or constant."""
    for name, feature in data["features"].items():
        for key, value in (
            ("weight", rng.choice((0, 1, 2, 3))),
            ("action", rng.choice(("free", "up", "down", "fixed", "effect"))),
        ):
            yield {**data, "features": {**data["features"], name: {**feature, key: value}}}
    for key, value in (
        ("law", rng.choice(("iff", "if", "only_if"))),
        ("norm", rng.choice(("l0", "l1", "l2", "linf"))),
        ("effects", rng.choice(("triggered", "supported"))),
        ("exceptions", rng.choice(("abduce", "strict"))),
        ("minimize", rng.choice(("cost", "actions"))),
    ):
        yield {**data, key: value}
    for _ in range(3):
        constants = list(re.finditer(r"(?<=[<>=])\d+", data["rules"]))
        if constants:
            chosen = rng.choice(constants)
            other = str(int(chosen[0]) + rng.choice((-1, 1, 2)))
            text = data["rules"]
            yield {**data, "rules": text[: chosen.start()] + other + text[chosen.end() :]}


def accepted_changes(seed: int, count: int) -> tuple[int, int]:
    """Return the number of changed problems and of rightly kept claims."""
    rng = random.Random(seed)
    tried = kept = 0
    for data, row in seeded_problems(seed, count):
        for answer in certified_answers([(Problem.from_dict(data), row)]):
            before = canonical(answer.problem.theory)
            for changed in changed_problems(data, rng):
                try:
                    mutant = replace(answer, problem=Problem.from_dict(changed))
                    if canonical(mutant.problem.theory) == before:
                        continue
                    mutant = replace(mutant, row=mutant.problem.read_row(row))
                except P2CError:
                    continue
                mutant = replace(
                    mutant, plan=answer.plan | {"norm": mutant.problem.theory.norm.value}
                )
                tried += 1
                with pytest.raises(VerifyError):
                    mutant.verify()
                try:
                    mutant.verify(forge=True)
                except VerifyError:
                    continue
                kept += 1
                assert truthful(mutant), f"a false claim was accepted: {changed} {row}"
    return tried, kept


def test_a_certificate_holds_of_no_changed_problem_for_which_it_is_false() -> None:
    tried, kept = accepted_changes(1, 20)
    assert tried > 150
    assert kept > 10


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(300, 310))
def test_a_certificate_holds_of_no_changed_problem_for_which_it_is_false_of_many(seed: int) -> None:
    accepted_changes(seed, 60)


def accepted_models(seed: int, count: int) -> tuple[int, int]:
    """Return the number of changed models and of rightly kept claims."""
    rng = random.Random(seed)
    tried = kept = 0
    for answer in certified_answers(judged_problems(seed, count)):
        theory = answer.problem.theory
        assert isinstance(theory.model, ReadModel)
        score = theory.model.score
        for _ in range(4):
            table = rng.randrange(len(score.tables))
            values = np.array(score.tables[table].values)
            values.flat[rng.randrange(values.size)] += rng.choice((-3, -1, 1, 3))
            tables = list(score.tables)
            tables[table] = replace(tables[table], values=values)
            changed = ReadModel(replace(score, tables=tuple(tables)), never)
            other = replace(theory, model=changed)
            problem, row, plan, certificate = (
                parse(json.dumps(each))
                for each in (canonical(other), answer.row, answer.plan, answer.certificate)
            )
            tried += 1
            with pytest.raises(VerifyError, match="another model"):
                verify(problem, row, plan, certificate)
            try:
                verify(problem, row, plan, certificate | digests(problem, row))
            except VerifyError:
                continue
            kept += 1
            due = best_plan(other, answer.row)
            assert due is not None
            assert due.status == plan["status"]
            cost = answer.plan["cost"]
            assert due.cost == (cost if cost is None else pytest.approx(cost, rel=1e-8))
    return tried, kept


def test_a_certificate_holds_of_no_changed_model_for_which_it_is_false() -> None:
    tried, kept = accepted_models(2, 20)
    assert tried > 40
    assert kept > 5


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(400, 410))
def test_a_certificate_holds_of_no_changed_model_for_which_it_is_false_of_many(seed: int) -> None:
    accepted_models(seed, 60)


def test_the_checker_is_short() -> None:
    lines = 0
    for path in SOURCE.glob("**/*.py"):
        text = path.read_text(encoding="utf-8")
        code: set[int] = set()
        left_out = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT)
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type not in (*left_out, tokenize.DEDENT, tokenize.ENDMARKER):
                code |= set(range(token.start[0], token.end[0] + 1))
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                code -= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        lines += len(code)
    assert lines <= MOST_LINES


def test_the_checker_imports_the_standard_library_only() -> None:
    for path in SOURCE.glob("**/*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                assert not node.level
                names = [str(node.module)]
            for name in names:
                assert name.split(".")[0] in sys.stdlib_module_names | {"p2c_verify"}, (path, name)
