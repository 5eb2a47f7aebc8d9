"""An existing Dask cluster as an executor."""

from __future__ import annotations

import asyncio
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, Executor, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

#: seconds to wait for a scheduler
_PATIENCE = 5
#: seconds without a result after which a cluster is asked whether it lives
BEAT = 5.0
#: seconds that a cluster may be silent, or without workers, before it is given up
_LIMIT = 60.0


@contextmanager
def dask_executor(address: str) -> Iterator[Executor]:
    """Executor on the Dask scheduler at `address`, such as tcp://HOST:8786.

    Its workers need paretoid in the same version; nothing else has to be set up, and results are
    those of any other executor. The cluster is left running.

    A cluster that falls silent, or has no workers left, is given up after a minute with a
    `CampaignError`; with a store the same campaign then goes on, on this or another executor.

    >>> from distributed import LocalCluster
    >>> from paretoid import BernoulliBandit, Campaign
    >>> campaign = Campaign(BernoulliBandit([[0.9], [0.1]]), replications=3, seed=1)
    >>> with LocalCluster(n_workers=1, processes=False, dashboard_address=":0") as cluster:
    ...     with dask_executor(cluster.scheduler_address) as executor:
    ...         runs = campaign.run(executor=executor)
    >>> runs.identical(campaign.run())
    True
    """
    try:
        from distributed import Client
    except ImportError:
        raise ValueError("a Dask scheduler needs the extra: pip install 'paretoid[dask]'") from None
    try:
        # In a thread: a notebook has an event loop of its own already.
        with ThreadPoolExecutor(1) as thread:
            thread.submit(asyncio.run, _knock(address)).result()
        client = Client(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError, TypeError, ImportError, RuntimeError) as error:
        raise ValueError(
            f"no Dask scheduler answers at {address!r} ({error or type(error).__name__}). Check "
            f"that it runs (dask scheduler), that host and port are those it printed, such as "
            f"tcp://HOST:8786, and that no firewall is between."
        ) from None
    try:
        if not threads_of(client):
            raise ValueError(
                f"the Dask scheduler at {address!r} has no workers; start some with: dask worker "
                f"{address}"
            )
        yield client.get_executor(pure=False)
    finally:
        client.close(timeout=_PATIENCE)


def threads_of(client: Any) -> int:
    """Threads of all workers of a cluster; 0 of one whose scheduler is silent."""
    return sum(int(worker["nthreads"]) for worker in (_workers(client) or {}).values())


def _workers(client: Any) -> dict[str, Any] | None:
    """What the scheduler says about its workers; None if it says nothing in time."""
    try:
        answer = client.sync(client.scheduler.identity, callback_timeout=_PATIENCE)
        return dict(answer["workers"])
    except Exception:  # a lost connection has many names
        return None


class Pulse:
    """Whether an executor lives; of Dask's alone nobody else would hear that it does not.

    >>> Pulse(ThreadPoolExecutor(1)).check()    # threads and processes report themselves
    """

    def __init__(self, executor: Executor) -> None:
        self.client = getattr(executor, "_client", None)  # Dask's; it has no public name for it
        self.well()

    def well(self) -> None:
        """A result has come, so it lives."""
        self.last, self.warned = time.monotonic(), False

    def check(self) -> None:
        """Ask a Dask cluster; it is warned of at once and given up when the limit has passed."""
        if self.client is None:
            return
        workers = _workers(self.client)
        if workers:
            self.well()
            return
        trouble = "does not answer" if workers is None else "has no workers left"
        if not self.warned:
            self.warned = True
            warnings.warn(
                f"the Dask scheduler {trouble}; waiting up to {_LIMIT:g} seconds for it.",
                stacklevel=2,
            )
        elif time.monotonic() - self.last > _LIMIT:
            raise BrokenExecutor(f"the Dask scheduler {trouble}, for {_LIMIT:g} seconds now")


async def _knock(address: str) -> None:
    """Raise if nobody shakes hands in time; `Client(timeout=...)` alone would wait for ever."""
    from distributed.comm.core import connect

    comm = await asyncio.wait_for(connect(address, timeout=_PATIENCE - 1), _PATIENCE)
    await comm.close()
