"""What was seen, learned and read, on a terminal: the columns of a table, rules and their figures, candidates and reviews."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Column, Table
from rich.text import Text

from p2c._learn.model import Read
from p2c._learn.relations.relation import Relation
from p2c._learn.tables.look import USELESS
from p2c._markup import clean
from p2c._report.questions import effects, read_back
from p2c.errors import and_more, counted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from rich.console import Console

    from p2c._explain.phrases import Phrases
    from p2c._learn.causal.candidate import Candidate, Evidence
    from p2c._learn.causal.review import Review
    from p2c._learn.decision import Learned
    from p2c._learn.extract.logic import Extraction
    from p2c._learn.model import NotRead
    from p2c._learn.relations.relation import Example
    from p2c._learn.tables.files import Table as Rows
    from p2c._learn.tables.look import Assumption, ColumnLook, TableLook
    from p2c._report.questions import Conclusion, Reading


MOST_COLUMNS = 20
"""How many columns of a table are listed before the rest are only counted."""


def _show_rest(console: Console, count: int, told: str = "") -> None:
    """Print how many of `count` columns are not listed, with a remark."""
    rest = count - MOST_COLUMNS
    if rest > 0:
        console.print(_text(f"and {counted(rest, 'more column')}{told}", "dim"))


def show_columns(console: Console, seen: TableLook, *, keep: Collection[str] = ()) -> None:
    """Print a line for each column, and which are left out, why, and how to keep them."""
    table = Table("column", "holds", "values", "missing", "", box=None, header_style="dim")
    for each in seen.columns[:MOST_COLUMNS]:
        table.add_row(*map(_text, (*_held(each), each.note)))
    console.print(table)
    _show_rest(console, len(seen.columns))
    show_left_out(console, seen.left_out(keep))
    console.print()


def show_left_out(console: Console, columns: Iterable[ColumnLook]) -> None:
    """Print which columns are left out, why, and how to keep them."""
    left_out = list(columns)
    for each in left_out[:MOST_COLUMNS]:
        told = f"column '{each.name}' is left out: {USELESS[each.kind].value}; keep it with --keep '{each.name}'"
        console.print(_text(told, "yellow"))
    _show_rest(console, len(left_out), " left out")


def _held(column: ColumnLook) -> tuple[str, ...]:
    return column.name, column.kind.value, column.span, f"{column.missing:,}"


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


def show_changes(console: Console, read: Rows, assumed: Iterable[Assumption]) -> None:
    """Print each column with its content, action and effort, then the assumptions.

    Columns that the model does not read, or that are left out for they help no rule, come last.
    """
    looks = {each.name: each for each in read.seen.columns}
    heads = ("column", "holds", "values", "missing", "change", "effort", "")
    columns = (Column(head, overflow="fold") for head in heads)
    table = Table(*columns, box=None, header_style="dim")
    reasons: dict[tuple[str, str], list[str]] = {}
    lines: list[tuple[str, ...]] = []
    for said in assumed:
        each = looks[said.column]
        lines.append((*_held(each), said.action, f"{said.weight:g}", each.note))
        if said.why:
            reasons.setdefault((said.action, said.why.value), []).append(said.column)
    for word, others in (("not read", read.unread), ("left out", read.left_out)):
        lines += [(*_held(each), word, "", each.note) for each in others]
    for line in lines[:MOST_COLUMNS]:
        table.add_row(*map(_text, line))
    console.print(table)
    _show_rest(console, len(lines))
    show_left_out(console, read.left_out)
    for (action, why), names in reasons.items():
        told = f"assumed {action}, for {why}: {and_more(names)}"
        console.print(_text(told, "yellow"))
    console.print()


def show_loss(console: Console, reading: Read | NotRead) -> None:
    """Print what plans of a black-box model lack, and the cheapest cure."""
    if not isinstance(reading, Read):
        lost = f"no proof: the model is only asked, so a cheaper plan may exist ({reading})"
        console.print(_text(lost, "yellow"))
        console.print(_text(f"cheapest cure: {reading.cure}"))


def show_reading(console: Console, reading: Read | NotRead, found: Extraction) -> None:
    """Print how plans of a parsed model are proved, or the rules of a black box."""
    if isinstance(reading, Read):
        console.print(_text(f"read exactly: {reading}", "green"))
        console.print("plans are proved against the model itself")
    else:
        console.print("plans are confirmed by the model")
        told = f"{found.fidelity:.1%} of {counted(found.rows, 'row')}"
        console.print(f"rules that stand in for it where reasons are told agree with it on {told}")


def show_next(console: Console, lines: Sequence[str]) -> None:
    """Print what was written and the commands that come next."""
    for line in lines:
        console.print(line, markup=False)


def show_candidates(
    console: Console, review: Review, candidates: Iterable[Candidate | Relation]
) -> None:
    """Print candidates of a review by their effects, each as a sentence with its rule and its evidence in a line."""
    wanted = {each.id for each in candidates}
    for effect in effects(review):
        shown = [each for each in effect.questions if each.candidate.id in wanted]
        if shown:
            console.print(_text(effect.label, "bold"))
        for each in shown:
            if isinstance(each.candidate, Relation):
                show_relations(console, [each.candidate])
                continue
            evidence = each.candidate.evidence
            law = each.candidate.law.value if each.candidate.law else "none"
            console.print(_text(each.sentence))
            _show_rule(console, each.candidate.rule)
            console.print(
                f"  {clean(each.candidate.id)}: {evidence.hits:,} of {evidence.support:,} rows,"
                f" {evidence.precision:.1%}; law that the data suggest: {law}",
                markup=False,
            )


def show_relations(console: Console, relations: Iterable[Relation]) -> None:
    """Print relations between columns, each with its id, its text and its rows."""
    for each in relations:
        console.print(_text("; ".join(each.text.splitlines())))
        console.print(_text(f"{each.id}: {each.counts}", "dim", indent=2))


def show_rule_reading(console: Console, reading: Reading) -> None:
    """Print a candidate in words, with its rows and its laws."""
    console.print(_text(reading.sentence, "bold"))
    if reading.rows:
        console.print(_text(reading.rows))
        return
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


def show_open(console: Console, review: Review, phrases: Phrases) -> None:
    """Print each open candidate of a review, with its evidence and its laws."""
    waiting = [
        (effect.label, question.candidate)
        for effect in effects(review, phrases)
        for question in effect.questions
        if question.is_open
    ]
    for number, (label, candidate) in enumerate(waiting, start=1):
        place = f"{number} of {len(waiting)}, {label}: {candidate.id}"
        console.print(_text(place, "dim"))
        text = candidate.text
        evidence = None if isinstance(candidate, Relation) else candidate.evidence
        show_rule_reading(console, read_back(review, candidate, text, evidence, phrases))
        if isinstance(candidate, Relation):
            show_examples(console, candidate.examples)
        _show_rule(console, text)
        console.print()


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
    show_examples(console, evidence.examples)


def show_examples(console: Console, examples: Sequence[Example]) -> None:
    """Print rows that speak against a candidate."""
    if not examples:
        return
    names = [name for name, _ in examples[0].values]
    rows = Table("row", *(Column(_text(name)) for name in names), box=None, header_style="dim")
    for example in examples:
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
