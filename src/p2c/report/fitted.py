"""How a model and a table became a problem, on a terminal: what was seen, what was read, what was assumed, what to do next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Column, Table
from rich.text import Text

from p2c.errors import counted
from p2c.learn.model import Read
from p2c.markup import clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console

    from p2c.learn.extract.logic import Extraction
    from p2c.learn.model import NotRead
    from p2c.learn.tables.look import TableLook


def show_changes(
    console: Console, seen: TableLook, assumed: Iterable[tuple[str, str, float, str]]
) -> None:
    """Print a line for each column, what it holds and who may change it at what effort, and then what is assumed of them."""
    looks = {each.name: each for each in seen.columns}
    heads = ("column", "holds", "values", "missing", "change", "effort", "")
    columns = (Column(head, overflow="fold") for head in heads)
    table = Table(*columns, box=None, header_style="dim")
    reasons: dict[tuple[str, str], list[str]] = {}
    for column, action, weight, why in assumed:
        each = looks[column]
        words = (column, each.kind.value, each.span, f"{each.missing:,}", action, f"{weight:g}")
        table.add_row(*(Text(clean(word)) for word in (*words, each.note)))
        if why:
            reasons.setdefault((action, why), []).append(column)
    console.print(table)
    for (action, why), names in reasons.items():
        told = f"assumed {action}, for {why}: {', '.join(names)}"
        console.print(Text(clean(told), style="yellow"))
    console.print()


def show_reading(console: Console, reading: Read | NotRead, found: Extraction) -> None:
    """Print whether the model was read, so that plans are proved against it, or only asked, and what stands in."""
    if isinstance(reading, Read):
        console.print(Text(clean(f"read exactly: {reading}"), style="green"))
        console.print("plans are proved against the model itself")
    else:
        console.print(Text(clean(f"only asked: {reading}"), style="yellow"))
        console.print("plans are confirmed by the model; that nothing is cheaper is not proved")
        told = f"{found.fidelity:.1%} of {counted(found.rows, 'row')}"
        console.print(f"rules that stand in for it where reasons are told agree with it on {told}")


def show_next(console: Console, lines: Sequence[str]) -> None:
    """Print what was written and the commands that come next."""
    for line in lines:
        console.print(line, markup=False)
