"""CSV by one set of rules: what a row is, and every way in which a text is none, with its line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from p2c.domain.sheet import LONGEST, Row, open_sheet, read_sheet, split_lines
from p2c.errors import P2CError

if TYPE_CHECKING:
    from pathlib import Path


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
