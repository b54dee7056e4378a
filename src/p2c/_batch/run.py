"""A batch from end to end: check the input, make the missing parts, summarise."""

from __future__ import annotations

import ctypes
import json
import multiprocessing
import os
import platform
import signal
import sys
import threading
from collections import deque
from concurrent.futures import FIRST_COMPLETED, CancelledError, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Literal, Protocol

import pyarrow as pa

from p2c._batch import Options
from p2c._batch.confirmed import planner_for
from p2c._batch.job import describe_job, opened
from p2c._batch.part import Failure, Work, prepare, rows_under_way, run_part, ticking
from p2c._batch.persons import check_columns
from p2c._batch.source import cut, describe, find_files, input_path
from p2c._batch.summary import summarise
from p2c.errors import BatchError, MissingExtra, P2CError, check_word

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence
    from concurrent.futures import Future
    from contextlib import AbstractContextManager

    from p2c._batch.job import Job
    from p2c._batch.source import Part
    from p2c._batch.summary import Record, Summary
    from p2c.problem import Problem

    Outcome = Record | Failure
    Execute = Callable[[Sequence[Part]], Generator[Outcome, None, None]]
    """Makes parts, and yields the record or the failure of each."""


M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
"""Parameters of glibc's `mallopt`: sizes for returning and mapping memory."""


@contextmanager
def here(work: Work, *, workers: int, address: str | None) -> Iterator[Execute]:
    """Make parts one after the other in this process."""

    def execute(parts: Sequence[Part]) -> Generator[Outcome, None, None]:
        for part in parts:
            yield run_part(work, part)

    yield execute


@contextmanager
def processes(work: Work, *, workers: int, address: str | None) -> Iterator[Execute]:
    """Make parts in local processes, which start while the input is read."""
    method = _start_method(work)
    if method == "fork":
        prepare(work)
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(workers, mp_context=context, initializer=_settle_down) as pool:
        for _ in range(workers):
            pool.submit(prepare, work)
        yield partial(_share_out, pool, 2 * workers, work)


def _share_out(
    pool: ProcessPoolExecutor, most: int, work: Work, parts: Sequence[Part]
) -> Generator[Outcome, None, None]:
    """Keep at most `most` parts with the processes, so that a failure ends it soon."""
    waiting = deque(parts)
    running: dict[Future[Outcome], Part] = {}
    try:
        while waiting or running:
            while waiting and len(running) < most:
                part = waiting.popleft()
                running[pool.submit(run_part, work, part)] = part
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                part = running[future]
                outcome = future.result()
                del running[future]
                yield outcome
    except BrokenProcessPool:
        # The pool has ended all that was with it, and may still be at it: there is nothing to call back.
        running.clear()
        yield Failure(part.number, "a worker process ended before its time", fatal=True)
    finally:
        wait([future for future in running if not future.cancel()])


def _start_method(work: Work) -> Literal["fork", "spawn"]:
    """Return the start method: "fork" if it is safe, which reads nothing again.

    It is on Linux, as long as no other thread may hold a lock: none of Python's, and none that a model's library has begun
    (a copy waits for OpenMP's threads forever). Those of pyarrow and numpy care for themselves.
    """
    safe = sys.platform == "linux" and threading.active_count() == 1 and not work.has_model
    return "fork" if safe else "spawn"


def _settle_down() -> None:
    """Make this process a worker, one of several that share a machine."""
    _keep_memory()
    _follow_parent()


def _keep_memory() -> None:
    """Keep memory for the next part, because fetching it blocks other processes.

    pyarrow's own allocator, the faster one for a single process, returns it and fetches it in huge pages.
    """
    pa.set_memory_pool(pa.system_memory_pool())
    if sys.platform == "linux" and platform.libc_ver()[0] == "glibc":
        library = ctypes.CDLL(None)
        library.mallopt(M_MMAP_THRESHOLD, 32 << 20)
        library.mallopt(M_TRIM_THRESHOLD, 1 << 30)


def _follow_parent() -> None:
    """End this worker when its parent process ends, even by SIGKILL.

    An interrupt from the keyboard goes to that process, which has parts under way finished first.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None, "only workers follow"

    def follow() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()


@contextmanager
def dask(work: Work, *, workers: int, address: str | None) -> Iterator[Execute]:
    """Make parts on a Dask cluster: that at an address, or one of this machine's own."""
    try:
        from distributed import Client, KilledWorker, LocalCluster, as_completed
    except ImportError as error:
        raise MissingExtra("distributed", extra="dask") from error
    try:
        cluster = address or LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            memory_limit=0,
        )
        client = Client(cluster, set_as_default=False)
    except (OSError, ValueError) as error:
        raise P2CError(f"{address or 'local'}: no Dask scheduler answers: {error}") from None

    def execute(parts: Sequence[Part]) -> Generator[Outcome, None, None]:
        futures = {client.submit(run_part, work, part, pure=False): part for part in parts}
        for future in as_completed(futures, loop=client.loop):
            try:
                yield future.result()
            except (CancelledError, OSError):
                yield Failure(futures[future].number, "the scheduler was lost")
            except KilledWorker:
                yield Failure(futures[future].number, "too many of its workers were lost")

    with client:
        try:
            yield execute
        finally:
            if not isinstance(cluster, str):
                cluster.close()


EXECUTORS: dict[str, Callable[..., AbstractContextManager[Execute]]] = {
    "here": here,
    "processes": processes,
    "dask": dask,
}


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
