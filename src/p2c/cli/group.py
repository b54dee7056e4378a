"""What groups of commands are made with, and how a command is loaded when it is asked for."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_group

from p2c.on_demand import OnDemand

HOMES = {
    "planning": ("plan", "nearest", "why", "check", "lint", "space", "example"),
    "learning": ("learn", "causal", "review", "adopt"),
    "extraction": ("extract",),
    "reporting": ("explain", "report"),
    "batching": ("batch",),
    "auditing": ("audit",),
    "asp": ("export", "doctor"),
    "serving": ("serve",),
}
"""All commands in the order in which they are listed, by the file of `p2c.cli` that has a group of its own name."""


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


class Commands(TyperGroup):
    """Commands that stay in their files until they are asked for, so that none waits for what others need."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        homes = {name: home for home, names in HOMES.items() for name in names}
        commands: Any = OnDemand(homes, make=lambda name: _commands_of(homes[name])[name])
        self.commands = commands  # nobody adds to them or takes any away


@cache
def _commands_of(home: str) -> dict[str, Any]:
    return dict(get_group(getattr(import_module(f"p2c.cli.{home}"), home)).commands)
