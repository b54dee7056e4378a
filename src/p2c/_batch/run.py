"""A batch from end to end: check the input, make the missing parts, summarise."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Protocol

from p2c._batch import Options
from p2c._batch.columns import check_columns
from p2c._batch.confirmed import planner_for
from p2c._batch.executors import EXECUTORS
from p2c._batch.job import describe_job, opened
from p2c._batch.part import Failure, Work
from p2c._batch.source import cut, describe, find_files, input_path
from p2c._batch.summary import summarise
from p2c._batch.workshop import rows_under_way, ticking
from p2c.errors import BatchError, P2CError, check_word

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from p2c._batch.executors import Execute
    from p2c._batch.job import Job
    from p2c._batch.source import Part
    from p2c._batch.summary import Record, Summary
    from p2c.problem import Problem


class Watch(Protocol):
    """A display of the progress of a batch."""

    def __call__(self, *, rows: int, total: int, spare: Sequence[str]) -> None:
        """Take the finished rows, all rows, and the unused columns."""
        ...


def run(
    problem: Problem,
    source: str | Path,
    target: str | Path,
    options: Options | None = None,
    *,
    executor: str = "here",
    workers: int = 1,
    address: str | None = None,
    blockers: bool = True,
    anew: bool = False,
    watch: Watch | None = None,
) -> Summary:
    """Plan for everybody in the input and return the summary.

    The output of another job is refused, or makes room where it is to be done `anew`.
    """
    check_word("no executor", executor, EXECUTORS)
    options = options or Options()
    source, target = input_path(source), Path(target).resolve()
    if target == source or source in target.parents:
        raise P2CError(f"{target}: the output cannot lie inside the input")
    files = find_files(source)
    if executor != "dask":  # there the workers need it
        options.policy.require_engine()
    taken = planner_for(problem, options).schema.names
    columns = check_columns(
        files, problem.theory.features, options, taken=taken, aliases=problem.columns
    )
    parts = cut(files, rows=options.part_rows)
    work = Work(json.dumps(problem.to_message()), columns, options, target)

    def tell(rows: int, total: int) -> None:
        if watch is not None:
            watch(rows=rows, total=total, spare=columns.spare)

    with EXECUTORS[executor](work, workers=workers, address=address) as execute:
        document = describe_job(problem, options, files=describe(files), parts=len(parts))
        with opened(target, document, parts, anew=anew) as job:
            done, made = _make_all(job, parts, execute, tell)
            records = [done[part.number] for part in parts]
            summary = summarise(
                problem, records, options.policy, spare=columns.spare, made=made, ask=blockers
            )
            job.finish(records, summary.to_dict())
    return summary


def _make_all(
    job: Job, parts: Sequence[Part], execute: Execute, watch: Callable[[int, int], None]
) -> tuple[dict[int, Record], int]:
    """Return the records of all parts, and the number of parts made now.

    Args:
        job: The job.
        parts: All parts.
        execute: Makes the missing ones.
        watch: Takes the number of finished rows and of all rows.
    """
    done = job.finished(parts)
    missing = [part for part in parts if part.number not in done]
    total = sum(part.rows for part in parts)
    before = len(done)

    telling, most = Lock(), 0

    def tell() -> None:
        nonlocal most
        with telling:
            rows = sum(parts[number].rows for number in list(done))
            # A part that is done, and whose record is on its way here, is for a moment in neither count.
            most = max(most, min(rows + rows_under_way(job.workshop), total))
            watch(most, total)

    tell()
    failures = []
    with closing(execute(missing)) as outcomes, ticking(tell):
        for outcome in outcomes:
            if isinstance(outcome, Failure):
                failures.append(outcome)
                if outcome.fatal:
                    break
            else:
                done[outcome.number] = outcome
                tell()
    if failures:
        # What was under way when the first one failed may have been made after all.
        done |= job.finished([part for part in missing if part.number not in done])
        wrong = [failure for failure in failures if failure.wrong]
        if wrong:
            remedy = "mend the input, and the same command goes on"
            if wrong[0].unanswered:
                remedy = "another engine or norm takes another folder"
            raise P2CError(f"{wrong[0].message}; the parts that are done are kept: {remedy}")
        rest = [part.number for part in parts if part.number not in done]
        raise BatchError(failures[0].message, parts=rest)
    return done, len(done) - before
