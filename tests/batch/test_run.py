"""Batches from end to end: the same bytes whoever makes the parts and however often it is killed, or one line."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import csv

from p2c._batch import Options, answers, part, plan_files
from p2c._batch.part import locked
from p2c._engines.policy import Policy
from p2c._spec.toml import problem_to_toml
from p2c.errors import BatchError, P2CError
from p2c.problem import Problem
from tests.batch.people import (
    PEOPLE,
    STUCK,
    answer,
    hashes,
    loan,
    loan_people,
    read,
    write_parquet,
)
from tests.loan import JOHN, LOAN
from tests.plan.tables.test_table import large_problem

if TYPE_CHECKING:
    from pathlib import Path

PARTS = 40
RUN = "from p2c.cli import main; main()"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Return an input of several parts, in a folder whose name is no ASCII."""
    folder = tmp_path / "in ü ☃"
    write_parquet(folder / "a.parquet", loan_people(PARTS // 2 * 50), row_group_size=50)
    write_parquet(folder / "b.parquet", loan_people(PARTS // 2 * 50, seed=1), row_group_size=50)
    return folder


@pytest.fixture
def expected(source: Path, tmp_path: Path) -> dict[str, str]:
    """Return the hashes of its output."""
    answer(loan(), source, tmp_path / "expected", part_rows=50)
    return hashes(tmp_path / "expected")


def command(source: Path, target: Path, *options: object) -> list[str]:
    """Return the command line of the same batch."""
    problem = target.parent / "loan.toml"
    problem.write_text(problem_to_toml(LOAN), encoding="utf-8")
    return command_line("batch", problem, source, target, "--part-rows", 50, *options)


def command_line(*words: object) -> list[str]:
    """Return what runs p2c in a process of its own."""
    return [sys.executable, "-c", RUN, *map(str, words)]


def begin_and_kill(
    line: list[str], target: Path, *, files: int, pause: float = 0.0, named: str = "*"
) -> None:
    """Run a batch, and kill it once it has made so many files, of some name where one is given, and a little later."""
    process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        while process.poll() is None:
            if target.exists() and sum(1 for _ in target.rglob(named)) >= files:
                break
            time.sleep(0.002)
        time.sleep(pause)
    finally:
        process.kill()
        process.communicate()


def complaints(err: str) -> list[str]:
    """Return what a batch said on standard error besides how far it is."""
    return [line for line in err.splitlines() if not re.fullmatch(r"[\d,]+ of [\d,]+ rows", line)]


def go_on(line: list[str]) -> None:
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert (done.returncode, complaints(done.stderr)) == (0, [])


def test_the_output_is_described_by_its_manifest(source: Path, tmp_path: Path) -> None:
    summary = answer(loan(), source, tmp_path / "out", part_rows=50)
    manifest = json.loads((tmp_path / "out" / "_manifest.json").read_text(encoding="utf-8"))
    assert Problem.from_dict(manifest["problem"]).to_dict() == loan().to_dict()
    assert manifest["counts"] == {"rows": PARTS * 50, **summary.statuses}
    assert [each["name"] for each in manifest["input"]] == ["a.parquet", "b.parquet"]
    found = hashes(tmp_path / "out")
    assert {each["name"]: each["sha256"] for each in manifest["files"]} == {
        name: value for name, value in found.items() if name.startswith("part-")
    }
    assert set(found) - {each["name"] for each in manifest["files"]} == {
        "_manifest.json",
        "_summary.json",
    }
    assert sum(each["rows"] for each in manifest["files"]) == PARTS * 50


def test_every_row_stands_at_its_place(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = [*loan_people(PARTS * 25), *loan_people(PARTS * 25, seed=1)]
    answer(loan(), source, tmp_path / "out", part_rows=50, keep=("debt", "bank_balance"))
    found = read(tmp_path / "out")
    kept = [(row["debt"], row["bank_balance"]) for row in found]
    assert kept == [(row["debt"], row["bank_balance"]) for row in people]
    monkeypatch.setattr(answers, "ROWS", 20)
    answer(loan(), source, tmp_path / "few", part_rows=50, keep=("debt", "bank_balance"))
    assert read(tmp_path / "few") == found


def test_the_summary_counts_statuses_blockers_and_costs(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "a.parquet", PEOPLE * 2)
    summary = answer(loan(), path, tmp_path / "out")
    assert summary.statuses == {"already": 2, "found": 6, "infeasible": 2, "invalid": 2}
    assert summary.blockers == {"credit_score effect": 2}
    assert (summary.exceptions, summary.unknown) == (2, 0)
    assert [row["exceptions"] is not None for row in read(tmp_path / "out")] == [
        person == STUCK for person in PEOPLE * 2
    ]
    assert summary.quantiles == dict.fromkeys(["5%", "25%", "50%", "75%", "95%"], 0.00502)
    quick = plan_files(loan(), path, tmp_path / "quick", blockers=False)
    assert quick.blockers == {"not asked": 2}


def test_the_summary_counts_who_is_answered_without_a_value_that_rules_read(
    tmp_path: Path,
) -> None:
    people: list[dict[str, Any]] = [
        JOHN,
        JOHN | {"age": None},
        JOHN | {"credit_score": None},
        JOHN | {"debt": None},
    ]
    path = write_parquet(tmp_path / "a.parquet", people * 3)
    summary = answer(loan(), path, tmp_path / "out")
    assert (summary.unknown, summary.to_dict()["unknown"]) == (6, 6)
    assert [row["unknown"] for row in read(tmp_path / "out")[:4]] == [
        None,
        None,
        '["credit_score"]',
        '["debt"]',
    ]


def test_processes_write_the_same_bytes(
    source: Path, tmp_path: Path, expected: dict[str, str]
) -> None:
    go_on(command(source, tmp_path / "out", "--workers", 2))
    assert hashes(tmp_path / "out") == expected


@pytest.mark.parametrize("files", [1, 12, 55])
def test_a_batch_killed_at_any_moment_goes_on_to_the_same_bytes(
    source: Path, tmp_path: Path, expected: dict[str, str], files: int
) -> None:
    line = command(source, tmp_path / "out")
    begin_and_kill(line, tmp_path / "out", files=files)
    go_on(line)
    assert hashes(tmp_path / "out") == expected


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("options", [(), ("--workers", 2)])
def test_a_batch_killed_again_and_again_goes_on_to_the_same_bytes(
    source: Path, tmp_path: Path, expected: dict[str, str], seed: int, options: tuple[object, ...]
) -> None:
    rng = random.Random(seed)
    line = command(source, tmp_path / "out", *options)
    for _ in range(3):
        files = rng.randrange(PARTS * 2)
        begin_and_kill(line, tmp_path / "out", files=files, pause=rng.uniform(0, 0.05))
    go_on(line)
    assert hashes(tmp_path / "out") == expected


def test_a_part_that_takes_long_shows_how_far_it_has_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(part, "SECONDS", 0.01)
    slow = large_problem()
    rng = random.Random(0)
    people: list[dict[str, Any]] = [
        {name: rng.randrange(10) for name in slow.theory.feature} | {"e": "off"} for _ in range(300)
    ]
    path = write_parquet(tmp_path / "a.parquet", people)
    seen: list[int] = []
    plan_files(slow, path, tmp_path / "out", watch=lambda rows, **_: seen.append(rows))
    assert len(list((tmp_path / "out").glob("*.parquet"))) == 1
    assert (seen[0], seen[-1]) == (0, 300)
    assert any(0 < rows < 300 for rows in seen)
    assert not (tmp_path / "out" / "_p2c").exists()


def test_a_finished_batch_is_checked_and_mended(
    source: Path, tmp_path: Path, expected: dict[str, str]
) -> None:
    target = tmp_path / "expected"
    assert answer(loan(), source, target, part_rows=50).made == 0
    (target / "part-000003.parquet").unlink()
    damaged = target / "part-000005.parquet"
    damaged.write_bytes(damaged.read_bytes()[:-9] + b"not these")
    assert answer(loan(), source, target, part_rows=50).made == 2
    assert hashes(target) == expected


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"keep": ("debt",)}, "the options (keep)"),
        ({"alternatives": 1}, "the options (alternatives)"),
        ({"part_rows": 100}, "the options (part_rows)"),
        ({"policy": Policy("clingo", 9.0)}, "the options (engine, time_limit)"),
    ],
)
def test_other_options_are_refused(
    source: Path, tmp_path: Path, change: dict[str, Any], complaint: str
) -> None:
    answer(loan(), source, tmp_path / "out", part_rows=50)
    with pytest.raises(P2CError, match="begun with other settings") as refused:
        answer(loan(), source, tmp_path / "out", **({"part_rows": 50} | change))
    assert complaint in str(refused.value)


def test_another_problem_is_refused(source: Path, tmp_path: Path) -> None:
    line = command(source, tmp_path / "out")
    begin_and_kill(line, tmp_path / "out", files=6)
    with pytest.raises(P2CError, match=r"changed: the problem \(norm\)"):
        answer(loan().with_keys(norm="l2"), source, tmp_path / "out", part_rows=50)


def test_a_changed_input_is_refused(source: Path, tmp_path: Path) -> None:
    answer(loan(), source, tmp_path / "out", part_rows=50)
    before = hashes(tmp_path / "out")
    shutil.copy(source / "a.parquet", source / "c.parquet")
    write_parquet(source / "b.parquet", loan_people(50, seed=2))
    with pytest.raises(P2CError, match=r"changed: the input \(b\.parquet, c\.parquet\)"):
        answer(loan(), source, tmp_path / "out", part_rows=50)
    assert hashes(tmp_path / "out") == before


def test_an_input_that_changes_meanwhile_stops_the_batch(source: Path, tmp_path: Path) -> None:
    changed = False

    def watch(**_: Any) -> None:
        nonlocal changed
        if not changed:
            os.utime(source / "b.parquet", ns=(1, 1))
        changed = True

    options = Options(part_rows=500)
    with pytest.raises(BatchError, match="has changed since the batch began") as stopped:
        plan_files(loan(), source, tmp_path / "out", options, watch=watch)
    assert stopped.value.parts == (2, 3)
    answer(loan(), source, tmp_path / "out", part_rows=500)  # what the error says


def test_a_folder_that_is_not_ours_is_left_alone(source: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    with pytest.raises(P2CError, match=r"expected a new or empty folder.*thesis\.txt"):
        answer(loan(), source, tmp_path / "mine")
    assert os.listdir(tmp_path / "mine") == ["thesis.txt"]
    with pytest.raises(P2CError, match="expected a folder for the output, found a file"):
        answer(loan(), source, tmp_path / "mine" / "thesis.txt")


def test_two_batches_do_not_write_into_one_folder(source: Path, tmp_path: Path) -> None:
    (tmp_path / "out" / "_p2c").mkdir(parents=True)
    with (
        locked(tmp_path / "out" / "_p2c" / "lock"),
        pytest.raises(P2CError, match="another batch is writing there"),
    ):
        answer(loan(), source, tmp_path / "out")


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"input":[{}],"problem":{}}', '{"input":[{}],"files":[1]}', '{"a":1}']
)
def test_a_damaged_note_of_the_job_is_said(source: Path, tmp_path: Path, text: str) -> None:
    answer(loan(), source, tmp_path / "out")
    (tmp_path / "out" / "_manifest.json").write_text(text)
    with pytest.raises(P2CError, match="damaged; choose another folder"):
        answer(loan(), source, tmp_path / "out")


LOADED = """
import sys
from p2c.cli import main
try:
    main()
finally:
    print(*{"pandas", "dask", "matplotlib"} & sys.modules.keys())
"""


@pytest.mark.parametrize("name", ["a.parquet", "a.csv"])
def test_a_batch_does_not_wait_for_what_it_does_not_need(tmp_path: Path, name: str) -> None:
    people: list[dict[str, Any]] = [{**JOHN, "debt": each} for each in (1, 2, None)]
    table = pa.Table.from_pylist(people)
    place = tmp_path / "in" / "age=31"
    place.mkdir(parents=True)
    if name.endswith("csv"):
        csv.write_csv(table.drop_columns("age"), place / name)
    else:
        pq.write_table(table.drop_columns("age"), place / name)
    line = command(tmp_path / "in", tmp_path / "out")
    done = subprocess.run(
        [line[0], "-c", LOADED, *line[3:]], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == ""


FULL = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv.pop(1)), resource.RLIM_INFINITY))
from p2c.cli import main
main()
"""


def test_a_disk_that_takes_no_more_is_one_line_that_names_the_missing_parts(
    tmp_path: Path,
) -> None:
    people = [JOHN | {"debt": each, "bank_balance": each * 37 % 60000} for each in range(6000)]
    source = write_parquet(tmp_path / "a.parquet", people, row_group_size=3000)
    line = command(source, tmp_path / "out")
    limited = [line[0], "-c", FULL, "20000", *line[3:]]
    failed = subprocess.run(limited, capture_output=True, text=True, check=False)
    assert failed.returncode == 1
    assert len(complaints(failed.stderr)) == 1
    assert "2 parts missing (0-1)" in failed.stderr
    assert "cannot be written" in failed.stderr
    go_on(line)


def test_a_worker_that_dies_is_one_line_that_names_the_missing_parts(
    source: Path, tmp_path: Path, expected: dict[str, str]
) -> None:
    line = command(source, tmp_path / "out", "--workers", 1)
    killer = (
        "import os, signal\n"
        "from p2c._batch import run\n"
        "def run_part(work, part):\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    (tmp_path / "deadly.py").write_text(killer)
    script = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "import deadly\n"
        "from p2c._batch import run\n"
        "run.run_part = deadly.run_part\n"
        "if __name__ == '__main__':\n"
        "    from p2c.cli import main\n"
        "    main()\n"
    )
    (tmp_path / "start.py").write_text(script)
    deadly = [line[0], str(tmp_path / "start.py"), *line[3:-1], "2"]
    failed = subprocess.run(deadly, capture_output=True, text=True, check=False)
    assert failed.returncode == 1
    assert complaints(failed.stderr) == [
        f"{PARTS} parts missing (0-{PARTS - 1}): a worker process ended before its time;"
        " the same command goes on from here"
    ]
    go_on(line)
    assert hashes(tmp_path / "out") == expected


@pytest.fixture
def damaged(source: Path, expected: dict[str, str]) -> Path:
    """Return an input that was once whole and has lost the bytes of the rows 451 to 500."""
    path = source / "a.parquet"
    group = pq.read_metadata(path).row_group(9)
    begin = group.column(0).dictionary_page_offset
    content = bytearray(path.read_bytes())
    content[begin : begin + 60] = b"?" * 60
    path.write_bytes(content)
    return source


@pytest.mark.parametrize("workers", [1, 2])
def test_a_damaged_input_is_bad_input_that_can_be_mended_and_gone_on_with(
    damaged: Path, tmp_path: Path, expected: dict[str, str], workers: int
) -> None:
    line = command(damaged, tmp_path / "out", "--workers", workers)
    for _ in range(2):
        failed = subprocess.run(line, capture_output=True, text=True, check=False)
        assert failed.returncode == 2
        assert len(complaints(failed.stderr)) == 1
        assert "a.parquet, rows 451 to 500: cannot be read as Parquet" in failed.stderr
        assert "mend the input, and the same command goes on" in failed.stderr
    made = {path.name for path in (tmp_path / "out").glob("*.parquet")}
    assert len(made) == PARTS - 1
    before = {name: (tmp_path / "out" / name).stat().st_mtime_ns for name in made}
    write_parquet(damaged / "a.parquet", loan_people(PARTS // 2 * 50), row_group_size=50)
    go_on(line)
    assert hashes(tmp_path / "out") == expected
    kept = {name for name in made if (tmp_path / "out" / name).stat().st_mtime_ns == before[name]}
    assert len(kept) == PARTS // 2  # those of the other file


def test_a_mended_input_with_fewer_rows_leaves_no_part_of_before(
    damaged: Path, tmp_path: Path
) -> None:
    with pytest.raises(P2CError, match="cannot be read as Parquet"):
        answer(loan(), damaged, tmp_path / "out", part_rows=50)
    write_parquet(damaged / "a.parquet", loan_people(60), row_group_size=50)
    answer(loan(), damaged, tmp_path / "out", part_rows=50)
    answer(loan(), damaged, tmp_path / "fresh", part_rows=50)
    assert hashes(tmp_path / "out") == hashes(tmp_path / "fresh")


def test_the_lock_follows_no_link(source: Path, tmp_path: Path) -> None:
    (tmp_path / "out" / "_p2c").mkdir(parents=True)
    (tmp_path / "thesis.txt").write_text("years of work")
    (tmp_path / "out" / "_p2c" / "lock").symlink_to(tmp_path / "thesis.txt")
    with pytest.raises(P2CError, match="cannot be written"):
        answer(loan(), source, tmp_path / "out")
    assert (tmp_path / "thesis.txt").read_text() == "years of work"


def test_no_such_executor_is_said(source: Path, tmp_path: Path) -> None:
    with pytest.raises(P2CError, match="no executor 'ray'; known: 'dask', 'here', 'processes'"):
        plan_files(loan(), source, tmp_path / "out", executor="ray")
