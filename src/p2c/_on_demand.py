"""A mapping whose values are made on first use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

V = TypeVar("V")


class OnDemand(Mapping[str, V]):
    """A mapping from names to the values of `make`, each made once.

    >>> squares = OnDemand(["1", "2"], make=lambda name: int(name) ** 2)
    >>> list(squares), squares["2"], "3" in squares
    (['1', '2'], 4, False)
    """

    def __init__(self, names: Iterable[str], *, make: Callable[[str], V]) -> None:
        self._names = dict.fromkeys(names)
        self._make = make
        self._made: dict[str, V] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __getitem__(self, name: str) -> V:
        if name not in self._names:
            raise KeyError(name)
        if name not in self._made:
            self._made[name] = self._make(name)
        return self._made[name]
