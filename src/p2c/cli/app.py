"""The program: commands that load on first use, and errors on one line.

Text from problems and rows is printed without control characters.
"""

from __future__ import annotations

import io
import os
import sys
from dataclasses import fields, is_dataclass
from functools import cache, wraps
from importlib import import_module
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer
from rich.console import Console
from typer.core import TyperGroup
from typer.main import get_group

from p2c._markup import visible
from p2c._on_demand import OnDemand
from p2c._release import __version__
from p2c._spec.spec import unreadable
from p2c.errors import P2CError, RuleError, joined_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from rich.console import ConsoleOptions, RenderableType
    from rich.segment import Segment

HOMES = {
    "planning": (
        "plan",
        "verify",
        "nearest",
        "tradeoffs",
        "why",
        "check",
        "follow-up",
        "lint",
        "space",
        "example",
    ),
    "learning": ("causal", "review", "adopt"),
    "fitting": ("fit", "init"),
    "reporting": ("explain", "report"),
    "batching": ("batch", "audit"),
    "asp": ("export", "doctor"),
    "serving": ("serve", "mcp"),
}
"""All commands in the order of the help, by their file in `p2c.cli`.

Each file holds a group of its own name.
"""


def command_group(text: str | None = None, kind: type[TyperGroup] = TyperGroup) -> typer.Typer:
    """Return an empty group of commands whose errors `main` turns into one line."""
    return typer.Typer(
        cls=kind,
        help=text,
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        add_completion=False,
    )


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """Replace each dataclass among the arguments of a command by its fields.

    The fields become options of the command.
    """
    hints = get_type_hints(command, include_extras=True)
    places = signature(command).parameters
    groups = {name: hints[name] for name in places if is_dataclass(hints[name])}

    @wraps(command)
    def run(**arguments: Any) -> None:
        for name, group in groups.items():
            parts = {each.name: arguments.pop(each.name) for each in fields(group)}
            arguments[name] = group(**parts)
        command(**arguments)

    options: dict[str, Parameter] = {}
    for name, place in places.items():
        inner = signature(groups[name]).parameters if name in groups else {name: place}
        kinds = get_type_hints(groups[name], include_extras=True) if name in groups else hints
        for key, each in inner.items():
            options[key] = each.replace(kind=Parameter.KEYWORD_ONLY, annotation=kinds[key])
    run.__annotations__ = {key: each.annotation for key, each in options.items()}
    run.__signature__ = Signature([*options.values()])  # type: ignore[attr-defined]
    return run


class Commands(TyperGroup):
    """Commands whose files are imported on first use."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        homes = {name: home for home, names in HOMES.items() for name in names}
        commands: Any = OnDemand(homes, make=lambda name: _commands_of(homes[name])[name])
        self.commands = commands  # nobody adds to them or takes any away


@cache
def _commands_of(home: str) -> dict[str, Any]:
    return dict(get_group(getattr(import_module(f"p2c.cli.{home}"), home)).commands)


class Terminal(Console):
    """A console that replaces control characters of its text by a mark.

    Its own colours stay.
    """

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Return the pieces of text to print, without control characters."""
        for piece in super().render(renderable, options):
            safe = piece.control or piece.text.isprintable()
            yield piece if safe else piece._replace(text=visible(piece.text))


out = Terminal(highlight=False, soft_wrap=True)


def complain(text: str) -> None:
    """Print a line on standard error."""
    typer.echo(visible(text), err=True)


app = command_group(
    "Plans that turn a refusal into an acceptance, proved to be the cheapest there are.",
    Commands,
)


def _show_version(asked: bool) -> None:
    if asked:
        out.print(f"p2c {__version__}")
        raise typer.Exit


@app.callback()
def options(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version and end.", callback=_show_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Take the options of all commands."""


def run() -> int:
    """Run a command and return its exit code.

    Bad input is one line on standard error and exit code 2.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(
                errors="backslashreplace"
            )  # where ✓ has no code, the rest is still read
    try:
        code = app(prog_name="p2c", standalone_mode=False) or 0
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        return _end_quietly()
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):  # as click ends then, with 1
            return _end_quietly()
        raise
    except P2CError as error:
        complain(joined_lines(error))
        if isinstance(error, RuleError) and sys.stderr.isatty():
            complain(error.snippet)
        return 2
    except typer.Abort:
        return 1
    except OSError as error:
        complain(f"the output cannot be written: {unreadable(error)}")
        _forget_output()
        return 2
    except Exception as error:
        return _usage_code(error)


def _end_quietly() -> int:
    """Return the exit code of a command whose output is closed, as after SIGPIPE."""
    _forget_output()
    return 128 + 13


def _usage_code(error: Exception) -> int:
    """Print a misuse of the command line on one line; raise other errors again."""
    # Typer has its own copy of click in some versions, so the class cannot be named.
    if not hasattr(error, "format_message"):
        raise error
    context = getattr(error, "ctx", None)
    start = "" if _is_help(error) else f"{context.command_path if context else 'p2c'}: "
    # What typer's checks of values say comes through pydantic, which says so.
    complain(f"{start}{error.format_message()}".replace("Value error, ", ""))
    return 2


def _is_help(error: Exception) -> bool:
    return type(error).__name__ == "NoArgsIsHelpError"


def _forget_output() -> None:
    """Drop unwritten output, so that the end of the program does not write it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
