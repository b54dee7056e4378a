"""A process that is asked and ends: its time is limited, and none of it is left behind.

The process leads a group of its own, which is killed whole when time is up or the caller is interrupted.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from p2c.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import Sequence

LONGEST = 3600.0
"""Seconds after which a process is ended although the caller set no limit."""


class OutOfTime(Exception):
    """Tells that the deadline passed before there was an answer."""


def run(command: Sequence[str], deadline: float | None) -> tuple[int, str, str]:
    """Run a command to its end or until time is up, and leave none of its processes behind."""
    left = LONGEST if deadline is None else min(deadline - time.monotonic(), LONGEST)
    if left <= 0:
        raise OutOfTime
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            encoding="utf-8",
            errors="replace",
        )
    except OSError as error:
        raise EngineError(f"scasp: '{command[0]}' cannot be started: {error.strerror}") from None
    try:
        out, complaint = process.communicate(timeout=left)
    except subprocess.TimeoutExpired:
        raise time_is_up(deadline) from None
    finally:
        end_group(process)
    return process.returncode, out, complaint


def time_is_up(deadline: float | None) -> OutOfTime | EngineError:
    """Return what to raise: time that the caller set is his to handle, ours is a fault."""
    if deadline is None:
        return EngineError(f"scasp: no answer within {LONGEST:.0f} seconds")
    return OutOfTime()


def end_group(process: subprocess.Popen[str] | subprocess.Popen[bytes]) -> None:
    """Kill what is left of a process group, and collect it."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            stream.close()
    process.wait()
