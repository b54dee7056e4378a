"""What was learned, on a terminal: the columns of a table, the rules of its decisions or of a model, and their figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from p2c.errors import counted
from p2c.learn.tables.look import USELESS
from p2c.markup import clean

if TYPE_CHECKING:
    from collections.abc import Collection

    from rich.console import Console

    from p2c.learn.decision import Learned
    from p2c.learn.extract.logic import Extraction
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
