"""Long work: its state while requests of several threads look at it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from p2c._server.settings import Limits
from p2c._server.workshop import Work, Workshop, read_work, write_work

if TYPE_CHECKING:
    from pathlib import Path


class EndedByTerminate:
    """A process, at whose end another thread looks at the work."""

    def __init__(self, shop: Workshop) -> None:
        self.shop = shop
        self.alive = True
        self.states: list[str] = []
        self.look = threading.Thread(target=lambda: self.states.append(shop.work.state))

    def is_alive(self) -> bool:
        return self.alive

    def terminate(self) -> None:
        self.alive = False
        self.look.start()

    def join(self) -> None:
        self.look.join(0.5)


def test_work_that_is_looked_at_while_it_is_cancelled_is_cancelled(tmp_path: Path) -> None:
    shop = Workshop(tmp_path, Limits())
    write_work(tmp_path, Work(state="working"))
    process = EndedByTerminate(shop)
    shop._process = process  # type: ignore[assignment]
    shop.cancel()
    process.look.join()
    assert process.states == ["cancelled"]
    assert read_work(tmp_path).state == "cancelled"
