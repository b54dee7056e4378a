"""The commands that begin: from a stored model and a table to a folder that answers or to rules, or from a table to a problem.

Exit codes: 0 done, 2 bad input.
"""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from p2c._spec.spec import Trust
from p2c._spec.toml import problem_to_toml
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
from p2c.cli.learning import (
    Changes,
    DataFile,
    HeldOut,
    Kept,
    ProblemOut,
    Reading,
    RulesFile,
    ScaleName,
    ScaleOption,
    Seed,
    hint_actions,
)
from p2c.errors import P2CError, and_more, need_learning

if TYPE_CHECKING:
    from collections.abc import Sequence

    from p2c._project import Assumption, Table
    from p2c.problem import Problem

fitting = command_group()

Causal = Annotated[
    Path | None, typer.Option(help="Causal rules: a file of rules (.lp), or an answered review.")
]
Quiet = Annotated[bool, typer.Option("--yes", help="Ask nothing: take what is assumed.")]
Desired = Annotated[str | None, typer.Option(help="The outcome that a person wants.")]


@dataclass(frozen=True)
class Efforts(Changes):
    """Who may change which column, and at what effort."""

    free: Annotated[
        list[str] | None, typer.Option(help="A column that anybody may change; repeat it for more.")
    ] = None
    weight: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN=WEIGHT", help="How hard a change is; 1 by default."),
    ] = None
    scale: ScaleOption = ScaleName.RANGE

    def assumed(self, table: Table, *, yes: bool) -> tuple[Assumption, ...]:
        """Return who may change each column: as options say, else as answered in a terminal, else assumed."""
        from p2c._project import assume

        named = {"fixed": self.fixed, "up": self.up, "down": self.down, "free": self.free}
        given = chosen_actions(table.column, **named)
        told = restrictions(None, None, self.weight)
        efforts = {table.column(name): keys["weight"] for name, keys in told.items()}
        assumed = assume(table.seen, given=given, weights=efforts)
        return _ask_changes(table, assumed, known={*given, *efforts}) if _may_ask(yes) else assumed


@dataclass(frozen=True)
class OfModel:
    """What is said of a model, and of the rows that it is asked about."""

    data: Annotated[Path, typer.Option(help="Rows of its table, a CSV or Parquet file.")]
    target: Annotated[
        str | None, typer.Option(help="The column of true labels, which the model does not see.")
    ] = None
    desired: Desired = None
    threshold: Annotated[
        float | None, typer.Option(min=0, max=1, help="Accept from this probability on.")
    ] = None
    empty: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="What stood in empty cells of text when it was trained."),
    ] = None


@fitting.command()
@spread
def fit(
    model: Annotated[
        Path | None,
        typer.Argument(
            help="The model; without one, rules are learned from --target. .skops, .onnx, .json, .ubj, .txt, .cbm, a scorecard .csv, or a folder of MLflow."
        ),
    ] = None,
    *,
    asked: OfModel,
    reading: Reading,
    efforts: Efforts,
    output: Annotated[
        Path,
        typer.Option("-o", "--output", help="The folder to make; a TOML file without a model."),
    ],
    causal: Causal = None,
    seed: Seed = 0,
    yes: Quiet = False,
    replace_old: Annotated[
        bool, typer.Option("--replace", help="Replace a folder that p2c fit made before.")
    ] = False,
    trust: TrustOption = None,
) -> None:
    """Make a problem from a stored model and its table, or from a table of labels."""
    need_learning()
    if model is None:
        if asked.target is None:
            raise P2CError("expected a model file, or --target COLUMN with labels to learn from")
        if asked.threshold is not None:
            raise P2CError("--threshold: labels have no probability: leave it out")
        labels = Labels(asked.data, asked.target, output, asked.desired, causal, seed=seed)
        _learn_from(labels, reading.open(asked.data, asked.empty), efforts, yes=yes)
        return
    from p2c._project import FitRequest, fit_model, open_stored
    from p2c._project.fitting import read_causal
    from p2c._report.learned import show_changes, show_next, show_reading

    if not replace_old:
        refuse_existing(output, way_out=f"{ELSEWHERE}, or --replace what p2c fit made before")
    words = tuple(trust or ())
    table = reading.open(asked.data, asked.empty)
    opened = open_stored(model, table, target=asked.target, trust=Trust.of(words))
    rules = read_causal(causal)
    desired = asked.desired or (_ask_class(opened.classes) if _may_ask(yes) else None)
    assumed = efforts.assumed(opened.table, yes=yes)
    request = FitRequest(
        desired=desired,
        threshold=asked.threshold,
        assumptions=assumed,
        causal=rules,
        scale=efforts.scale.value,
        name=output.name,
        seed=seed,
    )
    fitted = fit_model(opened, request)
    show_changes(out, opened.table, fitted.request.assumptions)
    assert fitted.problem.reading is not None
    assert fitted.problem.extraction is not None
    show_reading(out, fitted.problem.reading, fitted.problem.extraction)
    fitted.problem.save(
        output, pickle="pickle" in words, replace=replace_old, remarks=fitted.remarks
    )
    show_next(out, _next_steps(output, fitted.problem, causal is None, words))


@fitting.command()
@spread
def init(
    data: DataFile,
    *,
    reading: Reading,
    efforts: Efforts,
    target: Annotated[
        str | None, typer.Option(help="The column of outcomes; asked for in a terminal.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The problem to write, a TOML file.")
    ] = None,
    desired: Desired = None,
    causal: Causal = None,
    keep: Kept = None,
    seed: Seed = 0,
    yes: Quiet = False,
) -> None:
    """Make a problem out of a table of outcomes: rules learned from them, with comments, to be edited."""
    need_learning()
    path = output or data.with_suffix(".toml").with_name(f"{data.stem}.toml")
    refuse_existing(path)
    table = reading.open(data)
    column = target or _ask_target(table, yes=yes)
    labels = Labels(data, column, path, desired, causal, tuple(keep or ()), seed)
    _learn_from(labels, table, efforts, yes=yes)


@dataclass(frozen=True)
class Labels:
    """A column of labels, and the file of the problem that is learned from it."""

    data: Path
    target: str
    output: Path
    desired: str | None = None
    causal: Path | None = None
    keep: tuple[str, ...] = ()
    seed: int = 0


def _learn_from(labels: Labels, table: Table, efforts: Efforts, *, yes: bool) -> None:
    """Write a problem with rules from labels, and print the assumed actions."""
    from p2c._learn.decision import outcomes_of
    from p2c._project import FitRequest, learn_problem
    from p2c._project.fitting import feature_remarks, read_causal
    from p2c._report.learned import show_changes, show_learned, show_next

    refuse_existing(labels.output)
    column, desired = table.column(labels.target), labels.desired
    kept = frozenset(map(table.column, [column, *labels.keep]))
    table = table.useful(kept)
    rest = table.without([column])
    if _may_ask(yes):
        desired = desired or _ask_class(outcomes_of(table.frame[column]))
    assumed = efforts.assumed(rest, yes=yes)
    request = FitRequest(
        desired=desired,
        assumptions=assumed,
        causal=read_causal(labels.causal),
        scale=efforts.scale.value,
        name=labels.output.stem,
        seed=labels.seed,
    )
    learned, described = learn_problem(table, column, request)
    show_changes(out, rest, assumed)
    show_learned(out, learned)
    remarks = feature_remarks(rest, assumed, described["features"]) | {(): ABOUT}
    write_new(labels.output, problem_to_toml(described, remarks))
    show_next(out, _problem_steps(labels.output, learned.positive, desired))


@fitting.command()
@spread
def extract(
    model: Annotated[
        Path | None,
        typer.Argument(
            help="The model: a .joblib, .pkl, .skops, .onnx, .json, .ubj, .txt, .cbm, .csv or rules (.lp) file, or a folder of MLflow."
        ),
    ] = None,
    *,
    asked: OfModel,
    reading: Reading,
    efforts: Efforts,
    decisions: Annotated[
        str | None, typer.Option(help="Instead of a model: the column of recorded decisions.")
    ] = None,
    keep: Kept = None,
    output: RulesFile = None,
    problem: ProblemOut = None,
    held_out: HeldOut = 0.2,
    seed: Seed = 0,
    trust_pickle: Annotated[
        bool, typer.Option("--trust-pickle", help="Open a pickle, which may run any code.")
    ] = False,
    trust: TrustOption = None,
) -> None:
    """Read the rules of a model, or learn them from its answers, and write a problem around them."""
    need_learning()
    from p2c._project import FitRequest, open_stored
    from p2c._project.fitting import extract_problem, feature_remarks, open_recorded
    from p2c._report.learned import show_changes, show_extraction

    if (model is None) == (decisions is None):
        raise P2CError("expected a model file or --decisions COLUMN, and not both")
    refuse_existing(output, problem)
    table = reading.open(asked.data, asked.empty)
    if model is not None:
        words = [*(trust or ()), *(["pickle"] if trust_pickle else [])]
        opened = open_stored(model, table, target=asked.target, trust=Trust.of(words))
    else:
        opened = open_recorded(table, decisions or "", target=asked.target, keep=keep or ())
    request = FitRequest(
        desired=asked.desired,
        threshold=asked.threshold,
        assumptions=efforts.assumed(opened.table, yes=True),
        scale=efforts.scale.value,
        name=problem.stem if problem else asked.data.stem,
        seed=seed,
    )
    found, described = extract_problem(opened, request, held_out=held_out)
    show_changes(out, opened.table, request.assumptions)
    truth = "it too" if opened.labels is None else f"the column {opened.labels.name}"
    show_extraction(out, found, truth=truth)
    if problem is not None:
        hint_actions(described)
        remarks = feature_remarks(opened.table, request.assumptions, described["features"])
        write_new(problem, problem_to_toml(described, remarks))
    if output is not None:
        write_new(output, f"{found.program}\n")


ABOUT = """Made by p2c init from a table. Edit it; p2c lint reads it back and names what looks wrong.
action: "free", "up", "down" or "fixed" says who may change a feature; weight says at what effort.
rules: who is refused, as learned; add causal rules (the head is a feature) and constraints (no head)."""


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
    table: Table, assumed: tuple[Assumption, ...], known: set[str]
) -> tuple[Assumption, ...]:
    """Ask of each column that no option spoke of who may change it, and at what effort."""
    from p2c._learn.tables.assumptions import ACTIONS

    typer.echo("Who may change what, and at what effort? Return takes what is proposed.")
    looks = {each.name: each for each in table.seen.columns}
    found = []
    for each in assumed:
        if each.column not in known:
            seen = looks[each.column]
            told = f"{each.column} ({seen.kind.value}, {seen.span})"
            ordered = seen.kind.value == "number"
            choices = ACTIONS if ordered else ("free", "fixed")
            action = choose(told, choices, default=each.action)
            why = each.why if action == each.action else None
            weight = each.weight if action == "fixed" else _effort(each.weight)
            each = replace(each, action=action, weight=weight, why=why)  # noqa: PLW2901
        found.append(each)
    return tuple(found)


def _effort(proposed: float) -> float:
    while True:
        given = typer.prompt("  effort (1 is usual, 2 twice as hard)", default=f"{proposed:g}")
        try:
            number = float(given)
        except ValueError:
            number = -1.0
        if 0 <= number < float("inf"):
            return int(number) if number.is_integer() else number
        typer.echo("expected a number, 0 or more")


def _next_steps(
    folder: Path, problem: Problem, no_causes: bool, trusted: tuple[str, ...]
) -> list[str]:
    """Return what to know and to do next; somebody who is refused comes first to mind."""
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


def _problem_steps(path: Path, positive: str, desired: str | None) -> list[str]:
    wanted = desired or positive
    told = [] if desired else [f"assumed: '{wanted}' is what people want; --desired says otherwise"]
    return [*told, f"next: p2c lint {path}, then p2c plan {path} PERSON.json"]
