"""Files of rows: three formats, one list of states, every fault with its file, row and feature."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from p2c import Problem
from p2c.domain.files import read_rows
from p2c.errors import P2CError

if TYPE_CHECKING:
    from pathlib import Path

FEATURES = Problem.from_dict(
    {
        "goal": "age(X,5)",
        "rules": "",
        "features": {
            "age": {"type": "int", "min": 1, "max": 99},
            "job": {"type": "category", "values": ["clerk", "nurse, ward"]},
        },
    }
).theory.features
ROWS: list[dict[str, Any]] = [{"age": 31, "job": "nurse, ward"}, {"age": None, "job": "clerk"}]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("rows.json", json.dumps(ROWS)),
        ("rows.JSON", json.dumps(ROWS, indent=2)),
        ("rows.jsonl", "\n".join(map(json.dumps, ROWS)) + "\n\n"),
        ("rows.ndjson", "\r\n".join(map(json.dumps, ROWS))),
        ("rows.csv", 'age,job\n31,"nurse, ward"\n,clerk\n'),
        ("rows.csv", '\ufeffjob, age ,other\r\n"nurse, ward", 31 ,x\r\n\r\n clerk,nan,y'),
    ],
)
def test_every_format_gives_the_same_states(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8", newline="")
    assert read_rows(FEATURES, tmp_path / name) == ROWS


def test_a_json_object_is_one_row(tmp_path: Path) -> None:
    path = tmp_path / "row.json"
    path.write_text('\ufeff{"age": 5.0, "job": null}', encoding="utf-8")
    assert read_rows(FEATURES, str(path)) == [{"age": 5, "job": None}]


@pytest.mark.parametrize(
    ("name", "text"), [("a.json", "[]"), ("a.jsonl", ""), ("a.csv", "age,job\n")]
)
def test_a_file_may_hold_no_rows(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    assert read_rows(FEATURES, tmp_path / name) == []


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.json", '[{"age":1,"job":null},{"age":"x","job":"clark"}]',
         "row 2, age: expected a whole number, found 'x'; {path}, row 2, job: 'clark' is not one of its values; did you mean 'clerk'?"),
        ("a.json", '{"age":200,"job":null}', "age: 200 is outside its range, 1 to 99"),
        ("a.json", "5", "expected an object with a value for each feature, found a int"),
        ("a.json", "[5]", "row 1: expected an object with a value for each feature, found a int"),
        ("a.json", '{"age":1,"age":2,"job":null}', "the name 'age' stands there 2 times"),
        ("a.json", "{", "not JSON: Expecting property name"),
        ("a.jsonl", '{"age":1,"job":null}\n\n{"age":1}', "row 2, line 3, job: this feature is missing"),
        ("a.jsonl", "{]", "row 1, line 1: not JSON"),
        ("a.csv", "", "expected a line with the names of the columns, found nothing"),
        ("a.csv", "age,job,age\n1,clerk,2", "the name 'age' stands there 2 times"),
        ("a.csv", "age,job\n1,clerk\n2,clark", "row 2, line 3, job: 'clark' is not one of its values"),
        ("a.csv", "age,job\n1,clerk,7", "row 1, line 2: expected 2 cells as in the header, found 3"),
        ("a.csv", "age,job\n1", "row 1, line 2: expected 2 cells as in the header, found 1"),
        ("a.csv", "age;job\n1;clerk", "expected commas between the names of the columns, found ';'"),
        ("a.csv", "age\tjob\n1\tclerk", "expected commas between the names of the columns, found '\\t'"),
        ("a.csv", 'age,job\n1,"clerk', "line 2: a quote is opened here and never closed"),
        ("a.csv", "age,job\nTrue,clerk", "row 1, line 2, age: expected a whole number, found 'True'"),
    ],
)  # fmt: skip
def test_a_fault_names_the_file_the_row_and_the_feature(
    tmp_path: Path, name: str, text: str, message: str
) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(P2CError) as caught:
        read_rows(FEATURES, path)
    said = str(caught.value)
    assert said.startswith((f"{path}, ", f"{path}: "))
    assert said[len(str(path)) + 2 :].startswith(message.replace("{path}", str(path)))
    assert "\n" not in said


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_bytes(b"age\n\xff")
    for name, message in [
        ("none.json", "No such file"),
        ("bad.csv", "not UTF-8"),
        ("a.xls", ".csv"),
    ]:
        with pytest.raises(P2CError, match=message):
            read_rows(FEATURES, tmp_path / name)
