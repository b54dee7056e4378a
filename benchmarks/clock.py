"""Processor time of some work: this process, those that it has ended, and those that still work for it.

Times of the clock say little on a machine that others use too. What a living child has used is read from `/proc`, so it
counts on Linux only; ended children count everywhere.
"""

from __future__ import annotations

import os
import resource
import time
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Result = TypeVar("Result")


def processor_time(work: Callable[[], Result]) -> tuple[Result, float]:
    """Do some work; return its result and the seconds of processor time that it took."""
    # The own time is read last before and first after, so that looking at the others costs nothing.
    others = used_by_others()
    begin = time.process_time()
    result = work()
    own = time.process_time() - begin
    return result, own + used_by_others() - others


def used_by_others() -> float:
    """Return the seconds that children have used, ended or not."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ended.ru_utime + ended.ru_stime + sum(map(_used, living(os.getpid())))


def living(process: int) -> Iterator[int]:
    """Return the processes that a process has started, and those that these have."""
    try:
        tasks = list(Path(f"/proc/{process}/task").iterdir())
        children = [int(each) for t in tasks for each in (t / "children").read_text().split()]
    except OSError:
        return
    for child in children:
        yield child
        yield from living(child)


def _used(process: int) -> float:
    """Return the seconds that a process and the children it has ended used."""
    try:
        tasks = [each.read_text() for each in Path(f"/proc/{process}/task").glob("*/schedstat")]
        # The name of a program may hold blanks; what follows it may not.
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    ticks = int(fields[13]) + int(fields[14])
    nanoseconds = sum(int(task.split()[0]) for task in tasks)
    return nanoseconds / 1e9 + ticks / os.sysconf("SC_CLK_TCK")
