"""What is released: the version, and the name by which the package index knows it; and what is installed beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__version__ = "0.3.0"

DISTRIBUTION = "p2c-recourse"
"""What to install; `p2c` on the package index is somebody else's. Import and command are `p2c`."""


def versions_of(packages: Iterable[str]) -> dict[str, str]:
    """Return the versions of some packages, of those that are installed."""
    from importlib.metadata import PackageNotFoundError, version

    found = {}
    for name in packages:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
