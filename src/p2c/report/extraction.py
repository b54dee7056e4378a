"""The rules of a model on a terminal, and how far they can be trusted in its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from p2c.errors import counted

if TYPE_CHECKING:
    from rich.console import Console

    from p2c.learn.extract.logic import Extraction


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
