"""Who waits for a solver and which one is next: first come, first served, with a lane that slow questions cannot fill.

A spare solver stands by until each of the others has been busy with one question for longer than a quick one takes; then
it takes those that wait, except the ones that are known to be slow.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

QUICK = 0.1
"""Seconds within which a quick question is answered."""


class Worker(Protocol):
    """What is waited for; `since` is when it was taken, `spare` whether it stands by."""

    spare: bool
    since: float


Kind = TypeVar("Kind", bound=Worker)


@dataclass(frozen=True, eq=False)
class Place(Generic[Kind]):
    """One who waits."""

    slow: bool
    turn: asyncio.Future[Kind]


class WaitingLine(Generic[Kind]):
    """The workers that are free, those that are not, and who waits for one."""

    def __init__(self) -> None:
        self._free: list[Kind] = []
        self._busy: list[Kind] = []
        self._spare: list[Kind] = []
        self._waiting: list[Place[Kind]] = []
        self._timer: asyncio.TimerHandle | None = None
        self._returned = asyncio.Event()

    async def take(self, *, slow: bool = False, known: Kind | None = None) -> Kind:
        """Wait for a worker; a slow question is one that a spare worker has put back.

        One that is `known` to have the answer at hand is preferred, and given a moment to come free.
        """
        if known is not None:
            await self._come_free(known)
        if self._free:
            at = self._free.index(known) if known in self._free else -1
            return self._taken(self._free.pop(at), slow=slow)
        place: Place[Kind] = Place(slow, asyncio.get_running_loop().create_future())
        self._waiting.append(place)
        self._open_spare()
        try:
            return await place.turn
        except BaseException:
            if place in self._waiting:
                self._waiting.remove(place)
            elif place.turn.done() and not place.turn.cancelled():
                self.give_back(place.turn.result())
            raise

    def take_spare(self) -> Kind | None:
        """Return the spare worker if it stands by; it is then busy."""
        return self._taken(self._spare.pop(), slow=False) if self._spare else None

    def give_back(self, worker: Kind) -> None:
        """Free a worker, unless it was dropped meanwhile."""
        if worker in self._busy:
            self._busy.remove(worker)
            self.add(worker)
            self._returned.set()
            self._returned.clear()

    async def _come_free(self, worker: Kind) -> None:
        """Wait while a worker is busy, not longer than a quick question takes, and not where all the others are too."""
        with suppress(TimeoutError):
            async with asyncio.timeout(QUICK):
                while worker in self._busy and self._free:
                    await self._returned.wait()

    def drop(self, worker: Kind) -> None:
        """Forget a worker."""
        for each in (self._free, self._busy, self._spare):
            if worker in each:
                each.remove(worker)

    def close(self) -> None:
        """Look at nothing any more."""
        if self._timer is not None:
            self._timer.cancel()

    def add(self, worker: Kind) -> None:
        """Take a worker on that is free."""
        if worker.spare:
            self._spare.append(worker)
            self._open_spare()
        elif place := self._first():
            self._give(worker, place)
        else:
            self._free.append(worker)

    def _first(self, *, fresh: bool = False) -> Place[Kind] | None:
        """Return who waits longest, of those whom no spare worker has put back where that is asked.

        One whose time is over may not have left yet.
        """
        waiting = (
            each for each in self._waiting if not (each.turn.done() or (fresh and each.slow))
        )
        return next(waiting, None)

    def _give(self, worker: Kind, place: Place[Kind]) -> None:
        self._waiting.remove(place)
        place.turn.set_result(self._taken(worker, slow=place.slow))

    def _taken(self, worker: Kind, *, slow: bool) -> Kind:
        # One that is known to be slow counts as having been busy for long.
        worker.since = -QUICK if slow else asyncio.get_running_loop().time()
        self._busy.append(worker)
        return worker

    def _open_spare(self) -> None:
        """Let the spare worker take the first who waits once all others are held up; until then look again."""
        place = self._first(fresh=True)
        if place is None or not self._spare:
            return
        loop = asyncio.get_running_loop()
        last = max((each.since for each in self._busy if not each.spare), default=-QUICK)
        if loop.time() >= last + QUICK:
            self._give(self._spare.pop(), place)
        elif self._timer is None:
            self._timer = loop.call_at(last + QUICK, self._look)

    def _look(self) -> None:
        self._timer = None
        self._open_spare()
