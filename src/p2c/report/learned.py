"""What was seen, learned and read, on a terminal: the columns of a table, rules and their figures, what was assumed, what is next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Column, Table
from rich.text import Text

from p2c.errors import counted
from p2c.learn.model import Read
from p2c.learn.tables.look import USELESS
from p2c.markup import clean

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from rich.console import Console

    from p2c.learn.decision import Learned
    from p2c.learn.extract.logic import Extraction
    from p2c.learn.model import NotRead
    from p2c.learn.tables.look import TableLook


def show_columns(console: Console, seen: TableLook, *, keep: Collection[str] = ()) -> None:
    """Print a line for each column, and which are left out, why, and how to keep them."""
    table = Table("column", "holds", "values", "missing", "", box=None, header_style="dim")
    for each in seen.columns:
        words = (each.name, each.kind.value, each.span, f"{each.missing:,}", each.note)
        table.add_row(*(Text(clean(word)) for word in words))
    console.print(table)
    for each in seen.left_out(keep):
        console.print(
            Text(
                clean(
                    f"column '{each.name}' is left out: {USELESS[each.kind]};"
                    f" keep it with --keep '{each.name}'"
                ),
                style="yellow",
            )
        )
    console.print()


def show_extraction(console: Console, found: Extraction, *, truth: str) -> None:
    """Print rules and their figures; `truth` says what accuracy and the others compare the rules with."""
    console.print(Text(found.program, style="cyan"))
    console.print()
    if found.exact:
        console.print("these are the model's own rules", markup=False)
    shares = (found.fidelity, found.accuracy, found.precision, found.recall, found.f1)
    table = Table("fidelity", "accuracy", "precision", "recall", "F1", box=None, header_style="dim")
    table.add_row(*(f"{share:.1%}" for share in shares))
    console.print(table)
    console.print(f"fidelity compares the rules with the model, the others with {truth}")
    wrong = [each for each in found.regions if each.wrong]
    for region in sorted(wrong, key=lambda each: -each.wrong):
        place = Text(region.rule or "no rule holds", style="cyan")
        console.print(
            f"the model differs on {region.wrong:,} of {counted(region.rows, 'row')} where", end=" "
        )
        console.print(place)


def show_learned(console: Console, learned: Learned) -> None:
    """Print learned rules and how well they decide."""
    console.print(Text(learned.text, style="cyan"))
    if not learned.rules:
        console.print("no rule was learned: the columns do not tell the classes apart")
    console.print(
        f"\n{learned.rules} rules, {learned.literals} literals; where none holds, the class is"
        f" '{learned.other}'",
        markup=False,
    )
    columns = ("", "rows", "accuracy", "precision", "recall", "F1")
    table = Table(*columns, box=None, header_style="dim")
    for name, score in (("held out", learned.held_out), ("learned from", learned.training)):
        if score is not None:
            shares = (score.accuracy, score.precision, score.recall, score.f1)
            table.add_row(name, f"{score.rows:,}", *(f"{share:.1%}" for share in shares))
    console.print(table)


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
