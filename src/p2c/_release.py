"""The version, the name of the distribution, and versions of other packages."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__version__ = "0.3.0"

DISTRIBUTION = "p2c-recourse"
"""The name on the package index; import and command are `p2c`."""


def versions_of(packages: Iterable[str]) -> dict[str, str]:
    """Return the versions of the packages that are installed."""
    from importlib.metadata import PackageNotFoundError, version

    versions = {}
    for name in packages:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return versions
