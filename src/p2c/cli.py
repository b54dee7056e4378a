"""The command line: read the request, call one function, show the result.

Exit codes: 0 found or already there, 1 no way (or gave up, or faults found), 2 bad input.
"""

from __future__ import annotations

import io
import json
import os
import sys
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from p2c import datasets
from p2c.cli_learn import learning
from p2c.domain.files import read_rows
from p2c.domain.spec import Effects, Minimize, Norm, unreadable
from p2c.errors import P2CError, RuleError
from p2c.explain.sentences import explain_proof, to_text
from p2c.plan.nearest import Distinct
from p2c.problem import Problem
from p2c.report.terminal import show_plan, show_plans, show_space

app = typer.Typer(
    help="Plans that turn a refusal into an acceptance, proved to be the cheapest there are.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
)
app.add_typer(learning)
out = Console(highlight=False, soft_wrap=True)

ProblemFile = Annotated[Path, typer.Argument(help="The problem, a TOML or JSON file.")]
RowFile = Annotated[
    Path, typer.Argument(help="The person: a JSON object, or a CSV or JSON lines file of rows.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of words.")]
RowNumber = Annotated[int, typer.Option("--row", min=1, help="Which row of the file, from 1.")]
NormOption = Annotated[
    Norm | None, typer.Option(help="How efforts add up; the problem's own by default.")
]
EffectsOption = Annotated[Effects | None, typer.Option(help="When effects happen.")]
MinimizeOption = Annotated[Minimize | None, typer.Option(help="What comes first.")]


def main() -> None:
    """Run the command line; bad input is one line on standard error and exit code 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(
                errors="backslashreplace"
            )  # where ✓ has no code, the rest is still read
    try:
        code = app(standalone_mode=False)
    except P2CError as error:
        _complain("; ".join(str(error).splitlines()))
        if isinstance(error, RuleError) and sys.stderr.isatty():
            _complain(error.snippet)
        code = 2
    except typer.Abort:
        code = 1
    except OSError as error:
        _complain(f"the output cannot be written: {unreadable(error)}")
        _forget_output()
        code = 2
    except Exception as error:
        code = _usage_code(error)
    sys.exit(code)


def _complain(text: str) -> None:
    print(text, file=sys.stderr)  # noqa: T201


def _usage_code(error: Exception) -> int:
    """Say in one line how the command line was misused; what is no such error is raised again."""
    # Typer has its own copy of click in some versions, so the class cannot be named.
    if not hasattr(error, "format_message"):
        raise error
    context = getattr(error, "ctx", None)
    start = "" if _is_help(error) else f"{context.command_path if context else 'p2c'}: "
    _complain(f"{start}{error.format_message()}")
    return 2


def _is_help(error: Exception) -> bool:
    return type(error).__name__ == "NoArgsIsHelpError"


def _forget_output() -> None:
    """Drop what could not be written, so that the end of the program does not try again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@app.command()
def plan(
    problem: ProblemFile,
    row: RowFile,
    *,
    as_json: AsJson = False,
    number: RowNumber = 1,
    norm: NormOption = None,
    effects: EffectsOption = None,
    minimize: MinimizeOption = None,
    engine: Annotated[str, typer.Option(help="Who answers: auto, native or clingo.")] = "auto",
    all_norms: Annotated[bool, typer.Option(help="Plan under each of l0, l1 and l2.")] = False,
    time_limit: Annotated[float | None, typer.Option(min=0, help="Seconds; then give up.")] = None,
    node_limit: Annotated[int | None, typer.Option(min=0, help="States; then give up.")] = None,
) -> None:
    """Find the cheapest path to the goal for one person."""
    loaded = Problem.load(problem)
    person = _person(loaded, row, number)
    norms = [each.value for each in Norm] if all_norms else [norm]
    plans = [
        loaded.plan(
            person,
            engine=engine,
            time_limit=time_limit,
            node_limit=node_limit,
            **_given(norm=each, effects=effects, minimize=minimize),
        )
        for each in norms
    ]
    if as_json:
        documents = [each.to_dict() for each in plans]
        _print_json(documents if all_norms else documents[0])
    else:
        for each in plans:
            if all_norms:
                out.print(f"{each.question.norm.upper()}:", style="bold")
            show_plan(out, loaded.theory, each)
    raise typer.Exit(0 if all(each.status in ("found", "already") for each in plans) else 1)


@app.command()
def nearest(
    problem: ProblemFile,
    row: RowFile,
    *,
    k: Annotated[int, typer.Option("-k", min=1, help="How many end states.")] = 5,
    distinct: Annotated[
        Distinct, typer.Option(help="What makes two end states different.")
    ] = Distinct.POINTS,
    as_json: AsJson = False,
    number: RowNumber = 1,
    norm: NormOption = None,
    effects: EffectsOption = None,
    minimize: MinimizeOption = None,
) -> None:
    """Find the k cheapest end states, each with its best path."""
    loaded = Problem.load(problem)
    person = _person(loaded, row, number)
    keys = _given(norm=norm, effects=effects, minimize=minimize)
    plans = loaded.nearest(person, k, distinct=distinct.value, **keys)
    if as_json:
        _print_json([each.to_dict() for each in plans])
    else:
        show_plans(out, loaded.theory, plans)
        if 0 < len(plans) < k and plans[0].status == "found":
            out.print(f"There are no more than these {len(plans)}.")
    raise typer.Exit(0 if plans else 1)


@app.command()
def why(
    problem: ProblemFile,
    row: RowFile,
    *,
    as_json: AsJson = False,
    number: RowNumber = 1,
    tree: Annotated[bool, typer.Option(help="Print the proof tree with its rules as well.")] = True,
) -> None:
    """Show why the decision is what it is: in sentences, and as a proof tree."""
    loaded = Problem.load(problem)
    proof = loaded.why(_person(loaded, row, number))
    if as_json:
        _print_json(proof.to_dict())
        return
    out.print(to_text(explain_proof(loaded.theory, proof)), markup=False)
    if tree:
        out.print(f"\n{proof.to_text()}", markup=False)


@app.command()
def check(
    problem: ProblemFile,
    plan: Annotated[
        Path, typer.Argument(help="The plan, a JSON file as `p2c plan --json` prints it.")
    ],
) -> None:
    """Replay a plan and list everything that is wrong with it."""
    loaded = Problem.load(problem)
    verdict = loaded.check(_document(plan))
    out.print(str(verdict), markup=False)
    raise typer.Exit(0 if verdict.ok else 1)


@app.command()
def lint(problem: ProblemFile) -> None:
    """Warn of what looks wrong with a problem although it can be read."""
    findings = Problem.load(problem).lint()
    for finding in findings:
        out.print(str(finding), markup=False)
    if not findings:
        out.print("nothing to report")
    raise typer.Exit(1 if findings else 0)


@app.command()
def space(problem: ProblemFile, *, as_json: AsJson = False) -> None:
    """Show how large the search space is, and what is left once rules are all that tell states apart."""
    report = Problem.load(problem).space()
    if as_json:
        _print_json(report.to_dict())
    else:
        show_space(out, report)


@app.command()
def example(
    name: Annotated[str | None, typer.Argument(help="loan, cars, adult or german.")] = None,
    *,
    folder: Annotated[Path, typer.Option("--to", help="Where to write the files.")] = Path(),
) -> None:
    """List the embedded problems, or write one out as TOML with its example rows as JSON."""
    if name is None:
        for each in datasets.names():
            out.print(f"{each}: rows {', '.join(datasets.rows(each))}", markup=False)
        return
    text, rows = datasets.problem_text(name), datasets.rows(name)
    files = {f"{name}.toml": text}
    files |= {
        f"{name}-{row}.json": json.dumps(values, indent=2) + "\n" for row, values in rows.items()
    }
    for file, content in files.items():
        _write_new(folder / file, content)


def _given(**keys: Any) -> dict[str, str]:
    """Return the overrides that were given, as the problem's keys hold them."""
    return {
        key: value.value if isinstance(value, Enum) else value
        for key, value in keys.items()
        if value is not None
    }


def _person(problem: Problem, path: Path, number: int) -> dict[str, Any]:
    rows = read_rows(problem.theory.features, path)
    if number > len(rows):
        raise P2CError(f"{path}: expected a row number up to {len(rows)}, found {number}")
    return dict(rows[number - 1])


def _document(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise P2CError(f"{path}: cannot be read: {unreadable(error)}") from None
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise P2CError(f"{path}: not JSON: {error}") from None
    if not isinstance(document, dict):
        raise P2CError(f"{path}: expected a plan, which is a JSON object")
    return document


def _write_new(path: Path, content: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and path.read_bytes().decode(errors="replace") != content:
            raise P2CError(
                f"{path}: exists and differs; it is left as it is, choose another folder with --to"
            )
        path.write_text(content, encoding="utf-8")
    except OSError as error:
        raise P2CError(f"{path}: cannot be written: {error.strerror}") from None
    out.print(str(path), markup=False)


def _print_json(data: Any) -> None:
    text = json.dumps(data, indent=2, ensure_ascii=False)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(data, indent=2)
    print(text)  # noqa: T201
