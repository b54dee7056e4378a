"""How examples in docstrings are run: in an empty folder, and those of a method after those of its class."""

from __future__ import annotations

import doctest
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def _goes_on_with_the_class(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Give the examples of a method the names that those of its class make."""
    monkeypatch.chdir(tmp_path)
    example: Any = request.node
    known = example.dtest.globs
    owner, _, method = example.dtest.name.removeprefix(f"{known['__name__']}.").partition(".")
    if method and owner in known:
        for each in doctest.DocTestParser().get_examples(known[owner].__doc__ or ""):
            exec(compile(each.source, owner, "single"), known)
