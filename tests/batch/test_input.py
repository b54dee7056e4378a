"""The input of a batch: which files it has, where they are cut, and everything that is wrong with their columns."""

from __future__ import annotations

import csv
import time
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from p2c._batch import Options, part, readers
from p2c._batch.part import tables
from p2c._batch.persons import check_columns
from p2c._batch.source import cut, find_files
from p2c._spec.files import read_rows
from p2c.errors import P2CError
from tests.batch.people import PEOPLE, answer, loan, loan_people, read, write_parquet
from tests.loan import JOHN

if TYPE_CHECKING:
    from pathlib import Path


def write_csv(path: Path, rows: list[dict[str, Any]], **keys: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), **keys)
        writer.writeheader()
        writer.writerows(rows)
    return path


def refusal(source: Path, target: Path, **options: Any) -> str:
    """Return the one line that refuses an input, before anything is written."""
    with pytest.raises(P2CError) as refused:
        answer(loan(), source, target, **options)
    assert not target.exists()
    assert "\n" not in str(refused.value)
    return str(refused.value)


@pytest.mark.parametrize("sign", [";", "\t"])
def test_a_table_without_commas_is_told_so_once(tmp_path: Path, sign: str) -> None:
    (tmp_path / "a.csv").write_text(sign.join(JOHN) + "\n" + sign.join(map(str, JOHN.values())))
    message = refusal(tmp_path / "a.csv", tmp_path / "out")
    said = f"expected commas between the names of the columns, found {sign!r}"
    assert message == f"{tmp_path / 'a.csv'}: {said}"


def test_a_csv_file_gets_the_answers_of_the_same_parquet_file(tmp_path: Path) -> None:
    people = [*PEOPLE, *loan_people(200)]
    answer(loan(), write_parquet(tmp_path / "a.parquet", people), tmp_path / "one")
    answer(loan(), write_csv(tmp_path / "a.csv", people), tmp_path / "two")
    assert read(tmp_path / "one") == read(tmp_path / "two")


@pytest.mark.parametrize("block", [16, 50, 300, 10_000])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_a_csv_file_is_cut_between_records_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int, ending: str
) -> None:
    monkeypatch.setattr(readers, "BLOCK", block)
    rows = [
        row | {"note": note}
        for row, note in zip(
            loan_people(40),
            ['two\nlines, "quoted"', "", 'a "b"', "naïve ☃", "\n\n"] * 8,
            strict=True,
        )
    ]
    path = write_csv(tmp_path / "a.csv", rows, lineterminator=ending)
    parts = cut(find_files(path), rows=3)
    monkeypatch.setattr(readers, "BLOCK", 10_000)
    columns = check_columns(find_files(path), loan().theory.features, Options(("note",)), taken=[])
    assert len(parts) > 1 or block == 10_000
    notes = [
        note
        for part in parts
        for table in tables(columns, part)
        for note in table["note"].to_pylist()
    ]
    assert notes == [row["note"] for row in rows]


@pytest.mark.parametrize(("people", "sizes"), [([JOHN], [64]), (loan_people(64), [16] * 4)])
def test_more_rows_are_planned_for_at_once_where_people_resemble_one_another(
    people: list[dict[str, Any]],
    sizes: list[int],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, rows in {"CHUNK": 64, "SMALL_CHUNK": 16, "SAMPLE": 32}.items():
        monkeypatch.setattr(part, name, rows)
    path = write_parquet(tmp_path / "a.parquet", (people * 64)[:64])
    files = find_files(path)
    columns = check_columns(files, loan().theory.features, Options(), taken=[])
    (whole,) = cut(files, rows=64)
    assert [len(table) for table in tables(columns, whole)] == sizes


def test_a_csv_file_may_begin_with_a_mark_and_end_without_a_line_end(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    text = "\ufeffage, debt ,bank_balance,credit_score\r\n31,5000, 40000 ,599\n\n,5e3,40000,599"
    path.write_bytes(text.encode())
    assert answer(loan(), path, tmp_path / "out").statuses == {"found": 2}


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "expected a line with the names of the columns, found nothing"),
        (b"age,age\n1,2\n", "the name 'age' stands there 2 times"),
        (b"age,d\xff\n", "not UTF-8"),
    ],
)
def test_a_csv_file_without_usable_names_is_refused(
    tmp_path: Path, content: bytes, complaint: str
) -> None:
    (tmp_path / "a.csv").write_bytes(content)
    assert complaint in refusal(tmp_path / "a.csv", tmp_path / "out")


def test_a_csv_file_that_is_not_utf_8_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "a.csv", [JOHN])
    with path.open("ab") as file:
        file.write("31,5000,40000,599,Jürgen\n".encode("latin-1"))
    assert "it is not UTF-8 text" in refusal(path, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_csv_row_with_too_few_cells_is_refused_with_its_row_and_none_of_its_values(
    tmp_path: Path,
) -> None:
    path = write_csv(tmp_path / "a.csv", [JOHN])
    with path.open("a") as file:
        file.write("51,Jürgen\n")
    message = refusal(path, tmp_path / "out")
    assert message == f"{path}: row 2, line 3: expected 4 cells as in the header, found 2"


def test_a_quote_left_open_is_refused_with_its_line_as_when_one_person_is_planned_for(
    tmp_path: Path,
) -> None:
    path = write_csv(tmp_path / "a.csv", [JOHN] * 3000)
    lines = path.read_text().splitlines()
    lines[10] = lines[10].replace(",", ',"', 1)
    path.write_text("\n".join(lines))
    message = refusal(path, tmp_path / "out")
    assert message == f"{path}: line 11: a quote is opened here and never closed"
    with pytest.raises(P2CError, match=r"line 11: a quote is opened here and never closed"):
        read_rows(loan().theory.features, path)


@pytest.mark.parametrize("ending", ["\n", "\r", "\r\n"])
def test_nobody_is_lost_and_nobody_invented_whatever_ends_a_line(
    tmp_path: Path, ending: str
) -> None:
    people = [
        row | {"note": note}
        for row, note in zip(
            loan_people(600), ['5" pipe', f"two{ending}lines", "plain"] * 200, strict=True
        )
    ]
    path = tmp_path / "a.csv"
    cells = [f'"{row["note"]}"' if ending in row["note"] else row["note"] for row in people]
    lines = [
        ",".join([*["" if each is None else str(each) for each in row.values()][:-1], cell])
        for row, cell in zip(people, cells, strict=True)
    ]
    path.write_text(ending.join([",".join(people[0]), *lines]), newline="")
    summary = answer(loan(), path, tmp_path / "out", part_rows=7, keep=("note",))
    assert (summary.rows, summary.parts) == (600, 86)
    assert [row["note"] for row in read(tmp_path / "out")] == [row["note"] for row in people]


def test_a_csv_file_has_parts_as_large_as_asked_for(tmp_path: Path) -> None:
    write_csv(tmp_path / "in" / "a.csv", loan_people(250))
    write_csv(tmp_path / "in" / "b.csv", loan_people(30))
    parts = cut(find_files(tmp_path / "in"), rows=100)
    assert [part.rows for part in parts] == [100, 100, 80]


def test_a_folder_of_folders_is_read_with_the_columns_that_its_folders_name(tmp_path: Path) -> None:
    source = tmp_path / "in"
    rest = {key: value for key, value in JOHN.items() if key != "age"}
    write_parquet(source / "age=31" / "city=São Paulo%2F1" / "a.parquet", [rest, rest])
    write_parquet(source / "age=__HIVE_DEFAULT_PARTITION__" / "city=ü" / "a.parquet", [rest])
    write_parquet(source / "age=300" / "city=x" / "a.parquet", [rest])
    (source / "_SUCCESS").touch()
    answer(loan(), source, tmp_path / "out", keep=("city", "age"))
    found = [
        (row["status"], row["end_age"], row["city"], row["age"]) for row in read(tmp_path / "out")
    ]
    assert found == [
        ("invalid", None, "x", "300"),
        ("found", 31, "São Paulo/1", "31"),
        ("found", 31, "São Paulo/1", "31"),
        ("found", None, "ü", None),
    ]


def test_parquet_and_csv_may_lie_side_by_side(tmp_path: Path) -> None:
    write_parquet(tmp_path / "in" / "b.parquet", PEOPLE)
    write_csv(tmp_path / "in" / "a.csv", PEOPLE)
    answer(loan(), tmp_path / "in", tmp_path / "out")
    rows = read(tmp_path / "out")
    assert rows[: len(PEOPLE)] == rows[len(PEOPLE) :]


def test_parts_follow_row_groups_and_join_small_files(tmp_path: Path) -> None:
    people = loan_people(100)
    write_parquet(tmp_path / "in" / "a.parquet", people, row_group_size=30)
    for number in range(3):
        write_parquet(tmp_path / "in" / f"b{number}.parquet", people[:5])
    write_parquet(tmp_path / "in" / "c.parquet", [])
    parts = cut(find_files(tmp_path / "in"), rows=60)
    assert [part.rows for part in parts] == [60, 55]
    assert [len(part.pieces) for part in parts] == [1, 4]
    assert [part.rows for part in cut(find_files(tmp_path / "in"), rows=1)] == [
        30,
        30,
        30,
        10,
        5,
        5,
        5,
    ]


def test_everything_wrong_with_the_columns_is_said_at_once(tmp_path: Path) -> None:
    bad: dict[str, Any] = {"age": ["x"], "dept": [1], "credit_score": [True], "status": [1]}
    pq.write_table(pa.table(bad), tmp_path / "a.parquet")
    message = refusal(tmp_path / "a.parquet", tmp_path / "out", keep=("nmae", "status"))
    assert message.split("; ") == [
        "age: expected numbers, found string (a.parquet)",
        "debt: no such column",
        "did you mean 'dept'? (a.parquet)",
        "bank_balance: no such column",
        "known: 'dept', 'status' (a.parquet)",
        "credit_score: expected numbers, found bool (a.parquet)",
        "nmae: cannot be kept, no such column",
        "known: 'age', 'credit_score', 'dept', 'status' (a.parquet)",
        "status: cannot be kept, the answer has a column of this name (a.parquet)",
    ]


def test_carrying_many_columns_through_takes_time_in_their_number_alone(tmp_path: Path) -> None:
    seconds = []
    for count in (50, 2_000, 8_000):
        rows = [JOHN | dict.fromkeys((f"x{each}" for each in range(count)), 1)]
        path = write_parquet(tmp_path / f"{count}.parquet", rows)
        begun = time.process_time()
        answer(loan(), path, tmp_path / f"{count}", keep_all=True)
        seconds.append(time.process_time() - begun)
    assert seconds[2] < 8 * seconds[1]


def test_the_columns_of_every_file_are_looked_at(tmp_path: Path) -> None:
    write_parquet(tmp_path / "in" / "a.parquet", [JOHN | {"note": "x"}])
    write_parquet(tmp_path / "in" / "b.parquet", [JOHN | {"note": 1}])
    write_parquet(tmp_path / "in" / "c.parquet", [{"debt": "x"} | {"note": "x"}])
    write_parquet(tmp_path / "in" / "d.parquet", [{"debt": "x"} | {"note": "x"}])
    message = refusal(tmp_path / "in", tmp_path / "out", keep=("note",))
    assert "debt: expected numbers, found string (c.parquet and 1 more)" in message
    assert (
        "note: cannot be kept, expected string as in the first file, found int64 (b.parquet)"
        in message
    )


def test_columns_are_carried_through_as_they_are(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        JOHN | {"id": 7, "tags": ["a", "b"], "when": None},
        JOHN | {"id": 8, "tags": [], "when": None},
    ]
    path = write_parquet(tmp_path / "a.parquet", rows)
    summary = answer(loan(), path, tmp_path / "out", keep=("id", "debt"))
    assert summary.spare == ("tags", "when")
    assert [(row["id"], row["debt"]) for row in read(tmp_path / "out")] == [(7, 5000), (8, 5000)]
    summary = answer(loan(), path, tmp_path / "all", keep_all=True)
    assert summary.spare == ()
    assert [(row["id"], row["tags"], row["when"]) for row in read(tmp_path / "all")] == [
        (7, ["a", "b"], None),
        (8, [], None),
    ]


def test_an_input_without_rows_has_an_output_with_columns(tmp_path: Path) -> None:
    empty = pa.Table.from_pylist([JOHN])[:0]
    (tmp_path / "in").mkdir()
    pq.write_table(empty, tmp_path / "in" / "a.parquet")
    (tmp_path / "in" / "b.csv").write_text(",".join(JOHN) + "\n")
    assert answer(loan(), tmp_path / "in", tmp_path / "out").rows == 0
    found = pq.read_table(tmp_path / "out" / "part-000000.parquet")
    assert (found.num_rows, found.column_names[:2]) == (0, ["status", "cost"])


def test_what_is_no_input_is_refused(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    assert "no such file or folder" in refusal(tmp_path / "nowhere", tmp_path / "out")
    assert "found none" in refusal(tmp_path / "in", tmp_path / "out")
    write_parquet(tmp_path / "in" / "a.parquet", PEOPLE)
    (tmp_path / "in" / "b.csv.gz").touch()
    assert "found 'b.csv.gz'; move the rest away" in refusal(tmp_path / "in", tmp_path / "out")
    assert "expected a file that ends in" in refusal(tmp_path / "in" / "b.csv.gz", tmp_path / "out")
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 no more")
    assert "cannot be read as Parquet" in refusal(tmp_path / "bad.parquet", tmp_path / "out")
    assert "cannot lie inside" in refusal(tmp_path / "in", tmp_path / "in" / "out")


@pytest.mark.parametrize("bad", [{"alternatives": -1}, {"part_rows": 0}, {"part_rows": True}])
def test_options_out_of_range_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(P2CError, match="expected a whole number from"):
        Options(**bad)


def test_a_missing_column_is_named_without_a_hint_where_no_other_is_left(tmp_path: Path) -> None:
    pq.write_table(
        pa.table({"age": [31], "debt": [1], "bank_balance": [1]}), tmp_path / "a.parquet"
    )
    message = refusal(tmp_path / "a.parquet", tmp_path / "out")
    assert message == "credit_score: no such column (a.parquet)"


def test_timestamps_of_96_bits_that_64_cannot_hold_are_refused_and_others_kept(
    tmp_path: Path,
) -> None:
    people = pa.Table.from_pylist([JOHN, JOHN])
    for year, name in ((2024, "near"), (9999, "far")):
        times = pa.array([None, datetime(year, 1, 1)], pa.timestamp("us"))
        path = tmp_path / f"{name}.parquet"
        table = people.append_column("seen", times)
        pq.write_table(table, path, use_deprecated_int96_timestamps=True)
    answer(loan(), tmp_path / "near.parquet", tmp_path / "out", keep=("seen",))
    kept = pq.read_table(tmp_path / "out" / "part-000000.parquet").column("seen")
    assert [each and each.year for each in kept.to_pylist()] == [None, 2024]
    with pytest.raises(P2CError, match=r"rows 1 to 2: the column 'seen' .* outside 1677 to 2262"):
        answer(loan(), tmp_path / "far.parquet", tmp_path / "other", keep=("seen",))


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ([datetime(9999, 1, 1)], pa.list_(pa.timestamp("us"))),
        ({"x": datetime(9999, 1, 1)}, pa.struct([("x", pa.timestamp("us"))])),
    ],
)
def test_timestamps_of_96_bits_are_refused_within_other_values_too(
    tmp_path: Path, value: object, kind: pa.DataType
) -> None:
    table = pa.Table.from_pylist([JOHN]).append_column("seen", pa.array([value], kind))
    pq.write_table(table, tmp_path / "far.parquet", use_deprecated_int96_timestamps=True)
    with pytest.raises(P2CError, match=r"row.*the column 'seen' .* outside 1677 to 2262"):
        answer(loan(), tmp_path / "far.parquet", tmp_path / "out", keep=("seen",))
