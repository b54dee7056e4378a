"""What groups of commands are made with, and how a command is loaded when it is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

import typer
from typer.core import TyperGroup
from typer.main import get_group

if TYPE_CHECKING:
    from collections.abc import Sequence


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
    """Commands that stay in their files until they are asked for, so that no command waits for what others need.

    `homes` names them by the file of `p2c.cli` that each is in, which has a group of the same name.
    """

    homes: ClassVar[Mapping[str, Sequence[str]]] = {}

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        homes = {name: home for home, names in self.homes.items() for name in names}
        commands: Any = _Loaded(homes)  # nobody adds to them or takes any away
        self.commands = commands


class _Loaded(Mapping[str, Any]):
    """The commands by name, each with its file."""

    def __init__(self, homes: dict[str, str]) -> None:
        self._homes = homes

    def __iter__(self) -> Iterator[str]:
        return iter(self._homes)

    def __len__(self) -> int:
        return len(self._homes)

    def __getitem__(self, name: str) -> Any:
        home = self._homes[name]
        return get_group(getattr(import_module(f"p2c.cli.{home}"), home)).commands[name]
