"""Batches on a Dask cluster: the same bytes, also when workers are lost, or the parts that are missing."""

from __future__ import annotations

import os
import signal
import threading
from typing import TYPE_CHECKING, Any

import pytest

from p2c._batch import Options, plan_files
from p2c.errors import BatchError, P2CError
from tests.batch.people import answer, hashes, loan, loan_people, write_parquet

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

distributed = pytest.importorskip("distributed")

OPTIONS = Options(part_rows=50)
PARTS = 30


@pytest.fixture
def cluster() -> Iterator[Any]:
    """Return a cluster of two processes."""
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", memory_limit=0
    ) as found:
        yield found


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write_parquet(tmp_path / "a.parquet", loan_people(PARTS * 50), row_group_size=50)


def test_a_cluster_writes_the_same_bytes_also_when_a_worker_is_killed_midway(
    source: Path, tmp_path: Path, cluster: Any
) -> None:
    answer(loan(), source, tmp_path / "expected", part_rows=50)
    killed: list[int] = []

    def watch(*, rows: int, **_: Any) -> None:
        if rows >= 150 and not killed:
            with distributed.Client(cluster.scheduler_address, set_as_default=False) as client:
                pids = client.run(os.getpid)
            killed.append(next(iter(pids.values())))
            os.kill(killed[0], signal.SIGKILL)

    plan_files(
        loan(),
        source,
        tmp_path / "out",
        OPTIONS,
        executor="dask",
        address=cluster.scheduler_address,
        watch=watch,
    )
    assert killed
    assert hashes(tmp_path / "out") == hashes(tmp_path / "expected")


def test_a_scheduler_that_is_lost_leaves_a_batch_that_another_one_ends(
    source: Path, tmp_path: Path
) -> None:
    answer(loan(), source, tmp_path / "expected", part_rows=50)
    lost = distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address=":0", memory_limit=0
    )
    closing: list[threading.Thread] = []

    def watch(*, rows: int, **_: Any) -> None:
        if rows >= 150 and not closing:
            closing.append(threading.Thread(target=lost.close))
            closing[0].start()

    try:
        with pytest.raises(BatchError, match="the same command goes on") as stopped:
            plan_files(
                loan(),
                source,
                tmp_path / "out",
                OPTIONS,
                executor="dask",
                address=lost.scheduler_address,
                watch=watch,
            )
    finally:
        for thread in closing:
            thread.join()
    assert stopped.value.parts
    assert stopped.value.parts[-1] == PARTS - 1
    answer(loan(), source, tmp_path / "out", part_rows=50)
    assert hashes(tmp_path / "out") == hashes(tmp_path / "expected")


def test_a_cluster_of_this_machine_listens_to_this_machine_alone(
    source: Path, tmp_path: Path
) -> None:
    psutil = pytest.importorskip("psutil")
    heard: set[str] = set()

    def watch(**_: Any) -> None:
        here = psutil.Process()
        for process in (here, *here.children(recursive=True)):
            found = process.net_connections("inet")
            heard.update(each.laddr.ip for each in found if each.status == psutil.CONN_LISTEN)

    plan_files(loan(), source, tmp_path / "out", OPTIONS, executor="dask", workers=1, watch=watch)
    assert heard == {"127.0.0.1"}


def test_an_address_where_nobody_answers_is_one_line(source: Path, tmp_path: Path) -> None:
    with _soon(), pytest.raises(P2CError, match="no Dask scheduler answers") as refused:
        plan_files(loan(), source, tmp_path / "out", executor="dask", address="tcp://127.0.0.1:9")
    assert "\n" not in str(refused.value)
    with pytest.raises(P2CError, match="no Dask scheduler answers"):
        plan_files(loan(), source, tmp_path / "out", executor="dask", address="nonsense://x")


def _soon() -> Any:
    import dask

    return dask.config.set({"distributed.comm.timeouts.connect": "1s"})
