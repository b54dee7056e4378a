"""The one way to a terminal: what others wrote is shown as text and never obeyed as a command of the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer
from rich.console import Console

from p2c.markup import visible

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import ConsoleOptions, RenderableType
    from rich.segment import Segment


class Terminal(Console):
    """A console that puts a mark in the place of each control character of what it prints; its own colours stay."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Return the pieces of what is to be printed, each safe to show."""
        for piece in super().render(renderable, options):
            safe = piece.control or piece.text.isprintable()
            yield piece if safe else piece._replace(text=visible(piece.text))


out = Terminal(highlight=False, soft_wrap=True)


def complain(text: str) -> None:
    """Print a line on standard error."""
    typer.echo(visible(text), err=True)
