"""Keep what a script measures, with when, where and how, so that the report can show it.

    python -m benchmarks.engines 12 --record

runs the script and keeps what it prints in `benchmarks/report/results/`, one file for each command; `python -m
benchmarks.report` shows them all. A script takes part by ending in `recorded("engines", main)`.
"""

from __future__ import annotations

import io
import json
import os
import platform
import re
import shlex
import sys
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

OPTION = "--record"
RESULTS = Path("benchmarks/report/results")


@dataclass(frozen=True, slots=True)
class Result:
    """What a command printed, and how it came about; `load` is how busy the machine was before it."""

    command: str
    date: str
    machine: str
    python: str
    load: float
    lines: tuple[str, ...]

    @property
    def script(self) -> str:
        """Return the script that was run, without its options."""
        return self.command.split()[2].removeprefix("benchmarks.")


class Tee(io.StringIO):
    """Text that is kept and shown at once."""

    def __init__(self) -> None:
        super().__init__()
        self.shown = sys.stdout

    def write(self, text: str) -> int:
        """Keep a text and show it."""
        self.shown.write(text)
        return super().write(text)

    def flush(self) -> None:
        """Show what was written so far."""
        self.shown.flush()


def recorded(name: str, main: Callable[[], object], *, folder: Path = RESULTS) -> None:
    """Run a script's main function, and keep what it prints where `--record` is among its arguments."""
    if OPTION not in sys.argv:
        main()
        return
    sys.argv.remove(OPTION)
    command = shlex.join(["python", "-m", f"benchmarks.{name}", *sys.argv[1:]])
    busy = round(os.getloadavg()[0], 2)
    with redirect_stdout(Tee()) as told:
        main()
    lines = tuple(line.rstrip() for line in told.getvalue().strip("\n").splitlines())
    today, python = f"{datetime.now(UTC):%Y-%m-%d}", platform.python_version()
    words = re.findall(r"\w+", command.partition(".")[2])
    path = folder / f"{'-'.join(words)}.json"
    folder.mkdir(parents=True, exist_ok=True)
    result = Result(command, today, machine(), python, busy, lines)
    path.write_text(json.dumps(asdict(result), indent=1, ensure_ascii=False) + "\n", "utf-8")
    print(path)


def results(folder: Path = RESULTS) -> list[Result]:
    """Return everything that was recorded, by name."""
    found = [json.loads(path.read_text("utf-8")) for path in sorted(folder.glob("*.json"))]
    return [Result(**{**each, "lines": tuple(each["lines"])}) for each in found]


def machine() -> str:
    """Return what a run was made on, without a name of it."""
    model = platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        model = names[0].partition(":")[2].strip() if names else model
    memory = ""
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
        memory = f", {size:.0f} GiB"
    return f"{model}, {os.cpu_count()} cores{memory}, {platform.system()}"
