"""An audit of files: a batch that can be resumed, then an audit of its answers."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from p2c._audit.audit import Asked
from p2c._audit.intervals import read_divisions
from p2c._batch import Options
from p2c._batch.part import tables
from p2c._batch.persons import check_columns, columns_of
from p2c._batch.run import run
from p2c._batch.source import cut, describe, find_files, input_path
from p2c._engines.policy import Policy
from p2c._report.expert_report import digest
from p2c.errors import P2CError, suggestion

if TYPE_CHECKING:
    from collections.abc import Sequence

    from p2c._audit.audit import Audit
    from p2c._batch.run import Watch
    from p2c._batch.source import InputFile
    from p2c.problem import Problem

PEOPLE = "people"
"""The folder of the answers inside that of the audit."""
AFTER = "people-after"
"""The folder of the answers of the problem that it is compared with."""
DECIDED_PART_ROWS = 1 << 10
"""Maximum number of rows of a part if a model decides.

One such row takes about as long as a thousand rows by rules.
"""


def audit_files(
    problem: Problem,
    source: str | Path,
    target: str | Path,
    *,
    by: Sequence[str] = (),
    against: Problem | None = None,
    seed: int = 0,
    explain_time_limit: float | None = 60.0,
    workers: int = 1,
    policy: Policy | None = None,
    command: str = "",
    anew: bool = False,
    watch: Watch | None = None,
) -> Audit:
    """Plan for everybody in a file or folder, and audit the answers.

    The answers go into `people` inside the target; an unfinished batch there is resumed.

    What is found does not hang on how many processes plan. Answers to another question that are there are replaced if it is to be
    done `anew`, and refused else.
    """
    files = find_files(input_path(source))
    known = {feature.name for feature in problem.theory.features} | set(problem.columns.values())
    keep = tuple(each.column for each in read_divisions(by) if each.column not in known)
    for name in keep:
        _refuse_if_absent(name, files)
    options = Options(keep, policy=policy or Policy())

    def answered(one: Problem, folder: str) -> pa.Table:
        people = Path(target) / folder
        run(
            one,
            source,
            people,
            options if one.decider is None else replace(options, part_rows=DECIDED_PART_ROWS),
            executor="processes" if workers > 1 else "here",
            workers=workers,
            blockers=False,
            anew=anew,
            watch=None if watch is None else _quiet(watch),
        )
        found = [pq.read_table(part) for part in sorted(people.glob("part-*.parquet"))]
        return pa.concat_tables([each.select(_told(each)) for each in found]).unify_dictionaries()

    described = digest(json.loads(json.dumps(describe(files))))
    return problem.audit(
        _columns(problem, files, options),
        by,
        answers=answered(problem, PEOPLE),
        against=against,
        after=None if against is None else answered(against, AFTER),
        seed=seed,
        explain_time_limit=explain_time_limit,
        asked=Asked(0, hashes={"data": described}, command=command),
    )


def _told(table: pa.Table) -> list[str]:
    """Return the columns of the answers that an audit reads."""
    wanted = ("status", "cost", "steps", "exceptions", "unknown", "verified")
    return [name for name in wanted if name in table.column_names]


def _quiet(watch: Watch) -> Watch:
    """Return a display of progress that leaves out unused columns."""

    def tell(*, rows: int, total: int, spare: Sequence[str]) -> None:
        watch(rows=rows, total=total, spare=())

    return tell


def _refuse_if_absent(name: str, files: Sequence[InputFile]) -> None:
    for file in files:
        known = [*file.reader.schema(file.path).names, *(key for key, _ in file.keys)]
        if name not in known:
            raise P2CError(f"by: no column '{name}' in {file.name}; {suggestion(name, known)}")


def _columns(
    problem: Problem, files: Sequence[InputFile], options: Options
) -> dict[str, list[Any]]:
    """Return the features of everybody, and the columns by which people are divided."""
    features = problem.theory.features
    columns = check_columns(files, features, options, taken=(), aliases=problem.columns)
    found: dict[str, list[Any]] = {name: [] for name in (*columns.features, *options.keep)}
    for part in cut(files, rows=options.part_rows):
        for table in tables(columns, part):
            for name, column in columns_of(table, features).items():
                found[name] += column.tolist()
            for name in options.keep:
                found[name] += table.column(name).to_pylist()
    size = max(map(len, found.values()))
    for each in features:
        if each.equation is not None and len(found[each.name]) < size:
            del found[each.name]
    # A model's own columns may divide people too.
    own = {column: found[name] for name, column in problem.columns.items() if name in found}
    return found | own
