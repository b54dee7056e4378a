"""What commands share: their arguments, the files they read and write, and the console they print on."""

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
from p2c._spec.spec import Effects, Minimize, Trust, read_text
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
        help="Of the model: a type in a skops file to let in, or 'pickle', which may run any code.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of words.")]
EngineOption = Annotated[str, typer.Option(help=f"Who answers: {', '.join(HOMES)}.")]
Language = Annotated[str, typer.Option(help="The language: en or de.")]
Overwrite = Annotated[bool, typer.Option(help="Replace what is there.")]
Workers = Annotated[int, typer.Option(min=1, help="How many processes plan.")]


@dataclass(frozen=True)
class OnePerson:
    """A problem, and the person who asks."""

    problem: ProblemFile
    row: Annotated[
        Path,
        typer.Argument(
            help="The person: a JSON object, or a CSV or JSON lines file of rows; - for standard input."
        ),
    ]
    number: Annotated[
        int | None,
        typer.Option("--row", min=1, help="Which row of the file, from 1; the first if not said."),
    ] = None
    trust: TrustOption = None

    def load(self) -> Problem:
        """Return the problem."""
        return load_problem(self.problem, self.trust)

    def read(self, problem: Problem) -> dict[str, Any]:
        """Return the person in the numbered row; of several, if no number is given, the first, and say so."""
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
    """What a question puts in the place of the problem's own keys."""

    norm: Annotated[
        Norm | None, typer.Option(help="How efforts add up; the problem's own by default.")
    ] = None
    law: Annotated[
        Law | None, typer.Option(help="The law of the causal rules; the problem's own by default.")
    ] = None
    effects: Annotated[Effects | None, typer.Option(help="When effects happen.")] = None
    minimize: Annotated[Minimize | None, typer.Option(help="What comes first.")] = None

    @property
    def given(self) -> dict[str, Any]:
        """Return the keys that were given."""
        return given(**asdict(self))


@dataclass(frozen=True)
class Manner:
    """How a person is planned for: by whom, and within which limits."""

    engine: EngineOption = "auto"
    time_limit: Annotated[
        float | None, typer.Option(min=0, help="Seconds for one person; then give up.")
    ] = None
    node_limit: Annotated[
        int | None, typer.Option(min=0, help="States for one person; then give up.")
    ] = None

    @property
    def given(self) -> dict[str, Any]:
        """Return it as every planner takes it."""
        return asdict(self)


@dataclass(frozen=True)
class Abilities:
    """What a person adds to a problem: what they can and cannot do."""

    fixed: Annotated[
        list[str] | None,
        typer.Option(metavar="FEATURE", help="What this person cannot change; repeat it for more."),
    ] = None
    limit: Annotated[
        list[str] | None,
        typer.Option(metavar="FEATURE=LOW..HIGH", help="Own limits, either end left out at will."),
    ] = None
    weight: Annotated[
        list[str] | None,
        typer.Option(metavar="FEATURE=WEIGHT", help="How hard a change is for this person."),
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
        typer.Option(metavar="CODES", help="Give principal reasons by these codes: a CSV file."),
    ] = None
    protected: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FEATURE", help="What is never given as a reason; repeat it for more."
        ),
    ] = None

    def read(self) -> Catalogue | None:
        """Return the codes, where some were given."""
        from p2c._audit.reasons import read_catalogue

        if self.reasons is None and self.protected:
            raise P2CError("--protected: needs --reasons, the codes of what may be a reason")
        return None if self.reasons is None else read_catalogue(self.reasons, self.protected or ())


def restrictions(
    fixed: list[str] | None, limits: list[str] | None, weights: list[str] | None
) -> dict[str, dict[str, Any]]:
    """Return what a person adds to a problem, from the options of a command.

    >>> restrictions(["age"], ["debt=100..", "savings=..5e4"], ["debt=2"])
    {'age': {'action': 'fixed'}, 'debt': {'min': 100, 'weight': 2}, 'savings': {'max': 50000.0}}
    """
    found: dict[str, dict[str, Any]] = {name: {"action": "fixed"} for name in fixed or ()}
    for text in limits or ():
        name, span = _pair("--limit", text, "FEATURE=LOW..HIGH")
        low, dots, high = span.partition("..")
        if not dots:
            raise P2CError(f"--limit: expected FEATURE=LOW..HIGH, found '{text}'")
        ends = {"min": low, "max": high}
        table = found.setdefault(name, {})
        table |= {key: _number("--limit", end) for key, end in ends.items() if end.strip()}
    for text in weights or ():
        name, weight = _pair("--weight", text, "FEATURE=WEIGHT")
        found.setdefault(name, {})["weight"] = _number("--weight", weight)
    return found


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
    """Return the action of each column that somebody named, by action; one that is named twice is refused.

    `column` finds a column by its name.

    >>> chosen_actions(str, up=["age"], fixed=["sex"])
    {'age': 'up', 'sex': 'fixed'}
    """
    found: dict[str, str] = {}
    for action, names in named.items():
        for name in map(column, names or ()):
            if found.get(name, action) != action:
                raise P2CError(f"--{action} {name}: the column is given as '{found[name]}' too")
            found[name] = action
    return found


def given(**keys: Any) -> dict[str, Any]:
    """Return the overrides that were given, as the problem's keys hold them."""
    return {
        key: value.value if isinstance(value, Enum) else value
        for key, value in keys.items()
        if value is not None
    }


def spelled(*words: object, **options: Any) -> str:
    """Return a command as it is written in a shell, with those options that were given.

    >>> spelled("plan", "my loan.toml", row=2, time_limit=None)
    "p2c plan 'my loan.toml' --row=2"
    """
    said = [f"--{key.replace('_', '-')}={value}" for key, value in given(**options).items()]
    return shlex.join(["p2c", *map(str, words), *said])


def load_problem(path: Path, trust: list[str] | None = None) -> Problem:
    """Return a problem, whose model may be opened as far as is trusted; rules that have no say in it because of a slip in a name are named on standard error."""
    from p2c._rules.lint import misspelt_heads, summarized
    from p2c.problem import Problem

    loaded = Problem.load(path, trust=Trust.of(trust or ()))
    rules = path.parent / loaded.spec.rules_file if loaded.spec.rules_file else path
    for finding in summarized(misspelt_heads(loaded.theory)):
        complain(f"{rules}: {finding}")
    return loaded


ELSEWHERE = "choose another name or folder"
"""What to do about a file that is there already."""


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
            raise P2CError(f"{path}: exists and differs; it is left as it is, {way_out}")
        if path.exists() and not path.is_file():
            path.write_bytes(data)  # a device or a pipe is written to, not replaced
        else:
            put(path, lambda made: made.write_bytes(data))
    except OSError as error:
        raise P2CError(f"{path}: cannot be written: {error.strerror}") from None
    if announce:
        out.print(str(path), markup=False)


def refuse_existing(*paths: Path | None, way_out: str = ELSEWHERE) -> None:
    """Refuse files that exist before any work is put into what would be written there."""
    for path in paths:
        if path is not None and path.exists():
            raise P2CError(f"{path}: exists; it is left as it is, {way_out}")


@contextmanager
def watched() -> Iterator[Watch]:
    """Show how far a batch has come; where parts are missing in the end, say so in one line and end with 1."""
    from p2c._batch.show import progress

    try:
        with progress(Terminal(stderr=True)) as watch:
            yield watch
    except BatchError as error:
        complain(str(error))
        raise typer.Exit(1) from None


def choose(question: str, choices: Iterable[str], default: str | None = None) -> str:
    """Ask for one of some words; the first letters of one are enough."""
    words = tuple(choices)
    asked = f"{question} ({', '.join(words)})"
    while True:
        given = str(typer.prompt(asked, default=default)).strip().lower()
        if given in words:
            return given
        near = [word for word in words if given and word.startswith(given)]
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
