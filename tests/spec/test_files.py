"""Files of rows: three formats, one list of states, every fault with its file, row and feature."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from p2c import Problem
from p2c._spec.files import LONGEST, Row, open_sheet, read_rows, read_sheet, split_lines
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
        ("a.json", "5", "expected an object with a value for each feature, found 5"),
        ("a.json", "[5]", "row 1: expected an object with a value for each feature, found 5"),
        ("a.json", '{"age":1,"age":2,"job":null}', "the name 'age' stands there 2 times"),
        ("a.json", "\n", "it is empty; expected a JSON object with each feature's value"),
        ("a.json", "{", "not JSON: line 1, column 2: Expecting property name"),
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


@pytest.mark.parametrize("ending", ["\n", "\r", "\r\n"])
@pytest.mark.parametrize("last", [True, False])
def test_lines_end_as_on_any_machine(ending: str, last: bool) -> None:
    text = ending.join(["a, b ", "", '1,"x\ry"', ' 5" pipe,""""']) + (ending if last else "")
    sheet = open_sheet(split_lines(text))
    assert sheet.names == ["a", "b"]
    assert list(sheet.rows) == [Row(1, 3, ["1", "x\ry"]), Row(2, 5, [' 5" pipe', '"'])]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "expected a line with the names of the columns, found nothing"),
        ("\n\n", "expected a line with the names of the columns, found nothing"),
        ("a;b\n1;2", "expected commas between the names of the columns, found ';'"),
        ("a,b, a\n", "the name 'a' stands there 2 times"),
        ('a,b\n1,2\n\n3,"4\n5,6\n', "line 4: a quote is opened here and never closed"),
        ('a,b\n"1"x,2', "line 2: expected a comma or the line's end after a closing quote"),
        ("a,b\n1,2\n3", "row 2, line 3: expected 2 cells as in the header, found 1"),
        ("a,b\n1,2\n3,4,5", "row 2, line 3: expected 2 cells as in the header, found 3"),
        ("a,b\n1,2\n3,\0", "line 3: a NUL, which no text has"),
        (f'a,b\n1,"{"x" * LONGEST}y', "line 2: a cell of more than 131,072 letters"),
    ],
)
def test_what_is_no_table_is_said_with_its_line(text: str, complaint: str) -> None:
    with pytest.raises(P2CError) as caught:
        list(open_sheet(split_lines(text)).rows)
    assert str(caught.value).startswith(complaint)


def test_a_file_may_begin_with_a_mark_and_is_named_where_it_is_no_table(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("\ufeffa,b\r1,ü".encode())
    assert list(read_sheet(path).rows) == [Row(1, 2, ["1", "ü"])]
    path.write_bytes("a,b\n1,ü".encode("latin-1"))
    with pytest.raises(P2CError, match=r"a\.csv: cannot be read: it is not UTF-8 text"):
        read_sheet(path)
    path.write_bytes(b"a,b\n1")
    with pytest.raises(P2CError, match=r"a\.csv: row 1, line 2: expected 2 cells"):
        read_sheet(path)
