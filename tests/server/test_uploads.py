"""Uploads that unpack to far more are refused in one line with the limit.

They do no other harm.
"""

from __future__ import annotations

import os
import signal
import zipfile
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from starlette.testclient import TestClient

from p2c import datasets
from p2c._project.draft import read_draft
from p2c._server import workshop
from p2c._server.app import build_app
from p2c._server.settings import Limits, Settings
from p2c._server.workshop import read_limited, refuse_bomb
from p2c.errors import P2CError
from tests.server.conftest import HERE
from tests.server.test_audit_page import TABLE, ended

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

MEMORY = 1_500_000_000
SMALL = Limits(solvers=1, rows=1_000, columns=50, unpacked=1_000_000, memory=MEMORY)


def repeated_rows(path: Path, *, rows: int) -> Path:
    """Write a Parquet file of equal rows, which takes a few bytes for each row group."""
    columns = [name for name in TABLE.splitlines()[0].split(",") if name != "sex"]
    part = pa.table({name: pa.repeat(pa.scalar(1), 1_000) for name in columns})
    with pq.ParquetWriter(path, part.schema) as file:
        for _ in range(rows // 1_000):
            file.write_table(part)
    return path


def repeated_text(path: Path) -> Path:
    """Write a Parquet file of one stored text that is read many times.

    Its footer does not tell this.
    """
    text = pa.array(["x" * 100_000])
    places = pa.array([0] * 50_000, pa.int32())
    column = pa.DictionaryArray.from_arrays(places, text)
    pq.write_table(pa.table({"a": column}), path, store_schema=False)
    return path


def zeros(path: Path) -> Path:
    """Write a zip, as skops files are, of kilobytes that unpack to megabytes."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("schema.json", "{}")
        archive.writestr("0.npy", bytes(5_000_000))
    return path


def lines(path: Path) -> Path:
    path.write_text("a,b\n" + "1,2\n" * 1_001)
    return path


def wide(path: Path) -> Path:
    names = [f"x{number}" for number in range(51)]
    if path.suffix == ".csv":
        path.write_text(",".join(names) + "\n" + ",".join("1" * 51) + "\n")
    else:
        pq.write_table(pa.table({name: [1] for name in names}), path)
    return path


@pytest.mark.parametrize(
    ("write", "name", "words"),
    [
        (
            lambda path: repeated_rows(path, rows=2_000),
            "t.parquet",
            "expected at most 1,000 rows, found 2,000",
        ),
        (lines, "t.csv", "expected at most 1,000 rows, found 1,001"),
        (wide, "t.csv", "expected at most 50 columns, found 51"),
        (wide, "t.parquet", "expected at most 50 columns, found 51"),
        (
            zeros,
            "m.skops",
            "expected at most 1,000,000 bytes once unpacked, found 5,000,002",
        ),
    ],
)
def test_a_file_that_declares_to_unpack_to_too_much_is_refused(
    tmp_path: Path, write: Callable[[Path], Path], name: str, words: str
) -> None:
    path = write(tmp_path / name)
    assert path.stat().st_size < 100_000
    with pytest.raises(P2CError, match=words):
        refuse_bomb(path, SMALL)
    refuse_bomb(path, Limits())


def test_line_ends_within_cells_are_no_rows(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a\n" + ('"' + "\n" * 100 + '"\n') * 20)
    refuse_bomb(path, SMALL)
    with pytest.raises(P2CError, match="found 20"):
        refuse_bomb(path, Limits(rows=19))


def test_the_cells_of_a_wide_table_count_however_small_it_is_stored(tmp_path: Path) -> None:
    path = repeated_rows(tmp_path / "t.parquet", rows=1_000)
    with pytest.raises(P2CError, match="found 40,000"):
        refuse_bomb(path, Limits(unpacked=39_999))


def test_what_no_footer_tells_meets_the_limit_of_memory(tmp_path: Path) -> None:
    path = repeated_text(tmp_path / "t.parquet")
    assert path.stat().st_size < 200_000
    refuse_bomb(path, Limits())
    with pytest.raises(P2CError, match=r"t\.parquet: expected at most 1,500,000,000 bytes of mem"):
        read_limited(path, pq.read_table, path, limits=Limits(memory=MEMORY))


def test_a_process_that_dies_of_an_upload_is_an_error_in_words(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a\n1\n")
    with pytest.raises(P2CError, match=r"t\.csv: ends the process that reads it"):
        read_limited(path, die, limits=SMALL)


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def exhaust(_folder: Path, _step: Callable[..., None]) -> dict[str, object]:
    return {"size": len(bytes(2 * MEMORY))}


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    file = tmp_path / "loan.toml"
    file.write_text(datasets.problem_text("loan"))
    settings = Settings(
        problems=(str(file),),
        project=str(tmp_path / "desk"),
        audits=str(tmp_path / "audits"),
        limits=SMALL,
    )
    with TestClient(build_app(settings), base_url=HERE, raise_server_exceptions=False) as opened:
        yield opened


def sent(client: TestClient, path: str, field: str, file: Path) -> str:
    """Send a file, which is refused, and return the page."""
    answer = client.post(path, files={field: (file.name, file.read_bytes())})
    assert answer.status_code == 422
    assert client.get("/health").status_code == 200
    return answer.text


def test_the_pages_refuse_bombs_by_their_own_names_and_keep_what_was_there(
    client: TestClient, tmp_path: Path
) -> None:
    rows = repeated_rows(tmp_path / "people.parquet", rows=2_000)
    at = "/p/loan/audit"
    for path in (f"{at}/people", "/new/files"):
        page = sent(client, path, "table", rows)
        assert "people.parquet: expected at most 1,000 rows, found 2,000" in page
    good = client.post(f"{at}/people", files={"table": ("people.csv", TABLE)})
    assert "Tick the columns" in good.text
    client.post("/new/files", files={"table": ("table.csv", TABLE)})
    assert "0.npy" not in sent(client, "/new/files", "model", zeros(tmp_path / "m.skops"))
    assert "bytes once unpacked" in sent(client, "/new/files", "model", tmp_path / "m.skops")
    assert read_draft(tmp_path / "desk").table == "table.csv"


def test_a_step_that_takes_too_much_memory_fails_in_words(
    client: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.post("/p/loan/audit/people", files={"table": ("people.csv", TABLE)})
    monkeypatch.setattr(workshop, "perform_audit", exhaust)
    client.post("/p/loan/audit/start", data={})
    assert "this step: expected at most 1,500,000,000 bytes of memory" in ended(client)
