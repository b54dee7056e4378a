"""Processor time, whoever uses it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from benchmarks.clock import processor_time

USED = 0.2
TICKS = 0.02
"""The kernel counts the time of ended children in ticks."""

BUSY = f"""
import time
input()
begin = time.process_time()
while time.process_time() - begin < {USED}: pass
print("done", flush=True)
"""


def test_the_time_of_a_child_that_has_ended_counts() -> None:
    command = [sys.executable, "-c", BUSY]
    result, spent = processor_time(
        lambda: subprocess.run(command, input="\n", capture_output=True, text=True, check=True)
    )
    assert result.stdout == "done\n"
    assert spent >= USED - TICKS


@pytest.mark.skipif(sys.platform != "linux", reason="read from /proc")
def test_the_time_of_a_child_that_still_works_counts() -> None:
    command = [sys.executable, "-c", f"{BUSY}input()"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        told = child.stdout

        def ask() -> bytes:
            assert child.stdin is not None
            child.stdin.write(b"\n")
            child.stdin.flush()
            return told.readline()

        line, spent = processor_time(ask)
        assert line == b"done\n"
        assert child.poll() is None
        child.stdin.write(b"\n")
    assert spent >= USED - TICKS
