"""Candidates, reviews and learned rules on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Column, Table
from rich.text import Text

from p2c.explain.phrases import ENGLISH
from p2c.markup import clean
from p2c.report.questions import effects

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console

    from p2c.explain.phrases import Phrases
    from p2c.learn.causal.candidate import Candidate, Evidence
    from p2c.learn.causal.review import Review
    from p2c.report.questions import Conclusion, Reading


def show_candidates(
    console: Console, review: Review, candidates: Iterable[Candidate], phrases: Phrases = ENGLISH
) -> None:
    """Print candidates of a review by their effects, each as a sentence with its rule and its evidence in a line."""
    wanted = {each.id for each in candidates}
    for effect in effects(review, phrases):
        shown = [each for each in effect.questions if each.candidate.id in wanted]
        if shown:
            console.print(_text(effect.label, "bold"))
        for each in shown:
            evidence = each.candidate.evidence
            law = each.candidate.law.value if each.candidate.law else "none"
            console.print(_text(each.sentence))
            _show_rule(console, each.candidate.rule)
            console.print(
                f"  {clean(each.candidate.id)}: {evidence.hits:,} of {evidence.support:,} rows,"
                f" {evidence.precision:.1%}; law that the data suggest: {law}",
                markup=False,
            )


def show_reading(console: Console, reading: Reading) -> None:
    """Print a rule in words, what the rows say of it, and what each law would make of it."""
    console.print(_text(reading.sentence, "bold"))
    if reading.evidence is None:
        console.print("no data were given, so there are no figures: give them with --data")
    else:
        show_evidence(console, reading.evidence)
    for choice in reading.laws:
        hint = ", which the data suggest" if choice.suggested else ""
        console.print(_text(f"{choice.words.law.value}{hint}", "cyan"))
        for line in (choice.words.text, *choice.words.examples):
            console.print(_text(line, indent=2))
        if choice.rows:
            together = f", {choice.together:,} with the other rules of this conclusion"
            more = "" if choice.together == choice.exceptions else together
            console.print(f"  exceptions: {choice.exceptions:,} of {choice.rows:,} rows{more}")
    if not any(choice.suggested for choice in reading.laws):
        console.print("the data suggest no law: neither direction convinces")


def show_candidate(console: Console, candidate: Candidate, reading: Reading, *, place: str) -> None:
    """Print one candidate with all its evidence."""
    console.print()
    console.print(_text(f"{place}: {candidate.id}", "dim"))
    show_reading(console, reading)
    _show_rule(console, candidate.rule)


def show_conclusion(console: Console, conclusion: Conclusion | None) -> None:
    """Print the end of a review and the next command; nothing while something is open."""
    if conclusion is None:
        return
    if conclusion.trouble:
        console.print(_text(f"all answered, but {conclusion.trouble}", "red"))
        return
    counts = f"{conclusion.approved} approved, {conclusion.rejected} rejected"
    console.print(_text(f"all done, {counts}: {conclusion.command}"), soft_wrap=True)


def _show_rule(console: Console, rule: str) -> None:
    for line in rule.splitlines():
        console.print(_text(line, "dim", indent=2))


def _text(words: str, style: str = "", *, indent: int = 0) -> Text:
    return Text(f"{' ' * indent}{clean(words)}", style=style)


def show_evidence(console: Console, evidence: Evidence) -> None:
    """Print what the rows say of a rule, and its first counterexamples."""
    table = Table(box=None, show_header=False)
    table.add_row("its conditions hold in", f"{evidence.support:,} of {evidence.rows:,}")
    table.add_row(
        "then its conclusion, P(head|body)",
        f"{evidence.precision:.2%}, without the rule {evidence.base:.2%}",
    )
    together = f", with the others {evidence.recall_together:.2%}"
    alone = evidence.explained == evidence.hits
    table.add_row(
        "conclusion explained, P(body|head)",
        f"{evidence.recall:.2%}{'' if alone else together}",
    )
    table.add_row("counterexamples", f"{evidence.counterexamples:,}")
    console.print(table)
    if not evidence.examples:
        return
    names = [name for name, _ in evidence.examples[0].values]
    rows = Table("row", *(Column(_text(name)) for name in names), box=None, header_style="dim")
    for example in evidence.examples:
        values = ("unknown" if value is None else str(value) for _, value in example.values)
        rows.add_row(str(example.row), *map(_text, values))
    console.print(rows)


def show_review(console: Console, review: Review) -> None:
    """Print every answer ever given, the oldest first, and what is left to answer."""
    table = Table("when", "who", "rule", "verdict", "law", "why", box=None, header_style="dim")
    for each in review.answers:
        law = each.law.value if each.law else ""
        words = (each.at, each.by, each.rule, each.verdict.value, law, each.why)
        table.add_row(*map(_text, words))
    console.print(table)
    for line in review.torn:
        console.print(f"line {line} was cut short while it was written and is passed over")
    show_progress(console, review)


def show_progress(console: Console, review: Review) -> None:
    """Print how far a review has come."""
    left, all_ = len(review.pending()), len(review.candidates)
    console.print(f"{all_ - left} of {all_} rules answered, {left} left", markup=False)
