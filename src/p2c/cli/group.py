"""What every group of commands is made with."""

from __future__ import annotations

import typer


def command_group(text: str | None = None) -> typer.Typer:
    """Return an empty group of commands whose errors `main` turns into one line."""
    return typer.Typer(
        help=text,
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        add_completion=False,
    )
