"""The commands for causal rules: candidates from a table, and their review.

Exit codes: 0 done, 1 rules are left to answer, 2 bad input.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from p2c._spec.feature import Law
from p2c._spec.spec import read_text
from p2c._spec.toml import problem_to_toml
from p2c.cli.app import command_group, out, spread
from p2c.cli.desk import write_new
from p2c.errors import P2CError, need_learning
from p2c.problem import Problem

if TYPE_CHECKING:
    import pandas as pd

    from p2c._explain.phrases import Phrases
    from p2c._learn.causal.review import Review
    from p2c._learn.tables.files import Table

learning = command_group()


class ScaleName(Enum):
    """The divisor of a numeric difference."""

    RANGE = "range"
    STD = "std"
    MAD = "mad"


DataFile = Annotated[Path, typer.Argument(help="The data, a CSV or Parquet file with names.")]
ReviewFile = Annotated[Path, typer.Argument(help="The review, as `p2c causal` writes it.")]
LawOption = Annotated[
    Law | None, typer.Option(help="The law to approve; by default the suggested one.")
]
Kept = Annotated[
    list[str] | None,
    typer.Option("--keep", help="A column to keep although it looks useless. Repeatable."),
]
ScaleOption = Annotated[ScaleName, typer.Option(help="The divisor of numeric differences.")]
Seed = Annotated[int, typer.Option(min=0, help="Random seed, such as for the rows to measure on.")]


@dataclass(frozen=True)
class Reading:
    """How a table is read."""

    ignore: Annotated[list[str] | None, typer.Option(help="A column to leave out. Repeatable.")] = (
        None
    )
    decimal_comma: Annotated[
        bool, typer.Option("--decimal-comma", help="Read 1.236,50 as the number 1236.5.")
    ] = False

    def open(self, data: Path, empty: str | None = None) -> Table:
        """Return the table.

        Args:
            data: The file.
            empty: The text of empty cells in columns of text.
        """
        from p2c._learn.tables.files import open_table

        ignore = self.ignore or ()
        return open_table(data, ignore=ignore, decimal_comma=self.decimal_comma, empty=empty)

    def look(self, data: Path, keep: list[str]) -> Table:
        """Return the table without columns that help no rule, and print its columns.

        Args:
            data: The file.
            keep: Columns that stay in any case.
        """
        from p2c._report.learned import show_columns

        table = self.open(data)
        kept = set(map(table.column, keep))
        show_columns(out, table.seen, keep=kept)
        return table.useful(kept)


@dataclass(frozen=True)
class Changes:
    """The actions of columns."""

    fixed: Annotated[
        list[str] | None, typer.Option(help="A column that never changes. Repeatable.")
    ] = None
    up: Annotated[list[str] | None, typer.Option(help="A column that only grows. Repeatable.")] = (
        None
    )
    down: Annotated[
        list[str] | None, typer.Option(help="A column that only shrinks. Repeatable.")
    ] = None


@dataclass(frozen=True)
class Foldse:
    """How FOLD-SE learns."""

    ratio: Annotated[
        float, typer.Option(min=0, help="FOLD-SE: negatives for one positive in a rule.")
    ] = 0.5
    tail: Annotated[
        float, typer.Option(min=0, max=0.99, help="FOLD-SE: the least share of rows for a rule.")
    ] = 0.005


@learning.command()
@spread
def causal(
    data: DataFile,
    *,
    reading: Reading,
    foldse: Foldse,
    output: Annotated[
        Path, typer.Option("-o", "--output", help="The review file, a new one or one in use.")
    ],
    target: Annotated[
        list[str] | None,
        typer.Option(help="An effect to explain. Repeatable. All by default."),
    ] = None,
    feature: Annotated[
        list[str] | None,
        typer.Option(help="A column that may be a cause. Repeatable. All by default."),
    ] = None,
    keep: Kept = None,
    bins: Annotated[
        int, typer.Option(min=2, help="Number of ranges into which numbers are cut.")
    ] = 4,
    cuts: Annotated[
        Path | None, typer.Option(help="A file of rules whose constants cut the numbers.")
    ] = None,
    complements: Annotated[
        bool, typer.Option(help="Explain 'any value but this one' as well.")
    ] = False,
    graph: Annotated[
        Path | None,
        typer.Option(help="A causal graph, DAGitty or DOT text: candidates are its equations."),
    ] = None,
) -> None:
    """Learn candidates for causal rules from a table and put them into a review file."""
    need_learning()
    if graph is not None:
        _review_graph(graph, reading.open(data).frame, output)
        return
    from p2c._learn.causal.candidate import render_graph
    from p2c._learn.causal.learning import learn_causal_rules
    from p2c._learn.causal.review import write_review
    from p2c._report.learned import show_candidates, show_progress

    named = [*(keep or ()), *(target or ()), *(feature or ())]
    frame = reading.look(data, named).frame
    places = _cuts(cuts, frame) if cuts else None
    candidates = learn_causal_rules(
        frame,
        feature,
        targets=target,
        bins=bins,
        cuts=places,
        complements=complements,
        **asdict(foldse),
    )
    written = write_review(output, candidates, features=frame)
    show_candidates(out, written, candidates)
    out.print(f"\n{render_graph(candidates)}", markup=False)
    show_progress(out, written)
    out.print(
        f"none of them is used before it is approved: p2c review {output} --list", markup=False
    )


def _review_graph(graph: Path, frame: pd.DataFrame, output: Path) -> None:
    """Put an equation for each effect of a graph into a review file."""
    from p2c._learn.causal.review import write_review
    from p2c._learn.relations.structural import graph_relations, read_graph
    from p2c._report.learned import show_relations

    try:
        arrows = read_graph(read_text(graph))
    except P2CError as error:
        raise P2CError(f"{graph}: {error}") from None
    relations, skipped = graph_relations(arrows, frame)
    if not relations:
        raise P2CError(f"{graph}: no effect whose causes are numbers")
    write_review(output, relations, features=frame)
    show_relations(out, relations)
    if skipped:
        out.print(f"left out, for a linear equation needs numbers: {', '.join(skipped)}")
    out.print(
        f"none of them is used before it is approved: p2c review {output} --list", markup=False
    )


@learning.command()
def review(
    file: ReviewFile,
    *,
    list_: Annotated[
        bool, typer.Option("--list", help="Show the open rules with evidence and laws.")
    ] = False,
    approve: Annotated[
        list[str] | None,
        typer.Option(metavar="RULE", help="The id of a rule to approve. Repeatable."),
    ] = None,
    reject: Annotated[
        list[str] | None,
        typer.Option(metavar="RULE", help="The id of a rule to reject. Repeatable."),
    ] = None,
    by: Annotated[str, typer.Option(help="The name of the person who answers.")] = "",
    why: Annotated[str, typer.Option(help="The reason for the answers.")] = "",
    law: LawOption = None,
    rule: Annotated[
        str | None, typer.Option(help="Another text for the one rule that is approved.")
    ] = None,
    data: Annotated[Path | None, typer.Option(help="The data to measure that text on.")] = None,
    language: Annotated[str, typer.Option(help="The language of the rules: en or de.")] = "en",
    log: Annotated[bool, typer.Option("--log", help="Show the answers given so far.")] = False,
) -> None:
    """Approve or reject candidates for causal rules; answers are appended."""
    need_learning()
    from p2c._explain.phrases import phrases_of
    from p2c._learn.causal.candidate import ReviewVerdict
    from p2c._learn.causal.review import read_review
    from p2c._report.learned import show_conclusion, show_open, show_progress, show_review
    from p2c._report.questions import conclude

    if rule is not None and (len(approve or ()) != 1 or reject):
        raise P2CError("--rule: expected exactly one --approve and no --reject beside it")
    phrases = phrases_of(language)
    opened = read_review(file)
    for each in approve or ():
        if rule is None:
            opened.decide(each, ReviewVerdict.APPROVED, by=by, why=why, law=law)
        else:
            _edit(opened, each, rule, by=by, why=why, law=law, data=data, phrases=phrases)
    for each in reject or ():
        opened.decide(each, ReviewVerdict.REJECTED, by=by, why=why)
    if list_:
        show_open(out, opened, phrases)
    show = show_review if log or opened.torn else show_progress
    show(out, opened)
    show_conclusion(out, conclude(opened))
    raise typer.Exit(1 if opened.pending() and not (approve or reject) else 0)


def _edit(
    opened: Review,
    rule_id: str,
    text: str,
    *,
    by: str,
    why: str,
    law: Law | None,
    data: Path | None,
    phrases: Phrases,
) -> None:
    """Approve a candidate with another text, and print it with its figures."""
    from p2c._learn.causal.candidate import ReviewVerdict
    from p2c._learn.causal.learning import measure
    from p2c._learn.tables.files import read_frame
    from p2c._report.learned import show_rule_reading
    from p2c._report.questions import read_back

    candidate = opened.candidate(rule_id)
    evidence = measure(opened, rule_id, text, read_frame(data)) if data else None
    reading = read_back(opened, candidate, text, evidence, phrases)
    opened.decide(
        rule_id, ReviewVerdict.EDITED, by=by, why=why, law=law, rule=text, evidence=evidence
    )
    show_rule_reading(out, reading)


@learning.command()
def adopt(
    problem: Annotated[Path, typer.Argument(help="The problem, a TOML or JSON file.")],
    file: ReviewFile,
    *,
    output: Annotated[
        Path,
        typer.Option(
            "-o", "--output", help="Where to write the problem with the rules, a TOML file."
        ),
    ],
) -> None:
    """Add the approved causal rules to a problem; open rules are an error."""
    need_learning()
    from p2c._learn.causal.adopt import with_causal_rules
    from p2c._learn.causal.review import read_review

    merged = with_causal_rules(Problem.load(problem).to_dict(), read_review(file))
    write_new(output, problem_to_toml(merged))


def _cuts(path: Path, frame: pd.DataFrame) -> dict[str, list[float]]:
    from p2c._learn.causal.learning import cuts_of
    from p2c._learn.tables.domains import tidy_frame
    from p2c._rules.parse import parse

    return cuts_of(parse(read_text(path)), tidy_frame(frame))
