"""Tables of people: every row gets the answer that it gets alone, whatever holds it and however it is cut."""

from __future__ import annotations

import json
import math
import random
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from p2c._plan.outcome import DirectAction, GaveUp
from p2c._plan.planner import find_plan
from p2c._plan.tables import frames
from p2c.errors import P2CError, RowError
from p2c.problem import Problem
from tests.loan import JOHN, LOAN, category, whole
from tests.plan.tables.test_class_routes import widened
from tests.strategies import random_problem

if TYPE_CHECKING:
    from p2c._plan.outcome import Plan
    from p2c._rules.theory import Theory

Document = dict[str, Any]

RICH = {"age": 31, "debt": 0, "bank_balance": 70000, "credit_score": 700}
STUCK = JOHN | {"debt": 0}
WRONG = JOHN | {"debt": -5}
PEOPLE = [JOHN, RICH, STUCK, WRONG, JOHN | {"age": 50}]
STATUSES = ["found", "already", "infeasible", "invalid", "found"]


@pytest.fixture(scope="module")
def loan() -> Problem:
    return Problem.from_dict(LOAN)


def answer_alone(problem: Problem, row: Document) -> Plan | str:
    """Return the plan of one row, or the message that refuses it."""
    try:
        return find_plan(problem.compiled, problem.read_row(row))
    except RowError as error:
        return str(error)


def assert_row(problem: Problem, row: Document, found: Document) -> None:
    """Compare one row of the answer with what the row gets alone."""
    plan = answer_alone(problem, row)
    if isinstance(plan, str):
        assert (found["status"], found["message"]) == ("invalid", plan)
        assert math.isnan(found["cost"])
        assert (found["actions"], found["steps"]) == ("", "")
        assert (found["exceptions"], found["unknown"]) == ("", "")
        return
    assert (found["status"], found["message"]) == (plan.status, "")
    assert json.loads(found["exceptions"] or "[]") == list(plan.question.exceptions)
    unknown = problem.theory.missing(plan.question.initial)
    assert json.loads(found["unknown"] or "[]") == list(unknown)
    if plan.cost is None:
        assert math.isnan(found["cost"])
    else:
        assert found["cost"] == pytest.approx(plan.cost, rel=1e-9, abs=1e-12)
    for name, value in (plan.counterfactual or plan.question.initial).items():
        same_value(value, found[f"end_{name}"])
    if plan.status != "found":
        assert (found["actions"], found["steps"]) == ("", "")
        return
    acts = [list(step.actions) for step in plan.steps]
    direct = [
        {"feature": each.feature, "to": each.end}
        for step in acts
        for each in step
        if _is_direct(each)
    ]
    assert json.loads(found["actions"]) == direct
    assert json.loads(found["steps"]) == [
        [
            {
                "kind": "direct" if _is_direct(each) else "causal",
                "feature": each.feature,
                "to": each.end,
            }
            for each in step
        ]
        for step in acts
    ]


def _is_direct(action: Any) -> bool:
    return isinstance(action, DirectAction)


def same_value(expected: Any, found: Any) -> None:
    if expected is None:
        assert found is None or math.isnan(found)
        return
    assert found == expected
    assert isinstance(found, str) == isinstance(expected, str)
    if isinstance(expected, int):
        assert isinstance(found, int | np.integer), "a whole number stays one"


def assert_rows(problem: Problem, rows: list[Document], answer: pd.DataFrame) -> None:
    found = [{str(key): value for key, value in row.items()} for row in answer.to_dict("records")]
    assert len(found) == len(rows)
    for row, each in zip(rows, found, strict=True):
        try:
            assert_row(problem, row, each)
        except AssertionError as error:
            error.add_note(f"{problem.to_dict()!r}\n{row!r}")
            raise


def somebody(theory: Theory, rng: random.Random) -> Document:
    """Return a row with a missing value here and there, one off the grid, and one that does not fit."""
    row: Document = {}
    for feature in theory.features:
        chance = rng.random()
        if chance < 0.06:
            row[feature.name] = None
        elif chance < 0.10 and feature.kind.is_number:
            number = rng.uniform(feature.minimum, feature.maximum)
            row[feature.name] = int(number) if feature.kind.value == "int" else number
        elif chance < 0.12:
            row[feature.name] = rng.choice(["nonsense", 1e9, -1e9, 2.5, True, [], float("inf")])
        else:
            row[feature.name] = feature.domain.value(rng.randrange(feature.domain.size))
    return row


def frame_of(rows: list[Document]) -> pd.DataFrame:
    """Return a frame that leaves every value as it is."""
    return pd.DataFrame({key: pd.Series([r[key] for r in rows], dtype=object) for key in rows[0]})


def assert_table(seed: int) -> None:
    rng = random.Random(seed)
    document, row = random_problem(rng)
    if seed % 2:
        document = widened(document)
    if rng.random() < 0.25:
        document["exceptions"] = "strict"
    problem = Problem.from_dict(document)
    rows = [row, *(somebody(problem.theory, rng) for _ in range(30))]
    assert_rows(problem, rows, problem.plan_many(frame_of(rows)))


@pytest.mark.parametrize("seed", range(60))
def test_every_row_gets_the_answer_that_it_gets_alone(seed: int) -> None:
    assert_table(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 2000))
def test_every_row_of_many_more_gets_the_answer_that_it_gets_alone(seed: int) -> None:
    assert_table(seed)


def large_problem(count: int = 18) -> Problem:
    """Return a problem too large for routes of classes."""
    rules = [f"bad(X) :- f{each}(X,N), N<5." for each in range(count)]
    rules.append("e(X,'on') :- f0(X,N), N>=5.")
    features: Document = {f"f{each}": whole(0, 9) for each in range(count)}
    features["e"] = category("off", "on")
    document = {"goal": "not bad(X), e(X,'on')", "rules": "\n".join(rules), "features": features}
    return Problem.from_dict(document)


def test_a_problem_too_large_for_an_atlas_is_planned_row_by_row() -> None:
    problem = large_problem()
    assert not problem.compiled.is_small
    rng = random.Random(5)
    rows = [somebody(problem.theory, rng) for _ in range(40)]
    assert_rows(problem, rows, problem.plan_many(frame_of(rows)))


def test_many_features_that_rules_see_as_one_region_are_told_apart() -> None:
    """The code of a class counts a missing value for each of them, which is past 64 bits."""
    names = [f"f{each}" for each in range(70)]
    body = ", ".join(f"{name}(X,N{n}), N{n}=<100" for n, name in enumerate(names))
    features = {name: whole(0, 9) for name in names}
    document = {"goal": "good(X)", "rules": f"good(X) :- {body}.", "features": features}
    problem = Problem.from_dict(document)
    assert problem.compiled.is_small
    rows: list[Document] = [dict.fromkeys(names, 3) for _ in range(3)]
    rows[1]["f0"] = None
    rows[2]["f69"] = None
    assert_rows(problem, rows, problem.plan_many(frame_of(rows)))


def test_every_answer_is_in_the_order_of_the_rows(loan: Problem) -> None:
    answer = loan.plan_many(pd.DataFrame(PEOPLE))
    assert list(answer["status"]) == STATUSES
    assert list(answer.columns) == [
        "status",
        "cost",
        *(f"end_{name}" for name in JOHN),
        "actions",
        "steps",
        "exceptions",
        "unknown",
        "proof",
        "message",
    ]
    assert_rows(loan, PEOPLE, answer)
    assert answer["message"][3] == "debt: -5 is outside its range, 0 to 1000000"


def test_exceptions_and_what_is_not_known_stand_beside_the_answer(loan: Problem) -> None:
    people = [JOHN, JOHN | {"credit_score": None}, JOHN | {"age": None}, STUCK | {"debt": 0}]
    broken = Problem.from_dict({**LOAN, "rules": LOAN["rules"] + ":- age(X,N), N>80."})
    answer = broken.plan_many(pd.DataFrame([*people, JOHN | {"age": 81}]))
    assert list(answer["unknown"]) == ["", '["credit_score"]', '["age"]', "", ""]
    excused = [json.loads(each or "[]") for each in answer["exceptions"]]
    assert [len(each) for each in excused] == [0, 0, 0, 1, 1]
    assert excused[3][0]["feature"] == "credit_score"
    assert excused[4] == [{"constraint": ":- age(X,N), N>80."}]


def test_a_feature_with_moves_keeps_every_action_on_it() -> None:
    degrees = category("none", "school", "degree", moves={"none": ["school"], "school": ["degree"]})
    problem = Problem.from_dict(
        {"goal": "study(X,'degree')", "rules": "", "features": {"study": degrees}}
    )
    answer = problem.plan_many(pd.DataFrame([{"study": "none"}]))
    assert json.loads(answer["actions"][0]) == [
        {"feature": "study", "to": "school"},
        {"feature": "study", "to": "degree"},
    ]


def test_without_details_the_actions_are_left_out(loan: Problem) -> None:
    full, short = (loan.plan_many(pd.DataFrame(PEOPLE), details=each) for each in (True, False))
    pd.testing.assert_frame_equal(full.drop(columns=["actions", "steps"]), short)


def test_a_strict_problem_marks_who_breaks_a_rule(loan: Problem) -> None:
    answer = loan.plan_many(pd.DataFrame([JOHN, STUCK]), exceptions="strict")
    assert list(answer["status"]) == ["found", "invalid"]
    assert answer["message"][1].startswith("credit_score: the value 599 breaks the causal rule")


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 1000])
def test_however_the_table_is_cut_the_answer_is_the_same(
    loan: Problem, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    table = pd.DataFrame(PEOPLE * 3)
    expected = loan.plan_many(table)
    monkeypatch.setattr(frames, "CHUNK", chunk)
    pd.testing.assert_frame_equal(
        loan.plan_many(table), expected, check_dtype=False, check_categorical=False
    )
    words = Problem.from_dict(WORDS)
    assert_rows(words, WORD_ROWS * 3, words.plan_many(pd.DataFrame(WORD_ROWS * 3)))


def test_an_empty_table_has_an_empty_answer_with_its_columns(loan: Problem) -> None:
    answer = loan.plan_many(pd.DataFrame([JOHN])[:0])
    assert len(answer) == 0
    assert list(answer.columns) == list(loan.plan_many(pd.DataFrame([JOHN])).columns)
    assert len(loan.plan_many(pd.DataFrame({name: [] for name in JOHN}))) == 0


def test_the_index_of_a_frame_is_kept(loan: Problem) -> None:
    named = pd.Index(["a", "b", "b", "c", "d"], name="who")
    pairs = pd.MultiIndex.from_product([["x"], range(5)], names=["group", "number"])
    dates = pd.date_range("2024-01-01", periods=5)
    for index in (named, pairs, dates):
        answer = loan.plan_many(pd.DataFrame(PEOPLE, index=index))
        pd.testing.assert_index_equal(answer.index, index)
        assert list(answer["status"]) == STATUSES


@pytest.mark.parametrize(
    "dtype", ["int64", "int32", "uint32", "uint64", "float64", "float32", "Int64", "object"]
)
def test_numbers_of_any_type_are_read_alike(loan: Problem, dtype: Any) -> None:
    rows = [JOHN, RICH, STUCK]
    answer = loan.plan_many(pd.DataFrame(rows).astype(dtype))
    assert_rows(loan, rows, answer)
    assert answer["end_debt"].dtype == "int64"


def test_a_number_out_of_range_is_shown_as_people_write_it(loan: Problem) -> None:
    answer = loan.plan_many(pd.DataFrame([JOHN | {"debt": 1e9}]).astype("float64"))
    assert answer["message"][0] == "debt: 1000000000 is outside its range, 0 to 1000000"
    share = Problem.from_dict(WORDS).plan_many(pd.DataFrame([WORD_ROWS[0] | {"f": 1.5}]))
    assert share["message"][0] == "f: 1.5 is outside its range, 0.0 to 1.0"


def test_a_large_unsigned_number_is_not_taken_for_a_negative_one() -> None:
    features = {"n": whole(-100, 100)}
    problem = Problem.from_dict({"goal": "n(X,N), N>=5", "rules": "", "features": features})
    answer = problem.plan_many(pd.DataFrame({"n": np.array([7, 2**64 - 5], dtype=np.uint64)}))
    assert list(answer["status"]) == ["already", "invalid"]


@pytest.mark.parametrize("limit", [2**53, 2**62, 2**63, 10**30])
def test_a_range_wider_than_any_machine_number_is_planned(limit: int) -> None:
    features = {"n": whole(-limit, limit), "m": whole(0, 9)}
    document = {"goal": "n(X,N), N>=5, m(X,M), M>=5", "rules": "", "features": features}
    problem = Problem.from_dict(document)
    rows: list[Document] = [
        {"n": each, "m": 1} for each in (0, limit, -limit, limit + 1, None, 3.5)
    ]
    assert_rows(problem, rows, problem.plan_many(frame_of(rows)))
    small: list[Document] = [{"n": each, "m": 1} for each in (0, 7, -(2**53))]
    assert_rows(problem, small, problem.plan_many(pd.DataFrame(small)))


def test_truth_values_are_no_numbers_even_beside_them() -> None:
    features = {"n": whole(0, 1), "c": {"type": "category", "values": [0, 1]}}
    document = {"goal": "n(X,1), c(X,1)", "rules": "", "features": features}
    problem = Problem.from_dict(document)
    rows: list[Document] = [
        {"n": 1, "c": 1},
        {"n": True, "c": 1},
        {"n": 1, "c": True},
        {"n": 1, "c": np.True_},
    ]
    answer = problem.plan_many(frame_of(rows))
    assert list(answer["status"]) == ["already", "invalid", "invalid", "invalid"]
    plain = problem.plan_many(pd.DataFrame({"n": [True, False], "c": [1, 1]}))
    assert list(plain["status"]) == ["invalid", "invalid"]


WORDS: Document = {
    "goal": "c(X,'naïve'), n(X,N), N>=5",
    "rules": "",
    "features": {"c": category("naïve", "b c"), "n": whole(0, 9), "f": {"type": "float", "min": 0, "max": 1}},
}  # fmt: skip
WORD_ROWS: list[Document] = [
    {"c": "b c", "n": 1, "f": 0.5},
    {"c": None, "n": None, "f": None},
    {"c": "naïve", "n": 7, "f": 0.25},
    {"c": "z", "n": 50, "f": 1.0},
]


@pytest.mark.parametrize("words", ["object", "category", "string", "str"])
@pytest.mark.parametrize("numbers", ["object", "float64", "Int64"])
def test_names_and_missing_values_of_any_type_are_read_alike(words: Any, numbers: Any) -> None:
    problem = Problem.from_dict(WORDS)
    table = pd.DataFrame(WORD_ROWS).astype({"c": words, "n": numbers})
    assert_rows(problem, WORD_ROWS, problem.plan_many(table))


def test_a_polars_frame_gets_a_polars_frame_with_typed_columns() -> None:
    polars = pytest.importorskip("polars")
    problem = Problem.from_dict(WORDS)
    answer = problem.plan_many(polars.DataFrame(WORD_ROWS))
    assert isinstance(answer, polars.DataFrame)
    _assert_typed(problem, answer.to_dicts())
    assert answer.schema["end_n"] == polars.Int64
    assert answer.schema["end_f"] == answer.schema["cost"] == polars.Float64
    empty = problem.plan_many(polars.DataFrame(WORD_ROWS)[:0])
    assert empty.schema == answer.schema
    with pytest.raises(P2CError, match="found a LazyFrame"):
        problem.plan_many(polars.DataFrame(WORD_ROWS).lazy())


def test_an_arrow_table_gets_an_arrow_table_with_typed_columns() -> None:
    arrow = pytest.importorskip("pyarrow")
    problem = Problem.from_dict(WORDS)
    answer = problem.plan_many(arrow.Table.from_pylist(WORD_ROWS))
    assert isinstance(answer, arrow.Table)
    _assert_typed(problem, answer.to_pylist())
    assert answer.schema.field("end_n").type == arrow.int64()


def _assert_typed(problem: Problem, found: list[Document]) -> None:
    for row, each in zip(WORD_ROWS, found, strict=True):
        assert_row(
            problem, row, {**each, "cost": math.nan if each["cost"] is None else each["cost"]}
        )
    assert [each["end_n"] for each in found] == [5, 5, 7, None]


def test_a_feature_may_be_called_like_a_column_of_the_answer() -> None:
    polars = pytest.importorskip("polars")
    features = {"status": whole(0, 9), "cost": category("a", "b")}
    goal = "status(X,N), N>=5, cost(X,'b')"
    problem = Problem.from_dict({"goal": goal, "rules": "", "features": features})
    rows = [{"status": 1, "cost": "a"}]
    for table in (pd.DataFrame(rows), polars.DataFrame(rows)):
        answer = problem.plan_many(table)
        assert list(answer["status"]) == ["found"]
        assert list(answer["end_status"]) == [5]
        assert list(answer["end_cost"]) == ["b"]


def test_missing_columns_are_one_error_that_names_them(loan: Problem) -> None:
    table = pd.DataFrame([JOHN]).rename(columns={"debt": "dept"}).drop(columns=["age"])
    with pytest.raises(RowError) as refused:
        loan.plan_many(table)
    assert "\n" not in str(refused.value)
    assert "debt: no such column; did you mean 'dept'?" in str(refused.value)
    assert "age: no such column" in str(refused.value)


def test_other_columns_are_left_aside(loan: Problem) -> None:
    table = pd.DataFrame([JOHN]).assign(name="John", when=pd.Timestamp("2024-01-01"))
    pd.testing.assert_frame_equal(loan.plan_many(table), loan.plan_many(pd.DataFrame([JOHN])))


@pytest.mark.parametrize("table", [[JOHN], {"age": [1]}, None, 5, pd.Series(JOHN)])
def test_what_is_no_table_is_refused_in_one_line(loan: Problem, table: Any) -> None:
    with pytest.raises(P2CError, match="expected a pandas, polars or pyarrow table") as refused:
        loan.plan_many(table)
    assert "\n" not in str(refused.value)


def test_columns_of_one_name_are_refused_in_one_line(loan: Problem) -> None:
    table = pd.DataFrame([[1, 2]], columns=["age", "age"])
    with pytest.raises(P2CError, match="unique column names") as refused:
        loan.plan_many(table)
    assert "\n" not in str(refused.value)


def test_overrides_hold_for_the_whole_table(loan: Problem) -> None:
    assert list(loan.plan_many(pd.DataFrame([JOHN, RICH]), norm="l0")["cost"]) == [2, 0]


def test_a_row_that_is_given_up_has_the_best_way_so_far_and_the_bound() -> None:
    features = {f"f{each}": category("a", "b", "c", "d") for each in range(8)}
    rules = [f"ok(X) :- f0(X,'{value}'), f1(X,'{value}')." for value in "bcd"]
    rules += [f":- f{each}(X,'{value}'), f0(X,'a')." for each in range(1, 8) for value in "bcd"]
    problem = Problem.from_dict({"goal": "ok(X)", "rules": " ".join(rules), "features": features})
    row = dict.fromkeys(features, "a")
    limited = ((limit, problem.plan(row, node_limit=limit)) for limit in range(100))
    limit, plan = next((limit, plan) for limit, plan in limited if plan.cost is not None)
    assert isinstance(plan, GaveUp)
    found = problem.plan_many(pd.DataFrame([row]), node_limit=limit).iloc[0]
    assert (found["status"], found["cost"]) == ("gave_up", plan.cost)
    bound = f"the search stopped at its limit; no way costs less than {plan.bound}"
    assert found["message"] == bound
    best = {act["feature"]: act["to"] for act in json.loads(found["actions"])}
    assert row | best == plan.counterfactual == {name: found[f"end_{name}"] for name in features}


def test_progress_goes_to_the_error_stream_and_only_when_asked_for(
    loan: Problem, capsys: pytest.CaptureFixture[str]
) -> None:
    loan.plan_many(pd.DataFrame(PEOPLE))
    assert capsys.readouterr() == ("", "")
    loan.plan_many(pd.DataFrame(PEOPLE), progress=True)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "5/5" in shown.err


def assert_off_grid(seed: int) -> None:
    """Plan for people most of whose numbers lie off the grid, some of them at or near what rules mention."""
    rng = random.Random(seed)
    document = widened(random_problem(rng)[0])
    document["norm"] = rng.choice(["l0", "l1", "l2", "linf"])
    document["minimize"] = rng.choice(["cost", "actions"])
    for feature in document["features"].values():
        if feature["type"] == "float" and "values" not in feature:
            feature["step"] = rng.choice([0.5, 0.3])
        elif feature["type"] == "int" and "values" not in feature:
            feature["step"] = rng.choice([2, 3])
    problem = Problem.from_dict(document)
    rows = []
    for _ in range(25):
        person = somebody(problem.theory, rng)
        for feature in problem.theory.features:
            if feature.kind.is_number and rng.random() < 0.6:
                number = rng.uniform(feature.minimum, feature.maximum)
                whole_number = feature.kind.value == "int"
                person[feature.name] = int(number) if whole_number else round(number, 2)
        rows.append(person)
    assert_rows(problem, rows, problem.plan_many(frame_of(rows)))


@pytest.mark.parametrize("seed", range(40))
def test_values_off_the_grid_get_the_answer_that_they_get_alone(seed: int) -> None:
    assert_off_grid(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 2000))
def test_many_more_values_off_the_grid_get_the_answer_that_they_get_alone(seed: int) -> None:
    assert_off_grid(seed)


@pytest.mark.parametrize("norm", ["l0", "l1", "l2"])
@pytest.mark.parametrize("step", [0.1, 0.000001])
def test_the_cost_of_a_row_is_that_of_the_plan_bit_for_bit(norm: str, step: float) -> None:
    data = {
        "goal": "f(X,N), N>=0.7, g(X,M), M>=2.3",
        "rules": "",
        "norm": norm,
        "features": {
            "f": {"type": "float", "min": 0, "max": 1, "step": step, "weight": 0.3},
            "g": {"type": "float", "min": -1.7, "max": 3, "step": step},
        },
    }
    problem = Problem.from_dict(data)
    people = pd.DataFrame(
        {"f": [each / 10 for each in range(10)], "g": [each / 10 - 1.7 for each in range(10)]}
    )
    people = people.round(1)
    rows: list[Any] = people.to_dict("records")
    alone = [problem.plan(row).cost for row in rows]
    assert problem.plan_many(people)["cost"].tolist() == alone


@pytest.mark.parametrize("engine", ["auto", "native", "clingo"])
def test_every_answer_of_a_table_says_how_it_is_proved(engine: str) -> None:
    problem = Problem.from_dict(LOAN)
    people = pd.DataFrame([JOHN | {"debt": debt} for debt in (0, 5000, -1)])
    table = problem.plan_many(people, engine=engine)
    assert table["status"].tolist() == ["infeasible", "found", "invalid"]
    assert table["proof"].tolist() == ["exhausted", "exhausted", ""]
    stopped = problem.plan_many(people[:1], time_limit=1e-9, engine=engine)
    assert stopped["proof"].tolist() == [
        "none" if status == "gave_up" else "exhausted" for status in stopped["status"]
    ]


def test_grid_points_that_no_float_holds_exactly_cost_what_they_cost_alone() -> None:
    grid = {"type": "float", "min": 0.05, "max": 5.05, "step": 1 / 3}
    goal = "f(X,N), N>3.35, g(X,M), M>2.15"
    problem = Problem.from_dict({"goal": goal, "rules": "", "features": {"f": grid, "g": grid}})
    rows = [{"f": 4.48, "g": 2.09}, {"f": 0.71, "g": 3.48}, {"f": 1.57, "g": 0.05 + 1 / 3}]
    table = problem.plan_many(frame_of(rows))
    for row, line in zip(rows, table.to_dict("records"), strict=True):
        plan = problem.plan(row)
        assert plan.cost == line["cost"]
        assert plan.counterfactual == {name: line[f"end_{name}"] for name in row}
        assert problem.check(plan).ok
