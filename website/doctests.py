"""Examples in docstrings as code: a fence is put around each, so that what stands in brackets is no link."""

from __future__ import annotations

import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"^([ \t]*)>>> .*\n?(?:[ \t]*\S.*\n?)*", re.MULTILINE)


def fenced(text: str) -> str:
    r"""Return a docstring with a fence around each of its examples.

    >>> fenced("Add.\n\n>>> 1 + 1\n2\n\nMore.")
    'Add.\n\n```pycon\n>>> 1 + 1\n2\n```\n\nMore.'
    """
    return EXAMPLE.sub(
        lambda found: f"{found[1]}```pycon\n{found[0].rstrip()}\n{found[1]}```\n", text
    )


class Fences(griffe.Extension):
    """What griffe calls for each object that it has read."""

    def on_object(self, *, obj: Any, **_: Any) -> None:
        """Put fences around the examples of a docstring."""
        if obj.docstring and ">>>" in obj.docstring.value and "```" not in obj.docstring.value:
            obj.docstring.value = fenced(obj.docstring.value)
