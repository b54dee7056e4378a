"""The display of a batch: progress, the summary, and a figure."""

from __future__ import annotations

import time
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from p2c._explain.model_reasons import source_words
from p2c._explain.phrases import ENGLISH
from p2c._explain.sentences import filled
from p2c._report.terminal import confirmed_words
from p2c.errors import MissingExtra, P2CError, and_more, counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from rich.console import Console
    from rich.progress import Task

    from p2c._batch.run import Watch
    from p2c._batch.summary import Summary


SILENCE = 30.0
"""Seconds after which a line is due where a bar cannot be shown."""


class RateColumn(ProgressColumn):
    """Shows rows a second."""

    def render(self, task: Task) -> Text:
        """Return the rate, once there is one."""
        return Text(f"{task.speed:,.0f} rows/s" if task.speed else "")


class Lines:
    """Prints progress outside of a terminal: a line for each tenth and at the end."""

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        self._print = partial(console.print, markup=False)
        self._clock = clock
        self._rows, self._since = 0, clock()

    def tell(self, rows: int, total: int) -> None:
        """Print a line where it is time for one."""
        self._rows = min(self._rows, rows)  # an audit may plan for everybody twice
        late = self._clock() - self._since >= SILENCE
        if rows > self._rows and (late or rows == total or 10 * (rows - self._rows) >= total):
            self._rows, self._since = rows, self._clock()
            self._print(f"{rows:,} of {total:,} rows")


@contextmanager
def progress(console: Console) -> Iterator[Watch]:
    """Show progress: a bar on a terminal, else lines; list the unused columns."""
    rows = TextColumn("{task.completed:,.0f} of {task.total:,.0f} rows")
    columns = (BarColumn(), rows, RateColumn(), TimeRemainingColumn())
    bar = Progress(
        *columns,
        console=console,
        disable=not console.is_terminal,
        auto_refresh=False,  # no thread, so that workers may start as copies of this process
        speed_estimate_period=3600,  # a part may take minutes, and a rate needs two of them
    )
    with bar:
        task = bar.add_task("planning", total=None, start=False, visible=False)
        told = False
        lines = Lines(console)

        def watch(*, rows: int, total: int, spare: Sequence[str]) -> None:
            nonlocal told
            if not told and spare:
                console.print(
                    f"left aside, not in the problem: {and_more(spare)} (--keep carries a column through)",
                    markup=False,
                )
            if not told:
                bar.start_task(task)
            told = True
            bar.update(task, completed=rows, total=total, visible=True, refresh=True)
            if bar.disable:
                lines.tell(rows, total)

        yield watch


def show_summary(console: Console, summary: Summary) -> None:
    """Print a summary."""
    made = f"{summary.made} made now" if summary.made < summary.parts else "all made now"
    rows, parts = counted(summary.rows, "row"), counted(summary.parts, "part")
    console.print(f"{rows} in {parts}, {made}", markup=False)
    _print_counts(console, "status", summary.statuses, summary.rows)
    _print_counts(console, "no way because of", summary.blockers, summary.rows)
    rests = {
        "exceptions to a causal rule or a constraint": summary.exceptions,
        "a value not known that the rules read": summary.unknown,
    }
    told = {name: count for name, count in rests.items() if count}
    _print_counts(console, "the answer rests on", told, summary.rows)
    if summary.proved is not None and summary.statuses.get("found"):
        console.print(confirmed_words(proved=summary.proved), markup=False)
    if summary.source and summary.proved is None:
        by = filled(ENGLISH.given_by, by=source_words(summary.source))
        console.print(by, markup=False)
    if summary.quantiles:
        shown = ", ".join(f"{share} {cost:g}" for share, cost in summary.quantiles.items())
        console.print(f"costs of plans, quantiles to three digits: {shown}", markup=False)


def _print_counts(
    console: Console, title: str, counts: Mapping[str, int], total: int, most: int = 12
) -> None:
    if not counts:
        return
    table = Table(title, "rows", "share", box=None, pad_edge=False)
    for name, count in list(counts.items())[:most]:
        table.add_row(Text(name), f"{count:,}", f"{count / total:.2%}")
    if len(counts) > most:
        rest = sum(list(counts.values())[most:])
        table.add_row(f"{len(counts) - most} more", f"{rest:,}", f"{rest / total:.2%}")
    console.print(table)


def check_figure(path: Path) -> None:
    """Refuse a file for a figure that cannot be written."""
    if not path.parent.is_dir():
        raise P2CError(f"{path}: there is no folder '{path.parent}' for the figure")
    ending = path.suffix.removeprefix(".").lower()
    if ending not in _figure().canvas.get_supported_filetypes():
        raise P2CError(f"{path}: expected the ending of a picture, such as .svg, .png or .pdf")


def _figure() -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtra("matplotlib", extra="plots") from error
    return Figure(figsize=(9, 3.5), layout="constrained")


def plot_summary(summary: Summary, path: Path) -> None:
    """Draw statuses and costs into an image file; its ending says which kind."""
    figure = _figure()
    left, right = figure.subplots(1, 2)
    left.barh(list(summary.statuses), list(summary.statuses.values()))
    left.set_xlabel("rows")
    right.hist(list(summary.costs), weights=list(summary.costs.values()), bins=40)
    right.set_xlabel("cost of a plan")
    right.set_ylabel("rows")
    try:
        figure.savefig(path)
    except (OSError, ValueError) as error:
        raise P2CError(f"{path}: the figure cannot be written: {error}") from None
