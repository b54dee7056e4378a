"""A memory of bounded size that forgets what was not used for longest."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable

Kept = TypeVar("Kept")


class LruMemory(Generic[Kept]):
    """The values put last, by their names.

    >>> recent = LruMemory(2)
    >>> for name in "abac":
    ...     recent.put(name, name.upper())
    >>> "a" in recent, "b" in recent, recent["c"]
    (True, False, 'C')
    """

    def __init__(self, size: int = 16) -> None:
        self._size = size
        self._kept: OrderedDict[str, Kept] = OrderedDict()

    def __contains__(self, name: str) -> bool:
        return name in self._kept

    def __getitem__(self, name: str) -> Kept:
        return self._kept[name]

    def values(self) -> Iterable[Kept]:
        """Return what is kept, the oldest first."""
        return self._kept.values()

    def put(self, name: str, value: Kept) -> None:
        """Keep a value as the latest, and forget the oldest where there are too many."""
        self._kept[name] = value
        self._kept.move_to_end(name)
        if len(self._kept) > self._size:
            self._kept.popitem(last=False)
