"""The commands `fit` and `init`: problems from a model or from labels.

Exit codes: 0 done, 2 bad input.
"""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from p2c._spec.spec import Trust
from p2c.cli.app import command_group, out, spread
from p2c.cli.desk import (
    ELSEWHERE,
    TrustOption,
    choose,
    chosen_actions,
    refuse_existing,
    restrictions,
    write_new,
)
from p2c.cli.learning import Changes, DataFile, Kept, Reading, ScaleName, ScaleOption, Seed
from p2c.errors import P2CError, and_more, counted, need_learning, shown
from p2c.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from p2c._learn.relations.relation import Relation
    from p2c._learn.tables.files import Table
    from p2c._learn.tables.look import Assumption

fitting = command_group()

Causal = Annotated[
    Path | None, typer.Option(help="Causal rules: a file of rules (.lp), or an answered review.")
]
Quiet = Annotated[bool, typer.Option("--yes", help="Accept the assumed actions without questions.")]
Desired = Annotated[str | None, typer.Option(help="The outcome that a person wants.")]


@dataclass(frozen=True)
class Efforts(Changes):
    """The action and weight of each column."""

    free: Annotated[
        list[str] | None, typer.Option(help="A column that may change both ways. Repeatable.")
    ] = None
    weight: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=WEIGHT", help="The weight of a change; 1 by default. Repeatable."
        ),
    ] = None
    scale: ScaleOption = ScaleName.RANGE

    @property
    def named(self) -> list[str]:
        """Return the columns that an option names."""
        weights = [each.partition("=")[0] for each in self.weight or ()]
        chosen = (self.fixed, self.up, self.down, self.free)
        return [*weights, *(name for names in chosen for name in names or ())]

    def assumed(self, table: Table, *, yes: bool) -> tuple[Assumption, ...]:
        """Return the action of each column: by option, by an answer, or assumed."""
        from p2c._learn.tables.look import assume

        named = {"fixed": self.fixed, "up": self.up, "down": self.down, "free": self.free}
        actions = chosen_actions(table.column, **named)
        tables = restrictions(None, None, self.weight)
        weights = {table.column(name): keys["weight"] for name, keys in tables.items()}
        assumed = assume(table.seen, given=actions, weights=weights)
        return _ask_changes(table, assumed, {*actions, *weights}) if _may_ask(yes) else assumed


@dataclass(frozen=True)
class OfTable:
    """The rows of a table and their labels."""

    data: Annotated[Path, typer.Option(help="Rows of its table, a CSV or Parquet file.")]
    target: Annotated[
        str | None,
        typer.Option(help="The column of labels or recorded decisions; a model does not see it."),
    ] = None
    desired: Desired = None
    threshold: Annotated[
        float | None, typer.Option(min=0, max=1, help="Accept from this probability on.")
    ] = None
    equation: Annotated[
        list[str] | None,
        typer.Option(
            metavar="EQUATION",
            help="A column that is computed from others: 'dti = debt / income'. Repeatable.",
        ),
    ] = None
    empty: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="The text of empty cells when the model was trained."),
    ] = None

    @property
    def equations(self) -> dict[str, str]:
        """Return the expression of each computed column."""
        expressions = {}
        for text in self.equation or ():
            name, sign, expression = (each.strip() for each in text.partition("="))
            if not (name and sign and expression):
                raise P2CError(f"--equation: expected 'dti = debt / income', found {shown(text)}")
            expressions[name.strip('"')] = expression
        return expressions


@dataclass(frozen=True)
class Learning:
    """How rules are learned, and measured."""

    positive: Annotated[
        str | None,
        typer.Option(help="The label that learned rules define; the desired one by default."),
    ] = None
    keep: Kept = None
    ratio: Annotated[
        float | None,
        typer.Option(min=0, help="FOLD-SE: negatives for one positive in a rule; 0.5 by default."),
    ] = None
    tail: Annotated[
        float | None,
        typer.Option(min=0, max=0.99, help="FOLD-SE: the least share of rows; 0.005 by default."),
    ] = None
    held_out: Annotated[
        float, typer.Option(min=0, max=0.9, help="The share of rows to measure on.")
    ] = 0.2
    seed: Seed = 0

    def refuse_of_labels(self) -> None:
        """Refuse the options that say how rules are learned from labels."""
        for name in ("positive", "keep", "ratio", "tail"):
            if getattr(self, name) is not None:
                raise P2CError(f"--{name}: says how rules are learned from labels; leave it out")


@dataclass(frozen=True)
class Output:
    """The files that are written."""

    output: Annotated[
        Path,
        typer.Option(
            "-o",
            "--output",
            help="The folder to make; a TOML file for rules from labels, or in the place of a model.",
        ),
    ]
    rules: Annotated[
        Path | None, typer.Option(help="Where to write the learned rules besides, an .lp file.")
    ] = None

    @property
    def is_file(self) -> bool:
        """Tell whether a problem is written as a file, which has no place for a model."""
        return self.output.suffix.lower() in (".toml", ".json")

    def refuse_existing(self, replace_old: bool) -> None:
        """Refuse files that exist, before anything is learned."""
        if not replace_old:
            refuse_existing(
                self.output, way_out=f"{ELSEWHERE}, or --replace what p2c fit made before"
            )
        refuse_existing(self.rules)

    def write_relations(self, relations: tuple[Relation, ...], frame: pd.DataFrame) -> None:
        """Print relations between columns and put them into a review beside the problem."""
        from p2c._project.fitting import review_beside, write_relations
        from p2c._report.learned import show_relations

        if not relations:
            return
        path = review_beside(self.output)
        write_relations(path, relations, frame)
        show_relations(out, relations)
        count = counted(len(relations), "relation")
        out.print(
            f"{count} between columns, which answers mention until you approve or reject them:"
            f" p2c review {shlex.quote(str(path))} --list",
            markup=False,
        )

    def write_rules(self, text: str) -> None:
        """Write rules, if a file for them was named."""
        if self.rules is not None:
            write_new(self.rules, f"{text}\n")


@fitting.command()
@spread
def fit(
    model: Annotated[
        Path | None,
        typer.Argument(
            help="The model; without one, rules are learned from --target. .skops, .onnx, .json, .ubj, .txt, .cbm, a"
            " scorecard .csv, rules .lp, or a folder of MLflow."
        ),
    ] = None,
    *,
    said: OfTable,
    reading: Reading,
    efforts: Efforts,
    learning: Learning,
    files: Output,
    causal: Causal = None,
    yes: Quiet = False,
    replace_old: Annotated[
        bool, typer.Option("--replace", help="Replace a folder that p2c fit made before.")
    ] = False,
    trust: TrustOption = None,
) -> None:
    """Make a problem from a stored model and its table, or from a table of labels.

    A model is kept in a folder, and plans are those of the model. Into a TOML file go the rules of a model, its own or
    those learned from its answers.
    """
    need_learning()
    files.refuse_existing(replace_old)
    if model is None:
        if said.target is None:
            raise P2CError("expected a model file, or --target COLUMN with labels to learn from")
        if said.threshold is not None:
            raise P2CError("--threshold: labels have no probability: leave it out")
        table = reading.open(said.data, said.empty)
        labels = Labels(table, said.target, said.desired, causal, said.equations)
        _learn_from(labels, efforts, learning, files, yes=yes)
        return
    from p2c._from_data import DataOptions
    from p2c._project.fitting import (
        fit_model,
        open_stored,
        read_causal,
        shown_table,
        surrogate_problem,
        with_found_relations,
    )
    from p2c._report.learned import (
        show_changes,
        show_extraction,
        show_loss,
        show_next,
        show_reading,
    )

    learning.refuse_of_labels()
    words = tuple(trust or ())
    table = reading.open(said.data, said.empty)
    opened = open_stored(model, table, target=said.target, trust=Trust.of(words))
    rules = read_causal(causal)
    desired = said.desired or (_ask_class(opened.classes) if _may_ask(yes) else None)
    options = DataOptions(
        causal=rules,
        desired=desired,
        threshold=said.threshold,
        equations=said.equations,
        assumptions=efforts.assumed(opened.table, yes=yes),
        scale=efforts.scale.value,
        held_out=learning.held_out,
        seed=learning.seed,
    )
    keys = {"name": files.output.stem if files.is_file else files.output.name}
    if files.is_file:
        extraction, problem = surrogate_problem(opened, options, keys)
        problem, relations = with_found_relations(problem, opened.table.frame, rules)
        show_changes(out, opened.table, problem.assumptions)
        truth = "it too" if opened.labels is None else f"the column {opened.labels.name}"
        show_extraction(out, extraction, truth=truth)
        problem.save(files.output)
        files.write_relations(relations, opened.table.frame)
        show_next(out, _problem_steps(files.output))
    else:
        problem = fit_model(opened, options, keys)
        problem, relations = with_found_relations(problem, opened.table.frame, rules)
        assert problem.reading is not None
        show_loss(out, problem.reading)
        show_changes(out, shown_table(problem, opened.table), problem.assumptions)
        assert problem.extraction is not None
        extraction = problem.extraction
        show_reading(out, problem.reading, extraction)
        problem.save(files.output, pickle="pickle" in words, replace=replace_old)
        files.write_relations(relations, opened.table.frame)
        show_next(out, _next_steps(files.output, problem, causal is None, words))
    files.write_rules(extraction.program)


@fitting.command()
@spread
def init(
    data: DataFile,
    *,
    reading: Reading,
    efforts: Efforts,
    learning: Learning,
    target: Annotated[
        str | None, typer.Option(help="The column of outcomes; asked for in a terminal.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The problem to write, a TOML file.")
    ] = None,
    desired: Desired = None,
    causal: Causal = None,
    yes: Quiet = False,
) -> None:
    """Make a problem from a table of outcomes, and ask in a terminal for the rest."""
    need_learning()
    files = Output(output or data.with_suffix(".toml").with_name(f"{data.stem}.toml"))
    refuse_existing(files.output, files.rules)
    table = reading.open(data)
    labels = Labels(table, target or _ask_target(table, yes=yes), desired, causal)
    _learn_from(labels, efforts, learning, files, yes=yes)


@dataclass(frozen=True)
class Labels:
    """A table with a column of labels, the desired one, and causal rules."""

    table: Table
    target: str
    desired: str | None = None
    causal: Path | None = None
    equations: Mapping[str, str] = field(default_factory=dict)


def _learn_from(
    labels: Labels, efforts: Efforts, learning: Learning, files: Output, *, yes: bool
) -> None:
    """Write a problem with rules from labels, and print the assumed actions."""
    from p2c._from_data import DataOptions, problem_from_table
    from p2c._learn.decision import outcomes_of
    from p2c._project.fitting import read_causal, with_found_relations
    from p2c._report.learned import show_changes, show_learned, show_next

    if not files.is_file:
        raise P2CError(f"{files.output}: expected a .toml file, for there is no model to keep")
    column, desired = labels.table.column(labels.target), labels.desired
    kept = [column, *(learning.keep or ()), *efforts.named, *labels.equations]
    table = labels.table.useful(frozenset(map(labels.table.column, kept)))
    rest = table.without([column])
    if _may_ask(yes):
        desired = desired or _ask_class(outcomes_of(table.frame[column]))
    assumed = efforts.assumed(rest, yes=yes)
    options = DataOptions(
        causal=read_causal(labels.causal),
        equations=labels.equations,
        desired=desired,
        positive=learning.positive,
        assumptions=assumed,
        scale=efforts.scale.value,
        held_out=learning.held_out,
        seed=learning.seed,
        ratio=0.5 if learning.ratio is None else learning.ratio,
        tail=0.005 if learning.tail is None else learning.tail,
    )
    keys = {"name": files.output.stem}
    problem = problem_from_table(Problem, table, column, options, keys)
    problem, relations = with_found_relations(problem, rest.frame, options.causal)
    assert problem.provenance is not None
    assert problem.provenance.learned is not None
    show_changes(out, rest, assumed)
    show_learned(out, problem.provenance.learned)
    problem.save(files.output)
    files.write_relations(relations, rest.frame)
    files.write_rules(problem.provenance.learned.text)
    show_next(out, _problem_steps(files.output))


def _may_ask(yes: bool) -> bool:
    return not yes and sys.stdin.isatty()


def _ask_class(classes: Sequence[Any] | None) -> str | None:
    """Ask which outcome is wanted, where the classes do not say it themselves."""
    if not classes or [*classes] in ([False, True], [0, 1]):
        return None
    return choose("which outcome is wanted", [str(each) for each in classes])


def _ask_target(table: Table, *, yes: bool) -> str:
    names = [str(each) for each in table.frame.columns]
    if not _may_ask(yes):
        raise P2CError(f"--target: which column holds the outcome? There are {and_more(names)}")
    return choose("which column holds the outcome", names)


def _ask_changes(
    table: Table, assumed: tuple[Assumption, ...], settled: set[str]
) -> tuple[Assumption, ...]:
    """Ask for the action and weight of each column without an option."""
    from p2c._learn.tables.look import ACTIONS

    typer.echo("Which changes are possible, and with what weight? Return accepts the proposal.")
    looks = {each.name: each for each in table.seen.columns}
    answered = []
    for each in assumed:
        if each.column not in settled:
            seen = looks[each.column]
            question = f"{each.column} ({seen.kind.value}, {seen.span})"
            ordered = seen.kind.value == "number"
            choices = ACTIONS if ordered else ("free", "fixed")
            action = choose(question, choices, default=each.action)
            why = each.why if action == each.action else None
            weight = each.weight if action == "fixed" else _effort(each.weight)
            each = replace(each, action=action, weight=weight, why=why)  # noqa: PLW2901
        answered.append(each)
    return tuple(answered)


def _effort(proposed: float) -> float:
    while True:
        answer = typer.prompt("  weight (1 is usual, 2 twice as hard)", default=f"{proposed:g}")
        try:
            number = float(answer)
        except ValueError:
            number = -1.0
        if 0 <= number < float("inf"):
            return int(number) if number.is_integer() else number
        typer.echo("expected a number, 0 or more")


def _next_steps(
    folder: Path, problem: Problem, no_causes: bool, trusted: tuple[str, ...]
) -> list[str]:
    """Return notes and the next command, which plans for a refused row."""
    assert problem.decider is not None
    assert problem.decider.source.model is not None
    assert problem.provenance is not None
    assert problem.provenance.fitted is not None
    person, rows = folder / "sample.csv", problem.provenance.fitted.rows
    accepted = problem.decider.source.model.accepts(rows).tolist()
    number = 1 if all(accepted) else accepted.index(False) + 1
    lines = [
        str(folder),
        f"{person} holds {len(rows):,} rows of your data: they go where the folder goes",
        f"to change what was assumed: --free, --up, --down, --fixed, or edit {folder / 'problem.toml'}"
        f" and accept it: p2c lint {folder} --accept",
    ]
    if no_causes:
        lines.append(
            "no causal rules: changes have no effects on each other; p2c causal learns candidates, --causal takes them"
        )
    elif problem.theory.causes:
        lines.append(
            "causal rules hold by the law that problem.toml states, 'iff' where it states none:"
            f" p2c lint {folder} reads it back"
        )
    trust = "".join(f" --trust {shlex.quote(each)}" for each in trusted)
    return [*lines, f"next: p2c plan {folder} {person} --row {number}{trust}"]


def _problem_steps(path: Path) -> list[str]:
    return [str(path), f"next: p2c lint {path}, then p2c plan {path} PERSON.json"]
