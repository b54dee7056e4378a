"""All commands as one, and what becomes of their errors: one line on standard error and an exit code."""

from __future__ import annotations

import io
import os
import sys
from typing import Annotated

import typer

from p2c.cli.group import Commands, command_group
from p2c.cli.terminal import complain, out
from p2c.domain.spec import unreadable
from p2c.errors import P2CError, RuleError
from p2c.release import __version__

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
    """Take what holds for every command."""


def run() -> int:
    """Run a command and return its exit code; bad input is one line on standard error and 2."""
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
        complain("; ".join(str(error).splitlines()))
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
    """Return the exit code of a command whose reader has gone, which is that of one ended by the signal for it."""
    _forget_output()
    return 128 + 13


def _usage_code(error: Exception) -> int:
    """Say in one line how the command line was misused; what is no such error is raised again."""
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
    """Drop what could not be written, so that the end of the program does not try again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
