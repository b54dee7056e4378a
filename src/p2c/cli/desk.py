"""Shared parts of commands: arguments, files and printing."""

from __future__ import annotations

import json
import shlex
import sys
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from p2c._engines import HOMES
from p2c._markup import visible
from p2c._spec.cost import Norm  # noqa: TC001 - typer needs it at run time
from p2c._spec.feature import Law  # noqa: TC001 - typer needs it at run time
from p2c._spec.misread import misread
from p2c._spec.spec import Effects, Trust, read_text
from p2c._whole_file import put
from p2c.cli.app import Terminal, complain, out
from p2c.errors import BatchError, P2CError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from p2c._audit.reasons import Catalogue
    from p2c._batch.run import Watch
    from p2c.problem import Problem

ProblemFile = Annotated[
    Path, typer.Argument(help="The problem, a TOML or JSON file, or a folder with a model.")
]
TrustOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="A type in a skops file of the model to admit, or 'pickle', which may run any code.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of words.")]
EngineOption = Annotated[str, typer.Option(help=f"The solver: {', '.join(HOMES)}.")]
Language = Annotated[str, typer.Option(help="The language: en or de.")]
Overwrite = Annotated[bool, typer.Option(help="Replace existing files.")]
Workers = Annotated[int, typer.Option(min=1, help="Number of processes that plan.")]


@dataclass(frozen=True)
class OnePerson:
    """A problem and one person."""

    problem: ProblemFile
    row: Annotated[
        Path,
        typer.Argument(
            help="The person: a JSON object, or a CSV or JSON lines file of rows; - for standard input."
        ),
    ]
    number: Annotated[
        int | None,
        typer.Option("--row", min=1, help="The row of the file, from 1; the first by default."),
    ] = None
    trust: TrustOption = None

    def load(self) -> Problem:
        """Return the problem."""
        return load_problem(self.problem, self.trust)

    def read(self, problem: Problem) -> dict[str, Any]:
        """Return the person in the numbered row, by default the first of several.

        A default choice among several rows is reported on standard error.
        """
        rows, number = problem.read_rows(self.row), self.number or 1
        if not rows:
            raise P2CError(f"{self.row}: expected at least one row, found none")
        if self.number is None and len(rows) > 1:
            complain(
                f"{self.row}: this is for the first of {len(rows)} rows; --row chooses another"
            )
        if number > len(rows):
            raise P2CError(f"{self.row}: expected a row number up to {len(rows)}, found {number}")
        return dict(rows[number - 1])


@dataclass(frozen=True)
class Keys:
    """The keys of the problem that a question replaces."""

    norm: Annotated[
        Norm | None, typer.Option(help="The norm of the cost; the problem's own by default.")
    ] = None
    law: Annotated[
        Law | None, typer.Option(help="The law of the causal rules; the problem's own by default.")
    ] = None
    effects: Annotated[
        Effects | None, typer.Option(help="When effects happen; the problem's own by default.")
    ] = None
    minimize: Annotated[
        list[str] | None,
        typer.Option(
            metavar="OBJECTIVE",
            help="What comes first: cost, actions or a resource. Repeatable, in their order.",
        ),
    ] = None
    at_most: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RESOURCE=LIMIT", help="The most of a resource that may be used. Repeatable."
        ),
    ] = None
    max_actions: Annotated[
        int | None, typer.Option(min=0, help="The most direct actions of a plan.")
    ] = None

    @property
    def overrides(self) -> dict[str, Any]:
        """Return the keys that are set."""
        keys = set_keys(**asdict(self))
        pairs = [_pair("--at-most", text, "RESOURCE=LIMIT") for text in keys.pop("at_most", ())]
        limits = {name: _number("--at-most", amount) for name, amount in pairs}
        return keys | ({"limits": limits} if limits else {})


@dataclass(frozen=True)
class Manner:
    """The solver of a plan and its limits."""

    engine: EngineOption = "auto"
    time_limit: Annotated[
        float | None,
        typer.Option(min=0, help="Seconds for one person, then the answer is gave_up."),
    ] = None
    node_limit: Annotated[
        int | None,
        typer.Option(min=0, help="Search nodes for one person, then the answer is gave_up."),
    ] = None

    @property
    def keywords(self) -> dict[str, Any]:
        """Return the keywords of a `Policy`."""
        return asdict(self)


@dataclass(frozen=True)
class Abilities:
    """The restrictions of one person."""

    fixed: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FEATURE", help="A feature that this person cannot change. Repeatable."
        ),
    ] = None
    limit: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FEATURE=LOW..HIGH",
            help="Limits of this person; either end may be absent. Repeatable.",
        ),
    ] = None
    weight: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FEATURE=WEIGHT", help="The weight of a change for this person. Repeatable."
        ),
    ] = None

    @property
    def restrictions(self) -> dict[str, dict[str, Any]]:
        """Return it by feature."""
        return restrictions(self.fixed, self.limit, self.weight)


@dataclass(frozen=True)
class Codes:
    """The codes of principal reasons."""

    reasons: Annotated[
        Path | None,
        typer.Option(metavar="CODES", help="A CSV file of codes, to add principal reasons."),
    ] = None
    protected: Annotated[
        list[str] | None,
        typer.Option(metavar="FEATURE", help="A feature that is never a reason. Repeatable."),
    ] = None

    def read(self) -> Catalogue | None:
        """Return the catalogue of codes; None without one."""
        from p2c._audit.reasons import read_catalogue

        if self.reasons is None and self.protected:
            raise P2CError("--protected: needs --reasons, the codes of what may be a reason")
        return None if self.reasons is None else read_catalogue(self.reasons, self.protected or ())


def restrictions(
    fixed: list[str] | None, limits: list[str] | None, weights: list[str] | None
) -> dict[str, dict[str, Any]]:
    """Return the restrictions of one person from the options of a command.

    >>> restrictions(["age"], ["debt=100..", "savings=..5e4"], ["debt=2"])
    {'age': {'action': 'fixed'}, 'debt': {'min': 100, 'weight': 2}, 'savings': {'max': 50000.0}}
    """
    tables: dict[str, dict[str, Any]] = {name: {"action": "fixed"} for name in fixed or ()}
    for text in limits or ():
        name, span = _pair("--limit", text, "FEATURE=LOW..HIGH")
        low, dots, high = span.partition("..")
        if not dots:
            raise P2CError(f"--limit: expected FEATURE=LOW..HIGH, found '{text}'")
        ends = {"min": low, "max": high}
        table = tables.setdefault(name, {})
        table |= {key: _number("--limit", end) for key, end in ends.items() if end.strip()}
    for text in weights or ():
        name, weight = _pair("--weight", text, "FEATURE=WEIGHT")
        tables.setdefault(name, {})["weight"] = _number("--weight", weight)
    return tables


def _pair(option: str, text: str, expected: str) -> tuple[str, str]:
    name, equals, rest = text.rpartition("=")
    if not (equals and name):
        raise P2CError(f"{option}: expected {expected}, found '{text}'")
    return name, rest


def _number(option: str, text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        raise P2CError(f"{option}: expected a number, found '{text}'") from None


def chosen_actions(column: Callable[[str], str], **named: Iterable[str] | None) -> dict[str, str]:
    """Return the action of each named column; refuse two actions for one.

    Args:
        column: Returns the column of a name.
        **named: Names of columns by action.

    >>> chosen_actions(str, up=["age"], fixed=["sex"])
    {'age': 'up', 'sex': 'fixed'}
    """
    actions: dict[str, str] = {}
    for action, names in named.items():
        for name in map(column, names or ()):
            if actions.get(name, action) != action:
                raise P2CError(f"--{action} {name}: the column is given as '{actions[name]}' too")
            actions[name] = action
    return actions


def set_keys(**keys: Any) -> dict[str, Any]:
    """Return the keys that are set, with the values of a problem file."""
    return {
        key: value.value if isinstance(value, Enum) else value
        for key, value in keys.items()
        if value is not None
    }


def spelled(*words: object, **options: Any) -> str:
    """Return a command for a shell with the options that are set.

    >>> spelled("plan", "my loan.toml", row=2, time_limit=None)
    "p2c plan 'my loan.toml' --row=2"
    """
    said = [f"--{key.replace('_', '-')}={value}" for key, value in set_keys(**options).items()]
    return shlex.join(["p2c", *map(str, words), *said])


def load_problem(path: Path, trust: list[str] | None = None) -> Problem:
    """Return a problem; its model is opened as far as `trust` permits.

    Rules without influence because of a misspelt name are listed on standard error.
    """
    from p2c._rules.lint import misspelt_heads, summarized
    from p2c.problem import Problem

    loaded = Problem.load(path, trust=Trust.of(trust or ()))
    rules = path.parent / loaded.spec.rules_file if loaded.spec.rules_file else path
    for finding in summarized(misspelt_heads(loaded.theory)):
        complain(f"{rules}: {finding}")
    return loaded


ELSEWHERE = "choose another name or folder"
"""The hint for a file that exists already."""


def read_document(path: Path) -> dict[str, Any]:
    """Return a JSON object, such as a plan or a certificate, read from a file."""
    text = read_text(path)
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise P2CError(f"{path}: not JSON: {misread(error, text)}") from None
    if not isinstance(document, dict):
        raise P2CError(f"{path}: expected a JSON object, found another value")
    return document


def write_new(
    path: Path,
    content: str | bytes,
    *,
    replace: bool = False,
    announce: bool = True,
    way_out: str = ELSEWHERE,
) -> None:
    """Write a file unless it would replace another one, and print its path."""
    data = content.encode() if isinstance(content, str) else content
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not replace and path.exists() and path.read_bytes() != data:
            raise P2CError(f"{path}: exists and differs; it stays unchanged, {way_out}")
        if path.exists() and not path.is_file():
            path.write_bytes(data)  # a device or a pipe is written to, not replaced
        else:
            put(path, lambda made: made.write_bytes(data))
    except OSError as error:
        raise P2CError(f"{path}: cannot be written: {error.strerror}") from None
    if announce:
        out.print(str(path), markup=False)


def refuse_existing(*paths: Path | None, way_out: str = ELSEWHERE) -> None:
    """Refuse existing files before the work begins."""
    for path in paths:
        if path is not None and path.exists():
            raise P2CError(f"{path}: exists; it stays unchanged, {way_out}")


@contextmanager
def watched() -> Iterator[Watch]:
    """Show the progress of a batch; exit with 1 if parts are missing."""
    from p2c._batch.show import progress

    try:
        with progress(Terminal(stderr=True)) as watch:
            yield watch
    except BatchError as error:
        complain(str(error))
        raise typer.Exit(1) from None


def choose(question: str, choices: Iterable[str], default: str | None = None) -> str:
    """Ask for one of the words; its first letters are enough."""
    words = tuple(choices)
    prompt = f"{question} ({', '.join(words)})"
    while True:
        answer = str(typer.prompt(prompt, default=default)).strip().lower()
        if answer in words:
            return answer
        near = [word for word in words if answer and word.startswith(answer)]
        if len(near) == 1:
            return near[0]
        typer.echo(f"expected one of {', '.join(words)}")


def print_json(data: Any) -> None:
    """Print data as JSON, in letters that the terminal has."""
    text = json.dumps(data, indent=2, ensure_ascii=False)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
        safe = visible(text) == text
    except UnicodeEncodeError:
        safe = False
    print(text if safe else json.dumps(data, indent=2))  # noqa: T201
