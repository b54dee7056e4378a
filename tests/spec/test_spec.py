"""Problems as they are written down: every wrong key is one fault, at its place, with what would be right."""

from __future__ import annotations

import copy
import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from p2c import Problem
from p2c._spec.spec import load_spec, read_spec
from p2c.errors import P2CError, ProblemError

if TYPE_CHECKING:
    from pathlib import Path

PLAIN: dict[str, Any] = {
    "goal": "age(X,5)",
    "rules": "",
    "features": {
        "age": {"type": "int", "min": 1, "max": 9},
        "job": {"type": "category", "values": ["a", "b"]},
    },
}

# fmt: off
WRONG = [
    ('goal', 5, ['goal: expected text, found 5']),
    ('goal', None, ['goal: expected text, found None']),
    ('name', 5, ['name: expected text, found 5']),
    ('law', 'iif', ["law: expected 'iff', 'if' or 'only_if', found 'iif'"]),
    ('law', 3, ["law: expected 'iff', 'if' or 'only_if', found 3"]),
    ('exceptions', 'x', ["exceptions: expected 'abduce' or 'strict', found 'x'"]),
    ('effects', True, ["effects: expected 'triggered' or 'supported', found True"]),
    ('norm', 'l3', ["norm: expected 'l0', 'l1', 'l2' or 'linf', found 'l3'"]),
    ('minimize', 'time', ["minimize: expected 'cost', 'actions' or a resource, found 'time'; known: 'actions', 'cost'"]),
    ('rules', ['a'], ['rules: expected text, found a list']),
    ('rules_file', 3, ['rules_file: expected text, found 3']),
    ('features', [], ['features: expected a table, found a list']),
    ('features', {}, ['features: expected at least one feature']),
    ('features', None, ['features: expected a table, found None']),
    ('causal', 'iff', ["causal: unknown key; did you mean 'law', the law of the causal rules?"]),
    ('features.age.causal', 'iff', ["features.age.causal: unknown key; did you mean 'law', the law of the causal rules?"]),
    ('goals', 'x', ["goals: unknown key; did you mean 'goal'?"]),
    ('features.age', 5, ["features.age: expected a table of keys such as 'type', found 5"]),
    ('features.age.type', 'itn', ["features.age.type: expected 'int', 'float', 'category' or 'ordinal', found 'itn'"]),
    ('features.age.type', None, ["features.age.type: expected 'int', 'float', 'category' or 'ordinal', found None"]),
    ('features.age.min', 'x', ["features.age.min: expected a number, found 'x'"]),
    ('features.age.min', True, ['features.age.min: expected a number, found True']),
    ('features.age.min', math.nan, ['features.age.min: expected a number within the range of a float, found nan']),
    ('features.age.min', 10**400, ['features.age.min: expected a number within the range of a float, found a number of more than 30 digits']),
    ('features.age.min', 1.5, ['features.age.min: expected a whole number, found 1.5']),
    ('features.age.min', 20, ['features.age.min: expected at most max = 9, found 20']),
    ('features.age.min', [1], ['features.age.min: expected a number, found a list']),
    ('features.age.max', math.inf, ['features.age.max: expected a number within the range of a float, found inf']),
    ('features.age.max', None, ["features.age.max: a number needs 'min' and 'max', or 'values'"]),
    ('features.age.step', 0, ['features.age.step: expected a number above 0, found 0']),
    ('features.age.step', 'x', ["features.age.step: expected a number above 0, found 'x'"]),
    ('features.age.step', 0.5, ['features.age.step: expected a whole number, found 0.5']),
    ('features.age.weight', -1, ['features.age.weight: expected a number, 0 or more, found -1']),
    ('features.age.weight', 'x', ["features.age.weight: expected a number, 0 or more, found 'x'"]),
    ('features.age.scale', 0, ["features.age.scale: expected 'range' or a number above 0, found 0"]),
    ('features.age.scale', 'rnage', ["features.age.scale: expected 'range' or a number above 0, found 'rnage'"]),
    ('features.age.scale', np.array([1, 2]), ["features.age.scale: expected 'range' or a number above 0, found a ndarray"]),
    ('features.age.action', 'effcet', ["features.age.action: expected 'free', 'up', 'down', 'fixed' or 'effect', found 'effcet'"]),
    ('features.age.action', 'effect', ["features.age.action: 'effect' needs a causal rule with this feature as its head; there is none"]),
    ('features.age.law', 'if', ['features.age.law: no causal rule has this feature as its head, so no law applies']),
    ('features.age.moves', {'a': ['b']}, ["features.age.moves: only a category or an ordinal has moves; use action 'up' or 'down'"]),
    ('features.age.values', [1, 2], ["features.age.values: give either 'values' or 'min', 'max' and 'step'"]),
    ('features.age.label', 5, ['features.age.label: expected text, found 5']),
    ('features.age.unit', None, ['features.age.unit: expected text, found None']),
    ('features.age.phrase', ['x'], ['features.age.phrase: expected text, found a list']),
    ('features.age.phrase', 'you owe {amount}', ['features.age.phrase: nothing fills in {amount}; there are {label} and {value}']),
    ('features.age.phrase', 'you owe {value more', ['features.age.phrase: nothing fills in {value more; there are {label} and {value}']),
    ('features.age.phrase', 'you owe value}', ['features.age.phrase: nothing fills in }; there are {label} and {value}']),
    ('features.age.advice', 'go to {value}, {Start} and {end}', ['features.age.advice: nothing fills in {value}; there are {label}, {start} and {end}', 'features.age.advice: nothing fills in {Start}; there are {label}, {start} and {end}']),
    ('features.age.languages', {'de': {'phrase': 'Sie sind { value }'}}, ['features.age.languages.de.phrase: nothing fills in { value }; there are {label} and {value}']),
    ('features.age.colour', 'red', ["features.age.colour: unknown key; known: 'action', 'advice', 'equation', 'kept', 'label', 'languages', 'law', 'max', …"]),
    ('features.age.lable', 'x', ["features.age.lable: unknown key; did you mean 'label'?"]),
    ('features.job.values', None, ['features.job.values: a category needs its values']),
    ('features.job.values', 'ab', ["features.job.values: expected a list, found 'ab'"]),
    ('features.job.values', [], ['features.job.values: expected at least one value']),
    ('features.job.values', ['a', None], ['features.job.values.1: expected a name or a number, found None']),
    ('features.job.values', ['a', 'a'], ["features.job.values: the value 'a' is listed twice"]),
    ('features.job.values', [1, '1'], ["features.job.values: the values 1 and '1' read alike"]),
    ('features.job.values', ['a', math.nan], ['features.job.values.1: expected a number within the range of a float, found nan']),
    ('features.job.min', 1, ["features.job.min: a category has 'values' instead"]),
    ('features.job.scale', 2, ["features.job.scale: a category has no scale; use 'weight'"]),
    ('features.job.action', 'up', ["features.job.action: 'up' needs an order: use a number or type 'ordinal'"]),
    ('features.job.moves', 5, ['features.job.moves: expected a table, found 5']),
    ('features.job.moves', {'a': 'b'}, ["features.job.moves.a: expected a list, found 'b'"]),
    ('features.job.moves', {'c': ['a']}, ["features.job.moves: 'c' is not one of the values; known: 'a', 'b'"]),
    ('features.job.moves', {'a': ['c', 'c'], 'b': ['c']}, ["features.job.moves: 'c' is not one of the values; known: 'a', 'b'"]),
    ('features.job.moves', {'a': ['c']}, ["features.job.moves: 'c' is not one of the values; known: 'a', 'b'"]),
    ('features.job.moves', {'a': [True]}, ['features.job.moves.a.0: expected a name or a number, found True']),
    ('features.job.moves', {None: ['a']}, ['features.job.moves.None: expected text, found None']),
    ('features.job.type', 'int', ["features.job.values: expected numbers, found 'a'"]),
]
# fmt: on


def faults(problem: Any) -> list[str]:
    with pytest.raises(ProblemError) as caught:
        Problem.from_dict(problem)
    return [str(fault) for fault in caught.value.faults]


@pytest.mark.parametrize(("key", "value", "expected"), WRONG)
def test_a_wrong_key_is_one_fault_that_says_what_is_right(
    key: str, value: Any, expected: list[str]
) -> None:
    problem = copy.deepcopy(PLAIN)
    *path, last = key.split(".")
    table = problem
    for each in path:
        table = table[each]
    table[last] = value
    assert faults(problem) == expected


@pytest.mark.parametrize("key", ["goal", "features"])
def test_a_missing_key_is_named(key: str) -> None:
    problem = {each: value for each, value in PLAIN.items() if each != key}
    assert faults(problem) == [f"{key}: this key is missing"]


def test_a_row_in_the_place_of_a_problem_is_said_to_be_one() -> None:
    assert faults({"age": 31, "debt": 0}) == [
        "no problem: it has 'age', 'debt', and none of 'goal', 'rules', 'features'; is it a row? A problem comes first"
    ]


def test_a_feature_named_like_a_type_keeps_its_name_in_a_fault() -> None:
    problem = PLAIN | {"features": {"int": {"type": "int", "min": "x", "max": 9}}}
    assert faults(problem) == ["features.int.min: expected a number, found 'x'"]


def test_all_faults_are_reported_at_once() -> None:
    problem = PLAIN | {"norm": "l9", "features": {"age": {"type": "int", "min": "x", "max": []}}}
    assert [each.split(":")[0] for each in faults(problem)] == [
        "norm",
        "features.age.min",
        "features.age.max",
    ]


@pytest.mark.parametrize("data", [None, 5, [], "goal"])
def test_a_problem_is_a_table(data: Any) -> None:
    assert faults(data)[0].startswith("expected a table of keys such as 'goal' and 'features'")


def test_rules_come_from_one_place() -> None:
    message = "rules: give the rules either here or in 'rules_file', one of the two"
    assert faults(PLAIN | {"rules_file": "x.lp"}) == [message]
    assert faults({key: value for key, value in PLAIN.items() if key != "rules"}) == [message]


def test_a_file_of_rules_lies_beside_the_problem(tmp_path: Path) -> None:
    (tmp_path / "loan.lp").write_text("ok(X) :- age(X,5).", encoding="utf-8-sig")
    problem = {"goal": "ok(X)", "rules_file": "loan.lp", "features": PLAIN["features"]}
    (tmp_path / "loan.json").write_text(json.dumps(problem))
    assert Problem.load(tmp_path / "loan.json").spec.rules == "ok(X) :- age(X,5)."


RULES_IN_TOML = [
    ('''rules = """\n% a comment\nok(X) :- age(X,5).\nok(X) :- aeg(X,5).\n"""''', 6, 10),
    ("rules = '''ok(X) :- age(X,5).\nok(X) :- aeg(X,5).'''", 4, 10),
    ('  rules="ok(X) :- aeg(X,5)."', 3, 19),
    ("rules = 'ok(X) :- aeg(X,5).'", 3, 19),
    ('''rules = """\nok(X) :- age(X,N), N \\\\= 5.\nok(X) :- aeg(X,5)."""''', 5, 10),
]


@pytest.mark.parametrize(("rules", "line", "column"), RULES_IN_TOML)
def test_a_fault_in_rules_is_found_by_the_lines_of_their_file(
    rules: str, line: int, column: int, tmp_path: Path
) -> None:
    path = tmp_path / "ages.toml"
    text = f'name = "ages"\n# rules = "none"\n{rules}\ngoal = "ok(X), aeg(X,5)"\n'
    path.write_text(text + '[features.age]\ntype = "int"\nmin = 1\nmax = 9\n')
    hint = "unknown feature or decision 'aeg'; did you mean 'age'?"
    with pytest.raises(ProblemError) as caught:
        Problem.load(path)
    last = text.count("\n")
    assert str(caught.value).splitlines() == [
        f"{path}: rules: line {line}, column {column}: {hint}",
        f"{path}: goal: line {last}, column 16: {hint}",
    ]


def test_a_fault_in_a_file_of_rules_names_that_file(tmp_path: Path) -> None:
    (tmp_path / "ages.lp").write_text("\n% a comment\nok(X) :- aeg(X,5).\n")
    path = tmp_path / "ages.toml"
    path.write_text(
        'goal = "ok(X)"\nrules_file = "ages.lp"\n[features.age]\ntype = "int"\nmin = 1\nmax = 9\n'
    )
    with pytest.raises(ProblemError) as caught:
        Problem.load(path)
    hint = "unknown feature or decision 'aeg'; did you mean 'age'?"
    assert str(caught.value) == f"{path}: ages.lp: line 3, column 10: {hint}"


KEYS = """name = "ages"
goal = "ok(X)"
rules = '''
ok(X) :- age(X,N), N>=1.
'''
[features.age]  # whole years
type = "int"
  min = 9
max = 3
[features."home"]
type = "category"
values = ["none", "flat"]
moves = { none = "flat" }
[features]
job.type = "int"
"""


def test_a_fault_of_a_key_is_named_by_its_line_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "ages.toml"
    path.write_text(KEYS)
    with pytest.raises(ProblemError) as caught:
        Problem.load(path)
    assert str(caught.value).split("\n") == [
        f"{path}: features.home.moves.none: line 13, column 1: expected a list, found 'flat'",
    ]
    path.write_text(KEYS.replace('"flat" }', '["flat"] }'))
    with pytest.raises(ProblemError) as caught:
        Problem.load(path)
    assert str(caught.value).split("\n") == [
        f"{path}: features.age.min: line 8, column 3: expected at most max = 3, found 9",
        f"{path}: features.job.min: a number needs 'min' and 'max', or 'values'",
        f"{path}: features.job.max: a number needs 'min' and 'max', or 'values'",
    ]
    missing = KEYS.replace("  min = 9\n", "").replace('job.type = "int"\n', "")
    path.write_text(missing.replace('"flat" }', '["flat"] }'))
    with pytest.raises(ProblemError) as caught:
        Problem.load(path)
    hint = "a number needs 'min' and 'max', or 'values'"
    assert str(caught.value) == f"{path}: features.age.min: line 6, column 1: {hint}"


def test_a_number_of_thousands_of_digits_is_named_by_its_line(tmp_path: Path) -> None:
    path = tmp_path / "long.toml"
    path.write_text(
        f'goal = "ok(X)"\nrules = ""\n[features.age]\ntype = "int"\nmax = {"9" * 5000}\n'
    )
    with pytest.raises(P2CError) as caught:
        Problem.load(path)
    expected = "line 5: a number of 5,000 digits; numbers go up to about 1.8e308"
    assert str(caught.value) == f"{path}: not TOML: {expected}"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("none.lp", "No such file or directory"),
        ("a\0b", "it is no file name"),
        (".", "Is a directory"),
    ],
)
def test_a_file_of_rules_that_cannot_be_read_is_named(name: str, reason: str) -> None:
    problem = {key: value for key, value in PLAIN.items() if key != "rules"}
    with pytest.raises(ProblemError, match=reason):
        read_spec(problem | {"rules_file": name})


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("p.toml", b"goal = ", "not TOML"),
        ("p.json", b"{", "not JSON"),
        ("p.json", b"[1]", "expected a table of keys"),
        ("p.toml", b"\xff", "it is not UTF-8 text"),
        ("p.json", b"1" * 5000, "not JSON"),
        ("p.toml", b"a = " + b"1" * 5000, "not TOML"),
        ("p.json", b"[" * 100_000, "not JSON"),
    ],
)
def test_a_file_that_is_no_problem_gives_one_line_with_its_name(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(P2CError) as caught:
        load_spec(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_moves_may_be_given_by_numbers_in_a_dict() -> None:
    rooms = {"type": "category", "values": [1, 2, 3], "moves": {1: [2], "2": [3]}}
    problem = Problem.from_dict({"goal": "rooms(X,3)", "rules": "", "features": {"rooms": rooms}})
    assert problem.theory.feature["rooms"].moves_from == {1: (2,), 2: (3,)}


def test_a_number_that_is_no_number_is_refused_in_its_file(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_text(
        'goal = "age(X,1)"\nrules = ""\n[features.age]\ntype = "int"\nmin = nan\nmax = 5\n'
    )
    with pytest.raises(
        ProblemError, match=r"features\.age\.min: line 5, column 1: expected a number"
    ):
        load_spec(path)
