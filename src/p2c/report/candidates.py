"""Candidates, reviews and learned rules on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Column, Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from p2c.learn.candidate import Candidate, Evidence
    from p2c.learn.decision import Learned
    from p2c.learn.review import Review


def show_candidates(console: Console, candidates: Sequence[Candidate]) -> None:
    """Print candidates below one another, each with its evidence in a line."""
    for each in candidates:
        evidence = each.evidence
        law = each.law.value if each.law else "none"
        console.print(Text(each.rule, style="cyan"))
        console.print(
            f"  {each.id}: {evidence.hits:,} of {evidence.support:,} rows, {evidence.precision:.1%};"
            f" law that the data suggest: {law}",
            markup=False,
        )


def show_candidate(console: Console, candidate: Candidate, *, place: str) -> None:
    """Print one candidate with all its evidence."""
    console.print()
    console.print(Text(f"{place}: {candidate.id}", style="bold"))
    console.print(Text(candidate.rule, style="cyan"))
    console.print(Text(f"{', '.join(candidate.causes)} -> {candidate.feature}", style="dim"))
    show_evidence(console, candidate.evidence)
    law = candidate.law.value if candidate.law else "none: neither direction convinces"
    console.print(f"law that the data suggest: {law}", markup=False)


def show_evidence(console: Console, evidence: Evidence) -> None:
    """Print what the rows say of a rule, and its first counterexamples."""
    table = Table(box=None, show_header=False)
    table.add_row("rows where the body holds", f"{evidence.support:,} of {evidence.rows:,}")
    table.add_row("P(head|body)", f"{evidence.precision:.2%}, without the rule {evidence.base:.2%}")
    together = f", with the other rules of this head {evidence.recall_together:.2%}"
    alone = evidence.explained == evidence.hits
    table.add_row("P(body|head)", f"{evidence.recall:.2%}{'' if alone else together}")
    table.add_row("counterexamples", f"{evidence.counterexamples:,}")
    console.print(table)
    if not evidence.examples:
        return
    names = [name for name, _ in evidence.examples[0].values]
    rows = Table("row", *(Column(Text(name)) for name in names), box=None, header_style="dim")
    for example in evidence.examples:
        values = ("unknown" if value is None else str(value) for _, value in example.values)
        rows.add_row(str(example.row), *(Text(value) for value in values))
    console.print(rows)


def show_review(console: Console, review: Review) -> None:
    """Print every answer ever given, the oldest first, and what is left to answer."""
    table = Table("when", "who", "rule", "verdict", "law", "why", box=None, header_style="dim")
    for each in review.answers:
        law = each.law.value if each.law else ""
        words = (each.at, each.by, each.rule, each.verdict.value, law, each.why)
        table.add_row(*(Text(word) for word in words))
    console.print(table)
    for line in review.torn:
        console.print(f"line {line} was cut short while it was written and is passed over")
    show_progress(console, review)


def show_progress(console: Console, review: Review) -> None:
    """Print how far a review has come."""
    left, all_ = len(review.pending()), len(review.candidates)
    console.print(f"{all_ - left} of {all_} rules answered, {left} left", markup=False)


def show_learned(console: Console, learned: Learned) -> None:
    """Print learned rules and how well they decide."""
    console.print(Text(learned.text, style="cyan"))
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
